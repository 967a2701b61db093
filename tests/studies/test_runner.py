"""Runs continue where they stopped, and failures are rows with the reason."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from studies.frame import Row, Study, Table
from studies.frame import run as run_study
from studies.peers import runner
from studies.peers.contract import Peer, Prepare
from studies.peers.problems import Preset, Spec
from studies.peers.processes import Outcome, measure
from studies.peers.runner import COLUMNS, KEYS, Installed, Runner
from studies.peers.worker import read_table, small_table, write_table

SMALL, LARGE = Spec("er", 5, 50, 1), Spec("er", 8, 50, 1)
DISCRETE = Spec("cpt", 5, 50)
ANSWER = {
    "directed": [[0, 1]],
    "undirected": [],
    "seconds": 0.5,
    "cpu_seconds": 0.5,
    "repeats": 1,
    "import_seconds": 0.1,
    "warmup_seconds": 0.2,
    "prepare_seconds": 0.0,
    "megabytes": 10.0,
    "megabytes_before": 9.0,
    "python": "3",
    "numpy": "2",
}


def no_load() -> Prepare:
    raise AssertionError("a peer of these tests is never loaded")


def peer(name: str, *kinds: Any) -> Peer:  # noqa: ANN401
    return Peer(name, None, "none", kinds or ("gaussian",), "none", no_load)


class Fakes:
    """Replacements for installing and measuring, which record the runs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ran: list[tuple[str, int]] = []
        self.version = "1"
        self.failures: dict[str, str] = {}
        monkeypatch.setattr(runner, "install", self.install)
        monkeypatch.setattr(runner, "measure", self.measure)

    def install(self, peer: Peer) -> Installed:
        return Installed(peer, self.version, Path(), self.failures.get(f"install {peer.name}"))

    def measure(
        self, name: str, _: Path, tables: Sequence[Path], limit: float, *, total: float
    ) -> list[Outcome]:
        assert total > 0
        d = read_table(tables[0]).values.shape[1]
        self.ran.append((name, d))
        failed = self.failures.get(name)
        if failed is None:
            return [Outcome(ANSWER) for _ in tables]
        return [Outcome({}, failed.format(limit=limit))]


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> Fakes:
    monkeypatch.setattr(Study, "page", lambda *_, **__: "")
    return Fakes(monkeypatch)


def run(path: Path, *peers: Peer, limit: float = 10.0, seeds: int = 2) -> list[Row]:
    """Run these peers in the frame of all studies, and return the new rows."""
    preset = Preset("test", limit, ((LARGE, seeds), (SMALL, seeds), (DISCRETE, 1)))
    new: list[Row] = []
    run_study(
        Study(
            path.stem,
            "A test",
            KEYS,
            COLUMNS,
            tasks=lambda _: [
                {"peer": peer.name, "dataset": spec.name, "seed": seed}
                for spec, seeds in preset.problems
                for peer in peers
                for seed in range(seeds)
            ],
            measure=lambda _, known, __: Runner(preset, known).run(peers),
            facts=lambda _: {},
        ),
        out=path.parent,
        progress=lambda now: new.append(as_written(now.row)) if now.row else None,
    )
    return new


def as_written(row: Row) -> Row:
    """Return a row as it comes back from its table: floats to twelve digits."""
    return {k: float(f"{v:.12g}") if isinstance(v, float) else v for k, v in row.items()}


def read_rows(path: Path) -> list[Row]:
    return Table(path, {**KEYS, **COLUMNS}).rows()


def test_every_run_is_a_row_with_all_fields_and_no_trace_of_the_machine(
    fakes: Fakes, tmp_path: Path
) -> None:
    rows = run(tmp_path / "rows.csv", peer("a"))
    assert rows == read_rows(tmp_path / "rows.csv")
    assert [(row["dataset"], row["seed"]) for row in rows[:3]] == [
        (SMALL.name, 0),
        (SMALL.name, 1),
        (LARGE.name, 0),
    ]
    assert all(row.keys() == {*KEYS, *COLUMNS} for row in rows)
    assert all(row["bic"] is not None and row["edges"] == 1 for row in rows[:4])
    assert str(Path.home()) not in (tmp_path / "rows.csv").read_text(encoding="utf-8")
    assert fakes.ran == [("a", 5), ("a", 8)]


def test_a_peer_that_ran_out_of_time_is_not_tried_on_more_or_larger_data(
    fakes: Fakes, tmp_path: Path
) -> None:
    fakes.failures["a"] = "timeout: more than {limit:g} s in run"
    rows = run(tmp_path / "rows.csv", peer("a", "gaussian", "discrete"))
    reasons = [(row["dataset"], row["seed"], row["failed"]) for row in rows]
    not_tried = f"not tried: out of time on {SMALL.name}"
    assert reasons[:4] == [
        (SMALL.name, 0, "timeout: more than 10 s in run"),
        (SMALL.name, 1, not_tried),
        (LARGE.name, 0, not_tried),
        (LARGE.name, 1, not_tried),
    ]
    assert fakes.ran == [("a", 5), ("a", 5)]  # Gaussian, then discrete, as kinds are independent


# The process that measures; in these tests, small scripts replace the interpreter.


def script(tmp_path: Path, body: str) -> Path:
    path = tmp_path / "python"
    path.write_text(f"#!{sys.executable}\nimport json, os, signal, sys, time\n{body}\n")
    path.chmod(0o755)
    return path


TELL = "def tell(**line): print(json.dumps(line), flush=True)\n"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("tell(stage='run'); time.sleep(60)", "timeout: more than 0.3 s in run"),
        ("tell(stage='run'); os.kill(os.getpid(), signal.SIGSEGV)", "crash in run: SIGSEGV"),
        ("tell(stage='warm-up'); sys.exit('no BLAS')", "crash in warm-up: no BLAS"),
        (
            "tell(stage='run'); tell(stage='done', failed='ValueError: x')",
            "error in run: ValueError: x",
        ),
    ],
)
def test_the_reason_names_the_stage(body: str, reason: str, tmp_path: Path) -> None:
    python = script(tmp_path, TELL + body)
    (outcome,) = measure("any", python, [tmp_path / "t.npz"], limit=0.3 if "60" in body else 30)
    assert outcome.failed == reason


def test_tables_are_not_tried_once_the_others_have_used_the_total_time(tmp_path: Path) -> None:
    body = "for _ in range(3): tell(stage='run'); tell(stage='done', cpu_seconds=2.0)"
    paths = [tmp_path / "t"] * 3
    outcomes = measure("any", script(tmp_path, TELL + body), paths, limit=30, total=3.0)
    reason = "not tried: the other seeds took more than 3 s"
    assert [outcome.failed for outcome in outcomes] == [None, None, reason]


def test_our_own_program_goes_through_the_real_worker(tmp_path: Path) -> None:
    paths = [tmp_path / "0.npz", tmp_path / "1.npz"]
    for path in paths:
        write_table(small_table("gaussian"), path)
    outcomes = measure("sges-ges", Path(sys.executable), paths, limit=60)
    assert [outcome.failed for outcome in outcomes] == [None, None]
    assert outcomes[0].answer["directed"] == outcomes[1].answer["directed"]
    assert outcomes[0].answer["seconds"] > 0
    assert outcomes[0].answer["megabytes"] > 1
    assert json.dumps(outcomes[0].answer)
