"""Every compiled function equals the Python function that it stands for."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sges import kernels
from sges.graph import PDAG, dag_to_cpdag
from sges.operators import Operator, deletes, inserts, turns
from sges.score import DiscreteBIC, GaussianBIC, correlation
from sges.search import ges  # with it, every module that has a twin

built = pytest.mark.skipif(
    not kernels.AVAILABLE and shutil.which("cc") is None, reason="there is no C compiler here"
)
SIZES = [1, 2, 63, 64, 65, 128, 130]


def twins(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the Python function and the compiled one, whichever of them is in use."""
    from sges.kernels import _compiled

    return kernels.pure(name), getattr(_compiled, name)


@built
def test_every_twin_was_built_and_every_function_that_was_built_is_a_twin() -> None:
    from sges.kernels import _compiled

    assert callable(ges)
    assert callable(DiscreteBIC)
    offered = {name for name in dir(_compiled) if not name.startswith("_")}
    assert offered == set(kernels.TWINS)


def test_the_variable_decides_which_functions_are_used() -> None:
    code = "from sges import kernels; print(kernels.ENABLED)"
    for value, wanted in (("1", False), ("0", kernels.AVAILABLE), ("", kernels.AVAILABLE)):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "SGES_PURE": value},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == str(wanted)


@built
@given(st.integers(0, 2**200))
def test_nodes_are_the_same(s: int) -> None:
    python, c = twins("nodes")
    assert list(python(s)) == list(c(s))
    xs = np.array(list(python(s)), dtype=np.intp)
    mask_python, mask_c = twins("nodeset_of")
    assert mask_c(xs, 201) == mask_python(xs, 201) == s
    fill_python, fill_c = twins("fill_nodes")
    one, other = np.empty(len(xs), dtype=np.intp), np.empty(len(xs), dtype=np.intp)
    assert fill_python(s, one) == fill_c(s, other) == len(xs)
    assert one.tolist() == other.tolist() == xs.tolist()


def random_cpdag(rng: random.Random, n: int, edges: int) -> PDAG:
    order = rng.sample(range(n), n)
    pairs = {tuple(sorted(rng.sample(range(n), 2))) for _ in range(edges)} if n > 1 else set()
    return dag_to_cpdag(PDAG.from_edges(n, [(order[i], order[j]) for i, j in pairs]))


def some_operators(rng: random.Random, g: PDAG, count: int) -> list[Operator]:
    """Return the first operators of each kind on random pairs."""
    found: list[Operator] = []
    pairs = [(x, y) for x in range(g.n) for y in range(g.n) if x != y]
    joined = [(x, y) for x, y in pairs if g.out[x] >> y & 1]
    apart = [(x, y) for x, y in pairs if not g.adjacent(x) >> y & 1]
    for x, y in rng.sample(joined, min(count, len(joined))):
        found += [*islice(deletes(g, x, y), 1), *islice(turns(g, y, x), 1)]
    for x, y in rng.sample(apart, min(count, len(apart))):
        found += islice(inserts(g, x, y), 1)
    return found


@built
@pytest.mark.parametrize("n", SIZES)
def test_reach_is_the_same(n: int, seed: int) -> None:
    python, c = twins("reach")
    rng = random.Random(seed)
    for edges in (0, n // 2, 2 * n):
        g = random_cpdag(rng, n, edges)
        for _ in range(10):
            start, avoiding = 1 << rng.randrange(n), rng.getrandbits(n) & rng.getrandbits(n)
            assert python(g.out, start, avoiding) == c(g.out, start, avoiding)


@built
@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize("density", [0.5, 2.0, 5.0])
def test_completion_and_stale_views_are_the_same(n: int, density: float, seed: int) -> None:
    complete_python, complete_c = twins("completed_rows")
    views_python, views_c = twins("differing_views")
    rng = random.Random(seed)
    g = random_cpdag(rng, n, int(density * n))
    operators = some_operators(rng, g, 15)
    for op in operators:
        edited = op.edit(g)
        rows = complete_python(g.out, g.into, edited.out, edited.into, op.x, op.y)
        assert rows == complete_c(g.out, g.into, edited.out, edited.into, op.x, op.y)
        assert views_python(g.out, g.into, *rows) == views_c(g.out, g.into, *rows)
    assert operators or n == 2


@built
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("density", [0.5, 2.0, 5.0])
def test_the_sets_of_inserts_are_the_same_and_in_the_same_order(
    n: int, density: float, seed: int
) -> None:
    python, c = twins("insert_sets")
    rng = random.Random(seed)
    g = random_cpdag(rng, n, int(density * n))
    for y in range(n):
        some = rng.sample(range(n), min(n, rng.randrange(9)))
        for near in (g.neighbors(y), sum(1 << v for v in some)):
            apart = rng.getrandbits(n)
            assert python(g.out, g.into, near, apart) == c(g.out, g.into, near, apart)


@built
def test_an_edit_without_an_extension_is_refused_by_both() -> None:
    """The square 0 — 1 — 2 — 3 — 0 cannot be directed without a new v-structure."""
    g = PDAG.from_edges(4, undirected=[(0, 1), (1, 2), (2, 3)])
    edited = g.edited(undirect=[(0, 3)])
    for function in twins("completed_rows"):
        assert function(g.out, g.into, edited.out, edited.into, 0, 3) is None


@built
@given(st.lists(st.integers(0, 70), unique=True), st.integers(0), st.integers(0), st.integers(0))
def test_the_first_free_is_the_same(xs: list[int], allowed: int, barred: int, taken: int) -> None:
    python, c = twins("first_free")
    for top in range(len(xs) + 1):
        assert python(xs, top, allowed, barred, taken) == c(xs, top, allowed, barred, taken)


@built
@given(st.lists(st.sampled_from([-2.0, -0.5, 0.0, 0.5, 1.0, 1.5, 7.25]), max_size=40))
def test_the_best_above_are_the_same(values: list[float]) -> None:
    python, c = twins("best_above")
    xs, gains = np.arange(len(values), dtype=np.intp) * 3, np.array(values, dtype=float)
    for worth in (-1.0, 0.0, 1.0):
        assert python(xs, gains, worth) == c(xs, gains, worth)


@built
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_gain_that_is_no_number_is_told_by_both(bad: float) -> None:
    for function in twins("best_above"):
        assert function(np.arange(3, dtype=np.intp), np.array([1.0, bad, 2.0]), 0.0) is None


def random_correlation(seed: int, n: int) -> correlation.Floats:
    data = np.random.default_rng(seed).normal(size=(3 * n, n)) @ np.eye(n, k=1)
    data += 0.5 * np.random.default_rng(seed + 1).normal(size=data.shape)
    return np.ascontiguousarray(np.corrcoef(data, rowvar=False))


@built
@pytest.mark.parametrize("size", [0, 1, 2, 5, 20])
def test_gaussian_kernels_are_the_same_to_rounding(size: int, seed: int) -> None:
    n = 80
    matrix, rng = random_correlation(seed, n), random.Random(seed)
    y, *rest = rng.sample(range(n), n)
    base = sum(1 << v for v in rest[:size])
    outside, inside = np.sort(rest[size:]).astype(np.intp), np.sort(rest[:size]).astype(np.intp)
    found = [
        (function(matrix, y, base), *filled("fill_residuals", which, matrix, y, base, outside))
        for which, function in enumerate(twins("last_pivot"))
    ]
    squares = [
        filled("fill_partial_squares", which, matrix, y, base, inside, arrays=1) for which in (0, 1)
    ]
    gains = [
        [
            filled(name, which, matrix, y, base, xs, 50.0, 2.5, arrays=1)[0]
            for name, xs in (("fill_insert_gains", outside), ("fill_delete_gains", inside))
        ]
        for which in (0, 1)
    ]
    for one, other in (row for part in (found, squares, gains) for row in zip(*part, strict=True)):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-13)


def filled(
    name: str,
    which: int,
    *arguments: Any,  # noqa: ANN401
    arrays: int = 2,
) -> list[correlation.Floats]:
    results = [np.full(len(arguments[3]), np.nan) for _ in range(arrays)]
    twins(name)[which](*arguments, *results)
    return results


@built
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("reach", ((8,), 1, 0)),
        ("reach", ((1 << 70,), 1, 0)),
        ("completed_rows", ((4, 0), (4, 0), (4, 0), (4, 0), 0, 1)),
        ("completed_rows", ((0,), (0,), (0,), (0,), 0, 1)),
        ("differing_views", ((1,), (1,), (1, 2), (1, 2))),
        ("nodes", (-1,)),
        ("nodes", (1.5,)),
        ("nodeset_of", (np.array([5], dtype=np.intp), 3)),
        ("fill_nodes", (7, np.zeros(3, dtype=np.int8))),
        ("last_pivot", (np.zeros(4), 0, 0)),
        ("last_pivot", (np.eye(3), 3, 0)),
        ("last_pivot", (np.eye(3), 0, 1 << 5)),
        ("fill_residuals", (np.eye(2), 0, 0, np.array([2]), np.zeros(1), np.zeros(1))),
        ("fill_residuals", (np.eye(2), 0, 0, np.array([1]), np.zeros(2), np.zeros(1))),
        ("fill_insert_gains", (np.eye(2), 0, 0, np.array([2]), 1.0, 1.0, np.zeros(1))),
        ("fill_insert_gains", (np.eye(2), 0, 0, np.array([1]), 1.0, 1.0, np.zeros(2))),
        ("fill_insert_gains", (np.eye(2), 0, 0, np.array([1]), "1", 1.0, np.zeros(1))),
        ("fill_delete_gains", (np.eye(3), 0, 2, np.array([2]), 1.0, 1.0, np.zeros(1))),
        ("insert_sets", ((0, 0), (0,), 0, 3)),
        ("insert_sets", ((4, 0), (0, 0), 1, 2)),
        ("insert_sets", ((0, 0), (0, 0), 4, 0)),
        ("insert_sets", ((0,) * 70, (0,) * 70, (1 << 70) - 1, 0)),
        ("fill_partial_squares", (np.eye(3), 0, 2, np.array([2]), np.zeros(1))),
        ("fill_residuals", (np.array(1.0), 0, 0, np.array([0]), np.zeros(1), np.zeros(1))),
        ("fill_residuals", (np.eye(2), 0, 0, np.array([1.0]), np.zeros(1), np.zeros(1))),
        ("best_above", (np.arange(2, dtype=np.intp), np.zeros(3), 0.0)),
        ("best_above", (np.arange(2, dtype=np.intp), np.zeros(2, dtype=np.int64), 0.0)),
        ("first_free", ([1], -1, 3, 0, 0)),
        ("completed_rows", ((32, 6, 32), (32, 3, 6), (3, 32, 3), (6, 32, 5), 0, 1)),
        ("completed_rows", ((0, 0), (0, 0), (0, 0), (0, 0), 2**32, 1)),
    ],
)
def test_what_does_not_fit_is_an_error_and_never_read(name: str, arguments: tuple[Any]) -> None:
    with pytest.raises((OverflowError, IndexError, TypeError, ValueError)):
        twins(name)[1](*arguments)


class Unusual:
    """A score whose gains are of another type than doubles in a row."""

    def __init__(self, kind: str, n: int = 6) -> None:
        self.n, self.kind = n, kind
        weights = np.triu(np.random.default_rng(0).integers(-5, 6, (n, n)), 1)
        self.weights = weights + weights.T

    def local(self, y: int, parents: int) -> float:
        return float(sum(self.weights[y, x] for x in range(self.n) if parents >> x & 1))

    def insert_gains(self, y: int, base: int, xs: Any) -> Any:  # noqa: ANN401, ARG002
        gains = self.weights[y, xs]
        return (
            np.repeat(gains, 2)[::2].astype(float)
            if self.kind == "strided"
            else gains.astype(self.kind)
        )

    def delete_gains(self, y: int, base: int, xs: Any) -> Any:  # noqa: ANN401
        return -self.insert_gains(y, base, xs)


@pytest.mark.parametrize("kind", ["int64", "int32", "float32", ">f8", "longdouble", "strided"])
def test_a_score_may_make_its_gains_of_any_numbers(kind: str) -> None:
    plain = ges(Unusual("float64"))
    assert plain.steps
    assert ges(Unusual(kind)).steps == plain.steps


@pytest.mark.parametrize("kind", ["int64", "int32", "uint8"])
def test_candidates_may_be_of_any_integers(kind: str, seed: int) -> None:
    score = GaussianBIC.from_covariance(random_correlation(seed, 8), records=100)
    xs, inside = np.array([4, 6, 7]), np.array([1, 2])
    for found, wanted in (
        (score.insert_gains(0, 0b110, xs.astype(kind)), score.insert_gains(0, 0b110, xs)),
        (score.delete_gains(0, 0b110, inside.astype(kind)), score.delete_gains(0, 0b110, inside)),
    ):
        np.testing.assert_array_equal(found, wanted)


@built
@given(
    st.dictionaries(st.integers(0, 2**9), st.integers(0, 2**9) | st.integers(0, 2**130)),
    st.integers(0, 2**9) | st.integers(0, 2**130),
)
def test_families_in_a_fan_are_the_same(fans: dict[int, int], parents: int) -> None:
    python, c = twins("in_a_fan")
    for asked in (parents, *(base | 1 << 3 for base in fans), *(base | 1 << 100 for base in fans)):
        assert c(fans, asked) is python(fans, asked)
