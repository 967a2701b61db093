"""Local completion equals global completion."""

import random
from collections.abc import Callable, Iterator
from itertools import islice

import pytest

import naive
from bridge import pdag_of
from sges.errors import NoConsistentExtension
from sges.graph import PDAG, dag_to_cpdag, pdag_to_cpdag
from sges.graph.completion import complete_locally
from sges.operators import (
    Delete,
    Insert,
    Operator,
    Turn,
    all_deletes,
    all_inserts,
    all_turns,
    deletes,
    inserts,
    turns,
)

KINDS: list[Callable[[PDAG], Iterator[Operator]]] = [all_inserts, all_deletes, all_turns]


def random_cpdag(rng: random.Random, n: int, density: float) -> PDAG:
    order = rng.sample(range(n), n)
    pairs = [(x, y) for i, x in enumerate(order) for y in order[i + 1 :]]
    return dag_to_cpdag(PDAG.from_edges(n, [e for e in pairs if rng.random() < density]))


def some_operator(rng: random.Random, g: PDAG) -> Operator | None:
    """Return a random valid operator on a random pair, or None if it has none."""
    x, y = rng.sample(range(g.n), 2)
    if not g.adjacent(x) >> y & 1:
        found: list[Operator] = [op for op, _ in zip(inserts(g, x, y), range(20), strict=False)]
    elif g.out[x] >> y & 1:
        found = [op for op, _ in zip(deletes(g, x, y), range(20), strict=False)]
    else:
        found = [op for op, _ in zip(turns(g, x, y), range(20), strict=False)]
    return rng.choice(found) if found else None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("n", "share"), [(2, 1), (3, 1), (4, 1), (5, 3), pytest.param(5, 1, marks=pytest.mark.slow)]
)
def test_local_equals_global_for_every_operator_on_every_cpdag(
    n: int, share: int, kind: Callable[[PDAG], Iterator[Operator]]
) -> None:
    """With a ``share``, on one CPDAG in that many, and on different ones for each kind."""
    at = KINDS.index(kind) % share
    for arcs in islice(naive.all_cpdags(n), at, None, share):
        g = pdag_of(n, arcs)
        for op in kind(g):
            edited = op._edit(g)
            assert complete_locally(g, edited, op.x, op.y) == pdag_to_cpdag(edited), (op, g)


@pytest.mark.parametrize("density", [0.02, 0.05, 0.1, 0.3, 0.6, 0.95, 1.0])
@pytest.mark.parametrize("n", [12, 25, 60])
def test_local_equals_global_along_random_walks(n: int, density: float, seed: int) -> None:
    rng = random.Random(f"{seed} {n} {density}")
    g = random_cpdag(rng, n, density)
    met: set[type] = set()
    for _ in range(150):
        op = some_operator(rng, g)
        if op is None:
            continue
        after = op.apply(g)
        assert after == pdag_to_cpdag(op._edit(g)), (op, g)
        met.add(type(op))
        g = after
    assert met & {Insert, Delete, Turn}


def test_an_edit_that_is_not_an_operators_is_refused() -> None:
    """Removing the diagonal of an undirected square leaves a cycle without a chord."""
    g = PDAG.from_edges(4, undirected=[(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)])
    edited = g.edited(remove=[(0, 2)])
    with pytest.raises(NoConsistentExtension, match="not the result of a valid operator"):
        complete_locally(g, edited, 0, 2)
