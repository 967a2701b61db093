"""DiscreteBIC, QNML and BDeu: values and special cases."""

import math
import pickle
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive_counts as naive
from sges.data.dataset import Dataset
from sges.data.reading import Kind
from sges.errors import ScoreError
from sges.nodeset import nodes, nodeset
from sges.score import check_score
from sges.score.discrete import (
    EXACT_REGRETS,
    MANY_RECORDS,
    QNML,
    BDeu,
    DiscreteBIC,
    DiscreteScore,
    approximate_regret,
    exact_regrets,
)

Rows = list[tuple[int, ...]]


def dataset(
    rows: Sequence[Sequence[int]] | NDArray[Any],
    arities: Sequence[int],
    weights: NDArray[np.int64] | None = None,
) -> Dataset:
    codes = np.ascontiguousarray(np.asarray(rows, dtype=np.uint16).T)
    return Dataset(
        names=tuple(f"v{i}" for i in range(len(arities))),
        kinds=(Kind.DISCRETE,) * len(arities),
        levels=tuple(tuple(range(r)) for r in arities),
        values=np.empty((0, len(rows))),
        codes=codes,
        weights=weights,
    )


def related(seed: int, rows: int, arities: Sequence[int]) -> NDArray[np.intp]:
    """Return rows in which columns often depend on the one before."""
    rng = np.random.default_rng(seed)
    found = np.array([rng.integers(0, r, rows) for r in arities]).T.copy()
    for c in range(1, len(arities)):
        follows = rng.random(rows) < 0.6
        found[follows, c] = found[follows, c - 1] % arities[c]
    return found


def scores_of(data: Dataset) -> list[DiscreteScore]:
    return [DiscreteBIC(data, penalty=0.7), QNML(data), BDeu(data, ess=2.5)]


@st.composite
def tables(draw: st.DrawFn) -> tuple[Rows, list[int]]:
    """Draw a small table; levels may not occur, and columns may have one level."""
    arities = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    row = st.tuples(*(st.integers(0, r - 1) for r in arities))
    return draw(st.lists(row, min_size=1, max_size=25)), arities


# ------------------------------------------------------------------ values


def test_bic_of_a_coin_and_its_copy_by_hand() -> None:
    """Four tosses, two heads: 4 ln ½ − ½ ln 4; with the copy as parent 0 − 2 · ½ ln 4."""
    score = DiscreteBIC(dataset([(0, 0), (0, 0), (1, 1), (1, 1)], [2, 2]))
    assert score.local(0, 0) == pytest.approx(-5 * math.log(2))
    assert score.local(0, 0b10) == pytest.approx(-2 * math.log(2))


def test_qnml_of_a_coin_and_its_copy_by_hand() -> None:
    """Two tosses, one head: C(2, 2) is 1 + ½ + 1, and C(2, 4) is 4 + 6 / 2."""
    score = QNML(dataset([(0, 0), (1, 1)], [2, 2]))
    assert score.local(0, 0) == pytest.approx(math.log(1 / 4) - math.log(5 / 2))
    assert score.local(0, 0b10) == pytest.approx(-math.log(7) + math.log(5 / 2))


def test_bdeu_of_a_coin_by_hand() -> None:
    """By Laplace's rule (ess = 2), each order of two heads in four tosses has probability 1/30."""
    score = BDeu(dataset([(0, 0), (0, 1), (1, 0), (1, 1)], [2, 2]), ess=2)
    assert score.local(0, 0) == pytest.approx(-math.log(30))
    # Given the other column, two configurations with one head and one tail, α = ½ each:
    # (½)(½ / 2) per configuration.
    assert score.local(0, 0b10) == pytest.approx(2 * math.log(1 / 8))


def test_bdeu_of_a_published_example() -> None:
    """The example in pgmpy's documentation, to the three digits printed there."""
    rows = [(0, 1, 1), (1, 0, 1), (1, 1, 1), (0, 0, 0)]
    score = BDeu(dataset(rows, [2, 2, 2]), ess=5)
    assert round(score.local(1, 0b001), 3) == -3.446
    assert round(score.local(0, 0) + score.local(1, 0b001) + score.local(2, 0b001), 3) == -9.392


@given(tables(), st.sampled_from([0.0, 0.5, 1.0, 3.0]), st.data())
def test_bic_equals_a_dictionary_count(
    table: tuple[Rows, list[int]], penalty: float, data: st.DataObject
) -> None:
    rows, arities = table
    score = DiscreteBIC(dataset(rows, arities), penalty)
    y = data.draw(st.integers(0, score.n - 1))
    parents = data.draw(st.sets(st.integers(0, score.n - 1))) - {y}
    expected = naive.bic(rows, arities, y, parents, penalty)
    assert score.local(y, nodeset(parents)) == pytest.approx(expected, abs=1e-10)


@given(tables(), st.sampled_from(["1/8", "1", "10", "1000"]), st.data())
def test_bdeu_equals_the_product_of_predictions(
    table: tuple[Rows, list[int]], ess: str, data: st.DataObject
) -> None:
    rows, arities = table
    score = BDeu(dataset(rows, arities), float(Fraction(ess)))
    y = data.draw(st.integers(0, score.n - 1))
    parents = data.draw(st.sets(st.integers(0, score.n - 1))) - {y}
    expected = naive.bdeu(rows, arities, y, parents, Fraction(ess))
    assert score.local(y, nodeset(parents)) == pytest.approx(expected, abs=1e-10)


REGRET_ERROR = 2e-4
"""The error of an approximate regret, of more than EXACT_REGRETS categories."""


@given(tables(), st.data())
def test_qnml_equals_the_likelihood_less_the_regrets_of_the_definition(
    table: tuple[Rows, list[int]], data: st.DataObject
) -> None:
    rows, arities = table
    score = QNML(dataset(rows, arities))
    y = data.draw(st.integers(0, score.n - 1))
    parents = data.draw(st.sets(st.integers(0, score.n - 1))) - {y}
    expected = naive.qnml(rows, arities, y, parents)
    is_exact = math.prod(arities) <= EXACT_REGRETS
    error = 1e-10 if is_exact else 2 * REGRET_ERROR
    assert score.local(y, nodeset(parents)) == pytest.approx(expected, abs=error)


@pytest.mark.parametrize("m", [1, 2, 3, 7, 30])
def test_regrets_equal_the_sum_over_all_counts(m: int) -> None:
    found = exact_regrets(m)
    assert found[0] == 0.0
    for categories in (1, 2, 3, 4, 5, 8, 17, 100, 999, 1000):
        expected = naive.regret(m, categories)
        assert found[categories - 1] == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("m", [1, 2, 5, 12])
def test_regrets_of_many_categories_are_approximated_closely(m: int) -> None:
    for categories in (1001, 3125, 10**6, 10**30, 10**120):
        error = approximate_regret(m, categories) - naive.regret(m, categories)
        assert abs(error) <= REGRET_ERROR


@pytest.mark.parametrize("m", [100, 1000, 9999, 10**4, 10**6, 10**9, 10**15])
def test_exact_and_approximate_regrets_meet(m: int) -> None:
    """The error is below 1 / 5K: it is that of the approximation, about 1 / 6K."""
    found = exact_regrets(m)
    for categories in (2, 3, 5, 10, 100, EXACT_REGRETS):
        error = approximate_regret(m, categories) - found[categories - 1]
        assert 0 < error < 1 / (5 * categories)


def test_regrets_do_not_jump_where_their_formula_changes() -> None:
    """C(m, 2) is a sum and, from MANY_RECORDS on, an expansion: differences change smoothly."""
    regrets = [exact_regrets(m)[1] for m in range(MANY_RECORDS - 3, MANY_RECORDS + 3)]
    assert np.abs(np.diff(regrets, 2)).max() < 1e-8
    assert np.abs(np.diff(regrets, 3)).max() < 1e-11


@pytest.mark.parametrize("records", [1, 2, 10, 300, 100_000, 10**12])
def test_the_penalty_of_qnml_rises_with_every_parent_and_has_a_limit(records: int) -> None:
    """More parents do not cost less, nor more than a code that ignores them.

    Up to rounding, and a step of 1e-6 between exact and approximate regrets.
    """
    data = dataset([(0, 0)], [3, 4], np.array([records]))
    score = QNML(data)
    costs = [score._penalty(0, 4**parents) for parents in range(600)]
    limit = records * math.log(3)
    assert np.diff(costs).min() >= -1e-6 - 1e-12 * limit
    assert costs[-1] == pytest.approx(limit)


def test_a_level_that_never_occurs_counts_as_a_parameter() -> None:
    rows = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 1)]
    seen, declared = DiscreteBIC(dataset(rows, [2, 2])), DiscreteBIC(dataset(rows, [2, 5]))
    half = math.log(5) / 2
    assert declared.local(1, 0) == pytest.approx(seen.local(1, 0) - 3 * half)
    assert declared.local(0, 0b10) == pytest.approx(seen.local(0, 0b10) - 3 * half)


def test_penalty_scales_only_the_parameters() -> None:
    data = dataset(related(0, 100, [3, 2, 4]), [3, 2, 4])
    free, one, two = (DiscreteBIC(data, p).local(2, 0b011) for p in (0.0, 1.0, 2.0))
    assert one - free == pytest.approx(-math.log(100) / 2 * 3 * 6)
    assert two - one == pytest.approx(one - free)


def test_repeated_rows_and_weights_are_the_same_records(seed: int) -> None:
    arities = [3, 2, 4, 3]
    rows = related(seed, 40, arities)
    times = np.random.default_rng(seed).integers(0, 5, 40)
    for short, long in zip(
        scores_of(dataset(rows, arities, times)),
        scores_of(dataset(np.repeat(rows, times, axis=0), arities)),
        strict=True,
    ):
        assert short.records == long.records
        assert short.local(0, 0b1110) == pytest.approx(long.local(0, 0b1110))


# ------------------------------------------------------------------ the contract


def rename(score: DiscreteScore, order: Sequence[int]) -> DiscreteScore:
    """Return the score of the same data with its columns in another order."""
    data = replace(
        score.data,
        names=tuple(score.names[i] for i in order),
        levels=tuple(score.data.levels[i] for i in order),
        codes=np.ascontiguousarray(score.data.codes[list(order)]),
    )
    if isinstance(score, QNML):
        return QNML(data)
    setting = score.penalty if isinstance(score, DiscreteBIC) else getattr(score, "ess", 0.0)
    return type(score)(data, setting)  # type: ignore[call-arg] # each has one setting


@pytest.mark.parametrize("arities", [[2, 3, 4, 2, 3, 1, 5], [2, 2, 3], [2, 3], [4]])
def test_the_scores_keep_the_contract(arities: list[int], seed: int) -> None:
    """With 300 equivalent pairs for seven variables, and 100 for one to three."""
    pairs = 300 if len(arities) > 3 else 100
    for score in scores_of(dataset(related(seed, 200, arities), arities)):
        check_score(score, seed=seed, pairs=pairs, permuted=partial(rename, score))


# ------------------------------------------------------------------ special cases


def test_a_column_of_one_level_is_worth_nothing_and_adds_nothing() -> None:
    rows = [(0, 0, 0), (0, 1, 0), (0, 1, 1)]
    for score in scores_of(dataset(rows, [1, 2, 2])):
        assert score.local(0, 0b110) == 0.0
        assert score.local(1, 0b101) == pytest.approx(score.local(1, 0b100), abs=1e-12)


def test_one_record_of_one_column_has_a_score() -> None:
    bic, qnml, bdeu = scores_of(dataset([(1,)], [3]))
    assert bic.local(0, 0) == 0.0
    for score in (qnml, bdeu):
        assert score.local(0, 0) == pytest.approx(-math.log(3))


def test_thirty_parents_of_ten_levels_take_memory_proportional_to_the_records(seed: int) -> None:
    """There are 10^30 configurations; memory is limited to 64 MiB for 20,000 records."""
    rows = np.random.default_rng(seed).integers(0, 10, (20_000, 40))
    data = dataset(rows, [10] * 40)
    base = 2**30 - 1
    for score in scores_of(data):
        score.local(39, 0)
        tracemalloc.start()
        value = score.local(39, base)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 64 * 2**20
        # No two records share a configuration: the likelihood of each is one, or 1 / r.
        if isinstance(score, DiscreteBIC):
            assert value == pytest.approx(-0.7 * math.log(20_000) / 2 * 9 * 1e30)
        else:
            assert value == pytest.approx(-20_000 * math.log(10))


def test_more_configurations_than_a_float_can_hold_still_give_finite_scores() -> None:
    """10^400 configurations; the penalty is limited, but still prevents inserts."""
    rows = np.random.default_rng(0).integers(0, 10, (50, 402))
    base = 2**400 - 1
    bic, qnml, bdeu = scores_of(dataset(rows, [10] * 402))
    for score in (bic, qnml, bdeu):
        assert math.isfinite(score.local(401, base))
    assert bic.local(401, base | 1 << 400) <= bic.local(401, base) < -1e290
    for score in (qnml, bdeu):
        assert score.local(401, base) == pytest.approx(-50 * math.log(10))


def test_a_column_with_more_levels_than_records_is_counted() -> None:
    rows = [(i % 2, i, i % 3) for i in range(60)]
    data = dataset(rows, [2, 1_000_000, 3])
    bic, _, bdeu = scores_of(data)
    plain = [tuple(map(int, row)) for row in rows]
    expected = naive.bic(plain, [2, 1_000_000, 3], 0, [1, 2], 0.7)
    assert bic.local(0, 0b110) == pytest.approx(expected)
    exact = naive.bdeu(plain, [2, 1_000_000, 3], 1, [0, 2], Fraction(5, 2))
    assert bdeu.local(1, 0b101) == pytest.approx(exact)


def test_a_score_survives_pickling() -> None:
    data = dataset(related(0, 50, [3, 2]), [3, 2])
    for score in scores_of(data):
        again = pickle.loads(pickle.dumps(score))
        assert again.local(0, 0b10) == score.local(0, 0b10)
        assert repr(again) == repr(score)


# ------------------------------------------------------------------ invalid arguments


@pytest.mark.parametrize("penalty", [-1.0, math.nan, math.inf])
def test_a_penalty_must_be_a_finite_number_of_at_least_zero(penalty: float) -> None:
    with pytest.raises(ScoreError, match=r"penalty .* is not a finite number of at least 0; 1\.0"):
        DiscreteBIC(dataset([(0,)], [2]), penalty)


@pytest.mark.parametrize("ess", [0.0, -1.0, math.nan, math.inf])
def test_an_equivalent_sample_size_must_be_a_finite_number_above_zero(ess: float) -> None:
    with pytest.raises(ScoreError, match=r"ess .* is not a finite number above 0"):
        BDeu(dataset([(0,)], [2]), ess)


def test_a_continuous_column_is_refused_by_name() -> None:
    table = {"dose": [0.5, 1.5, 2.25], "cured": [True, False, True], "age": [1.5, 2.5, 9.75]}
    for score in (DiscreteBIC, QNML, BDeu):
        with pytest.raises(ScoreError, match=r"column 'dose' is continuous, and 1 more; .*kinds="):
            score(table)


# ------------------------------------------------------------------ peers


def test_bic_and_bdeu_equal_those_of_pgmpy(seed: int) -> None:
    """The same value for each family, without a constant."""
    peer = pytest.importorskip("pgmpy.structure_score", reason="pgmpy is not installed")
    pandas = pytest.importorskip("pandas")
    arities = [2, 3, 4, 2]
    rows = related(seed, 300, arities)
    names = ["v0", "v1", "v2", "v3"]
    frame = pandas.DataFrame({name: rows[:, i] for i, name in enumerate(names)}, dtype="category")
    states = {name: list(range(r)) for name, r in zip(names, arities, strict=True)}
    data = dataset(rows, arities)
    pairs = [
        (DiscreteBIC(data), peer.BIC(frame, state_names=states)),
        (BDeu(data, ess=10), peer.BDeu(frame, equivalent_sample_size=10, state_names=states)),
    ]
    for ours, theirs in pairs:
        for y in range(4):
            for parents in (p for p in range(16) if not p >> y & 1):
                expected = theirs.local_score(names[y], tuple(names[x] for x in nodes(parents)))
                assert ours.local(y, parents) == pytest.approx(expected), (y, parents)
