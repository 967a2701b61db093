"""Run studies by name, or list them: ``python -m studies [NAME] [--quick] [--jobs 2]``.

Existing rows are not measured again, so an interrupted run continues where it stopped.
Results go to studies/results; those of ``--quick`` go to build/studies.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from sges.errors import InvalidArgument, SgesError
from studies.frame import RESULTS, Options, Progress, run, write
from studies.peers.adapters import UnknownPeer
from studies.registry import STUDIES, study_named

QUICK_RESULTS = Path("build") / "studies"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named study; return the exit code: 1 for a failed study, 2 for an invalid command."""
    asked = _parser().parse_args(arguments)
    if asked.name is None:
        width = max(map(len, STUDIES))
        print("\n".join(f"{name:{width}}  {study.title}" for name, study in STUDIES.items()))
        return 0
    options = Options(
        quick=asked.quick,
        seed=asked.seed,
        jobs=asked.jobs,
        only=tuple(asked.only),
        limit=asked.limit,
        again=asked.again,
        large=asked.large,
    )
    out = asked.out or (QUICK_RESULTS if asked.quick else RESULTS)
    try:
        study = study_named(asked.name)
        if asked.page:
            report = write(study, out, options)
        else:
            report = run(study, out=out, options=options, progress=show)
    except (InvalidArgument, UnknownPeer) as error:
        print(error, file=sys.stderr)
        return 2
    except SgesError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"\n{report.page}")
    return 0


def show(progress: Progress) -> None:
    """Show the progress of a run on one line."""
    row = progress.row or {}
    last = "" if row.get("failed") is None else f"; {row['peer']}: {row['failed']}"
    line = f"{progress.name}: {progress.done} of {progress.total} tasks{last}"
    print(f"\r{line[:120]:120}", end="", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m studies", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("name", nargs="?", help="the study; without a name they are listed")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where the table and page go")
    parser.add_argument("--quick", action="store_true", help="few and small tasks")
    parser.add_argument(
        "--large", action="store_true", help="include cases that take minutes each, or 12 GB"
    )
    parser.add_argument(
        "--page", action="store_true", help="measure nothing, only draw and write the page"
    )
    parser.add_argument("--again", action="store_true", help="measure existing rows again")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of an experiment")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes, likewise")
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="WORD",
        help='programs ("ours" is all of ours) or groups',
    )
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="per run of a program")
    return parser


if __name__ == "__main__":
    sys.exit(main())
