"""The page on the quality of the graphs says what its rows say, where we lose as plainly."""

import csv
import doctest
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sges
from sges.search import STRATEGIES
from studies.peers import quality, quality_facts, quality_page, quality_plot, quality_words
from studies.peers.quality_facts import DEFAULT, MixedData, Results, spread_of, verdicts
from studies.peers.rows import append_row, read_rows
from studies.peers.suite import Preset, Spec

WON, TIED = Spec("er", 50, 1_000, 2), Spec("er", 50, 10_000, 1)
LOST, HARD = Spec("sf", 50, 10_000, 2), Spec("er", 30, 10_000, 4)
COUNTED = Spec("cpt", 20, 1_000)
SEEDS = 4
PRESET = Preset("small", 30.0, tuple((s, SEEDS) for s in (WON, TIED, LOST, HARD, COUNTED)))
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


def paragraph(text: str, start: str) -> str:
    (found,) = [line for line in text.splitlines() if line.startswith(start)]
    return found


@pytest.fixture(scope="module")
def page() -> str:
    return quality_page.page(Results(ROWS, PRESET))


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12))
def test_quartiles_are_those_of_numpy(values: list[float]) -> None:
    found = spread_of(values)
    assert found is not None
    assert np.allclose((found.low, found.mid, found.high), np.percentile(values, (25, 50, 75)))


def test_each_setting_is_judged_by_the_rules() -> None:
    marks = {v.name: (v.shd, v.bic) for v in verdicts(Results(ROWS, PRESET))}
    assert marks == {
        WON.name: ("better", "better"),  # one seed of four is lower: the median decides
        TIED.name: ("equal", "equal"),  # a difference of 1e-6 is rounding
        LOST.name: ("worse", "worse"),
        HARD.name: ("better", "better"),  # the peer that is ahead did not finish
        COUNTED.name: ("not judged", "not judged"),  # no peer finished
    }


def test_one_peer_ahead_in_bic_is_a_loss_however_many_are_behind() -> None:
    behind = [r for s in "abc" for r in runs(s, WON, (3,) * 4, (0.0,) * 4)]
    ahead = runs("d", WON, (3,) * 4, (5.002,) * 4)
    found = verdicts(Results([*ROWS, *behind, *ahead], PRESET))[0]
    assert (found.shd, found.bic) == ("better", "worse")


def test_the_page_counts_wins_ties_losses_and_what_is_not_judged(page: str) -> None:
    counted = "(better on 2, equal on 1, worse on 1, not judged on 1)"
    assert f"in SHD on **3 of 5** settings {counted}" in page
    assert f"in BIC on **3 of 5** settings {counted}" in page
    assert "Every peer that takes the data finished on 3 of the 5 settings; the others" in page


def test_the_summary_names_the_best_peer_and_shows_the_seeds(page: str) -> None:
    assert paragraph(page, "| Gaussian ER, 2d edges, d = 50, 1,000 rows | 2 of 2 |") == (
        "| Gaussian ER, 2d edges, d = 50, 1,000 rows | 2 of 2 | 2.5 | 3 (`good`) | better (2, 1, 1)"
        " | +5.0 | +4.0 (`good`) | better (3, 0, 1) |"
    )
    lost = paragraph(page, "| Gaussian SF, 2 parents each, d = 50, 10,000 rows | 2 of 2 |")
    assert lost.endswith(
        "| 8 | 6 (`good`) | **worse** (1, 0, 3) | +2.0 | +9.0 (`good`) | **worse** (1, 0, 3) |"
    )
    assert "| 0 of 1 | 1 | none finished | not judged |" in page


def test_a_loss_is_told_in_words_with_its_figures(page: str) -> None:
    told = paragraph(page, "**Gaussian SF, 2 parents each, d = 50, 10,000 rows.**")
    assert "SHD: ours has 8 by median; `good` 6." in told
    assert "closer to the truth on 1 of 4 seeds, as close on 0 and farther on 3" in told
    assert "Ours scores lower, too, by 7.0 nats in the median" in told
    assert "`good` by 7.0 nats (ours is lower on 3 of 4 seeds)" in told
    assert "Ours is below the true graph on 2 of 4 seeds." in told
    assert "`xges`" not in told


def test_settings_without_a_loss_are_not_among_the_losses(page: str) -> None:
    losses = page.partition("## Where ours is not the best")[2].partition("\n## ")[0]
    assert "d = 50, 1,000 rows" not in losses
    assert "d edges, d = 50, 10,000 rows.**" not in losses


def test_a_closer_graph_with_a_lower_score_is_called_that() -> None:
    rows = [*ROWS, *runs("close", WON, (0,) * 4, (-2.0,) * 4)]
    told = paragraph(quality_page.page(Results(rows, PRESET)), "**Gaussian ER, 2d edges, d = 50, 1")
    assert "Ours scores higher than that peer, by 7.0 nats in the median" in told
    assert "the higher score was not the closer graph" in told
    assert "BIC: ahead" not in told


def test_a_peer_that_did_not_finish_is_not_beaten_but_listed(page: str) -> None:
    told = paragraph(page, "**Gaussian ER, 4d edges, d = 30, 10,000 rows.**")
    assert "`xges`, ahead in SHD and BIC on the 1 of 4 that it finished" in told
    assert f"| `xges` | {TIMEOUT} | {HARD.name} (1) |" in page
    assert f"| `xges` | not tried: out of time | {HARD.name} (2) |" in page
    assert "| `xges` | 3 of 4 | 3 / 0 / 0 | 3 / 0 / 0 |" in page


def test_timeouts_are_told_with_the_share_of_the_processor_that_runs_had(page: str) -> None:
    told = "median and range: Gaussian ER, 4d edges, d = 30, 10,000 rows: 50% (50% to 80%)."
    assert told in page
    assert "they had this share of a core: ours 50%, the peers' 50%" in page


def test_reasons_show_no_folder_and_break_no_table(page: str) -> None:
    assert f"| `good` | crash in run: y.py / died | {COUNTED.name} (4) |" in page


def test_a_kind_that_a_program_does_not_take_is_no_failure(page: str) -> None:
    assert "No discrete data are taken by `xges`." in page
    assert "wrong kind" not in page


def test_time_is_compared_where_both_finished(page: str) -> None:
    assert "on 0 of the 3 settings that both finished; `xges` takes 1.0× to 1.0× our time" in page
    assert "`xges` takes no discrete data (1 of 5 settings)." in page
    assert "it did not finish: 1 of 4 seeds (timeout 1, not tried 2)." in page
    slower = [r | {"cpu_seconds": 3.0} if r["peer"] == "xges" and r["shd"] else r for r in ROWS]
    again = quality_page.page(Results(slower, PRESET))
    assert "on 3 of the 3 settings that both finished; `xges` takes 3.0× to 3.0× our time" in again


def test_a_failure_of_ours_is_a_loss_of_words_and_not_judged() -> None:
    rows = [*ROWS, failure(DEFAULT, WON, 2, TIMEOUT)]
    results = Results(rows, PRESET)
    assert verdicts(results)[0].shd == "not judged"
    text = quality_page.page(results)
    assert "Ours did not finish: 3 of 4 seeds (timeout 1)." in text
    assert "in SHD on **2 of 5** settings" in text


def test_without_rows_of_ours_nothing_is_claimed() -> None:
    text = quality_page.page(Results([r for r in ROWS if r["peer"] != DEFAULT], PRESET))
    assert f"There are no rows of our default, `{DEFAULT}`, so nothing is judged." in text
    assert "Nothing can be said before our default has been run." in text
    assert "best or equal in SHD" not in text


def test_a_peer_with_seeds_left_to_measure_is_not_compared() -> None:
    some = runs("partial", WON, (0,) * 4, (50.0,) * 4)[:2]
    results = Results([*ROWS, *some], PRESET)
    assert (verdicts(results)[0].shd, verdicts(results)[0].bic) == ("better", "better")
    assert f"| `partial` | not measured | {WON.name} (2)" in quality_page.page(results)


def test_a_graph_that_no_dag_extends_has_an_shd_and_no_score() -> None:
    loose = [r | {"bic": None} for r in runs("loose", WON, (0,) * 4, (0.0,) * 4)]
    results = Results([*ROWS, *loose], PRESET)
    assert (verdicts(results)[0].shd, verdicts(results)[0].bic) == ("worse", "better")
    assert f"`loose` on {WON.name} (4 of 4)" in quality_page.page(results)


def test_a_row_measured_again_replaces_the_first() -> None:
    again = runs(DEFAULT, WON, (9,) * 4, (5.0,) * 4)
    assert verdicts(Results([*ROWS, *again], PRESET))[0].shd == "worse"


def test_rows_of_other_data_under_the_same_name_are_refused() -> None:
    other = [row("late", WON, 0, bic_true=-101.0)]
    with pytest.raises(MixedData, match=r"seed 0: the true graph scores -101.0 where late was run"):
        Results([*ROWS, *other], PRESET)


def test_limits_that_differ_are_told() -> None:
    rows = [r | {"limit": 60.0} if r["peer"] == DEFAULT else r for r in ROWS]
    text = quality_page.page(Results(rows, PRESET))
    assert f"at most 30 s (`good` and `xges`) or 60 s (`{DEFAULT}`) per run" in text


def test_the_table_has_a_line_per_setting_and_program() -> None:
    text = quality.as_csv(Results(ROWS, PRESET))
    lines = list(csv.DictReader(io.StringIO(text)))
    assert tuple(lines[0]) == quality.COLUMNS
    keys = [(line["setting"], line["program"]) for line in lines]
    assert keys == [
        (spec.name, name) for spec, _ in PRESET.problems for name in (DEFAULT, "good", "xges")
    ]
    first = lines[0]
    shown = [first[f"shd_{which}"] for which in ("q1", "median", "q3")]
    assert shown == ["1.75", "2.5", "3.25"]
    assert (first["runs"], first["finished"], first["bic_minus_true_median"]) == ("4", "4", "5")
    hard = lines[keys.index((HARD.name, "xges"))]
    assert (hard["runs"], hard["finished"], hard["cpu_seconds_median"]) == ("4", "1", "20")
    assert hard["reason"] == f"{TIMEOUT} (1); not tried: out of time (2)"
    crashed = lines[keys.index((COUNTED.name, "good"))]
    assert (crashed["shd_median"], crashed["below_true"]) == ("", "")


def test_the_order_of_the_rows_changes_nothing() -> None:
    one, two = Results(ROWS, PRESET), Results(ROWS[::-1], PRESET)
    assert quality_page.page(one) == quality_page.page(two)
    assert quality.as_csv(one) == quality.as_csv(two)


def test_the_command_writes_page_table_figures_and_the_line_of_the_index(tmp_path: Path) -> None:
    rows, out = tmp_path / "rows.jsonl", tmp_path / "out"
    out.mkdir()
    for each in runs(DEFAULT, Spec("er", 50, 1_000, 2), (1,) * 4, (0.0,) * 4):
        append_row(rows, each)
    (out / "index.md").write_text("# X\n\n| a |\n| --- |\n| [b](b.md) | c |\n\nend\n")
    for _ in range(2):  # the second time the line is there already
        assert quality.main(["--results", str(rows), "--out", str(out)]) == 0
    index = (out / "index.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in index if "quality" in line] == [index[5]]
    assert index[-1] == "end"
    for name in ("quality.svg", "quality-bic.svg"):
        assert (out / name).read_text(encoding="utf-8").startswith("<?xml")
    assert (out / "quality.csv").read_text(encoding="utf-8").startswith("setting,kind,")


def test_no_rows_are_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert quality.main(["--results", str(tmp_path / "none.jsonl"), "--out", str(tmp_path)]) == 2
    assert "there are no rows" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_the_same_rows_give_the_same_figure(tmp_path: Path) -> None:
    for draw in (quality_plot.distance, quality_plot.score):
        for name in "ab":
            draw(Results(ROWS, PRESET), tmp_path / f"{name}.svg")
        assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize(
    "module", [quality, quality_facts, quality_page, quality_plot, quality_words]
)
def test_examples_in_the_code_run(module: Any) -> None:  # noqa: ANN401 (a module)
    assert doctest.testmod(module).failed == 0


def test_what_the_page_calls_our_default_is_the_default_of_learn() -> None:
    """But for the bound on its work, which came after the rows."""
    word = sges.learn(sges.examples.load("asia")).strategy
    assert word is not None
    unbounded = replace(STRATEGIES[word], sets_per_clique=None, effort=None)
    assert f"sges-{unbounded}" == DEFAULT


needs_rows = pytest.mark.skipif(not quality.ROWS.is_file(), reason="the rows are not here")


@needs_rows
@pytest.mark.parametrize("name", ["quality.md", "quality.csv"])
def test_what_is_shipped_is_what_the_shipped_rows_give(name: str) -> None:
    """`python -m studies.peers.quality` writes all of it anew."""
    results = Results(read_rows(quality.ROWS))
    shipped = (quality.PAGES / name).read_text(encoding="utf-8")
    made: dict[str, Callable[[Results], str]] = {
        "quality.md": quality_page.page,
        "quality.csv": quality.as_csv,
    }
    assert shipped == made[name](results)
