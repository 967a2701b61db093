"""Native Gaussian scores compared with those of the package, which use LAPACK."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sges.data.dataset import Dataset
from sges.engine import gaussian as native
from sges.engine.scores import ask_one_run
from sges.errors import DataWarning, ScoreError
from sges.nodeset import nodes, nodeset
from sges.score.gaussian.bge import BGe
from sges.score.gaussian.bic import GaussianBIC
from sges.score.gaussian.mixed import DegenerateGaussian
from sges.score.protocol import Score, delete_gains, insert_gains

Family = tuple[int, list[int]]
BASES = (*range(13), 30, 60, 70)


# -- native scores for the scores of the package ---------------------------------------------------


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
    blocks = score._blocks
    matrix = blocks.matrix.astype(kind)
    return native.DegenerateGaussian(
        matrix, blocks.starts, blocks.widths, score._half, score._per_parameter
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


def discretized(seed: int, n: int) -> Dataset:
    """Return a table in which two of three columns are discrete, with 2 to 6 levels."""
    table = linear(seed, n, 40 * n)
    columns: dict[str, Any] = {f"v{i}": table[:, i] for i in range(n)}
    for i in range(n):
        if i % 3:
            cuts = np.quantile(table[:, i], np.linspace(0, 1, 2 + i % 6)[1:-1])
            codes = np.digitize(table[:, i], cuts)
            columns[f"v{i}"] = np.array([f"level {code}" for code in codes])
    return Dataset.of(columns)


def families(seed: int, n: int, sizes: Iterable[int] = BASES) -> Iterator[Family]:
    """Yield a random y and a random base of each size below n."""
    rng = np.random.default_rng(seed)
    for size in sizes:
        if size < n:
            y, *base = rng.permutation(n)[: size + 1].tolist()
            yield y, sorted(base)


def others(n: int, y: int, base: Sequence[int]) -> NDArray[np.intp]:
    return np.array(sorted(set(range(n)) - {y, *base}), dtype=np.intp)


def assert_same(score: Score, compiled: Any, families: Iterable[Family], within: float) -> None:  # noqa: ANN401
    """Compare all gains of some families, with absolute and relative tolerance ``within``."""
    for y, base in families:
        candidates = others(score.n, y, base)
        found, _ = compiled.insert_gains(y, base)
        assert list(found) == candidates.tolist()
        expected = insert_gains(score, y, nodeset(base), candidates)
        np.testing.assert_allclose(list(found.values()), expected, within, within)
        removed = delete_gains(score, y, nodeset(base), np.array(base, dtype=np.intp))
        np.testing.assert_allclose(compiled.delete_gains(y, base), removed, within, within)


# -- the same gains --------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 25, 80, 300])
@pytest.mark.parametrize("kind", [GaussianBIC, BGe])
def test_gains_are_those_of_the_score_in_python(kind: type, n: int, seed: int) -> None:
    score = kind(linear(seed, n))
    assert_same(score, MADE[kind](score), families(seed, n), 1e-9)


@pytest.mark.parametrize("n", [1, 2, 3, 25, 90])
def test_gains_of_mixed_tables_are_those_of_the_score_in_python(n: int, seed: int) -> None:
    score = DegenerateGaussian(discretized(seed, n))
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


def blocks(seed: int, widths: Sequence[int], records: int = 4000) -> NDArray[np.float64]:
    """Return the correlations of orthogonal polynomials of variables with curved relations."""
    rng = np.random.default_rng(seed)
    columns = []
    last = rng.uniform(-1, 1, size=records)
    for width in widths:
        last = np.tanh(last**2 - 0.3 + 0.5 * rng.normal(size=records))
        powers = np.vander(last, width + 1, increasing=True)
        columns.append(np.linalg.qr(powers)[0][:, 1:])  # without the constant
    matrix: NDArray[np.float64] = np.hstack(columns).T @ np.hstack(columns)
    ends = np.cumsum(widths).tolist()
    for begin, end in zip([0, *ends[:-1]], ends, strict=True):
        matrix[begin:end, begin:end] = np.eye(end - begin)
    return (matrix + matrix.T) / 2


@pytest.mark.parametrize("widths", [[3] * 12, [1, 4, 2, 7, 1, 3], [5] * 70, [40, 2, 40]])
def test_blocks_of_any_width_are_scored_by_their_determinants(widths: list[int], seed: int) -> None:
    """The blocks of a basis score: several functions of each variable, whitened."""
    matrix = blocks(seed, widths)
    n, starts = len(widths), np.cumsum([0, *widths[:-1]]).tolist()
    score = native.DegenerateGaussian(matrix, starts, widths, 2000.0, 4.0)

    def log_determinant(variables: Iterable[int]) -> float:
        rows = [starts[v] + i for v in variables for i in range(widths[v])]
        return float(np.linalg.slogdet(matrix[np.ix_(rows, rows)])[1])

    def gain(y: int, base: Sequence[int], x: int) -> float:
        after = log_determinant([*base, x, y]) - log_determinant([*base, x])
        before = log_determinant([*base, y]) - log_determinant(base)
        return -2000.0 * (after - before) - 4.0 * widths[x] * widths[y]

    for y, base in families(seed, n, (0, 1, 2, 4)):
        found, _ = score.insert_gains(y, base)
        expected = {x: gain(y, base, x) for x in others(n, y, base).tolist()}
        assert found == pytest.approx(expected, rel=1e-8, abs=1e-6)
        removed = [-gain(y, sorted({*base} - {x}), x) for x in base]
        assert score.delete_gains(y, base) == pytest.approx(removed, rel=1e-8, abs=1e-6)


# -- gains that are returned -----------------------------------------------------------------------


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
def test_a_gain_just_above_worth_is_written(kind: type, seed: int) -> None:
    """Candidates are excluded by a comparison without logarithms, which may round differently."""
    compiled = MADE[kind](kind(linear(seed, 40)))
    for y, base in families(seed, 40, range(8)):
        every, _ = compiled.insert_gains(y, base)
        for x, gain in every.items():
            assert compiled.insert_gains(y, base, np.nextafter(gain, -np.inf))[0][x] == gain


@pytest.mark.parametrize("kind", [GaussianBIC, BGe, DegenerateGaussian])
def test_an_infinite_family_is_refused(kind: type) -> None:
    """The columns are copies, so that no factor exists; the package would add a ridge."""
    ones = np.ones((3, 3))
    made: dict[type, Any] = {
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


# -- intermediate results of a run -----------------------------------------------------------------


@pytest.mark.parametrize("kind", [GaussianBIC, BGe])
def test_a_kept_inverse_answers_for_smaller_bases(kind: type, seed: int) -> None:
    """A base, then the base without one or more nodes: the gains must be those of a new run."""
    compiled = MADE[kind](kind(linear(seed, 80)))
    rng = np.random.default_rng(seed)
    asked = []
    for size in (6, 12, 49):
        y, *base = rng.permutation(80)[: size + 1].tolist()
        asked += [("delete", y, sorted(base))] * 2
        asked += [("delete", y, sorted(set(base) - {c})) for c in base]
        for count in (2, 3, 4):
            gone = [set(rng.permutation(base)[:count].tolist()) for _ in range(9)]
            asked += [("delete", y, sorted(set(base) - each)) for each in gone]
    for (_, y, base), found in zip(asked, ask_one_run(compiled, asked), strict=True):
        np.testing.assert_allclose(found, compiled.delete_gains(y, base), 1e-10, 1e-10)


@pytest.mark.parametrize("n", [12, 60, 280])
@pytest.mark.parametrize("kind", [GaussianBIC, BGe, DegenerateGaussian])
def test_answers_do_not_depend_on_what_was_asked_before(kind: type, n: int, seed: int) -> None:
    """Bases of a few nodes, some with the same slot, grow and shrink in random order."""
    compiled = MADE[kind](kind(linear(seed, n)))
    rng = np.random.default_rng(seed)
    bases: dict[int, set[int]] = {y % n: set() for y in (0, 1, 32, 33)}
    rest = sorted(set(range(n)) - set(bases))
    asked: list[tuple[str, int, list[int]]] = []
    for _ in range(250):
        y = int(rng.choice(list(bases)))
        bases[y] ^= {int(rng.choice(rest))}
        asked.append((str(rng.choice(["insert", "delete"])), y, sorted(bases[y])))
    for (what, y, base), found in zip(asked, ask_one_run(compiled, asked), strict=True):
        if what == "insert":
            expected = list(compiled.insert_gains(y, base)[0].values())
        else:
            expected = compiled.delete_gains(y, base)
        np.testing.assert_allclose(found, expected, 1e-10, 1e-10)


@pytest.mark.parametrize(("n", "most"), [(250, 120), (600, 30)])
def test_large_bases_are_answered_when_no_more_rows_may_be_kept(
    n: int, most: int, seed: int
) -> None:
    """A run has room for the solutions of about 90 and 15 bases of these sizes."""
    left = 10
    compiled = gaussian(GaussianBIC(linear(seed, n)))
    asked = [("insert", y, [v for v in range(left, n) if v != y]) for y in range(most)]
    answers = ask_one_run(compiled, asked)
    for y in (0, 1, most - 2, most - 1):
        expected = list(compiled.insert_gains(y, asked[y][2])[0].values())
        assert len(expected) in (left - 1, left)
        np.testing.assert_allclose(answers[y], expected, 1e-8, 1e-8)


# -- precision -------------------------------------------------------------------------------------


def exact_gain(score: GaussianBIC, y: int, base: Sequence[int], x: int) -> float:
    """Return the gain of adding x to base, computed in extended precision."""
    rows = [*base, y, x]
    block = score._correlation[np.ix_(rows, rows)].astype(np.longdouble)
    for k in range(len(base)):
        rest = block[k + 1 :, k].copy()
        block[k + 1 :, k + 1 :] -= np.outer(rest, rest) / block[k, k]
    square = block[-1, -2] ** 2 / (block[-1, -1] * block[-2, -2])
    return float(-score._half * np.log1p(-square) - score._per_parent)


def test_nearly_collinear_columns_are_scored_no_worse_than_by_lapack(seed: int) -> None:
    """Four pairs of columns differ by noise of 3e-4: eigenvalues are just above the ridge."""
    rng = np.random.default_rng(seed)
    table = linear(seed, 16, 1000)
    table /= table.std(axis=0)
    table[:, 8:12] = table[:, 4:8] + 3e-4 * rng.normal(size=(1000, 4))
    score = GaussianBIC(table)
    compiled = gaussian(score)
    every = list(families(seed, 16, range(1, 13)))
    answers = ask_one_run(compiled, [("delete", y, base) for y, base in every])
    for (y, base), kept in zip(every, answers, strict=True):
        rest = others(16, y, base)
        exact = np.array([exact_gain(score, y, base, x) for x in rest.tolist()])
        usual = np.abs(insert_gains(score, y, nodeset(base), rest) - exact).max(initial=0.0)
        found = np.array(list(compiled.insert_gains(y, base)[0].values()))
        assert np.abs(found - exact).max(initial=0.0) <= 1e-7 + 10 * usual
        less = [exact_gain(score, y, sorted({*base} - {x}), x) for x in base]
        removed = delete_gains(score, y, nodeset(base), np.array(base, dtype=np.intp))
        usual = np.abs(removed + less).max()
        assert np.abs(np.array(kept) + less).max() <= 1e-7 + 10 * usual


def test_an_inverse_of_nearly_collinear_columns_is_not_used_again(seed: int) -> None:
    """Removing a column from the inverse would lose the digits that its copy needs."""
    rng = np.random.default_rng(seed)
    table = linear(seed, 16, 1000)
    table /= table.std(axis=0)
    table[:, 8:12] = table[:, 4:8] + 3e-4 * rng.normal(size=(1000, 4))
    compiled = gaussian(GaussianBIC(table))
    base = list(range(1, 14))
    asked = [("delete", 0, base)]
    for removed in ([8], [9, 10], [8, 10, 11]):
        asked += [("delete", 0, base), ("delete", 0, sorted({*base} - {*removed}))]
    for (_, y, parents), found in zip(asked, ask_one_run(compiled, asked), strict=True):
        assert found == compiled.delete_gains(y, parents)
