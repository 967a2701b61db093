"""Random structures: those of the paper's experiment, Erdős–Rényi DAGs and polytrees."""

from itertools import combinations
from typing import TypeAlias

import numpy as np

from sges.docstrings import documented_like
from sges.errors import (
    Argument,
    InvalidArgument,
    Message,
    NetworkError,
    check_number,
    check_seed,
    is_number,
    shown,
)
from sges.graph.pdag import PDAG, Edge
from sges.nodeset import NodeSet, nodes

Seed: TypeAlias = int | np.random.Generator
"""A source of randomness: the same whole number gives the same draws."""


def random_structure(n: int, max_parents: int = 2, seed: Seed = 0) -> PDAG:
    """Return a random DAG drawn as in the paper's experiment.

    The nodes are permuted at random, and each is taken in turn with each of its predecessors.
    With probability one half an edge between the two is attempted; it is added if that makes
    no cycle and no node with too many parents, in a random direction if both are possible.

    Parameters
    ----------
    n : int
        The number of nodes.
    max_parents : int, optional
        The most parents of a node.
    seed : int or numpy.random.Generator, optional
        The source of randomness.

    Returns
    -------
    PDAG
        A DAG.

    Examples
    --------
    >>> random_structure(4, seed=1).edge_count() <= 2 * 4 - 3
    True
    """
    n, max_parents = _checked("n", n), _checked("max_parents", max_parents)
    check_seed(seed)
    rng = np.random.default_rng(seed)
    edges: list[Edge] = []
    parents = [0] * n
    reach: list[NodeSet] = [1 << v for v in range(n)]  # each node and its descendants
    order = rng.permutation(n).tolist()
    pairs = ((x, y) for place, x in enumerate(order) for y in order[:place])
    for x, y in pairs:
        if rng.random() >= 0.5:
            continue
        possible = [
            (above, below)
            for above, below in ((x, y), (y, x))
            if not reach[below] >> above & 1 and parents[below] < max_parents
        ]
        if possible:
            above, below = possible[int(rng.integers(len(possible)))]
            edges.append((above, below))
            parents[below] += 1
            reach = [row | reach[below] if row >> above & 1 else row for row in reach]
    return PDAG.from_edges(n, edges)


@documented_like(random_structure)
def random_dag(n: int, edges: int, seed: Seed = 0) -> PDAG:
    """Return a random DAG: pairs drawn without replacement, directed along a random order.

    Parameters
    ----------
    edges : int
        The number of edges.

    Examples
    --------
    >>> random_dag(6, edges=9).edge_count()
    9
    """
    n, edges = _checked("n", n), _checked("edges", edges)
    check_seed(seed)
    pairs = list(combinations(range(n), 2))
    if edges > len(pairs):
        rule = f" = {edges}: a DAG on {n} nodes has from 0 to {len(pairs)} edges"
        raise InvalidArgument(Message(Argument("edges"), rule))
    rng = np.random.default_rng(seed)
    order = rng.permutation(n).tolist()
    chosen = rng.choice(len(pairs), size=edges, replace=False).tolist() if pairs else []
    return PDAG.from_edges(n, ((order[pairs[i][0]], order[pairs[i][1]]) for i in chosen))


@documented_like(random_structure)
def random_polytree(n: int, seed: Seed = 0) -> PDAG:
    """Return a tree drawn uniformly from all labeled trees, each edge directed at random.

    Examples
    --------
    >>> random_polytree(10).edge_count()
    9
    """
    n = _checked("n", n)
    check_seed(seed)
    if n < 2:
        return PDAG.from_edges(n, [])
    rng = np.random.default_rng(seed)
    code = rng.integers(n, size=n - 2).tolist()  # a Prüfer code, which determines one tree
    uses = [1 + code.count(v) for v in range(n)]
    edges: list[Edge] = []
    remaining: NodeSet = (1 << n) - 1
    for v in code:
        leaf = next(u for u in nodes(remaining) if uses[u] == 1)
        edges.append((leaf, v))
        remaining ^= 1 << leaf
        uses[v] -= 1
    a, b = nodes(remaining)
    edges.append((a, b))
    return PDAG.from_edges(n, ((x, y) if rng.random() < 0.5 else (y, x) for x, y in edges))


def _checked(what: str, value: int) -> int:
    """Return a number of nodes, parents or edges as an ``int``."""
    if is_number(value, whole=True) and value < 0 and what != "edges":
        has = (
            f"a structure cannot have {shown(value)} nodes; n"
            if what == "n"
            else f"{what} {shown(value)}: it"
        )
        raise NetworkError(f"{has} must be 0 or more")
    check_number(what, value, whole=True, most=10**9)
    return int(value)
