"""Test an installed sges outside its checkout, for ``make wheel`` and the wheels of a release.

python -P scripts/smoke_test.py
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import sges
from sges.tools.metrics import compare

CHECKOUT = Path(__file__).resolve().parents[1] / "src"


def main() -> None:
    """Call the main functions of the library and the command, each once."""
    assert not Path(sges.__file__).resolve().is_relative_to(CHECKOUT), "sges is the checkout"
    said = command("--version")
    assert said == f"sges {sges.__version__}\n", said
    for name in sges.examples.NAMES:
        example = sges.examples.load(name)
        result = sges.learn(example)
        distance = compare(example.truth, result.cpdag).shd
        assert distance <= 1, (name, distance)
    with tempfile.TemporaryDirectory() as folder:
        report = result.report(Path(folder) / "report.html")
        assert sges.read_result(report) == result
        result.plot(Path(folder) / "graph.svg")
    frame = example.table.to_pydict()
    assert sges.StructureLearner().fit(sges.Dataset.of(frame).values.T).score_ < 0
    assert "fruit_weight" in command("demo")
    print(said.strip(), "works on", sys.version.split()[0], sys.platform)


def command(*words: str) -> str:
    """Return the output of the installed command."""
    program = Path(sys.executable).with_name("sges")
    run = [str(program), *words] if program.exists() else [sys.executable, "-m", "sges", *words]
    done = subprocess.run(
        run, capture_output=True, text=True, check=True, cwd=tempfile.gettempdir(), encoding="utf-8"
    )
    return done.stdout


if __name__ == "__main__":
    main()
