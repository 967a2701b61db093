"""Certified deletes by their definition (Chickering 2020), one condition per line.

A slow twin that uses sets of arcs and d-separation by simple paths, and not the package.
"""

from collections.abc import Iterator
from itertools import combinations, pairwise

import naive
from naive import Arcs

Pair = frozenset[int]
Separators = dict[Pair, frozenset[int]]


def separators(n: int, truth: Arcs, k: int) -> Separators:
    """Return the first of the smallest separators of each pair, if it has at most k nodes."""
    found: Separators = {}
    for x, y in combinations(range(n), 2):
        others = [v for v in range(n) if v not in (x, y)]
        for size in range(k + 1):
            for m in combinations(others, size):
                if naive.d_separated(n, truth, x, y, frozenset(m)):
                    found.setdefault(frozenset({x, y}), frozenset(m))
    return found


def children(arcs: Arcs, x: int) -> frozenset[int]:
    return frozenset(b for a, b in arcs if a == x and (b, a) not in arcs)


def parent_bound(dag: Arcs, z: int) -> int:
    """Return the largest number of parents of z and of its children in a DAG."""
    return max(len(naive.parents(dag, v)) for v in {z} | children(dag, z))


def certified_children(n: int, dag: Arcs, found: Separators, x: int, y: int, k: int) -> set[int]:
    m = found[frozenset({x, y})]
    return {
        z
        for z in range(n)
        if z not in m | {x, y}
        and frozenset({x, z}) not in found
        and frozenset({y, z}) not in found
        and parent_bound(dag, z) <= k
    }


def semi_directed_paths(n: int, arcs: Arcs, a: int, b: int) -> Iterator[tuple[int, ...]]:
    if a == b:
        yield (a,)
    for path in naive.simple_paths(n, arcs, a, b) if a != b else ():
        if all(step in arcs for step in pairwise(path)):
            yield path


def is_certified(
    n: int, arcs: Arcs, dag: Arcs, found: Separators, x: int, y: int, h: frozenset[int], k: int
) -> bool:
    if frozenset({x, y}) not in found:
        return False
    m = found[frozenset({x, y})]
    common = (children(arcs, x) & children(arcs, y)) | h
    if common - certified_children(n, dag, found, x, y, k):
        return False
    kept = (naive.neighbors(arcs, y) & naive.adjacent(arcs, x)) - h
    wall = kept | {x, y}

    def is_shielded(e: int, end: int) -> bool:
        if frozenset({e, end}) not in found:
            return False
        return all(
            wall & set(path)
            for c in common
            for target in found[frozenset({e, end})]
            for path in semi_directed_paths(n, arcs, c, target)
        )

    return all(
        is_shielded(e, x) or is_shielded(e, y) for e in (naive.parents(arcs, y) | kept) - m - {x}
    )


def certified_deletes(
    n: int, arcs: Arcs, found: Separators, k: int
) -> set[tuple[int, int, frozenset[int]]]:
    """Return all certified deletes of a CPDAG."""
    dag = naive.all_cpdags(n)[arcs][0]
    return {
        (x, y, h)
        for x, y in arcs
        for h in naive.valid_deletes(arcs, x, y)
        if is_certified(n, arcs, dag, found, x, y, h, k)
    }


def after(n: int, arcs: Arcs, x: int, y: int, h: frozenset[int]) -> Arcs:
    """Return the CPDAG after Delete(x, y, H), by Fig. 2 and an extension."""
    left = arcs - {(x, y), (y, x)} - {(v, y) for v in h} - {(v, x) for v in h}
    dags = naive.extensions(n, left)
    return naive.cpdag_of(n, dags[0])


def order_of(arcs: Arcs, x: int, y: int, h: frozenset[int]) -> int:
    """Return how many nodes the score of a delete conditions on."""
    na = naive.neighbors(arcs, y) & naive.adjacent(arcs, x)
    return len((naive.parents(arcs, y) | (na - h)) - {x})


def part_of(arcs: Arcs, x: int, y: int, h: frozenset[int]) -> int:
    """Return how many nodes of H lie in a maximal clique of NA with NA ∖ H, at the least."""
    na = naive.neighbors(arcs, y) & naive.adjacent(arcs, x)
    cliques = [frozenset(c) for c in naive.powerset(na) if naive.is_clique(arcs, frozenset(c))]
    maximal = [c for c in cliques if not any(c < d for d in cliques)]
    return min(len(c & h) for c in maximal if na - h <= c)
