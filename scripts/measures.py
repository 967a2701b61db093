"""Print how large the package is, and how much of it a reader of one call has to pass.

python scripts/measures.py           # what takes seconds
python scripts/measures.py --gate    # also the time of `make test` in a fresh clone
"""

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType

TOP = Path(__file__).resolve().parents[1]
SOURCE, ENGINE, TESTS = TOP / "src", TOP / "src" / "sges" / "engine", TOP / "tests"
KINDS = {".py", ".pyx", ".pxd", ".pyi", ".h", ".hpp", ".cpp", ".js", ".css", ".html"}


def files(folder: Path) -> list[Path]:
    """Return the source files below a folder that git tracks."""
    done = subprocess.run(
        ["git", "ls-files", "--", str(folder)], cwd=TOP, capture_output=True, text=True, check=True
    )
    found = (TOP / name for name in done.stdout.splitlines())
    return [path for path in found if path.suffix in KINDS and path.is_file()]


def lines(paths: Iterable[Path]) -> int:
    """Return the number of lines of files."""
    return sum(path.read_bytes().count(b"\n") for path in paths)


def rooms() -> list[tuple[str, int]]:
    """Return the lines of each room of the package."""
    sizes: dict[str, int] = {}
    for path in files(SOURCE):
        room = path.relative_to(SOURCE / "sges").parts[0]
        sizes[room] = sizes.get(room, 0) + lines([path])
    return sorted(sizes.items(), key=lambda pair: -pair[1])


def passed(call: Callable[[], object]) -> tuple[int, int]:
    """Return how many functions of the package, in how many modules, a call passes."""
    seen: set[tuple[str, str, int]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and "/sges/" in code.co_filename:
            seen.add((code.co_filename, code.co_qualname, code.co_firstlineno))

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len(seen), len({name for name, _, _ in seen})


def learning() -> tuple[int, int]:
    """Return what ``learn`` of a frame with eight columns passes."""
    import numpy as np
    import pandas  # type: ignore[import-untyped]

    import sges

    learn = sges.learn

    frame = pandas.DataFrame(np.random.default_rng(0).normal(size=(200, 8))).add_prefix("x")
    return passed(lambda: learn(frame))


def complex_functions() -> tuple[int, int]:
    """Return how many functions have a complexity above 10, and above 20."""
    from radon.complexity import cc_visit

    ranks = [
        block.complexity
        for path in files(SOURCE)
        if path.suffix == ".py"
        for block in cc_visit(path.read_text(encoding="utf-8"))
        if block.letter in "FM"
    ]
    return sum(rank > 10 for rank in ranks), sum(rank > 20 for rank in ranks)


def public() -> int:
    """Return how many different names all ``__all__`` of the package hold."""
    sys.path.insert(0, str(TESTS))
    from public import public_modules

    return sum(len(module.__all__) for module in public_modules())


def gate() -> float:
    """Return the seconds of ``make test`` in a fresh clone, with its installation."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "clone", "--quiet", str(TOP), folder], check=True)
        begun = time.perf_counter()
        subprocess.run(["make", "test"], cwd=folder, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - begun


def main() -> None:
    """Print the table."""
    everything, engine = files(SOURCE), files(ENGINE)
    named = sum(
        bool(re.search(r"\bmax_indegree\b", path.read_text(encoding="utf-8")))
        for path in everything
        if path not in set(engine)
    )
    functions, modules = learning()
    ten, twenty = complex_functions()
    rows: list[tuple[str, object]] = [
        ("lines in src without the engine", f"{lines(everything) - lines(engine):,}"),
        ("lines of the engine", f"{lines(engine):,}"),
        ("lines in tests", f"{lines(files(TESTS)):,}"),
        ("files outside the engine that name max_indegree", named),
        ("functions / modules of learn(frame)", f"{functions} / {modules}"),
        ("functions of complexity above 10 / 20", f"{ten} / {twenty}"),
        ("names in all __all__", public()),
    ]
    if "--gate" in sys.argv:
        rows.append(("seconds of the gate from a fresh clone", round(gate())))
    width = max(len(label) for label, _ in rows)
    for label, value in rows:
        print(f"{label:<{width}}  {value}")
    print("\nLines by room:", ", ".join(f"{room} {size:,}" for room, size in rooms()))


if __name__ == "__main__":
    main()
