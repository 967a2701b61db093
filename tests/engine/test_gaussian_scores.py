"""Native Gaussian scores against the package's own, which compute the same with LAPACK."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
import pytest
from numpy.typing import NDArray

from sges.data.dataset import Dataset
from sges.errors import DataWarning, ScoreError
from sges.nodeset import nodes, nodeset
from sges.score.base import Candidates, Gains
from sges.score.bge import BGe
from sges.score.gaussian import GaussianBIC
from sges.score.mixed import DegenerateGaussian

native = pytest.importorskip("sges.engine.gaussian", reason="the engine is not compiled")

Family = tuple[int, list[int]]
BASES = (*range(13), 30, 60)


class Score(Protocol):
    """What the tests ask of the package's scores."""

    @property
    def n(self) -> int: ...

    def insert_gains(self, y: int, base: int, candidates: Candidates) -> Gains: ...

    def delete_gains(self, y: int, base: int, candidates: Candidates) -> Gains: ...


# -- a native score for each of the package's ------------------------------------------------------


def gaussian(score: GaussianBIC, kind: str = "float64") -> Any:  # noqa: ANN401 (compiled)
    correlation = score._correlation.astype(kind)
    return native.Gaussian(correlation, score._half, score._per_parent)


def bge(score: BGe, kind: str = "float64") -> Any:  # noqa: ANN401 (compiled)
    return native.BGe(
        score._correlation.astype(kind),
        score._spread,
        score._by_size,
        score._freedom,
        score._isolated,
        nodes(score._constant),
    )


def mixed(score: DegenerateGaussian, kind: str = "float64") -> Any:  # noqa: ANN401 (compiled)
    written = score._written
    matrix = written.matrix.astype(kind)
    return native.DegenerateGaussian(
        matrix, written.starts, written.widths, score._half, score._per_parameter
    )


MADE: dict[type, Any] = {GaussianBIC: gaussian, BGe: bge, DegenerateGaussian: mixed}


# -- tables ----------------------------------------------------------------------------------------


def linear(seed: int, n: int, records: int = 0) -> NDArray[np.float64]:
    """Return records of a random linear network of n variables, in random order."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(records or 4 * n + 40, n))
    for v in range(1, n):
        parents = rng.integers(0, v, size=3)
        table[:, v] += table[:, parents] @ rng.uniform(-0.8, 0.8, size=3)
    return table[:, rng.permutation(n)] * rng.uniform(0.1, 10, size=n)


def discretised(seed: int, n: int) -> Dataset:
    """Return a table of which two columns in three have 2 to 6 levels."""
    table = linear(seed, n, 40 * n)
    columns: dict[str, Any] = {f"v{i}": table[:, i] for i in range(n)}
    for i in range(n):
        if i % 3:
            cuts = np.quantile(table[:, i], np.linspace(0, 1, 2 + i % 6)[1:-1])
            codes = np.digitize(table[:, i], cuts)
            columns[f"v{i}"] = np.array([f"level {code}" for code in codes])
    return Dataset.of(columns)


def families(seed: int, n: int, sizes: Iterable[int] = BASES) -> Iterator[Family]:
    """Return a random y and base of each size that fits."""
    rng = np.random.default_rng(seed)
    for size in sizes:
        if size < n:
            y, *base = rng.permutation(n)[: size + 1].tolist()
            yield y, sorted(base)


def others(n: int, y: int, base: Sequence[int]) -> NDArray[np.intp]:
    return np.array(sorted(set(range(n)) - {y, *base}), dtype=np.intp)


def assert_same(score: Score, compiled: Any, families: Iterable[Family], within: float) -> None:  # noqa: ANN401
    """Compare every gain of some families, relative to its size or to one."""
    for y, base in families:
        candidates = others(score.n, y, base)
        found, _ = compiled.insert_gains(y, base)
        assert list(found) == candidates.tolist()
        expected = score.insert_gains(y, nodeset(base), candidates)
        np.testing.assert_allclose(list(found.values()), expected, within, within)
        removed = score.delete_gains(y, nodeset(base), np.array(base, dtype=np.intp))
        np.testing.assert_allclose(compiled.delete_gains(y, base), removed, within, within)


# -- the same gains --------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 25, 80, 300])
@pytest.mark.parametrize("kind", [GaussianBIC, BGe])
def test_gains_are_those_of_the_score_in_python(kind: type, n: int, seed: int) -> None:
    score = kind(linear(seed, n))
    assert_same(score, MADE[kind](score), families(seed, n), 1e-9)


@pytest.mark.parametrize("n", [1, 2, 3, 25, 90])
def test_gains_of_mixed_tables_are_those_of_the_score_in_python(n: int, seed: int) -> None:
    score = DegenerateGaussian(discretised(seed, n))
    assert_same(score, mixed(score), families(seed, n), 1e-9)


def test_the_degenerate_gaussian_of_continuous_columns_is_the_bic(seed: int) -> None:
    table = linear(seed, 30)
    score = DegenerateGaussian(table)
    assert_same(GaussianBIC(table), mixed(score), families(seed, 30), 1e-9)


@pytest.mark.parametrize("kind", [GaussianBIC, BGe, DegenerateGaussian])
def test_single_precision_loses_only_what_the_entries_lose(kind: type, seed: int) -> None:
    score = kind(linear(seed, 40))
    assert_same(score, MADE[kind](score, "float32"), families(seed, 40, range(13)), 1e-2)


@pytest.mark.parametrize("kind", [GaussianBIC, BGe, DegenerateGaussian])
def test_constant_columns_are_worth_the_same_as_in_python(kind: type, seed: int) -> None:
    table = linear(seed, 20)
    table[:, [3, 11, 19]] = 7.0
    with pytest.warns(DataWarning, match="constant columns"):
        score = kind(table)
    several = [*families(seed, 20), (3, [1, 2]), (3, [11, 12]), (5, [3, 4, 11]), (5, [3, 11, 19])]
    assert_same(score, MADE[kind](score), several, 1e-9)


def test_a_variable_may_be_wider_than_a_block_of_columns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, 300, size=5000)
    table = {
        "a": np.array([f"level {v}" for v in levels]),
        "b": levels + rng.normal(size=5000) * 100,
        "c": np.array(list("xyz"))[rng.integers(0, 3, size=5000)],
        "d": np.array([f"level {v}" for v in levels // 6]),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # d is a function of a
        score = DegenerateGaussian(table)
    every = [(y, base) for y in range(4) for base in ([], [(y + 1) % 4])]
    assert_same(score, mixed(score), every, 1e-6)


# -- what is written -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [GaussianBIC, BGe, DegenerateGaussian])
def test_gains_above_worth_are_written_and_those_asked_for(kind: type, seed: int) -> None:
    table = linear(seed, 60)
    table[:, [7, 30]] = 1.0
    with pytest.warns(DataWarning):
        score = kind(table)
    compiled = MADE[kind](score)
    for y, base in families(seed, 60, range(10)):
        every, _ = compiled.insert_gains(y, base)
        for worth in (*np.quantile(list(every.values()), [0.0, 0.5, 0.9, 1.0]), 0.0, np.inf):
            also = others(60, y, base)[::7].tolist()
            found, asked = compiled.insert_gains(y, base, worth, also)
            assert found == {x: gain for x, gain in every.items() if gain > worth}
            assert asked == [every[x] for x in also]


@pytest.mark.parametrize("kind", [GaussianBIC, BGe, DegenerateGaussian])
def test_an_infinite_family_is_refused(kind: type) -> None:
    """The columns are copies, so that no factor exists; the package would have added a ridge."""
    ones = np.ones((3, 3))
    made = {
        GaussianBIC: lambda: native.Gaussian(ones, 5.0, 1.0),
        BGe: lambda: native.BGe(ones, np.zeros(3), np.zeros(5), 5.0, -1.0),
        DegenerateGaussian: lambda: native.DegenerateGaussian(ones, [0, 1, 2], [1, 1, 1], 5.0, 1.0),
    }
    score = made[kind]()
    with pytest.raises(ScoreError, match="a gain of node 0 is not finite"):
        score.insert_gains(0, [])
    with pytest.raises(ScoreError, match="a gain of node 0 is not finite"):
        score.delete_gains(0, [1, 2])


@pytest.mark.parametrize("kind", [GaussianBIC, BGe, DegenerateGaussian])
def test_threads_may_share_a_score(kind: type, seed: int) -> None:
    score = kind(linear(seed, 50))
    compiled = MADE[kind](score)
    asked = list(families(seed, 50, range(13))) * 4
    expected = [compiled.insert_gains(y, base) for y, base in asked]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda family: compiled.insert_gains(*family), asked)) == expected
