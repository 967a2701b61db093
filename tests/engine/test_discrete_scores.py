"""Native discrete scores compared with those of the package, which count with NumPy."""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sges.data.dataset import Dataset
from sges.data.reading import Kind
from sges.engine import discrete as native
from sges.errors import ScoreError
from sges.graph.pdag import PDAG
from sges.nodeset import nodeset
from sges.score.discrete import QNML, BDeu, DiscreteBIC, DiscreteScore
from sges.score.protocol import delete_gains, insert_gains, total_score
from sges.search.engines import CompiledEngine, native_of

Codes = NDArray[np.unsignedinteger[Any]]
Weights = NDArray[np.int64] | None
Pair = tuple[DiscreteScore, Any]
SCORES = (native.DiscreteBIC, native.QNML, native.BDeu)


# -- tables, and the pairs of scores to compare ----------------------------------------------------


def dataset(codes: Codes, arities: Sequence[int], weights: Weights = None) -> Dataset:
    return Dataset(
        names=tuple(f"v{i}" for i in range(len(arities))),
        kinds=(Kind.DISCRETE,) * len(arities),
        levels=tuple(range(r) for r in arities),  # type: ignore[misc] # a range saves memory
        values=np.empty((0, codes.shape[1])),
        codes=codes,
        weights=weights,
    )


def related(
    rng: np.random.Generator, rows: int, arities: Sequence[int], follow: float = 0.6
) -> Codes:
    """Return columns that often depend on the one before; not all levels occur."""
    seen = [int(rng.integers(max(1, r // 2), r + 1)) for r in arities]
    codes = np.array([rng.integers(0, r, rows) for r in seen])
    for c in range(1, len(arities)):
        follows = rng.random(rows) < follow
        codes[c, follows] = codes[c - 1, follows] % seen[c]
    return codes.astype(str(rng.choice(["uint8", "uint16", "uint32"])))


def pairs(
    codes: Codes,
    arities: Sequence[int],
    weights: Weights = None,
    penalty: float = 0.7,
    ess: float = 2.5,
) -> list[Pair]:
    data = dataset(codes, arities, weights)
    return [
        (DiscreteBIC(data, penalty), native.DiscreteBIC(codes, arities, weights, penalty)),
        (QNML(data), native.QNML(codes, arities, weights)),
        (BDeu(data, ess), native.BDeu(codes, arities, weights, ess)),
    ]


def assert_same_gains(pair: Pair, y: int, base: Sequence[int]) -> None:
    """Compare all inserts into y and all deletes; terms of size m ln m limit the precision."""
    score, compiled = pair
    inside = np.array(sorted(base), dtype=np.intp)
    outside = np.array([x for x in range(score.n) if x != y and x not in base], dtype=np.intp)
    close = partial(
        pytest.approx, rel=1e-9, abs=1e-8 + 4e-15 * score.records * math.log(score.records)
    )
    gains, _ = compiled.insert_gains(y, base)
    assert list(gains) == outside.tolist()
    expected = insert_gains(score, y, nodeset(base), outside)
    assert list(gains.values()) == close(expected)
    expected = delete_gains(score, y, nodeset(base), inside)
    assert compiled.delete_gains(y, base) == close(expected)


def assert_same_on_random_families(pair: Pair, rng: np.random.Generator, sizes: Any) -> None:  # noqa: ANN401
    n = pair[0].n
    for size in sizes:
        if size < n:
            y, *base = rng.permutation(n)[: size + 1].tolist()
            assert_same_gains(pair, y, base)


# -- gains ----------------------------------------------------------------------------------------


@st.composite
def tables(draw: st.DrawFn) -> tuple[Codes, list[int], Weights]:
    """Any small table, with levels that may not occur, columns of one level and weights."""
    arities = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    row = st.tuples(*(st.integers(0, r - 1) for r in arities))
    rows = draw(st.lists(row, min_size=1, max_size=25))
    times = draw(st.none() | st.lists(st.integers(0, 300), min_size=len(rows), max_size=len(rows)))
    weights = None if times is None else np.array([times[0] + 1, *times[1:]], dtype=np.int64)
    return np.array(rows, dtype=np.uint8).T.copy(), arities, weights


@given(tables(), st.data())
def test_gains_on_small_tables_are_those_of_the_package(
    table: tuple[Codes, list[int], Weights], data: st.DataObject
) -> None:
    codes, arities, weights = table
    y = data.draw(st.integers(0, len(arities) - 1))
    base = sorted(data.draw(st.sets(st.integers(0, len(arities) - 1))) - {y})
    for pair in pairs(codes, arities, weights):
        assert_same_gains(pair, y, base)


@pytest.mark.parametrize("rows", [1, 2, 30, 300, 4000])
@pytest.mark.parametrize("widest", [2, 4, 9, 40])
@pytest.mark.parametrize("heaviest", [None, 2, 400, 100_000])
def test_gains_on_random_tables_are_those_of_the_package(
    rows: int, widest: int, heaviest: int | None, seed: int
) -> None:
    rng = np.random.default_rng([seed, rows, widest, heaviest or 0])
    arities = rng.integers(1, widest + 1, int(rng.integers(2, 45))).tolist()
    codes = related(rng, rows, arities)
    weights = None if heaviest is None else rng.integers(0, heaviest, rows)
    if weights is not None:
        weights[0] += 1
    for pair in pairs(codes, arities, weights):
        assert_same_on_random_families(pair, rng, (0, 1, 2, 3, 5, 9))


@pytest.mark.parametrize("rows", [1, 30, 4000])
@pytest.mark.parametrize("heaviest", [None, 400])
def test_the_score_of_a_class_is_the_sum_of_its_families(
    rows: int, heaviest: int | None, seed: int
) -> None:
    rng = np.random.default_rng([seed, rows, heaviest or 0])
    arities = rng.integers(2, 6, 20).tolist()
    weights = None if heaviest is None else rng.integers(1, heaviest, rows)
    data = dataset(related(rng, rows, arities), arities, weights)
    complete = PDAG.complete(len(arities))
    sparse = complete.edited(remove=[(x, y) for x in range(8) for y in range(x + 1, 20)])
    for score in (DiscreteBIC(data, 0.7), QNML(data), BDeu(data, 2.5)):
        engine = CompiledEngine(score, native_of(score))
        for graph in (complete, sparse, PDAG.empty(len(arities))):
            engine.start(graph, 0.0)
            precision = 1e-8 + 4e-15 * score.records * math.log(score.records)
            expected = pytest.approx(total_score(score, graph), rel=1e-9, abs=precision)
            assert engine.member_score() == expected


@pytest.mark.parametrize("rows", [2, 300, 4000])
@pytest.mark.parametrize("heaviest", [None, 2, 400])
def test_blocks_are_counted_alike_in_vectors_and_column_by_column(
    rows: int, heaviest: int | None, seed: int
) -> None:
    """Processors without wide vectors count column by column."""
    rng = np.random.default_rng([seed, rows, heaviest or 0, 3])
    arities = rng.integers(1, 9, 45).tolist()
    codes = related(rng, rows, arities)
    weights = None if heaviest is None else rng.integers(1, heaviest, rows)
    for kind in SCORES:
        in_vectors, plain = kind(codes, arities, weights), kind(codes, arities, weights)
        plain.in_vectors = False
        assert not plain.in_vectors
        for size in (0, 1, 2, 4):
            y, *base = rng.permutation(45)[: size + 1].tolist()
            assert plain.insert_gains(y, base) == in_vectors.insert_gains(y, base)


@pytest.mark.parametrize("unit", [0.2, 1.5, 1e-6])
def test_gains_of_counts_in_other_units_are_those_of_the_package(unit: float, seed: int) -> None:
    rng = np.random.default_rng([seed, 7])
    arities = rng.integers(1, 6, 12).tolist()
    codes = related(rng, 500, arities)
    weights = rng.integers(1, 9, 500) * round(1 / min(unit, 1.0))
    data = replace(dataset(codes, arities, weights), unit=unit)
    in_units: list[Pair] = [
        (DiscreteBIC(data, 0.7), native.DiscreteBIC(codes, arities, weights, 0.7, unit)),
        (QNML(data), native.QNML(codes, arities, weights, unit)),
        (BDeu(data, 2.5), native.BDeu(codes, arities, weights, 2.5, unit)),
    ]
    for pair in in_units:
        assert_same_on_random_families(pair, rng, (0, 1, 2, 3, 5, 9))


@pytest.mark.parametrize("repeats", [1, 60])
def test_a_cell_may_hold_more_records_than_16_bits_count(repeats: int, seed: int) -> None:
    """70,000 rows, nearly all of them in one cell, with few or many distinct ones."""
    rng = np.random.default_rng(seed)
    arities = [2, 3, 4, 2, *[3] * (40 // repeats)]
    codes = related(rng, 70_000, arities)
    codes[:3, rng.random(70_000) < 0.97] = 0
    for pair in pairs(codes, arities):
        assert_same_on_random_families(pair, rng, (0, 1, 2))
        assert_same_gains(pair, 0, [1, 2])


def test_weights_may_add_up_to_more_records_than_32_bits_count(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arities = [2, 3, 4, 2, 30]
    codes = related(rng, 200, arities)
    weights = rng.integers(1, 2**31, 200)
    for pair in pairs(codes, arities, weights):
        assert_same_on_random_families(pair, rng, (0, 1, 2, 3))


def test_equal_rows_and_weights_are_the_same_records(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arities = [3, 2, 4, 3, 2]
    codes = related(rng, 40, arities)
    times = rng.integers(0, 50, 40)
    for kind in SCORES:
        short, long = kind(codes, arities, times), kind(np.repeat(codes, times, axis=1), arities)
        assert short.records == long.records == times.sum()
        for base in ([], [1], [1, 4]):
            found, expected = short.insert_gains(0, base)[0], long.insert_gains(0, base)[0]
            assert found == pytest.approx(expected, abs=1e-9)
            assert short.delete_gains(0, base) == pytest.approx(long.delete_gains(0, base))


def test_a_column_may_have_more_levels_than_rows(seed: int) -> None:
    """For example names: of millions of declared levels, a few hundred occur."""
    rng = np.random.default_rng(seed)
    arities = [2, 1_000_000, 3, 4_000_000, 300]
    codes = np.array([rng.integers(0, r, 700) for r in arities]).astype(np.uint32)
    for pair in pairs(codes, arities):
        for y in range(5):
            for base in ([], [2], [1], [0, 3], [0, 1, 2, 3, 4]):
                assert_same_gains(pair, y, [x for x in base if x != y])


@pytest.mark.parametrize("parents", [12, 30])
def test_most_configurations_of_many_parents_are_never_visited(parents: int, seed: int) -> None:
    """Up to 5^30 configurations, more than 64 bits can number; few of them occur."""
    rng = np.random.default_rng(seed)
    arities = rng.integers(2, 6, 40).tolist()
    codes = related(rng, 3000, arities, follow=0.97)
    for pair in pairs(codes, arities):
        assert_same_on_random_families(pair, rng, (parents,))
        assert_same_gains(pair, 39, list(range(parents)))


def test_configurations_of_many_binary_parents_keep_their_own_names(seed: int) -> None:
    """A name of 64 bits has room for 62 parents; the other eight need another part."""
    rng = np.random.default_rng(seed)
    codes = (rng.random((71, 600)) < 0.002).astype(np.uint8)
    codes[62:] = rng.integers(0, 2, (9, 600))
    codes[:62, 0] = 1  # both levels occur
    for pair in pairs(codes, [2] * 71):
        assert_same_gains(pair, 70, list(range(70)))


def test_more_configurations_than_a_float_can_hold_still_give_finite_gains() -> None:
    """10^335 configurations; the penalty of the BIC is limited, but still prevents inserts."""
    codes = np.random.default_rng(0).integers(0, 250, (142, 50)).astype(np.uint8)
    for pair in pairs(codes, [250] * 142)[1:]:  # differences of the limit itself say nothing
        assert_same_gains(pair, 141, list(range(140)))
    bic, bdeu = native.DiscreteBIC(codes, [250] * 142), native.BDeu(codes, [250] * 142)
    assert bic.insert_gains(141, range(140))[0][140] < -1e280
    assert min(bic.delete_gains(141, range(140))) > 1e280
    assert bdeu.insert_gains(141, range(140))[0][140] == pytest.approx(0, abs=1e-9)


def test_an_equivalent_sample_size_may_be_tiny_or_huge(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arities = [2, 3, 4, 3, 2, 3]
    codes = related(rng, 500, arities)
    for ess in (1e-300, 1e-6, 1e6):
        pair = pairs(codes, arities, ess=ess)[-1]
        for base in ([], [1], [1, 2, 3]):
            assert_same_gains(pair, 0, base)


# -- gains above a worth, and gains that are always returned ---------------------------------------


@pytest.mark.parametrize("worth", [-20.0, 0.0, 5.0, 1e9])
@pytest.mark.parametrize("size", [0, 2, 5])
def test_exactly_the_gains_above_a_worth_are_written(worth: float, size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    arities = [3, 2, 4, 3, 2, 5, 3, 2, 40, 1]
    codes = related(rng, 300, arities)
    for _, score in pairs(codes, arities):
        for y in range(10):
            base = [x for x in range(size + 1) if x != y]
            every, _ = score.insert_gains(y, base)
            found, _ = score.insert_gains(y, base, worth)
            assert found == {x: gain for x, gain in every.items() if gain > worth}


def test_gains_that_are_asked_anyway_are_exact_whatever_the_worth(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arities = [3, 2, 4, 3, 2, 5, 3, 2, 40]
    codes = related(rng, 300, arities)
    for _, score in pairs(codes, arities):
        every, _ = score.insert_gains(1, [0, 4])
        found, also = score.insert_gains(1, [0, 4], math.inf, [3, 5, 8])
        assert found == {}
        assert also == [every[3], every[5], every[8]]


def test_a_copy_leaves_nothing_to_explain() -> None:
    codes = related(np.random.default_rng(0), 500, [3, 3, 3, 2])
    codes[1] = codes[0]
    score = native.DiscreteBIC(codes, [3, 3, 3, 2])
    assert score.insert_gains(1, [0], 0.0)[0] == {}
    assert score.insert_gains(1, [0])[0].keys() == {2, 3}


@pytest.mark.parametrize("heaviest", [None, 3])
def test_a_copy_of_a_node_gains_all_that_can_be_gained(heaviest: int | None, seed: int) -> None:
    """The bound on gains is attained, so it must not be even slightly too low."""
    rng = np.random.default_rng(seed)
    arities = [3, 3, 4, 2]
    codes = related(rng, 500, arities)
    codes[1] = codes[0]
    weights = None if heaviest is None else rng.integers(1, heaviest + 1, 500)
    for _, score in pairs(codes, arities, weights):
        for base in ([], [2], [2, 3]):
            largest = score.insert_gains(0, base)[0][1]
            assert score.insert_gains(0, base, math.nextafter(largest, -math.inf))[0][1] == largest
            assert 1 not in score.insert_gains(0, base, largest)[0]


def test_a_column_of_one_level_changes_nothing() -> None:
    codes = np.array([[0, 0, 0], [0, 1, 1], [0, 0, 1]], dtype=np.uint8)
    for _, score in pairs(codes, [1, 2, 2]):
        assert score.insert_gains(0, [])[0] == {1: 0.0, 2: 0.0}
        assert score.insert_gains(1, [2])[0] == {0: 0.0}
        assert score.delete_gains(1, [0, 2])[0] == pytest.approx(0.0, abs=1e-12)


def test_threads_may_share_a_score(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arities = [3] * 20
    codes = related(rng, 1000, arities)
    asked = [(y, [x for x in range(k) if x != y]) for y in range(20) for k in (0, 2, 6, 12)]
    for _, score in pairs(codes, arities):

        def answer(family: tuple[int, list[int]], score: Any = score) -> Any:  # noqa: ANN401
            return score.insert_gains(*family), score.delete_gains(*family)

        alone = [answer(family) for family in asked]
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(answer, asked * 3)) == alone * 3


# -- the border -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["F", "strided", "int64", "uint64", ">u2", "bool"])
def test_codes_may_have_any_memory_layout(kind: str, seed: int) -> None:
    codes = related(np.random.default_rng(seed), 60, [2, 2, 2])
    if kind == "F":
        laid: NDArray[Any] = np.asfortranarray(codes)
    elif kind == "strided":
        laid = np.repeat(codes, 2, axis=1)[:, ::2]
    else:
        laid = codes.astype(kind)
    for score in SCORES:
        plain, other = score(codes, [2, 2, 2]), score(laid, [2, 2, 2])
        assert plain.insert_gains(0, [1]) == other.insert_gains(0, [1])
        assert plain.delete_gains(0, [1, 2]) == other.delete_gains(0, [1, 2])


def test_a_gain_beyond_floats_is_an_error() -> None:
    score = native.DiscreteBIC(
        np.array([[0, 1, 1], [0, 2, 1]], dtype=np.uint8), [2, 300], penalty=1e308
    )
    with pytest.raises(ScoreError, match="not finite"):
        score.insert_gains(1, [])
