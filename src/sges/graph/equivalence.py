"""Equivalence classes of DAGs: from a DAG or PDAG to its CPDAG and back.

Two DAGs are equivalent iff they share skeleton and v-structures (Verma & Pearl 1991), so a
PDAG stands for the class of DAGs with its skeleton and v-structures, and a CPDAG is the one
PDAG of a class that directs exactly the compelled edges.

    dag_to_cpdag      label each edge compelled or reversible (after Chickering 1995)
    pdag_to_dag       a consistent extension, one sink at a time (Dor & Tarsi 1992)
    pdag_to_cpdag     the one after the other
    members           every DAG of a class, lazily

Dor & Tarsi's condition is the original one: every *undirected neighbor* of a sink must be
adjacent to all other nodes adjacent to it.  The summary in Chickering (2002, App. C) asks
that parents and neighbors together form a clique, which is stricter, and rejects PDAGs that
do have an extension.

Paper: Section 3, equivalence and CPDAG.
"""

from collections.abc import Iterator

from sges.errors import NoConsistentExtension, NotADAG
from sges.graph.meek import direct_in_turn
from sges.graph.pdag import PDAG, Edge
from sges.nodeset import NodeSet, Rows, first, nodes


def is_dag(graph: PDAG) -> bool:
    """Tell whether every edge is directed and no directed path returns to its start."""
    return graph.undirected_edges() == [] and _sinks_last(graph) is not None


def topological_order(dag: PDAG) -> list[int]:
    """Return the nodes so that each comes after its parents; refuse what is not a DAG."""
    if lines := dag.undirected_edges():
        x, y = lines[0]
        raise NotADAG(
            f"not a DAG: {dag.name(x)}—{dag.name(y)} is undirected; every edge must be directed"
        )
    order = _sinks_last(dag)
    if order is None:
        raise NotADAG(f"not a DAG: it has the directed cycle {_a_cycle(dag)}")
    return order


def dag_to_cpdag(dag: PDAG) -> PDAG:
    """Return the CPDAG of a DAG's class: compelled edges directed, reversible ones not.

    Paper: Section 3, compelled edge.
    """
    compelled = [0] * dag.n
    for y in topological_order(dag):
        parents = dag.parents(y)
        compelled[y] = compelled_parents(parents, compelled, dag.into) if parents else 0
    reversible = [(x, y) for y in range(dag.n) for x in nodes(dag.parents(y) & ~compelled[y])]
    return dag.edited(undirect=reversible)


def compelled_parents(parents: NodeSet, compelled: Rows, dag_parents: Rows) -> NodeSet:
    """Return the parents of a node whose edges into it are compelled.

    ``compelled`` and ``dag_parents`` hold the same, already known, for the parents.  One
    parent decides for all: take x, a parent of y without a child among y's parents.

    * If x → y is compelled, so is every z → y: were z — y reversible, x → y — z would
      demand x → z (no CPDAG holds x → y — z with x, z not adjacent), but x has no such child.
    * If x — y is reversible, x and y share a chain component, and with it their parents.
    * x → y is compelled iff some w → x is compelled and w is no parent of y, or some other
      parent of y is no parent of x (then it is not adjacent to x: a v-structure).

    This is Chickering's (1995) Label-Edges with the order of edges argued away.
    """
    with_child = 0
    for z in nodes(parents):
        with_child |= dag_parents[z]
    x = first(parents & ~with_child)
    others = parents ^ 1 << x
    if compelled[x] & ~parents or others & ~dag_parents[x]:
        return parents
    return compelled[x]


def pdag_to_dag(pdag: PDAG) -> PDAG:
    """Return a consistent extension: a DAG with the PDAG's skeleton, arrows and v-structures.

    Paper: Fig. 2, "Convert to CPDAG".
    """
    arrows = consistent_extension(pdag, (1 << pdag.n) - 1)
    if arrows is None:
        raise NoConsistentExtension(
            f"{pdag!r} has no consistent extension: its undirected edges cannot be directed "
            "without a directed cycle or a new v-structure"
        )
    return pdag.edited(direct=arrows)


def consistent_extension(pdag: PDAG, within: NodeSet) -> list[Edge] | None:
    """Return directions for the undirected edges inside ``within``, or None if none fit.

    Dor & Tarsi (1992) on the subgraph induced by ``within``: take a node without children
    whose every neighbor is adjacent to all else that is adjacent to it, make it a sink, and
    go on without it.  Any such node will do, so there is nothing to undo.
    """
    arrows: list[Edge] = []
    left = todo = within
    while todo:
        x = todo.bit_length() - 1
        todo ^= 1 << x
        if not _can_be_sink(pdag, x, left):
            continue
        left ^= 1 << x
        arrows += [(y, x) for y in nodes(pdag.neighbors(x) & left)]
        todo |= pdag.adjacent(x) & left  # only these may have become sinks
    return None if left else arrows


def _can_be_sink(pdag: PDAG, x: int, left: NodeSet) -> bool:
    if pdag.children(x) & left:
        return False
    near = pdag.adjacent(x) & left
    return all(not near & ~(pdag.adjacent(y) | 1 << y) for y in nodes(pdag.neighbors(x) & left))


def pdag_to_cpdag(pdag: PDAG) -> PDAG:
    """Return the CPDAG of the class that a PDAG stands for.

    Paper: Fig. 2, "Convert to CPDAG".
    """
    return dag_to_cpdag(pdag_to_dag(pdag))


def is_cpdag(graph: PDAG) -> bool:
    """Tell whether a graph is the CPDAG of some class."""
    arrows = consistent_extension(graph, (1 << graph.n) - 1)
    if arrows is None:
        return False
    dag = graph.edited(direct=arrows)
    return is_dag(dag) and dag_to_cpdag(dag) == graph


def covered_edges(dag: PDAG) -> list[Edge]:
    """Return the edges x → y of a DAG with Pa(y) = Pa(x) ∪ {x}, sorted.

    Reversing one leads to an equivalent DAG, and all of the class is reached so (Chickering
    1995).

    Paper: Section 3, covered edge.
    """
    return [(x, y) for x, y in dag.directed_edges() if dag.parents(y) == dag.parents(x) | 1 << x]


def members(graph: PDAG) -> Iterator[PDAG]:
    """Yield every DAG of the class that a DAG, PDAG or CPDAG stands for, lazily.

    Each branching directs one undirected edge both ways and closes under Meek's rules; no
    branch is ever a dead end (Meek 1995), so the next member is always a few steps away.

    >>> chain = PDAG.from_edges(3, undirected=[(0, 1), (1, 2)])
    >>> for dag in members(chain):
    ...     print(dag)
    PDAG(3 nodes: 0→1, 1→2)
    PDAG(3 nodes: 1→0, 1→2)
    PDAG(3 nodes: 1→0, 2→1)

    Paper: Section 3, equivalence class.
    """
    return extensions(pdag_to_cpdag(graph))


def extensions(pdag: PDAG) -> Iterator[PDAG]:
    """Yield the consistent extensions of a PDAG that is closed under Meek's rules."""
    stack: list[tuple[PDAG, list[Edge]]] = [(pdag, [])]  # a state, and an edge still to direct
    while stack:
        graph, _ = direct_in_turn(*stack.pop())
        x = next((v for v in range(graph.n) if graph.neighbors(v)), None)
        if x is None:
            yield graph
            continue
        y = first(graph.neighbors(x))
        stack += [(graph, [(y, x)]), (graph, [(x, y)])]


def _sinks_last(graph: PDAG) -> list[int] | None:
    """Return the nodes in topological order, or None if the arrows make a cycle."""
    waiting = [graph.parents(v).bit_count() for v in range(graph.n)]
    ready = [v for v in range(graph.n) if not waiting[v]]
    for v in ready:
        for child in nodes(graph.children(v)):
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    return ready if len(ready) == graph.n else None


def _a_cycle(graph: PDAG) -> str:
    """Write one directed cycle of a graph that has one."""
    left = (1 << graph.n) - 1
    while sources := [v for v in nodes(left) if not graph.parents(v) & left]:
        left &= ~sum(1 << v for v in sources)
    path = [first(left)]
    while (parent := first(graph.parents(path[-1]) & left)) not in path:
        path.append(parent)
    cycle = [*path[path.index(parent) :], parent]
    return "→".join(graph.name(v) for v in reversed(cycle))
