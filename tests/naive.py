"""Slow twins of the graph code, directly from the definitions; imports nothing from sges.

A graph is (n, arcs): a frozenset of ordered pairs.  x → y is (x, y) alone, x — y both pairs.
"""

from collections.abc import Iterator
from functools import cache
from itertools import chain, combinations, pairwise, permutations, product

Arcs = frozenset[tuple[int, int]]
Class = tuple[frozenset[frozenset[int]], frozenset[tuple[frozenset[int], int]]]


def powerset(items: object) -> Iterator[tuple[int, ...]]:
    pool = list(items)  # type: ignore[call-overload]
    return chain.from_iterable(combinations(pool, size) for size in range(len(pool) + 1))


@cache
def all_dags(n: int) -> tuple[Arcs, ...]:
    pairs = list(combinations(range(n), 2))
    found = []
    for kinds in product((None, 0, 1), repeat=len(pairs)):
        arcs = frozenset(
            pair if kind == 0 else pair[::-1]
            for pair, kind in zip(pairs, kinds, strict=True)
            if kind is not None
        )
        if is_acyclic(n, arcs):
            found.append(arcs)
    return tuple(found)


def all_pdags(n: int) -> Iterator[Arcs]:
    pairs = list(combinations(range(n), 2))
    for kinds in product(range(4), repeat=len(pairs)):
        yield frozenset(
            arc
            for (x, y), kind in zip(pairs, kinds, strict=True)
            for arc in ((), ((x, y),), ((y, x),), ((x, y), (y, x)))[kind]
        )


def is_acyclic(n: int, arcs: Arcs) -> bool:
    left = set(range(n))
    while left:
        sinks = {v for v in left if not any(x == v and y in left for x, y in arcs)}
        if not sinks:
            return False
        left -= sinks
    return True


def parents(arcs: Arcs, y: int) -> frozenset[int]:
    return frozenset(a for a, b in arcs if b == y and (y, a) not in arcs)


def neighbors(arcs: Arcs, y: int) -> frozenset[int]:
    return frozenset(a for a, b in arcs if b == y and (y, a) in arcs)


def adjacent(arcs: Arcs, y: int) -> frozenset[int]:
    return frozenset(a for a, b in arcs if b == y) | frozenset(b for a, b in arcs if a == y)


def class_of(arcs: Arcs) -> Class:
    """Return the skeleton and the v-structures, which identify a class (Verma & Pearl 1991)."""
    skeleton = frozenset(frozenset(arc) for arc in arcs)
    arrows = [(x, y) for x, y in arcs if (y, x) not in arcs]
    vees = frozenset(
        (frozenset((x, y)), z)
        for x, z in arrows
        for y, w in arrows
        if z == w and x != y and frozenset((x, y)) not in skeleton
    )
    return skeleton, vees


@cache
def classes(n: int) -> dict[Class, tuple[Arcs, ...]]:
    """Return every equivalence class with its members."""
    found: dict[Class, list[Arcs]] = {}
    for dag in all_dags(n):
        found.setdefault(class_of(dag), []).append(dag)
    return {name: tuple(dags) for name, dags in found.items()}


def cpdag_of_members(dags: tuple[Arcs, ...]) -> Arcs:
    """Return the union of the members: an edge is directed iff all members direct it alike."""
    return frozenset(chain.from_iterable(dags))


@cache
def all_cpdags(n: int) -> dict[Arcs, tuple[Arcs, ...]]:
    """Return every CPDAG with the members of its class."""
    return {cpdag_of_members(dags): dags for dags in classes(n).values()}


@cache
def cpdag_of(n: int, dag: Arcs) -> Arcs:
    return cpdag_of_members(classes(n)[class_of(dag)])


def extensions(n: int, pdag: Arcs) -> list[Arcs]:
    """Return every DAG with the skeleton, the arrows and the v-structures of a PDAG."""
    lines = sorted({(min(a), max(a)) for a in pdag if a[::-1] in pdag})
    arrows = frozenset(a for a in pdag if a[::-1] not in pdag)
    found = []
    for turned in product((False, True), repeat=len(lines)):
        dag = arrows | {e[::-1] if t else e for e, t in zip(lines, turned, strict=True)}
        if is_acyclic(n, dag) and class_of(dag) == class_of(pdag):
            found.append(dag)
    return found


def simple_paths(n: int, arcs: Arcs, x: int, y: int) -> Iterator[tuple[int, ...]]:
    others = [v for v in range(n) if v not in (x, y)]
    for size in range(len(others) + 1):
        for middle in permutations(others, size):
            path = (x, *middle, y)
            steps = pairwise(path)
            if all((a, b) in arcs or (b, a) in arcs for a, b in steps):
                yield path


def descendants(n: int, arcs: Arcs, v: int) -> frozenset[int]:
    found = {v}
    for _ in range(n):
        found |= {y for x, y in arcs if x in found and (y, x) not in arcs}
    return frozenset(found)


def d_separated(n: int, dag: Arcs, x: int, y: int, given: frozenset[int]) -> bool:
    """Return whether no simple path is active: the standard definition."""
    return not any(_active(n, dag, path, given) for path in simple_paths(n, dag, x, y))


def _active(n: int, dag: Arcs, path: tuple[int, ...], given: frozenset[int]) -> bool:
    for a, w, b in zip(path, path[1:], path[2:], strict=False):
        if (a, w) in dag and (b, w) in dag:
            if not descendants(n, dag, w) & given:
                return False
        elif w in given:
            return False
    return True


@cache
def independences(n: int, dag: Arcs) -> int:
    """Return all pairwise independences of a DAG as the bits of an integer."""
    bits, bit = 0, 1
    for x, y in combinations(range(n), 2):
        for given in powerset(v for v in range(n) if v not in (x, y)):
            if d_separated(n, dag, x, y, frozenset(given)):
                bits |= bit
            bit <<= 1
    return bits


def is_clique(arcs: Arcs, s: frozenset[int]) -> bool:
    return all((a, b) in arcs or (b, a) in arcs for a, b in combinations(s, 2))


def valid_deletes(arcs: Arcs, x: int, y: int) -> set[frozenset[int]]:
    """Return every H of Fig. 2 for the edge x → y or x — y, by trying all subsets of NA."""
    na = neighbors(arcs, y) & adjacent(arcs, x)
    return {frozenset(h) for h in powerset(na) if is_clique(arcs, na - frozenset(h))}


def largest_clique(arcs: Arcs, within: frozenset[int]) -> int:
    return max(len(s) for s in powerset(within) if is_clique(arcs, frozenset(s)))


def v_width(n: int, dag: Arcs) -> int:
    """Return the size of the largest clique among the common children of non-adjacent nodes."""
    widths = [0]
    for x, y in combinations(range(n), 2):
        if y not in adjacent(dag, x):
            common = frozenset(z for z in range(n) if {(x, z), (y, z)} <= dag)
            widths.append(largest_clique(dag, common))
    return max(widths)


def treewidth(n: int, edges: frozenset[frozenset[int]]) -> int:
    """Return the minimum over all elimination orders of the largest degree at elimination."""
    best = max(n - 1, 0)
    for order in permutations(range(n)):
        near = {v: {u for e in edges if v in e for u in e if u != v} for v in range(n)}
        width = 0
        for v in order:
            width = max(width, len(near[v]))
            for u in near[v]:
                near[u] |= near[v] - {u}
                near[u].discard(v)
        best = min(best, width)
    return best


def moral_edges(n: int, dag: Arcs) -> frozenset[frozenset[int]]:
    married = {frozenset(pair) for z in range(n) for pair in combinations(parents(dag, z), 2)}
    return frozenset(frozenset(arc) for arc in dag) | frozenset(married)
