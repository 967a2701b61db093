"""Equivalence classes of DAGs: from a DAG or PDAG to its CPDAG and back.

Two DAGs are equivalent iff they have the same skeleton and v-structures (Verma & Pearl 1991), so a
PDAG represents the class of DAGs with its skeleton and v-structures, and a CPDAG is the one
PDAG of a class that directs exactly the compelled edges.

Dor & Tarsi's condition is the original one: every *undirected neighbor* of a sink must be
adjacent to all other nodes adjacent to it.  The summary in Chickering (2002, App. C) asks
that parents and neighbors together form a clique, which is stricter, and rejects PDAGs that
do have an extension.

Paper: Section 3, equivalence and CPDAG.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from heapq import heapify, heappop, heappush
from operator import and_
from typing import TypeVar

from sges.docstrings import documented_like
from sges.errors import NoConsistentExtension, NotADAG
from sges.graph.meek import direct_in_turn
from sges.graph.pdag import ANSWER, GRAPHS, PDAG, Edge
from sges.nodeset import NodeSet, Rows, first, nodes, union

Node = TypeVar("Node")


@documented_like(ANSWER, GRAPHS)
def is_dag(graph: PDAG) -> bool:
    """Return whether every edge is directed and no directed path returns to its start."""
    if any(map(and_, graph.out, graph.into)):  # an undirected edge
        return False
    try:
        topological_order(graph)
    except NotADAG:
        return False
    return True


@documented_like(GRAPHS)
def topological_order(dag: PDAG) -> list[int]:
    """Return the nodes in an order in which each comes after its parents.

    Returns
    -------
    list of int
        The nodes.

    Raises
    ------
    NotADAG
        If the graph has an undirected edge or a directed cycle.
    """
    if any(map(and_, dag.out, dag.into)):
        x, y = dag.undirected_edges()[0]
        raise NotADAG(
            f"not a DAG: {dag.name(x)}—{dag.name(y)} is undirected; every edge must be directed"
        )
    waiting = [parents.bit_count() for parents in dag.into]
    order = [v for v in range(dag.n) if not waiting[v]]
    for v in order:
        for child in nodes(dag.out[v]):
            waiting[child] -= 1
            if not waiting[child]:
                order.append(child)
    if len(order) < dag.n:
        cycle = find_cycle({v: nodes(dag.parents(v)) for v in range(dag.n)})
        raise NotADAG(f"not a DAG: it has the directed cycle {'→'.join(map(dag.name, cycle))}")
    return order


@documented_like(GRAPHS)
def dag_to_cpdag(dag: PDAG) -> PDAG:
    """Return the CPDAG of a DAG's class: compelled edges directed, reversible ones not.

    Paper: Section 3, compelled edge.

    Returns
    -------
    PDAG
        The CPDAG, with the names of the graph.

    Raises
    ------
    NotADAG
        If the graph has an undirected edge or a directed cycle.

    Examples
    --------
    >>> dag_to_cpdag(PDAG.from_edges(4, [(0, 2), (1, 2), (2, 3)]))
    PDAG(4 nodes: 0→2, 1→2, 2→3)
    >>> dag_to_cpdag(PDAG.from_edges(3, [(0, 1), (1, 2)]))
    PDAG(3 nodes: 0—1, 1—2)
    """
    order = topological_order(dag)
    compelled = [0] * dag.n
    for y in order:
        compelled[y] = compelled_parents(dag.parents(y), compelled, dag.into)
    reversible = [(x, y) for y in range(dag.n) for x in nodes(dag.parents(y) & ~compelled[y])]
    return dag.edited(undirect=reversible)


def compelled_parents(parents: NodeSet, compelled: Rows, dag_parents: Rows) -> NodeSet:
    """Return the parents of a node y whose edges into y are compelled.

    ``compelled`` and ``dag_parents`` contain the compelled parents and all parents of those
    parents.  One parent decides for all: take x, a parent of y without a child among y's parents.

    * If x → y is compelled, so is every z → y: were z — y reversible, x → y — z would
      demand x → z (no CPDAG holds x → y — z with x, z not adjacent), but x has no such child.
    * If x — y is reversible, x and y share a chain component, and with it their parents.
    * x → y is compelled iff some w → x is compelled and w is not a parent of y, or some other
      parent of y is not a parent of x (then it is not adjacent to x: a v-structure).

    This is Chickering's (1995) Label-Edges, without its order of edges.
    """
    if not parents:
        return 0
    x = first(parents & ~union(dag_parents[z] for z in nodes(parents)))
    others = parents ^ 1 << x
    if compelled[x] & ~parents or others & ~dag_parents[x]:
        return parents
    return compelled[x]


@documented_like(GRAPHS)
def pdag_to_dag(pdag: PDAG) -> PDAG:
    """Return a consistent extension: a DAG with the PDAG's skeleton, arrows and v-structures.

    Paper: Fig. 2, "Convert to CPDAG".

    Returns
    -------
    PDAG
        A DAG of the class that the graph represents.

    Raises
    ------
    NoConsistentExtension
        If there is none.

    References
    ----------
    Dor & Tarsi (1992), "A simple algorithm to construct a consistent extension of a partially
    oriented graph", Technical Report R-185, UCLA.
    """
    arrows = consistent_extension(pdag, (1 << pdag.n) - 1)
    if arrows is None:
        raise NoConsistentExtension(
            f"{pdag!r} has no consistent extension: its undirected edges cannot be directed "
            "without a directed cycle or a new v-structure"
        )
    return pdag.edited(direct=arrows)


def consistent_extension(
    pdag: PDAG, within: NodeSet, ranking: Sequence[int] | None = None
) -> list[Edge] | None:
    """Return directions for the undirected edges inside ``within``, or None if none fit.

    Dor & Tarsi (1992) on the subgraph induced by ``within``: take a node without children whose
    every neighbor is adjacent to all other nodes adjacent to it, make it a sink, and go on
    without it.  Any such node will do, so no choice is ever undone.  The last node of a ranking
    comes first, or else that with the highest number.
    """
    arrows: list[Edge] = []
    out, into = pdag.out, pdag.into
    remaining = todo = within
    order = place_of = range(pdag.n) if ranking is None else ranking
    if ranking is not None:
        place_of = sorted(order, key=order.__getitem__)  # the inverse
    places = [-place_of[v] for v in nodes(within)]
    heapify(places)
    while places:
        x = order[-heappop(places)]  # the last of those to do
        todo ^= 1 << x
        if _can_be_sink(pdag, x, remaining):
            remaining ^= 1 << x
            around = (out[x] | into[x]) & remaining
            arrows += [(y, x) for y in nodes(out[x] & around)]
            for v in nodes(around & ~todo):  # only these may have become sinks
                heappush(places, -place_of[v])
            todo |= around
    return None if remaining else arrows


def _can_be_sink(pdag: PDAG, x: int, remaining: NodeSet) -> bool:
    """Return whether x has no children, and neighbors adjacent to all others adjacent to x."""
    out, into = pdag.out, pdag.into
    if out[x] & ~into[x] & remaining:
        return False
    around, lines = (out[x] | into[x]) & remaining, out[x] & remaining
    return all(not around & ~(out[y] | into[y] | 1 << y) for y in nodes(lines))


@documented_like(dag_to_cpdag, GRAPHS)
def pdag_to_cpdag(pdag: PDAG) -> PDAG:
    """Return the CPDAG of the class that a PDAG represents.

    Paper: Fig. 2, "Convert to CPDAG".

    Raises
    ------
    NoConsistentExtension
        If the graph has no consistent extension, and so represents no class.
    """
    return dag_to_cpdag(pdag_to_dag(pdag))


@documented_like(ANSWER, GRAPHS)
def is_cpdag(graph: PDAG) -> bool:
    """Return whether a graph is the CPDAG of some class."""
    try:
        return pdag_to_cpdag(graph) == graph
    except NoConsistentExtension:
        return False


@documented_like(GRAPHS)
def covered_edges(dag: PDAG) -> list[Edge]:
    """Return the edges x → y of a DAG with Pa(y) = Pa(x) ∪ {x}, sorted.

    Reversing a covered edge leads to an equivalent DAG, and sequences of such reversals reach the
    whole class (Chickering 1995).

    Paper: Section 3, covered edge.

    Returns
    -------
    list of (int, int)
        The covered edges as pairs (x, y).
    """
    return [(x, y) for x, y in dag.directed_edges() if dag.parents(y) == dag.parents(x) | 1 << x]


def members(graph: PDAG) -> Iterator[PDAG]:
    """Yield every DAG of the class that a DAG, PDAG or CPDAG represents, lazily.

    Each branching directs one undirected edge both ways and closes under Meek's rules; no
    branch is ever a dead end (Meek 1995), so the next member is always a few steps away.

    Paper: Section 3, equivalence class.

    Parameters
    ----------
    graph : PDAG
        A graph that represents a class.

    Returns
    -------
    iterator of PDAG
        The DAGs, each once.

    Raises
    ------
    NoConsistentExtension
        If the graph represents no class.

    Examples
    --------
    >>> chain = PDAG.from_edges(3, undirected=[(0, 1), (1, 2)])
    >>> for dag in members(chain):
    ...     print(dag)
    PDAG(3 nodes: 0→1, 1→2)
    PDAG(3 nodes: 1→0, 1→2)
    PDAG(3 nodes: 1→0, 2→1)
    """
    return _extensions(pdag_to_cpdag(graph))


@documented_like(members, GRAPHS)
def extensions(pdag: PDAG) -> Iterator[PDAG]:
    """Yield the consistent extensions of a PDAG lazily.

    These are the members of its class that have all of its arrows: if the PDAG is a class refined
    by background knowledge, the members that satisfy the knowledge.  The PDAG need not be closed
    under Meek's rules.

    Raises
    ------
    NoConsistentExtension
        If there is none.

    Examples
    --------
    >>> chain = PDAG.from_edges(3, directed=[(0, 1)], undirected=[(1, 2)])
    >>> list(extensions(chain))
    [PDAG(3 nodes: 0→1, 1→2)]
    """
    return _extensions(maximally_oriented(pdag))


def maximally_oriented(pdag: PDAG) -> PDAG:
    """Return the class of a PDAG with all edges directed on which its extensions agree.

    Parameters
    ----------
    pdag : PDAG
        Any graph, such as a CPDAG with some edges directed by background knowledge.

    Returns
    -------
    PDAG
        The graph closed under Meek's rules (an MPDAG).

    Raises
    ------
    NoConsistentExtension
        If the graph has no consistent extension.

    Examples
    --------
    >>> maximally_oriented(PDAG.from_edges(3, directed=[(0, 1)], undirected=[(1, 2)]))
    PDAG(3 nodes: 0→1, 1→2)
    """
    return direct_in_turn(pdag_to_cpdag(pdag), pdag.directed_edges())[0]


def _extensions(closed: PDAG) -> Iterator[PDAG]:
    """Yield the consistent extensions of a PDAG that has one and is closed under Meek's rules."""
    stack: list[tuple[PDAG, list[Edge]]] = [(closed, [])]  # a state, and an edge still to direct
    while stack:
        graph, _ = direct_in_turn(*stack.pop())
        x = next((v for v in range(graph.n) if graph.neighbors(v)), None)
        if x is None:
            yield graph
            continue
        y = first(graph.neighbors(x))
        stack += [(graph, [(y, x)]), (graph, [(x, y)])]


def find_cycle(parents: Mapping[Node, Iterable[Node]]) -> list[Node]:
    """Return a directed cycle, its first node repeated at the end; nothing if there is none."""
    try:
        TopologicalSorter(parents).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []
