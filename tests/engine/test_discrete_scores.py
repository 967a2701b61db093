"""Native discrete scores compared with their definitions in Python, family by family."""

import math
from collections.abc import Sequence
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
from sges.engine.columns import in_native
from sges.errors import ScoreError
from sges.nodeset import nodeset
from sges.score.discrete import QNML, BDeu, DiscreteBIC, DiscreteScore
from sges.search.engines import native_of

Codes = NDArray[np.unsignedinteger[Any]]
Weights = NDArray[np.int64] | None
Pair = tuple[DiscreteScore, Any]


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
    codes: Codes, arities: Sequence[int], weights: Weights = None, ess: float = 2.5, unit: float = 1
) -> list[Pair]:
    data = replace(dataset(codes, arities, weights), unit=unit)
    return [
        (score, native_of(score)[0])
        for score in (DiscreteBIC(data, 0.7), QNML(data), BDeu(data, ess))
    ]


def assert_same_gains(pair: Pair, y: int, base: Sequence[int]) -> None:
    """Compare all inserts into y and all deletes; terms of size m ln m limit the precision."""
    score, compiled = pair
    values = [score.local(y, nodeset(base) ^ (x != y) << x) for x in range(score.n)]
    before = score.local(y, nodeset(base))
    close = partial(
        pytest.approx, rel=1e-9, abs=1e-8 + 4e-15 * score.records * math.log(score.records)
    )
    gains, _ = compiled.insert_gains(y, base)
    outside = [x for x in range(score.n) if x != y and x not in base]
    assert list(gains) == outside
    assert list(gains.values()) == close([values[x] - before for x in outside])
    assert compiled.delete_gains(y, base) == close([values[x] - before for x in sorted(base)])
    assert compiled.family(y, base) == close(before - score.local(y, 0))


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


@pytest.mark.parametrize("rows", [1, 30, 2000])
@pytest.mark.parametrize("widest", [3, 40])
@pytest.mark.parametrize("heaviest", [None, 2, 100_000])
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


@pytest.mark.parametrize("rows", [2, 4000])
@pytest.mark.parametrize("heaviest", [None, 400])
def test_blocks_are_counted_alike_in_vectors_and_column_by_column(
    rows: int, heaviest: int | None, seed: int
) -> None:
    """Processors without wide vectors count column by column."""
    rng = np.random.default_rng([seed, rows, heaviest or 0, 3])
    arities = rng.integers(1, 9, 45).tolist()
    codes = related(rng, rows, arities)
    weights = None if heaviest is None else rng.integers(1, heaviest, rows)
    for kind in ("bic", "qnml", "bdeu"):
        table = kind, codes, arities, weights, 2.5, 1.0
        in_vectors, plain = in_native(*table), in_native(*table, in_vectors=False)
        for size in (0, 1, 2, 4):
            y, *base = rng.permutation(45)[: size + 1].tolist()
            assert plain.insert_gains(y, base) == in_vectors.insert_gains(y, base)


@pytest.mark.parametrize("unit", [0.2, 1.5, 1e-6])
def test_weights_may_be_fractions_or_large_and_an_ess_tiny_or_huge(unit: float, seed: int) -> None:
    """Also more records than 32 bits count."""
    rng = np.random.default_rng([seed, 7])
    arities = rng.integers(1, 6, 12).tolist()
    codes = related(rng, 500, arities)
    weights = rng.integers(1, 9, 500) * round(1 / min(unit, 1.0))
    for pair in pairs(codes, arities, weights, unit=unit, ess={0.2: 1e-300, 1.5: 1e6}.get(unit, 1)):
        assert_same_on_random_families(pair, rng, (0, 1, 2, 3, 5, 9))
    for pair in pairs(codes, arities, rng.integers(1, 2**31, 500)):
        assert_same_on_random_families(pair, rng, (0, 1, 2, 3))


def test_most_configurations_of_many_parents_are_never_visited(seed: int) -> None:
    """Up to 5^30 configurations; and of 70 binary parents, more than 64 bits can name."""
    rng = np.random.default_rng(seed)
    arities = rng.integers(2, 6, 40).tolist()
    codes = related(rng, 3000, arities, follow=0.97)
    binary = (rng.random((71, 600)) < 0.002).astype(np.uint8)
    binary[62:] = rng.integers(0, 2, (9, 600))
    binary[:62, 0] = 1  # both levels occur
    for few, many in zip(pairs(codes, arities), pairs(binary, [2] * 71), strict=True):
        assert_same_on_random_families(few, rng, (12, 30))
        assert_same_gains(few, 39, list(range(12)))
        assert_same_gains(many, 70, list(range(70)))


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


def test_a_column_may_have_more_levels_than_rows(seed: int) -> None:
    """For example names: of millions of declared levels, a few hundred occur."""
    rng = np.random.default_rng(seed)
    arities = [2, 1_000_000, 3, 4_000_000, 300]
    codes = np.array([rng.integers(0, r, 700) for r in arities]).astype(np.uint32)
    for pair in pairs(codes, arities):
        for y in range(5):
            for base in ([], [2], [1], [0, 3], [0, 1, 2, 3, 4]):
                assert_same_gains(pair, y, [x for x in base if x != y])


def test_more_configurations_than_a_float_can_hold_still_give_finite_gains() -> None:
    """10^335 configurations; the penalty of the BIC is limited, but still prevents inserts."""
    codes = np.random.default_rng(0).integers(0, 250, (142, 50)).astype(np.uint8)
    for pair in pairs(codes, [250] * 142)[1:]:  # differences of the limit itself say nothing
        assert_same_gains(pair, 141, list(range(140)))
    (_, bic), _, (_, bdeu) = pairs(codes, [250] * 142)
    assert bic.insert_gains(141, list(range(140)))[0][140] < -1e280
    assert min(bic.delete_gains(141, list(range(140)))) > 1e280
    assert bdeu.insert_gains(141, list(range(140)))[0][140] == pytest.approx(0, abs=1e-9)


# -- gains above a worth, and gains that are always returned ---------------------------------------


@pytest.mark.parametrize("size", [0, 2, 5])
def test_gains_above_a_worth_are_written_and_those_asked_for(size: int, seed: int) -> None:
    """A copy of a node attains the bound on gains, which must not be even slightly too low."""
    rng = np.random.default_rng(seed)
    arities = [3, 2, 4, 3, 2, 5, 3, 3, 40, 1]
    codes = related(rng, 300, arities)
    codes[6] = codes[7]
    weights = rng.integers(1, 4, 300) if size == 2 else None
    for _, score in pairs(codes, arities, weights):
        for y in range(10):
            base = [x for x in range(size + 1) if x != y]
            every, _ = score.insert_gains(y, base)
            also = sorted(every)[::2]
            largest = max(every.values())
            for worth in (-20.0, 0.0, 5.0, math.nextafter(largest, -math.inf), largest, math.inf):
                found, exact = score.insert_gains(y, base, worth, also)
                assert found == {x: gain for x, gain in every.items() if gain > worth}
                assert exact == [every[x] for x in also]


@pytest.mark.parametrize("rows", [60, 3000])
def test_answers_do_not_depend_on_what_was_asked_before(rows: int, seed: int) -> None:
    """Tables of terms and cells are kept between questions, and made again for others."""
    rng = np.random.default_rng(seed)
    arities = rng.integers(2, 6, 14).tolist()
    codes = related(rng, rows, arities)
    for _, score in pairs(codes, arities):
        for _ in range(60):
            y, *base = rng.permutation(14)[: int(rng.integers(1, 10))].tolist()
            assert score.insert_gains(y, base) == score.clone().insert_gains(y, base)
            assert score.delete_gains(y, base) == score.clone().delete_gains(y, base)


def test_codes_may_have_any_memory_layout_and_a_gain_beyond_floats_is_an_error(seed: int) -> None:
    codes = related(np.random.default_rng(seed), 60, [2, 2, 2])
    strided = np.repeat(codes, 2, axis=1)[:, ::2]
    for laid in (
        np.asfortranarray(codes),
        strided,
        *map(codes.astype, ("i8", "u8", ">u2", "bool")),
    ):
        for kind in ("bic", "qnml", "bdeu"):
            plain, other = (in_native(kind, c, [2, 2, 2], None, 1.0, 1.0) for c in (codes, laid))
            assert plain.insert_gains(0, [1]) == other.insert_gains(0, [1])
    steep = in_native("bic", np.array([[0, 1, 1], [0, 2, 1]]), [2, 300], None, 1e308, 1.0)
    with pytest.raises(ScoreError, match="must be finite"):
        steep.insert_gains(1, [])
