"""The page on the quality of the graphs agrees with its rows, including our losses."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sges
from sges.search import STRATEGIES
from studies.charts import new_figure, save
from studies.frame import Row, StudyError
from studies.peers import quality
from studies.peers.problems import Spec
from studies.peers.quality import DEFAULT, Mark, facts, marks, settings_of
from studies.summary import spread_of

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


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12))
def test_quartiles_are_those_of_numpy(values: list[float]) -> None:
    found = spread_of(values)
    assert found is not None
    assert np.allclose((found.low, found.mid, found.high), np.percentile(values, (25, 50, 75)))


def test_each_setting_is_judged_by_the_rules() -> None:
    assert marks_of(ROWS) == {
        WON.name: ("better", "better"),  # lower for one seed of four, but not in the median
        TIED.name: ("equal", "equal"),  # a difference of 1e-6 is rounding
        LOST.name: ("worse", "worse"),
        HARD.name: ("better", "better"),  # the peer that is ahead did not finish
        COUNTED.name: ("not judged", "not judged"),  # no peer finished
    }


def test_one_peer_ahead_in_bic_is_a_loss_however_many_are_behind() -> None:
    behind = [r for s in "abc" for r in runs(s, WON, (3,) * 4, (0.0,) * 4)]
    ahead = runs("d", WON, (3,) * 4, (5.002,) * 4)
    assert marks_of([*ROWS, *behind, *ahead])[WON.name] == ("better", "worse")


def test_the_page_counts_wins_ties_and_losses() -> None:
    told = facts(ROWS)
    counts = {name: told[name] for name in told if name.startswith(("shd_", "bic_"))}
    assert counts == {
        **{"shd_better": 2, "shd_equal": 1, "shd_worse": 1},
        **{"bic_better": 2, "bic_equal": 1, "bic_worse": 1},
    }
    assert (told["settings"], told["seeds"]) == (5, SEEDS)


def test_the_summary_names_the_best_peer_and_shows_the_seeds() -> None:
    summary = facts(ROWS)["summary"]
    assert line(summary, "| Gaussian ER, 2d edges, d = 50, 1,000 rows |") == (
        "| Gaussian ER, 2d edges, d = 50, 1,000 rows | 2 of 2 | 2.5 | 3 (`good`) | better (2, 1, 1)"
        " | +5.0 | +4.0 (`good`) | better (3, 0, 1) |"
    )
    assert line(summary, "| Gaussian SF, 2 parents each, d = 50, 10,000 rows | 2 of 2 |").endswith(
        "| 8 | 6 (`good`) | **worse** (1, 0, 3) | +2.0 | +9.0 (`good`) | **worse** (1, 0, 3) |"
    )
    assert "| 0 of 1 | 1 | none finished | not judged |" in str(summary)


def test_a_loss_is_listed_with_its_figures_and_a_win_is_not() -> None:
    losses = facts(ROWS)["losses"]
    lost = "| Gaussian SF, 2 parents each, d = 50, 10,000 rows | `good` |"
    assert line(losses, lost) == f"{lost} 8 | 6 | (1, 0, 3) | −7.0 |"
    assert "d = 50, 1,000 rows" not in str(losses)
    assert "d edges, d = 50, 10,000 rows |" not in str(losses).replace("2d edges", "")


def test_a_closer_graph_with_a_lower_score_is_shown_as_that() -> None:
    rows = [*ROWS, *runs("close", WON, (0,) * 4, (-2.0,) * 4)]
    told = line(facts(rows)["losses"], "| Gaussian ER, 2d edges, d = 50, 1,000 rows | `close` |")
    assert told.endswith("| 2.5 | 0 | (0, 0, 4) | +7.0 |")


def test_a_peer_that_did_not_finish_is_not_beaten_but_listed() -> None:
    told = facts(ROWS)
    assert "| `xges` (1 of 4 seeds) | 8 | 0 | (0, 0, 1) | −49.0 |" in str(told["losses"])
    assert f"| `xges` | {TIMEOUT} | {HARD.name} (1) |" in str(told["unfinished"])
    assert f"| `xges` | not tried: out of time | {HARD.name} (2) |" in str(told["unfinished"])
    assert "| `xges` | 3 of 4 | 3 / 0 / 0 | 3 / 0 / 0 |" in str(told["scoreboard"])


def test_reasons_show_no_folder_and_break_no_table() -> None:
    told = f"| `good` | crash in run: y.py / died | {COUNTED.name} (4) |"
    assert told in str(facts(ROWS)["unfinished"])


def test_a_kind_that_a_program_does_not_accept_is_not_a_failure() -> None:
    assert "wrong kind" not in str(facts(ROWS))


def test_time_is_compared_seed_by_seed() -> None:
    slower = [r | {"cpu_seconds": 3.0} if r["peer"] == "xges" and r["shd"] else r for r in ROWS]
    board = facts(slower)["scoreboard"]
    assert line(board, "| `xges` |").endswith("| 3.0× (3.0× to 20×) |")


def test_a_failure_of_ours_is_not_judged() -> None:
    rows = [r for r in ROWS if (r["peer"], r["dataset"], r["seed"]) != (DEFAULT, WON.name, 2)]
    rows.insert(0, failure(DEFAULT, WON, 2, TIMEOUT))
    assert marks_of(rows)[WON.name] == ("not judged", "not judged")
    assert facts(rows)["shd_better"] == 1
    assert f"| `{DEFAULT}` | {TIMEOUT} | {WON.name} (1) |" in str(facts(rows)["unfinished"])


def test_without_rows_of_ours_nothing_is_claimed() -> None:
    told = facts([r for r in ROWS if r["peer"] != DEFAULT])
    assert sum(int(str(told[name])) for name in told if name.startswith(("shd_", "bic_"))) == 0
    assert told["losses"] == "None."


def test_a_peer_with_seeds_left_to_measure_is_not_compared() -> None:
    rows = [*ROWS, *runs("partial", WON, (0,) * 4, (50.0,) * 4)[:2]]
    assert marks_of(rows)[WON.name] == ("better", "better")
    assert f"| `partial` | not measured | {WON.name} (2)" in str(facts(rows)["unfinished"])


def test_a_graph_that_no_dag_extends_has_an_shd_and_no_score() -> None:
    loose = [r | {"bic": None} for r in runs("loose", WON, (0,) * 4, (0.0,) * 4)]
    assert marks_of([*ROWS, *loose])[WON.name] == ("worse", "better")
    told = f"| `loose` | no DAG extends the graph | {WON.name} (4) |"
    assert told in str(facts([*ROWS, *loose])["unfinished"])


def test_rows_of_other_data_under_the_same_name_are_refused() -> None:
    other = [row("late", WON, 0, bic_true=-101.0)]
    with pytest.raises(StudyError, match=r"the true graph scores -101.0 where late was run"):
        settings_of([*ROWS, *other])


def test_the_same_rows_give_the_same_figure(tmp_path: Path) -> None:
    for draw in (quality.draw_shd, quality.draw_bic):
        for name in "ab":
            figure = new_figure()
            draw(ROWS, figure)
            save(figure, tmp_path / f"{name}.svg")
        assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_what_the_page_calls_our_default_is_the_default_of_learn() -> None:
    """Except for the bound on its work, which is newer than the rows."""
    word = sges.learn(sges.examples.load("asia")).strategy
    assert word is not None
    unbounded = replace(STRATEGIES[word], sets_per_clique=None, effort=None)
    assert f"sges-{unbounded}" == DEFAULT
