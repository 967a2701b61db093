"""Tables and truths for the frozen cases, made with NumPy alone.

Nothing here comes from the package, so that a change to its own generators cannot change a
problem.  They use only ``random`` and ``standard_normal``, whose streams NumPy has never changed.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]
Rng: TypeAlias = np.random.Generator
Arc: TypeAlias = tuple[int, int]
Columns: TypeAlias = dict[str, Floats | NDArray[np.str_]]

SHAKE = 0
"""Another number changes the order of the rows, and each value by a relative error of about 1e-13:
statistically the same table, with other rounding ."""


def shaken(values: Floats) -> Floats:
    """Return the values, changed as ``SHAKE`` says."""
    if not SHAKE:
        return values
    noise = np.random.default_rng(SHAKE).standard_normal(values.shape)
    return values[order_of(len(values), np.random.default_rng(SHAKE))] * (1 + 1e-13 * noise)


def order_of(n: int, rng: Rng) -> list[int]:
    """Return a random order of n nodes."""
    return [int(v) for v in np.argsort(rng.random(n), kind="stable")]


def arcs(n: int, edges: int, rng: Rng) -> list[Arc]:
    """Return the arcs of a random DAG, from earlier to later nodes of a random order."""
    order = order_of(n, rng)
    pairs = [(x, y) for i, x in enumerate(order) for y in order[i + 1 :]]
    return [pairs[i] for i in sorted(order_of(len(pairs), rng)[:edges])]


def truth(n: int, edges: int, seed: int) -> list[Arc]:
    """Return the arcs of the true DAG of the table with these parameters."""
    return arcs(n, edges, np.random.default_rng(seed))


def _in_order(n: int, edges: Sequence[Arc]) -> list[int]:
    left, order = set(range(n)), list[int]()
    while left:
        free = sorted(v for v in left if not any(y == v and x in left for x, y in edges))
        order += free
        left -= set(free)
    return order


def _between(low: float, high: float, rng: Rng) -> float:
    """Return a random number of either sign, with its absolute value in this range."""
    return float((low + (high - low) * rng.random()) * (1 if rng.random() < 0.5 else -1))


def gaussian(
    n: int, edges: int, rows: int, seed: int, weights: tuple[float, float] = (0.5, 1.5)
) -> Floats:
    """Return data of a random linear Gaussian model, each column divided by its deviation."""
    rng = np.random.default_rng(seed)
    dag = arcs(n, edges, rng)
    weight = {arc: _between(*weights, rng) for arc in dag}
    data = rng.standard_normal((rows, n)) * np.sqrt(0.5 + rng.random(n))
    for y in _in_order(n, dag):
        for x in (x for x, child in dag if child == y):
            data[:, y] += weight[x, y] * data[:, x]
        data[:, y] /= data[:, y].std()
    return shaken(data)


def covariance(n: int, edges: int, seed: int) -> Floats:
    """Return the population covariance of a random linear Gaussian model."""
    rng = np.random.default_rng(seed)
    dag = arcs(n, edges, rng)
    mix = np.eye(n)  # each column in terms of the noise variables
    for y in _in_order(n, dag):
        for x in (x for x, child in dag if child == y):
            mix[:, y] += _between(0.5, 1.5, rng) * mix[:, x]
        mix[:, y] /= np.sqrt((mix[:, y] ** 2).sum())
    mix = shaken(mix)
    return mix.T @ mix


def collinear(n: int, edges: int, rows: int, seed: int, noise: float) -> Floats:
    """Return Gaussian data with two more columns: almost a copy, and almost a sum of two."""
    data = gaussian(n, edges, rows, seed)
    extra = np.random.default_rng([seed, 1]).standard_normal((rows, 2))
    if SHAKE:  # in the same order as the rows of the data
        extra = extra[order_of(rows, np.random.default_rng(SHAKE))]
    copy = data[:, 0] + noise * extra[:, 0]
    both = data[:, 1] + data[:, 2] + noise * extra[:, 1]
    return np.column_stack([data, copy, both])


def with_constant(n: int, edges: int, rows: int, seed: int) -> Floats:
    """Return Gaussian data in which column 2 is constant."""
    data = gaussian(n, edges, rows, seed).copy()
    data[:, 2] = 3.0
    return data


def common_factor(width: int, others: int, rows: int, seed: int) -> Floats:
    """Return columns with a common cause that is not in the table, and children of them."""
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((rows, 1))
    children = factor * (0.6 + 0.8 * rng.random(width)) + rng.standard_normal((rows, width))
    later = rng.standard_normal((rows, others))
    for v in range(others):
        later[:, v] += children[:, v % width]
    return shaken(np.column_stack([children, later]))


def conditional_tables(
    n: int, dag: Sequence[Arc], arities: Sequence[int], rng: Rng, least: float = 0.05
) -> list[Floats]:
    """Return p(v | parents) for each v, with axes for the sorted parents and then v."""
    tables = []
    for v in range(n):
        shape = [arities[x] for x in sorted(x for x, y in dag if y == v)]
        raw = least + rng.random((*shape, arities[v])) ** 3
        tables.append(raw / raw.sum(axis=-1, keepdims=True))
    return tables


def codes(
    n: int, edges: int, rows: int, seed: int, arities: tuple[int, int] = (2, 5)
) -> tuple[Codes, list[int]]:
    """Return level numbers drawn from a random discrete network, and its arities."""
    rng = np.random.default_rng(seed)
    dag = arcs(n, edges, rng)
    low, high = arities
    sizes = [low + int((high - low + 1) * rng.random()) for _ in range(n)]
    tables = conditional_tables(n, dag, sizes, rng)
    drawn = np.zeros((rows, n), dtype=np.int64)
    for v in _in_order(n, dag):
        parents = sorted(x for x, y in dag if y == v)
        upto = np.cumsum(tables[v][tuple(drawn[:, p] for p in parents)], axis=-1)
        upto = np.broadcast_to(upto, (rows, sizes[v]))
        above = (rng.random((rows, 1)) > upto).sum(axis=1)
        drawn[:, v] = np.minimum(above, sizes[v] - 1)
    return (drawn[order_of(rows, np.random.default_rng(SHAKE))] if SHAKE else drawn), sizes


def discrete(
    n: int, edges: int, rows: int, seed: int, arities: tuple[int, int] = (2, 5)
) -> Columns:
    """Return a table of such level numbers, with names of columns and levels as text."""
    drawn, _ = codes(n, edges, rows, seed, arities)
    return {f"c{v}": drawn[:, v].astype(str) for v in range(n)}


def mixed(n: int, edges: int, rows: int, seed: int) -> Columns:
    """Return Gaussian data with every second column cut into two, three or four levels."""
    data = gaussian(n, edges, rows, seed)
    table: Columns = {}
    for v in range(n):
        if v % 2:
            cuts = np.linspace(-0.6, 0.6, 1 + v // 2 % 3)
            table[f"d{v}"] = np.searchsorted(cuts, data[:, v]).astype(str)
        else:
            table[f"x{v}"] = data[:, v]
    return table
