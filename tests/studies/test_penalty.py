"""What the experiment on the penalty claims, on its quick version."""

import pytest

from sges.penalty import rule_of_thumb
from studies.frame import Row
from studies.pages import pick, values
from studies.paper.penalty import PENALTIES, QUICK, sample
from studies.paper.penalty_page import CHOICES
from studies.registry import EXPERIMENTS, run
from studies.table import Table


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """Return the rows of a quick run."""
    report = run("penalty", out=tmp_path_factory.mktemp("penalty"), quick=True)
    return Table(report.rows, EXPERIMENTS["penalty"].header).rows()


def test_every_sample_is_learned_with_every_penalty_and_every_choice(rows: list[Row]) -> None:
    samples = {(row["setting"], row["records"], row["trial"]) for row in rows}
    for setting, records, trial in samples:
        here = pick(rows, setting=setting, records=records, trial=trial)
        assert [row["choice"] for row in here] == [*PENALTIES, *CHOICES]


def test_a_larger_penalty_finds_fewer_edges(rows: list[Row]) -> None:
    small, large = (sum(values(pick(rows, choice=p), "edges")) for p in (0.5, 6))
    assert large < small


def test_both_is_the_larger_of_the_two_and_says_what_it_cost(rows: list[Row]) -> None:
    for both in pick(rows, choice="both"):
        same = {key: both[key] for key in ("setting", "records", "trial")}
        others = [pick(rows, choice=c, **same)[0] for c in ("held-out", "stability")]
        assert both["penalty"] == max(float(other["penalty"]) for other in others)
        fixed = pick(rows, choice=both["penalty"], **same)[0]
        assert (both["shd"], both["edges"]) == (fixed["shd"], fixed["edges"])
        assert float(both["searches"]) >= float(others[0]["searches"]) > 1


def test_the_rule_of_thumb_takes_one_search(rows: list[Row]) -> None:
    for row in pick(rows, choice="rule"):
        data = sample(QUICK[str(row["setting"])], int(row["records"]), seed=0)[1]
        assert row["searches"] == 1
        assert row["penalty"] == pytest.approx(rule_of_thumb(data))
