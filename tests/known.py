"""Random knowledge that is true, or only consistent."""

from collections.abc import Callable
from itertools import permutations

import numpy as np

from sges.graph import PDAG, topological_order
from sges.knowledge import Knowledge
from sges.network import random_dag

Rng = np.random.Generator


def some(pairs: list[tuple[int, int]], share: float, rng: Rng) -> list[tuple[int, int]]:
    """Return each pair with probability ``share``."""
    return [pair for pair in pairs if rng.random() < share]


def random_tiers(order: list[int], rng: Rng, placed: float = 1.0) -> list[list[int]]:
    """Cut an order into tiers at random; each node is placed with probability ``placed``."""
    tiers: list[list[int]] = [[]]
    for v in order:
        if rng.random() < 0.5:
            tiers.append([])
        if rng.random() < placed:
            tiers[-1].append(v)
    return tiers


def required_edges(dag: PDAG, rng: Rng) -> Knowledge:
    return Knowledge(required=some(dag.directed_edges(), 0.4, rng))


def all_in_tiers(dag: PDAG, rng: Rng) -> Knowledge:
    tiers = random_tiers(topological_order(dag), rng)
    return Knowledge(required=some(dag.directed_edges(), 0.2, rng), tiers=tiers)


def some_in_tiers(dag: PDAG, rng: Rng) -> Knowledge:
    return Knowledge(tiers=random_tiers(topological_order(dag), rng, placed=0.6))


def forbidden_directions(dag: PDAG, rng: Rng) -> Knowledge:
    edges = dag.directed_edges()
    absent = [pair for pair in permutations(range(dag.n), 2) if pair not in edges]
    return Knowledge(forbidden=some(absent, 0.4, rng))


def forbidden_adjacencies(dag: PDAG, rng: Rng) -> Knowledge:
    near = [(x, y) for x, y in permutations(range(dag.n), 2) if x < y]
    absent = [(x, y) for x, y in near if not dag.adjacent(x) >> y & 1]
    return Knowledge(not_adjacent=some(absent, 0.5, rng))


def everything_at_once(dag: PDAG, rng: Rng) -> Knowledge:
    edges = dag.directed_edges()
    absent = [pair for pair in permutations(range(dag.n), 2) if pair not in edges]
    return Knowledge(
        required=some(edges, 0.2, rng),
        forbidden=some(absent, 0.2, rng),
        tiers=random_tiers(topological_order(dag), rng, placed=0.7),
    )


KINDS: tuple[Callable[[PDAG, Rng], Knowledge], ...] = (
    required_edges,
    all_in_tiers,
    some_in_tiers,
    forbidden_directions,
    forbidden_adjacencies,
    everything_at_once,
)


def true_problem(seed: int) -> tuple[PDAG, Knowledge]:
    """Return a random truth on 5 to 8 nodes and knowledge that is true of it."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 9))
    dag = random_dag(n, int(rng.integers(n - 1, 2 * n)), seed=rng)
    return dag, KINDS[seed % len(KINDS)](dag, rng)


def false_problem(seed: int) -> tuple[PDAG, Knowledge]:
    """Return a random truth, and knowledge that is consistent but true of another DAG."""
    dag, _ = true_problem(seed)
    rng = np.random.default_rng([seed, 1])
    other = random_dag(dag.n, int(rng.integers(dag.n - 1, 2 * dag.n)), seed=rng)
    return dag, KINDS[seed % len(KINDS)](other, rng)


def satisfies(dag: frozenset[tuple[int, int]], known: Knowledge) -> bool:
    """Return whether a DAG satisfies the knowledge as the user states it."""
    tier = {v: i for i, group in enumerate(known.tiers) for v in group}
    placed = [(tier[x], tier[y]) for x, y in dag if x in tier and y in tier]
    return (
        set(known.required) <= dag
        and not set(known.forbidden) & dag
        and not any(x > y or (x == y and x in known.forbid_within) for x, y in placed)
    )
