"""Computations on one large matrix in place equal the textbook expressions."""

import tracemalloc

import numpy as np
import pytest
from numpy.typing import NDArray
from threadpoolctl import threadpool_info, threadpool_limits

from sges import learning
from sges.data import Dataset, moments
from sges.data.moments import correlations_of
from sges.errors import DataError

SIZES = [1, 2, 9, 10, 23]


@pytest.fixture(autouse=True)
def _small_panels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Split small matrices into several panels, of which the last is incomplete."""
    monkeypatch.setattr(moments, "PANEL", 10)
    original = moments.panels
    monkeypatch.setattr(moments, "panels", lambda n, rows=10: original(n, rows))


def symmetric(n: int, seed: int, lift: float = 0.0) -> NDArray[np.float64]:
    square = np.random.default_rng(seed).normal(size=(n, n))
    found: NDArray[np.float64] = square @ square.T / n + lift * np.eye(n)
    return (found + found.T) / 2


@pytest.mark.parametrize("n", SIZES)
def test_products_add_up_to_one_product(n: int, seed: int) -> None:
    factor = np.random.default_rng(seed).normal(size=(n, 30))
    total = np.full((n, n), np.nan)
    moments.add_products(total, factor[:, :20], fresh=True)
    moments.add_products(total, factor[:, 20:], fresh=False)
    moments.mirror(total)
    assert np.array_equal(total, total.T)
    assert np.allclose(total, factor @ factor.T, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("n", SIZES)
def test_definiteness_is_that_of_the_eigenvalues_and_the_matrix_is_kept(n: int, seed: int) -> None:
    for lift in (1.0, -2.0, 1e-6):
        matrix = symmetric(n, seed, lift)
        np.fill_diagonal(matrix, 1.0 + lift)
        before = matrix.copy()
        definite = bool(np.linalg.eigvalsh(matrix)[0] > 0)
        assert moments.is_positive_definite(matrix) == definite
        moments.restore_lower(matrix, 1.0 + lift)
        assert np.array_equal(matrix, before)


@pytest.mark.parametrize("n", SIZES)
def test_symmetrize_is_the_mean_with_the_transpose(n: int, seed: int) -> None:
    matrix = np.random.default_rng(seed).normal(size=(n, n))
    expected = (matrix + matrix.T) / 2
    moments.symmetrize(matrix)
    assert np.array_equal(matrix, expected)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("weighted", [False, True])
def test_correlations_of_a_wide_table_are_those_of_its_records(
    dtype: str, weighted: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    offset, scale = 10.0 ** rng.integers(-5, 9, 23), 10.0 ** rng.integers(-3, 30, 23)
    values = (rng.normal(size=(23, 23)) @ rng.normal(size=(23, 90)) + 1.0) * scale[:, None]
    values += (offset * scale)[:, None]
    values[4] = 7.0
    weights = rng.integers(1, 5, 90) if weighted else None
    found = correlations_of([""] * 23, values, weights, np.dtype(dtype))
    records = values if weights is None else np.repeat(values, weights, axis=1)
    others = np.delete(np.arange(23), 4)
    exact = np.corrcoef(((records - records[:, :1]) / scale[:, None])[others])
    assert found.records == records.shape[1]
    assert found.matrix.dtype == dtype
    assert np.abs(found.matrix[np.ix_(others, others)] - exact).max() < (
        1e-12 if dtype == "float64" else 1e-5
    )
    assert found.variance[4] == 0.0
    assert not found.matrix[4].any()
    assert np.allclose(found.mean, records.mean(axis=1), rtol=1e-12)
    assert np.array_equal(found.matrix, found.matrix.T)


def test_blocks_of_rows_make_no_difference(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(seed).normal(size=(23, 500)) + 1e6
    whole = correlations_of([""] * 23, values, None, np.dtype(np.float64)).matrix
    monkeypatch.setattr(moments, "block_rows", lambda _: 64)
    for table in (values, np.asfortranarray(values)):
        parts = correlations_of([""] * 23, table, None, np.dtype(np.float64)).matrix
        assert np.abs(parts - whole).max() < 1e-13


def test_progress_is_reported_in_steps_up_to_all_of_the_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(moments, "block_rows", lambda _: 64)
    told: list[tuple[int, int]] = []
    values = np.random.default_rng(0).normal(size=(23, 150))
    correlations_of([""] * 23, values, None, np.dtype(np.float64), lambda *at: told.append(at))
    done = [part for part, _ in told]
    assert done == sorted(set(done))
    assert len(done) == 9  # three blocks of rows, three panels each
    assert {total for _, total in told} == {done[-1]}


def test_memory_is_that_of_one_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    n = 1500
    values = np.random.default_rng(0).normal(size=(100, n)).T
    names = list(map(str, range(n)))
    tracemalloc.start()
    correlations_of(names, values, None, np.dtype(np.float64))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * 8 * n * n


@pytest.mark.parametrize(
    ("dtype", "line"),
    [
        ("float64", r"20,000 columns need a correlation matrix of 3\.2 GB \(float64\), but "
         r"only 1\.5 GB are available; use dtype='float32', or fewer columns"),
        ("float32", r"20,000 columns .* 1\.6 GB \(float32\), but only 1\.5 GB .*; use fewer "
         "columns"),
    ],
)  # fmt: skip
def test_too_large_a_matrix_is_refused_before_it_is_made(
    dtype: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moments, "available_memory", lambda: 1_500_000_000)
    values = np.broadcast_to(np.zeros((1, 1)), (20_000, 30))
    with pytest.raises(DataError, match=line):
        correlations_of([""] * 20_000, values, None, np.dtype(dtype))


def test_available_memory_is_a_number_of_bytes_or_unknown() -> None:
    found = moments.available_memory()
    assert found is None or found > 1 << 20


def blas_threads() -> set[int]:
    """Return the set of thread numbers of all BLAS libraries."""
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.mark.skipif(not blas_threads(), reason="threadpoolctl does not know the BLAS of NumPy")
def test_blas_has_one_thread_for_small_products_only(monkeypatch: pytest.MonkeyPatch) -> None:
    data = Dataset.of(np.random.default_rng(0).normal(size=(50, 20)))
    with threadpool_limits(2, "blas"):
        with learning.few_threads(data):
            assert blas_threads() == {1}
        monkeypatch.setattr(learning, "SMALL_PRODUCTS", 50 * 20**2)
        with learning.few_threads(data):
            assert blas_threads() == {2}
