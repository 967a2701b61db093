"""Native Gaussian scores compared with their definitions in Python, family by family."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sges.data.dataset import Dataset
from sges.engine import native
from sges.errors import DataWarning, ScoreError
from sges.graph import PDAG
from sges.nodeset import nodeset
from sges.score.gaussian.bge import BGe
from sges.score.gaussian.bic import GaussianBIC
from sges.score.gaussian.mixed import DegenerateGaussian
from sges.score.protocol import Score
from sges.search.engines import Engine, native_of
from sges.search.moves import Moves

Family = tuple[int, list[int]]
BASES = (*range(13), 30, 60, 70)
KINDS = [GaussianBIC, BGe, DegenerateGaussian]


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


def others(n: int, y: int, base: Sequence[int]) -> list[int]:
    return sorted(set(range(n)) - {y, *base})


def gain(score: Score, y: int, base: Iterable[int], x: int) -> float:
    """Return what x adds to a family, by the definition of the score."""
    mask = nodeset(base)
    return score.local(y, mask | 1 << x) - score.local(y, mask)


def assert_same(score: Score, compiled: Any, families: Iterable[Family], within: float) -> None:  # noqa: ANN401
    """Compare the gains of some families, with absolute and relative tolerance ``within``."""
    for y, base in families:
        candidates = others(score.n, y, base)
        found, _ = compiled.insert_gains(y, base)
        assert list(found) == candidates
        some = candidates[:: 1 + len(candidates) // 40]  # each is a family of its own in Python
        expected = [gain(score, y, base, x) for x in some]
        np.testing.assert_allclose([found[x] for x in some], expected, within, within)
        expected = [-gain(score, y, {*base} - {x}, x) for x in base]
        np.testing.assert_allclose(compiled.delete_gains(y, base), expected, within, within)
        sum_of_gains = score.local(y, nodeset(base)) - score.local(y, 0)
        np.testing.assert_allclose(compiled.family(y, base), sum_of_gains, within, within)


# -- the same gains --------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 25, 80, 300])
@pytest.mark.parametrize("kind", [GaussianBIC, BGe])
def test_gains_are_those_of_the_score_in_python(kind: type, n: int, seed: int) -> None:
    score = kind(linear(seed, n))
    assert_same(score, native_of(score)[0], families(seed, n), 1e-9)
    if n < 300:
        single = copy(score)
        single._correlation = score._correlation.astype(np.float32)
        assert_same(score, native_of(single)[0], families(seed, n, range(13)), 1e-2)


@pytest.mark.parametrize("n", [1, 2, 3, 25, 90])
def test_gains_of_mixed_tables_are_those_of_the_score_in_python(n: int, seed: int) -> None:
    score = DegenerateGaussian(discretized(seed, n))
    assert_same(score, native_of(score)[0], families(seed, n), 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_constant_columns_are_worth_the_same_as_in_python(kind: type, seed: int) -> None:
    table = linear(seed, 20)
    table[:, [3, 11, 19]] = 7.0
    with pytest.warns(DataWarning, match="constant columns"):
        score = kind(table)
    several = [*families(seed, 20), (3, [1, 2]), (3, [11, 12]), (5, [3, 4, 11]), (5, [3, 11, 19])]
    assert_same(score, native_of(score)[0], several, 1e-9)


@pytest.mark.parametrize("widths", [[3] * 12, [1, 4, 2, 7, 1, 3], [5] * 70, [40, 2, 40]])
def test_blocks_of_any_width_are_scored_by_their_determinants(widths: list[int], seed: int) -> None:
    """Several functions of each variable, which are uncorrelated with each other."""
    rng, columns = np.random.default_rng(seed), [np.zeros((4000, 1))]
    for width in widths:
        curved = columns[-1][:, :1] ** 2 * 4000 + rng.normal(size=(4000, width))
        columns.append(np.linalg.qr(curved - curved.mean(axis=0))[0])
    table = np.hstack(columns[1:])
    matrix = table.T @ table
    ends = np.cumsum(widths).tolist()
    for begin, end in zip([0, *ends[:-1]], ends, strict=True):
        matrix[begin:end, begin:end] = np.eye(end - begin)
    matrix = (matrix + matrix.T) / 2
    n, starts = len(widths), np.cumsum([0, *widths[:-1]]).tolist()
    score = native.blocks(matrix, widths, 2000.0, 4.0)

    def log_determinant(variables: Iterable[int]) -> float:
        rows = [starts[v] + i for v in variables for i in range(widths[v])]
        return float(np.linalg.slogdet(matrix[np.ix_(rows, rows)])[1])

    def gain(y: int, base: Sequence[int], x: int) -> float:
        after = log_determinant([*base, x, y]) - log_determinant([*base, x])
        before = log_determinant([*base, y]) - log_determinant(base)
        return -2000.0 * (after - before) - 4.0 * widths[x] * widths[y]

    for y, base in families(seed, n, (0, 1, 2, 4)):
        found, _ = score.insert_gains(y, base)
        expected = {x: gain(y, base, x) for x in others(n, y, base)}
        assert found == pytest.approx(expected, rel=1e-8, abs=1e-6)
        removed = [-gain(y, sorted({*base} - {x}), x) for x in base]
        assert score.delete_gains(y, base) == pytest.approx(removed, rel=1e-8, abs=1e-6)


# -- gains that are returned -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_gains_above_worth_are_written_and_those_asked_for(kind: type, seed: int) -> None:
    table = linear(seed, 60)
    table[:, [7, 30]] = 1.0
    with pytest.warns(DataWarning):
        score = kind(table)
    compiled = native_of(score)[0]
    for y, base in families(seed, 60, range(10)):
        every, _ = compiled.clone().insert_gains(y, base)
        gains = np.quantile(list(every.values()), [0.0, 0.5, 0.9, 1.0], method="nearest")
        for worth in (*gains, *np.nextafter(gains, -np.inf), 0.0, np.inf):
            also = others(60, y, base)[::7]
            found, asked = compiled.clone().insert_gains(y, base, worth, also)
            assert found == {x: gain for x, gain in every.items() if gain > worth}
            assert asked == [every[x] for x in also]


@pytest.mark.parametrize("made", [
    lambda ones: native.gaussian(ones, 5.0, 1.0),
    lambda ones: native.bge(ones, np.zeros(3), np.zeros(5), 5.0, -1.0, []),
    lambda ones: native.blocks(ones, [1, 1, 1], 5.0, 1.0),
])  # fmt: skip
def test_an_infinite_family_is_refused_and_asked_again(made: Any) -> None:  # noqa: ANN401
    """The columns are copies, so that no factor exists; the package would add a ridge."""
    score = made(np.ones((3, 3)))
    for ask in (score.insert_gains, score.delete_gains, score.family):
        for _ in range(2):
            with pytest.raises(ScoreError, match=r"node 0 .* must be finite"):
                ask(0, [1, 2] if ask != score.insert_gains else [])


# -- intermediate results of a run -----------------------------------------------------------------


def assert_nothing_depends_on(compiled: Any, asked: Iterable[tuple[str, int, list[int]]]) -> None:  # noqa: ANN401
    """Ask one score all of this, and for each question a new one."""

    def answer(score: Any, what: str, y: int, base: list[int]) -> list[float]:  # noqa: ANN401
        gains = score.delete_gains(y, base)
        return gains if what == "delete" else list(score.insert_gains(y, base)[0].values())

    kept = compiled.clone()
    for question in asked:
        expected = answer(compiled.clone(), *question)
        np.testing.assert_allclose(answer(kept, *question), expected, 1e-8, 1e-8)


@pytest.mark.parametrize("kind", [GaussianBIC, BGe])
def test_kept_inverses_and_solutions_answer_for_other_bases(kind: type, seed: int) -> None:
    """Bases without some of their nodes, and more large bases than there is room for."""
    rng = np.random.default_rng(seed)
    asked = []
    for size in (6, 12, 49):
        y, *base = rng.permutation(80)[: size + 1].tolist()
        for count in (0, 0, 1, 2, 3, 4):
            gone = [set(rng.permutation(base)[:count].tolist()) for _ in range(9)]
            asked += [("delete", y, sorted(set(base) - each)) for each in gone]
    assert_nothing_depends_on(native_of(kind(linear(seed, 80)))[0], asked)
    large = [("insert", y, [v for v in range(10, 600) if v != y]) for y in (*range(18), 0, 17)]
    if kind is GaussianBIC:
        assert_nothing_depends_on(native_of(kind(linear(seed, 600)))[0], large)


@pytest.mark.parametrize("n", [12, 60, 280])
@pytest.mark.parametrize("kind", KINDS)
def test_answers_do_not_depend_on_what_was_asked_before(kind: type, n: int, seed: int) -> None:
    """Bases of a few nodes, some with the same slot, grow and shrink in random order."""
    rng = np.random.default_rng(seed)
    bases: dict[int, set[int]] = {y % n: set() for y in (0, 1, 32, 33)}
    rest = sorted(set(range(n)) - set(bases))
    asked: list[tuple[str, int, list[int]]] = []
    for _ in range(200):
        y = int(rng.choice(list(bases)))
        bases[y] ^= {int(rng.choice(rest))}
        asked.append((str(rng.choice(["insert", "delete"])), y, sorted(bases[y])))
    assert_nothing_depends_on(native_of(kind(linear(seed, n)))[0], asked)


def test_searches_in_two_threads_each_find_what_one_finds(seed: int) -> None:
    """They share a native score, and each has its own memory."""
    scores: list[Score] = [GaussianBIC(linear(seed, 30)), DegenerateGaussian(discretized(seed, 12))]

    def found(score: Score) -> PDAG:
        engine = Engine(score)
        engine.start(PDAG.empty(score.n), 0.0)
        engine.climb("climb", Moves(inserts="all", deletes=True, turns=True))
        return engine.cpdag

    alone = [found(score) for score in scores]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(found, scores * 4)) == alone * 4


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


def nearly_collinear(seed: int) -> GaussianBIC:
    """Four pairs of columns differ by noise of 3e-4: eigenvalues are just above the ridge."""
    rng = np.random.default_rng(seed)
    table = linear(seed, 16, 1000)
    table /= table.std(axis=0)
    table[:, 8:12] = table[:, 4:8] + 3e-4 * rng.normal(size=(1000, 4))
    return GaussianBIC(table)


def test_nearly_collinear_columns_are_scored_no_worse_than_in_python(seed: int) -> None:
    """Nor is an inverse kept, which would lose the digits that the copy of a column needs."""
    score = nearly_collinear(seed)
    compiled = native_of(score)[0]
    for y, base in families(seed, 16, range(1, 13)):
        inserts, without = (
            [(base, x) for x in others(16, y, base)],
            [(sorted({*base} - {x}), x) for x in base],
        )
        found = [*compiled.insert_gains(y, base)[0].values()]
        found += [-each for each in compiled.delete_gains(y, base)]
        exact = np.array([exact_gain(score, y, *each) for each in inserts + without])
        usual = np.abs([gain(score, y, *each) for each in inserts + without] - exact).max()
        assert np.abs(found - exact).max() <= 1e-7 + 10 * usual
    kept, base = compiled.clone(), list(range(1, 14))
    for removed in ([], [8], [9, 10], [8, 10, 11]):
        for parents in (base, sorted({*base} - {*removed})):
            assert kept.delete_gains(0, parents) == compiled.clone().delete_gains(0, parents)
