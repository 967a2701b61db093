"""The page on the quality of the graphs agrees with its rows, including our losses."""

from dataclasses import replace
from typing import Any, get_args

import pytest

import sges
from sges.search import STRATEGIES
from studies.frame import Row
from studies.peers import quality
from studies.peers.problems import Spec
from studies.peers.quality import DEFAULT, Mark, facts, marks, settings_of

WON, TIED = Spec("er", 50, 1_000, 2), Spec("er", 50, 10_000, 1)
LOST, HARD = Spec("sf", 50, 10_000, 2), Spec("er", 30, 10_000, 4)
COUNTED = Spec("cpt", 20, 1_000)
SEEDS = 4
SPECS = {spec.name: spec for spec in (WON, TIED, LOST, HARD, COUNTED)}
TIMEOUT = "timeout: more than 30 s in run"


def row(peer: str, spec: Spec, seed: int, **given: Any) -> Any:  # noqa: ANN401 (a row)
    found = {
        "peer": peer,
        "version": "1.0",
        "dataset": spec.name,
        "kind": spec.kind,
        "d": spec.d,
        "rows": spec.rows,
        "seed": seed,
        "seconds": 2.0,
        "cpu_seconds": 1.0,
        "bic": -90.0,
        "bic_true": -100.0,
        "shd": 3,
        "skeleton_f1": 0.9,
        "arrow_f1": 0.8,
        "failed": None,
        "limit": 30.0,
        "machine": "a processor",
        "date": "2026-01-01",
    }
    return found | given


def failure(peer: str, spec: Spec, seed: int, reason: str) -> Any:  # noqa: ANN401 (a row)
    measured = ("seconds", "cpu_seconds", "bic", "bic_true", "shd", "skeleton_f1", "arrow_f1")
    return row(peer, spec, seed, failed=reason) | dict.fromkeys(measured)


def runs(peer: str, spec: Spec, shds: tuple[int, ...], gaps: tuple[float, ...]) -> list[Any]:
    return [
        row(peer, spec, seed, shd=shd, bic=-100.0 + gap)
        for seed, (shd, gap) in enumerate(zip(shds, gaps, strict=True))
    ]


ROWS = [
    *runs(DEFAULT, WON, (1, 2, 3, 4), (5.0, 5.0, 5.0, 5.0)),  # 2.5 by median
    *runs("good", WON, (3, 3, 3, 3), (4.0, 4.0, 6.0, 4.0)),
    *runs("xges", WON, (9, 9, 9, 9), (-5.0, -5.0, -5.0, 5.0)),
    *runs(DEFAULT, TIED, (2, 2, 2, 2), (1.0, 1.0, 1.0, 1.0)),
    *runs("good", TIED, (2, 2, 2, 2), (1.0, 1.0, 1.0, 1.0 + 1e-6)),
    *runs("xges", TIED, (5, 5, 5, 5), (0.0, 0.0, 0.0, 0.0)),
    *runs(DEFAULT, LOST, (8, 8, 8, 0), (-3.0, -3.0, 7.0, 7.0)),
    *runs("good", LOST, (6, 6, 6, 6), (9.0, 9.0, 9.0, 6.0)),
    *runs("xges", LOST, (9, 9, 9, 9), (0.0, 0.0, 0.0, 0.0)),
    *runs(DEFAULT, HARD, (8, 8, 8, 8), (1.0, 1.0, 1.0, 1.0)),
    *runs("good", HARD, (9, 9, 9, 9), (0.0, 0.0, 0.0, 0.0)),
    row("xges", HARD, 0, shd=0, bic=-50.0, cpu_seconds=20.0, seconds=25.0),
    failure("xges", HARD, 1, TIMEOUT),
    *(failure("xges", HARD, s, "not tried: out of time") for s in (2, 3)),
    *runs(DEFAULT, COUNTED, (1, 1, 1, 1), (2.0, 2.0, 2.0, 2.0)),
    *(failure("xges", COUNTED, s, "wrong kind: takes gaussian data only") for s in range(4)),
    *(failure("good", COUNTED, s, "crash in run: /home/x/y.py | died") for s in range(4)),
]


@pytest.fixture(autouse=True)
def specs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the data sets of these tests."""
    monkeypatch.setattr(quality, "SPECS", SPECS)


def marks_of(rows: list[Row]) -> dict[str, tuple[Mark, Mark]]:
    return {s.spec.name: marks(s.of(DEFAULT), s.peers) for s in settings_of(rows)}


def line(text: object, start: str) -> str:
    (found,) = [line for line in str(text).splitlines() if line.startswith(start)]
    return found


def test_each_setting_is_judged_by_the_rules() -> None:
    assert marks_of(ROWS) == {
        WON.name: ("better", "better"),  # lower for one seed of four, but not in the median
        TIED.name: ("equal", "equal"),  # a difference of 1e-6 is rounding
        LOST.name: ("worse", "worse"),
        HARD.name: ("better", "better"),  # the peer that is ahead did not finish
        COUNTED.name: ("not judged", "not judged"),  # no peer finished
    }


def test_losses_and_unfinished_runs_are_listed_and_wins_are_not() -> None:
    told = facts(ROWS)
    counted = [told[f"{kind}_{mark}"] for kind in ("shd", "bic") for mark in get_args(Mark)[:3]]
    assert counted == [2, 1, 1] * 2
    losses, lost = told["losses"], "| Gaussian SF, 2 parents each, d = 50, 10,000 rows | `good` |"
    assert line(losses, lost) == f"{lost} 8 | 6 | (1, 0, 3) | −7.0 |"
    assert "d = 50, 1,000 rows" not in str(losses)
    assert "| `xges` (1 of 4 seeds) | 8 | 0 | (0, 0, 1) | −49.0 |" in str(losses)
    assert f"| `xges` | {TIMEOUT} | {HARD.name} (1) |" in str(told["unfinished"])


def test_what_the_page_calls_our_default_is_the_default_of_learn() -> None:
    """Except for the bound on its work, which is newer than the rows."""
    word = sges.learn(sges.examples.load("asia")).strategy
    assert word is not None
    unbounded = replace(STRATEGIES[word], sets_per_clique=None)
    assert f"sges-{unbounded}" == DEFAULT
