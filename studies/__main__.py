"""Run experiments by name: ``python -m studies NAME --out DIR [--quick] [--jobs 2]``."""

import argparse
import sys
from pathlib import Path

from sges.errors import SgesError
from studies.frame import Progress
from studies.registry import EXPERIMENTS, run


def main(arguments: list[str] | None = None) -> int:
    """Run the experiments named; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m studies", description=__doc__)
    parser.add_argument("name", choices=[*EXPERIMENTS, "all"])
    parser.add_argument("--out", type=Path, default=Path("studies/results"))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args(arguments)
    names = list(EXPERIMENTS) if given.name == "all" else [given.name]
    try:
        for name in names:
            options = {"quick": given.quick, "seed": given.seed, "jobs": given.jobs}
            report = run(name, out=given.out, progress=show, **options)
            sys.stderr.write(f"\n{report.summary}\n")
    except SgesError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def show(progress: Progress) -> None:
    """Show where a run is, on one line."""
    sys.stderr.write(f"\r{progress.name}: {progress.done} of {progress.total} tasks")


if __name__ == "__main__":
    sys.exit(main())
