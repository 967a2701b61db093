"""The number of DAGs of a class, uniform samples of them, and the possible parents of a node.

The members of a class differ only in how they direct its undirected edges.  In a CPDAG each chain
component, a connected chordal graph, is directed by itself, without v-structures.  *Clique picking*
(Wienöbst, Bannach & Liśkiewicz 2023) counts these orientations in polynomial time: every one has
exactly one source clique K that is the first in a fixed rooted clique tree among those that can be
at its top.  Directing the edges out of K leaves smaller chordal graphs, which are independent.

    #(G) = Σ_K φ(K) · Π_H #(H)      K over the maximal cliques, H over the remaining components

φ(K) is the number of orders of K that begin with none of the separators S ⊂ K on the path of the
tree from its root to K, for these orders belong to an earlier clique.  The same numbers are the
weights with which a uniform draw picks K.

In a class refined by background knowledge the undirected edges still fall into independent
components, but a component may contain arrows.  Counting is then #P-hard.  Such a component is
enumerated up to a limit; beyond it the count is an interval, and draws are made by rejection.

The possible parents of x are found locally (Maathuis, Kalisch & Bühlmann 2009): each clique of
neighbors of x may be parents of x and the other neighbors its children.  In a refined class such
a choice must also agree with Meek's rules (Perković, Kalisch & Maathuis 2017).
"""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import accumulate, islice
from math import factorial, prod
from typing import NamedTuple, TypeAlias

import numpy as np

from sges.docstrings import documented_like
from sges.errors import Undecided, check_number, check_seed
from sges.graph.equivalence import extensions, maximally_oriented
from sges.graph.meek import direct_in_turn
from sges.graph.pdag import PDAG, Edge
from sges.graph.undirected import Between, adjacency, cliques, maximal_cliques
from sges.nodeset import NodeSet, components, first, nodes

Seed: TypeAlias = int | np.random.Generator

MAX_PARENT_SETS = 10_000
"""The most possible sets of parents that are examined; more are an error."""

MAX_TRIES = 100_000
"""The most draws from a refined component that may be rejected; more are an error."""


def class_size(graph: PDAG, limit: int = 10_000) -> int | Between:
    """Return the number of DAGs of a class.

    The class may be refined by background knowledge: then only the DAGs that satisfy it are
    counted, which are those that ``extensions`` yields.  The number is exact, and found in
    polynomial time, unless background knowledge directs edges inside an undirected component.

    Parameters
    ----------
    graph : PDAG
        A CPDAG, or one refined by background knowledge.
    limit : int, optional
        How many DAGs may be listed to count those of a component in which background knowledge
        directs edges; everything else is counted in polynomial time.

    Returns
    -------
    int or Between
        The number, or an interval that contains it if the limit was reached.

    Raises
    ------
    NoConsistentExtension
        If the graph represents no class.

    References
    ----------
    Wienöbst, Bannach & Liśkiewicz (2023), "Polynomial-time algorithms for counting and sampling
    Markov equivalent DAGs with applications", JMLR 24(213).

    Examples
    --------
    >>> class_size(PDAG.complete(4)), class_size(PDAG.from_edges(3, undirected=[(0, 1), (1, 2)]))
    (24, 3)
    """
    check_number("limit", limit, whole=True)
    low = high = 1
    for part in _components(maximally_oriented(graph)):
        if part.is_undirected:
            few = many = part.count(part.everything)
        else:
            few = sum(1 for _ in islice(extensions(part.graph), limit + 1))
            many = few if few <= limit else part.count(part.everything)
        low, high = low * few, high * many
    return low if low == high else Between(low, high)


@documented_like(class_size)
def sample_members(graph: PDAG, k: int, seed: Seed = 0) -> list[PDAG]:
    """Return DAGs drawn uniformly and independently from a class.

    Parameters
    ----------
    k : int
        The number of DAGs to draw; the same DAG may be drawn several times.
    seed : int or numpy.random.Generator, optional
        The source of randomness.

    Returns
    -------
    list of PDAG
        Members of the class that have all arrows of the graph.

    Raises
    ------
    InvalidArgument
        If k is negative.
    NoConsistentExtension
        If the graph represents no class.
    Undecided
        If a component refined by knowledge has too many members to list, and too few to be drawn
        by rejection.

    Examples
    --------
    >>> sample_members(PDAG.from_edges(3, [(0, 1)], [(1, 2)]), 2)
    [PDAG(3 nodes: 0→1, 1→2), PDAG(3 nodes: 0→1, 1→2)]
    """
    check_number("k", k, whole=True, most=10**9)
    check_seed(seed)
    rng = np.random.default_rng(seed)
    closed = maximally_oriented(graph)
    parts = _components(closed)
    return [
        closed.edited(direct=[arrow for part in parts for arrow in part.draw(rng)])
        for _ in range(k)
    ]


def possible_parents(graph: PDAG, x: int | str) -> list[NodeSet]:
    """Return the sets that are the parents of a node in some DAG of a class.

    Parameters
    ----------
    graph : PDAG
        A CPDAG, a class refined by background knowledge, or a DAG.
    x : int or str
        The node, by number or name.

    Returns
    -------
    list of int
        The sets, as masks, each once.

    Raises
    ------
    Undecided
        If more than ``MAX_PARENT_SETS`` cliques of neighbors would have to be examined.

    References
    ----------
    Maathuis, Kalisch & Bühlmann (2009), "Estimating high-dimensional intervention effects from
    observational data", Annals of Statistics 37.

    Examples
    --------
    >>> possible_parents(PDAG.from_edges(3, undirected=[(0, 1), (1, 2)]), 1) == [0, 0b001, 0b100]
    True
    """
    closed, v = maximally_oriented(graph), graph.node(x)
    return [refined.parents(v) for refined in parent_choices(closed, v)]


@documented_like(possible_parents)
def multiplicities(graph: PDAG, x: int | str) -> list[int | Between]:
    """Return how many DAGs of a class have each possible set of parents of a node.

    With these numbers the possible effects of x become those of all members of the class.  They
    take polynomial time for a CPDAG: when the edges at x are directed, the edges that remain
    undirected form independent components (Hauser & Bühlmann 2012).

    Returns
    -------
    list of int or Between
        One number for each set that ``possible_parents`` returns, in the same order; an interval
        where background knowledge makes the exact number too expensive (see ``class_size``).

    Raises
    ------
    Undecided
        If more than ``MAX_PARENT_SETS`` cliques of neighbors would have to be examined.

    Examples
    --------
    >>> complete = PDAG.complete(3)
    >>> [(bin(z), k) for z, k in zip(possible_parents(complete, 2), multiplicities(complete, 2))]
    [('0b0', 2), ('0b1', 1), ('0b11', 2), ('0b10', 1)]
    """
    closed = maximally_oriented(graph)
    return [class_size(refined) for refined in parent_choices(closed, graph.node(x))]


def parent_choices(closed: PDAG, x: int) -> Iterator[PDAG]:
    """Yield the class for each way in which members of the class direct the edges at x."""
    near = closed.neighbors(x)
    parent_sets = cliques(adjacency(closed, near), near)
    for chosen in islice(parent_sets, MAX_PARENT_SETS):
        arrows = [(v, x) if chosen >> v & 1 else (x, v) for v in nodes(near)]
        refined, contradicting = direct_in_turn(closed, arrows)
        if not contradicting:
            yield refined
    if next(parent_sets, None) is not None:
        raise Undecided(
            f"{closed.name(x)} has more than {MAX_PARENT_SETS} possible sets of parents; "
            "background knowledge about its neighbors would reduce them"
        )


class _Pick(NamedTuple):
    """A maximal clique K that comes first: in how many orientations, and what it leaves."""

    clique: NodeSet
    separators: tuple[NodeSet, ...]
    weight: int
    rest: tuple[NodeSet, ...]


class _Component:
    """One undirected component of a closed graph, as a graph of its own.

    The orientations of its skeleton without cycles and v-structures are counted and drawn; where
    the graph has arrows, its extensions are those among them that have these arrows.
    """

    def __init__(self, closed: PDAG, within: NodeSet) -> None:
        self.numbers = tuple(nodes(within))  # the numbers of the nodes in the whole graph
        self.graph = closed.induced(self.numbers).named(None)
        self.is_undirected = self.graph.out == self.graph.into
        self.everything = (1 << self.graph.n) - 1
        self._adjacent = self.graph.skeleton()
        self._picks: Callable[[NodeSet], list[_Pick]] = cache(self._make_picks)

    def count(self, within: NodeSet) -> int:
        """Return the number of orientations of a connected induced subgraph."""
        return sum(pick.weight for pick in self._picks(within))

    def draw(self, rng: np.random.Generator) -> list[Edge]:
        """Return the arrows of one uniform extension, by the numbers in the whole graph."""
        arrows = self.graph.directed_edges()
        edges = arrows + self.graph.undirected_edges()
        if arrows:
            listed = list(islice(extensions(self.graph), 1001))
            if len(listed) <= 1000:
                chosen = listed[int(rng.integers(len(listed)))].directed_edges()
                return [(self.numbers[x], self.numbers[y]) for x, y in chosen]
        for _ in range(MAX_TRIES):
            place = {v: i for i, v in enumerate(self._draw_order(rng))}
            if all(place[x] < place[y] for x, y in arrows):
                ordered = (sorted(edge, key=place.__getitem__) for edge in edges)
                return [(self.numbers[x], self.numbers[y]) for x, y in ordered]
        raise Undecided(
            "the knowledge allows too many members of a component to list, but too few for "
            f"rejection sampling ({MAX_TRIES} tries)"
        )

    def _draw_order(self, rng: np.random.Generator) -> list[int]:
        """Return a topological order of an orientation drawn uniformly."""
        order = []
        stack = [self.everything]
        while stack:
            part = stack.pop()
            picks, at = self._picks(part), _below(self.count(part), rng)
            up_to = accumulate(pick.weight for pick in picks)
            pick = next(pick for pick, end in zip(picks, up_to, strict=True) if at < end)
            order += _allowed_order(pick, rng)
            stack += reversed(pick.rest)
        return order

    def _make_picks(self, within: NodeSet) -> list[_Pick]:
        picks = []
        for clique, separators in _forbidden_prefixes(maximal_cliques(self._adjacent, within)):
            rest = tuple(self._left_undirected(within, clique))
            orders = _orders(clique.bit_count(), [s.bit_count() for s in separators])
            weight = orders * prod(map(self.count, rest))
            picks.append(_Pick(clique, separators, weight, rest))
        return picks

    def _left_undirected(self, within: NodeSet, clique: NodeSet) -> Iterator[NodeSet]:
        """Yield the components that stay undirected when a clique comes first, in their order.

        A lexicographic breadth-first search from the clique: nodes that it has not yet
        distinguished when it reaches the first of them are those that any orientation may permute.
        """
        waiting = [clique, within & ~clique]
        reported = clique
        while waiting:
            block = waiting[0]
            if not block & reported:
                yield from components(self._adjacent.__getitem__, block)
                reported |= block
            v = first(block)
            waiting[0] ^= 1 << v
            near = self._adjacent[v]
            waiting = [part for s in waiting for part in (s & near, s & ~near) if part]


def _components(closed: PDAG) -> list[_Component]:
    """Return the undirected components of at least two nodes."""
    parts = components(closed.neighbors, (1 << closed.n) - 1)
    return [_Component(closed, within) for within in parts if within & (within - 1)]


def _forbidden_prefixes(cliques: list[NodeSet]) -> Iterator[tuple[NodeSet, tuple[NodeSet, ...]]]:
    """Yield each clique with the separators in it on the path from the root of a clique tree."""
    # the tree is a maximum spanning tree by the sizes of intersections, from the first clique on
    paths: dict[NodeSet, tuple[NodeSet, ...]] = {cliques[0]: ()}
    parents = dict.fromkeys(cliques[1:], cliques[0])
    while parents:
        clique = max(parents, key=lambda c: (c & parents[c]).bit_count())
        parent = parents.pop(clique)
        paths[clique] = (*paths[parent], parent & clique)
        for other, nearest in parents.items():
            if (other & clique).bit_count() > (other & nearest).bit_count():
                parents[other] = clique
    for clique, path in paths.items():
        inside = {s for s in path if not s & ~clique}
        yield clique, tuple(sorted(inside, key=int.bit_count))


def _orders(size: int, separators: list[int]) -> int:
    """Return how many orders of a clique begin with none of a chain of subsets of these sizes."""
    allowed: list[int] = []
    for i, s in enumerate([*separators, size]):
        smaller = zip(separators[:i], allowed, strict=True)
        allowed.append(factorial(s) - sum(a * factorial(s - t) for t, a in smaller))
    return allowed[-1]


def _allowed_order(pick: _Pick, rng: np.random.Generator) -> list[int]:
    """Return a uniform order of a clique that begins with none of its separators, by rejection."""
    members = list(nodes(pick.clique))
    while True:
        order = [members[i] for i in rng.permutation(len(members))]
        if not any({*nodes(s)} == {*order[: s.bit_count()]} for s in pick.separators):
            return order


def _below(n: int, rng: np.random.Generator) -> int:
    """Return a uniform whole number from 0 to n − 1, however large n is."""
    size = (n.bit_length() + 7) // 8
    while True:
        value = int.from_bytes(rng.bytes(size), "big") >> (8 * size - n.bit_length())
        if value < n:
            return value
