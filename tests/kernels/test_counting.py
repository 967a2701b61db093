"""The compiled functions that count equal the Python functions that they stand for."""

import shutil
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sges import kernels
from sges.score import columns  # noqa: F401 (with it, the functions that have a twin)

pytestmark = pytest.mark.skipif(
    not kernels.AVAILABLE and shutil.which("cc") is None, reason="there is no C compiler here"
)

Array = NDArray[Any]
SEEDS = st.integers(0, 2**32 - 1)


WRITTEN = {"add_lanes": {0}, "count_column": {0}, "split_rows": {0, 3}}
"""Which arguments are written to, if it is not the last of seven."""


def both(name: str, out: int, *arrays: Array) -> tuple[Array, Array]:
    """Run the Python function and the compiled one; return what each wrote into one argument."""
    from sges.kernels import _compiled

    written = []
    for function in (kernels.pure(name), getattr(_compiled, name)):
        own = [array.copy() for array in arrays]
        assert function(*own) is None
        written.append(own[out])
        untouched = set(range(len(own))) - WRITTEN.get(name, {6})
        assert all(np.array_equal(own[k], arrays[k]) for k in untouched)
    return written[0], written[1]


def ids_of(rng: np.random.Generator, rows: int, size: int) -> Array:
    return rng.integers(0, size, rows).astype(np.intp)


@given(SEEDS, st.integers(0, 70), st.integers(1, 9), st.integers(0, 40))
def test_sums_of_lanes_are_the_same(seed: int, rows: int, size: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, (rows, width), dtype=np.uint8)
    sums = rng.integers(0, 2**16, (size, width), dtype=np.uint16)  # they wrap around
    python, c = both("add_lanes", 0, sums, ids_of(rng, rows, size), bits)
    assert np.array_equal(python, c)


@given(SEEDS, st.integers(0, 70), st.sampled_from([np.uint8, np.uint16, np.uint32]))
def test_counts_of_a_column_are_the_same(seed: int, rows: int, dtype: type) -> None:
    rng = np.random.default_rng(seed)
    size, arity = rng.integers(1, 8, 2)
    column: Array = rng.integers(0, arity, rows).astype(dtype)
    ids, table = ids_of(rng, rows, int(size)), rng.integers(0, 3, (size, arity)).astype(np.intp)
    python, c = both("count_column", 0, table, ids, column)
    assert np.array_equal(python, c)
    for out in (0, 3):
        python, c = both("split_rows", out, table, ids, column, np.empty(rows, dtype=np.intp))
        assert np.array_equal(python, c)


@given(SEEDS, st.sampled_from([np.uint16, np.intp]), st.sampled_from([1, 3]))
def test_sums_of_terms_are_the_same(seed: int, dtype: type, marks: int) -> None:
    rng = np.random.default_rng(seed)
    cells, arities = int(rng.integers(1, 12)), rng.integers(1, 6, rng.integers(1, 5))
    first = np.cumsum(arities - 1) - (arities - 1)  # one column after the other
    places = np.stack([first, np.ones_like(arities), arities]).astype(np.intp)
    sums: Array = rng.integers(0, 4, (cells, int((arities - 1).sum()) + 1)).astype(dtype)
    counts = sums.sum(axis=1).astype(np.intp) + rng.integers(0, 4, cells)
    starts = np.union1d([0], np.flatnonzero(rng.random(cells) < rng.random())).astype(np.intp)
    terms = rng.normal(size=(2, int(counts.sum()) + 1))
    found = np.full((marks, len(arities)), np.nan)
    python, c = both("sum_lanes", 6, sums, counts, starts, places, *terms, found)
    assert np.allclose(python, c, rtol=1e-12, atol=1e-12)


@given(SEEDS, st.sampled_from([1, 3]))
def test_sums_of_terms_without_a_parent_are_the_same(seed: int, marks: int) -> None:
    rng = np.random.default_rng(seed)
    arities = rng.integers(1, 4, rng.integers(2, 6))
    worth = np.cumprod([1, *arities[:0:-1]])[::-1]
    size = int(arities.prod())
    keys = np.flatnonzero(rng.random(size) < 0.7)
    counts = rng.integers(0, 5, len(keys)).astype(np.intp)
    places = np.stack([worth, arities])[:, :-1].astype(np.intp).copy()  # all but y
    extent = np.array([size, arities[-1]], dtype=np.intp)
    terms = rng.normal(size=(2, int(counts.sum()) + 1))
    found = np.full((marks, places.shape[1]), np.nan)
    python, c = both("sum_out", 6, keys, counts, places, extent, *terms, found)
    assert np.allclose(python, c, rtol=1e-12, atol=1e-12)


def refused(name: str, *arguments: object) -> str:
    """Return why a compiled function refuses its arguments: it never writes outside of arrays."""
    from sges.kernels import _compiled

    with pytest.raises((TypeError, ValueError, IndexError, BufferError)) as error:
        getattr(_compiled, name)(*arguments)
    return str(error.value)


I = np.intp  # noqa: E741
TERMS = np.zeros(9)
TABLE = np.zeros((2, 3), dtype=I)
IDS = np.array([0, 1], dtype=I)
PLACES = np.array([[0], [1], [3]], dtype=I)
FOUND = np.zeros((1, 1))
CODES = np.array([0, 2], dtype=np.uint8)
EXTENT = np.array([6, 3], dtype=I)
DIGITS = np.array([[3], [2]], dtype=I)


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("add_lanes", (np.zeros((2, 3), np.uint16), IDS, np.zeros((2, 4), np.uint8)), "as many"),
        ("add_lanes", (np.zeros((1, 3), np.uint16), IDS, np.zeros((2, 3), np.uint8)), "a cell"),
        ("add_lanes", (np.zeros((2, 3), np.uint16), -IDS, np.zeros((2, 3), np.uint8)), "a cell"),
        ("add_lanes", (TABLE, IDS, np.zeros((2, 3), np.uint8)), "an array of shorts"),
        ("count_column", (TABLE, IDS, CODES + 1), "a level"),
        ("count_column", (TABLE, IDS, CODES[:1]), "as many"),
        ("count_column", (TABLE, IDS + 1, CODES), "a cell"),
        ("count_column", (TABLE, IDS, CODES.astype(np.int64)), "an array of codes"),
        ("count_column", (TABLE, IDS), "3 arrays are needed, not 2"),
        ("split_rows", (TABLE, IDS, CODES, IDS[:1].copy()), "as many"),
        ("sum_lanes", (TABLE, IDS, IDS, PLACES + 1, TERMS, TERMS, FOUND), "a lane"),
        ("sum_lanes", (TABLE, IDS, IDS[::-1].copy(), PLACES, TERMS, TERMS, FOUND), "not fit"),
        ("sum_lanes", (TABLE, IDS[:1], IDS, PLACES, TERMS, TERMS, FOUND), "not fit"),
        ("sum_lanes", (TABLE, IDS, IDS, PLACES[:2], TERMS, TERMS, FOUND), "not fit"),
        ("sum_lanes", (TABLE, IDS + 9, IDS, PLACES, TERMS, TERMS, FOUND), "no term"),
        ("sum_lanes", (TABLE + 1, IDS, IDS, PLACES, TERMS, TERMS, FOUND), "no term"),
        ("split_rows", (TABLE, IDS, CODES, np.zeros((2, 0), I)), "1 axes"),
        ("sum_lanes", (TABLE, IDS, IDS, PLACES, np.zeros((9, 0)), TERMS, FOUND), "1 axes"),
        ("sum_lanes", (TABLE, IDS, IDS, PLACES * [[1], [2**62], [1]], TERMS, TERMS, FOUND), "lane"),
        ("sum_out", (IDS, IDS, DIGITS * [[2**61], [2]], EXTENT, TERMS, TERMS, FOUND), "a key"),
        ("sum_out", (IDS + 6, IDS, DIGITS, EXTENT, TERMS, TERMS, FOUND), "a key"),
        ("sum_out", (IDS - 1, IDS, DIGITS, EXTENT, TERMS, TERMS, FOUND), "a key"),
        ("sum_out", (IDS, IDS, DIGITS + 2, EXTENT, TERMS, TERMS, FOUND), "a key"),
        ("sum_out", (IDS, IDS - 1, DIGITS, EXTENT, TERMS, TERMS, FOUND), "no term"),
        ("sum_out", (IDS, IDS[:1], DIGITS, EXTENT, TERMS, TERMS, FOUND), "not fit"),
        ("sum_out", (IDS, IDS, DIGITS, EXTENT - 6, TERMS, TERMS, FOUND), "not fit"),
    ],
)
def test_what_would_lead_outside_of_an_array_is_refused(
    name: str, arguments: tuple[object, ...], why: str
) -> None:
    assert why in refused(name, *arguments)


def test_many_small_cells_after_a_giant_one_are_summed_to_the_last_digits() -> None:
    """Added one by one to a large sum, equal small terms would round the same way each."""
    from sges.kernels import _compiled

    giant, small, many = 2**20, 5, 60_000
    counts = np.array([giant, *[small] * many], dtype=np.intp)
    starts, ones = np.arange(many + 1), np.ones((3, 1), dtype=np.intp)
    term = np.arange(giant + 1) * np.log(np.maximum(np.arange(giant + 1), 1))
    nothing, found = np.zeros_like(term), np.empty((1, 1))
    _compiled.sum_lanes(counts[:, None], counts, starts, ones, term, nothing, found)
    assert found[0, 0] == pytest.approx(term[giant] + many * term[small], rel=1e-11)
    _compiled.sum_lanes(counts[:, None], counts, starts, ones, term, term, found)
    assert found[0, 0] == 0.0
    keys, extent = np.arange(many + 1), np.array([many + 1, 1])
    for configuration, wanted in ((nothing, term[giant] + many * term[small]), (term, 0.0)):
        one_level = np.ones((2, 1), dtype=np.intp)
        _compiled.sum_out(keys, counts, one_level, extent, term, configuration, found)
        assert found[0, 0] == pytest.approx(wanted, rel=1e-11)
