"""Fuzz the readers with any number of inputs: ``make fuzz``, or the command below.

    PYTHONPATH=tests python -m fuzz [READER ...] [--inputs N] [--start N] [--keep FOLDER]

It prints one line for each reader, and exits with 1 if any input failed.  Inputs that failed are
written to the folder.
"""

import argparse
import os
import sys
from pathlib import Path

from fuzz.harness import fuzz, mutated
from fuzz.readers import READERS


def main() -> int:
    """Fuzz, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Fuzz the readers.")
    parser.add_argument("readers", nargs="*", help=f"among {', '.join(READERS)}; default: all")
    parser.add_argument("--inputs", type=int, default=100_000, help="for each reader")
    parser.add_argument("--start", type=int, default=0, help="the number of the first input")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"))
    options = parser.parse_args()
    failed = 0
    numbers = range(options.start, options.start + options.inputs)
    for name in options.readers or READERS:
        report = fuzz(READERS, name, numbers, processes=options.processes)
        sys.stdout.write(f"{report}\n")
        for failure in report.failures[:20]:
            sys.stdout.write(f"  input {failure.number}: {failure.what}\n")
            options.keep.mkdir(parents=True, exist_ok=True)
            content = mutated(name, READERS[name].seeds(), failure.number)
            (options.keep / f"{name}-{failure.number}{READERS[name].ending}").write_bytes(content)
        sys.stdout.flush()
        failed += len(report.failures)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
