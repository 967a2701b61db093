"""Change the package on purpose, line by line, and see that some test fails each time.

    python scripts/mutants.py                # every mutant of tests/mutants.json
    python scripts/mutants.py --only graph   # those whose tests are below tests/graph

A mutant is a line of the package, what replaces it, and the tests that notice.  The line is
searched in the whole package, where it must stand once, so a mutant survives a move to another
file.  A line that is gone is reported: give a mutant of the same kind in what replaced it.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypedDict

TOP = Path(__file__).resolve().parents[1]
FILE = TOP / "tests" / "mutants.json"


class Mutant(TypedDict):
    """A line of the package, the line that replaces it, and the tests that fail."""

    old: str
    new: str
    tests: str


def home_of(line: str) -> Path | None:
    """Return the only file of the package that has the line, once; None if there is none."""
    holders = []
    for path in sorted((TOP / "src").rglob("*.py")):
        count = sum(each.strip() == line for each in path.read_text(encoding="utf-8").splitlines())
        holders += [path.relative_to(TOP)] * count
    return holders[0] if len(holders) == 1 else None


def outcome(mutant: Mutant) -> str:
    """Return "killed", "survived", or why the mutant cannot be made."""
    home = home_of(mutant["old"])
    if home is None:
        return "not one line of the package"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(TOP / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        path = Path(folder) / home
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text(
            "".join(
                line.replace(mutant["old"], mutant["new"])
                if line.strip() == mutant["old"]
                else line
                for line in lines
            ),
            encoding="utf-8",
        )
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        command += ["-m", "not slow", *mutant["tests"].split()]
        environment = {
            **os.environ,
            "PYTHONPATH": str(source),
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        try:
            done = subprocess.run(
                command, cwd=TOP, env=environment, capture_output=True, timeout=300, check=False
            )
        except subprocess.TimeoutExpired:
            return "killed"
    return {0: "survived", 5: "ran no test", 4: "ran no test"}.get(done.returncode, "killed")


def main() -> None:
    """Run the mutants, two at a time, and print those that are not killed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="a part of the name of the tests")
    only = parser.parse_args().only
    mutants: list[Mutant] = json.loads(FILE.read_text(encoding="utf-8"))
    chosen = [mutant for mutant in mutants if only in mutant["tests"]]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(outcome, chosen))
    for mutant, result in zip(chosen, found, strict=True):
        if result != "killed":
            print(f"{result}: {mutant['old']}  ->  {mutant['new']}  ({mutant['tests']})")
    print(f"{found.count('killed')} of {len(chosen)} mutants are killed")
    sys.exit(found.count("killed") != len(chosen))


if __name__ == "__main__":
    main()
