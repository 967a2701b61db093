"""The score that "auto" selects for discrete tables, depending on the number of levels."""

import numpy as np
import pytest

from sges import confidence, examples, learn
from sges.data import Dataset
from sges.errors import ScoreError
from sges.score import BDeu
from sges.score.named import named_score

SIZES = ((10, 50), (10, 100), (20, 200), (30, 300), (50, 500), (100, 2000))
"""Levels and records for which qNML finds 3 to 7 edges between five independent columns."""


def columns(levels: int, records: int, seed: int, copied: float = 0.0) -> Dataset:
    """Return five columns, each with a share of records that copy the column before it."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, levels, (records, 5))
    for j in range(4):
        table[:, j + 1] = np.where(rng.random(records) < copied, table[:, j], table[:, j + 1])
    return Dataset.of(table, kinds="discrete")


@pytest.mark.parametrize(("levels", "records"), SIZES)
def test_independent_columns_with_many_levels_get_no_edges(
    levels: int, records: int, seed: int
) -> None:
    result = learn(columns(levels, records, seed))
    assert result.cpdag.edge_count() <= 1  # one may be false by chance, as with any score
    assert result.score_name == "BDeu with edge prior"
    assert "with fewer than 4, qNML finds edges between independent columns" in result.notes[0]


@pytest.mark.parametrize(("levels", "records"), SIZES[2:])
def test_strong_dependences_of_columns_with_many_levels_are_found(
    levels: int, records: int, seed: int
) -> None:
    result = learn(columns(levels, records, seed, copied=0.8))
    edges = {frozenset(edge) for edge in result.cpdag.undirected_edges()}
    assert {frozenset({j, j + 1}) for j in range(4)} <= edges


def test_qnml_is_the_default_from_four_records_per_combination_of_levels_on() -> None:
    pairs = [(f"a{i % 5}", f"b{i % 4}", "yes" if i % 3 else "no") for i in range(80)]
    enough = Dataset.of(dict(zip("abc", zip(*pairs, strict=True), strict=True)))
    fewer = Dataset.of(dict(zip("abc", zip(*pairs[1:], strict=True), strict=True)))
    assert enough.records_per_cell == 4.0
    assert named_score("auto", enough, "auto").class_name == "QNML"
    assert named_score("auto", fewer, "auto").class_name == "BDeu"
    assert named_score("auto", fewer, 1.0) == named_score("bic", fewer, "auto")
    assert learn(examples.load("asia")).score_name == "QNML with edge prior"


def test_a_single_column_has_no_combinations() -> None:
    alone = Dataset.of({"a": [f"l{i % 15}" for i in range(30)]})
    assert alone.records_per_cell == np.inf
    assert Dataset.of({"x": [0.5, 1.5, 2.5]}).records_per_cell == np.inf


def test_the_sample_size_by_levels_is_the_largest_number_of_levels() -> None:
    table = {"a": ["u", "v", "w", "u"], "b": ["y", "n", "n", "y"]}
    assert BDeu(table, ess="levels").ess == 3.0
    by_levels, by_number = BDeu(table, ess="levels"), BDeu(table, ess=3.0)
    assert by_levels.local(1, 0b01) == by_number.local(1, 0b01)
    with pytest.raises(ScoreError, match="above 0, or 'levels'"):
        BDeu(table, ess="many")  # type: ignore[arg-type]


def test_replicates_are_scored_like_the_table() -> None:
    data = columns(20, 200, seed=1, copied=0.8)
    result = learn(data)
    assert result.score_name == confidence(data, 3).score_name == "BDeu with edge prior"
    assert result.confidence(3).graphs == confidence(data, 3).graphs
