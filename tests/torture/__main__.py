"""Let every file event be the last one or fail: ``make torture``, or the command below.

    PYTHONPATH=tests python -m torture [NAME ...] [--ends SIGKILL ...] [--stride N]

It prints one line for each combination, and ends with the first that is wrong.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from torture.harness import ENDS, FRESH, REPLACING, WORKS, torture


def main() -> None:
    """Torture."""
    parser = argparse.ArgumentParser(prog="python -m torture", description="Torture files.")
    parser.add_argument("names", nargs="*", help=f"among {', '.join(WORKS)}; default: all")
    parser.add_argument("--ends", nargs="*", choices=ENDS, default=ENDS, help="default: all")
    parser.add_argument("--stride", type=int, default=1, help="take every N-th event")
    options = parser.parse_args()
    for name in options.names or WORKS:
        for mode in (FRESH, REPLACING):
            for end in options.ends:
                with tempfile.TemporaryDirectory() as root:
                    outcome = torture(Path(root).resolve(), name, end, mode, options.stride)
                sys.stdout.write(f"{name:24} {mode:9} {end:7} {outcome}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
