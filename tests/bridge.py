"""Conversions between the sets of arcs of the naive twins and the graphs of the package."""

from naive import Arcs
from sges.graph import PDAG
from sges.nodeset import NodeSet, nodes
from sges.properties import AtMost


def pdag_of(n: int, arcs: Arcs) -> PDAG:
    """Return the graph of a set of arcs; both arcs of a pair are an undirected edge."""
    arrows = [a for a in arcs if a[::-1] not in arcs]
    lines = [a for a in arcs if a[::-1] in arcs and a[0] < a[1]]
    return PDAG.from_edges(n, arrows, lines)


def arcs_of(graph: PDAG) -> Arcs:
    """Return the set of arcs of a graph."""
    lines = graph.undirected_edges()
    return frozenset(graph.directed_edges()) | set(lines) | {(y, x) for x, y in lines}


def frozen(s: NodeSet) -> frozenset[int]:
    """Return the nodes of a mask as a set."""
    return frozenset(nodes(s))


def measured(kind: type[AtMost], graph: PDAG) -> int:
    """Return the measure of a graph, which must be exact and not an interval."""
    value = kind.measure(graph)
    assert isinstance(value, int)
    return value
