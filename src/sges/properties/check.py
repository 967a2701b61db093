"""Is a property EIH?  Tried on every small DAG, with a counter-example if not."""

from collections.abc import Iterator
from itertools import product

from sges.errors import InvalidProperty
from sges.graph.equivalence import covered_edges, is_dag
from sges.graph.pdag import PDAG
from sges.nodeset import nodes
from sges.properties.base import Property


def check_property(prop: Property, largest: int = 4) -> None:
    """Refuse a property that is not EIH on some DAG of at most ``largest`` nodes.

    Equivalence invariance is tried on every covered edge: reversing them reaches the whole
    class (Chickering 1995).  Heredity is tried by removing one node at a time.

    >>> class OneEdgeAtLeast:
    ...     def holds(self, graph):
    ...         return graph.edge_count() > 0
    >>> check_property(OneEdgeAtLeast())
    Traceback (most recent call last):
    ...
    sges.errors.InvalidProperty: OneEdgeAtLeast is not hereditary: it holds for \
PDAG(2 nodes: 0→1) but not without its node 0, PDAG(1 node)
    """
    for n in range(1, largest + 1):
        for dag in all_dags(n):
            _check_invariance(prop, dag)
            if prop.holds(dag):
                _check_heredity(prop, dag)


def all_dags(n: int) -> Iterator[PDAG]:
    """Yield every DAG on n nodes, lazily."""
    pairs = [(x, y) for x in range(n) for y in range(x + 1, n)]
    for kinds in product((None, False, True), repeat=len(pairs)):
        edges = [
            pair[::-1] if turned else pair
            for pair, turned in zip(pairs, kinds, strict=True)
            if turned is not None
        ]
        dag = PDAG.from_edges(n, edges)
        if is_dag(dag):
            yield dag


def _check_invariance(prop: Property, dag: PDAG) -> None:
    for x, y in covered_edges(dag):
        other = dag.edited(direct=[(y, x)])
        if prop.holds(dag) != prop.holds(other):
            holds, not_holds = (dag, other) if prop.holds(dag) else (other, dag)
            raise InvalidProperty(
                f"{_name(prop)} is not equivalence invariant: it holds for {holds!r} but not "
                f"for the equivalent {not_holds!r}"
            )


def _check_heredity(prop: Property, dag: PDAG) -> None:
    everything = (1 << dag.n) - 1
    for v in nodes(everything):
        part = dag.induced(everything ^ 1 << v)
        if not prop.holds(part):
            raise InvalidProperty(
                f"{_name(prop)} is not hereditary: it holds for {dag!r} but not without its "
                f"node {v}, {part!r}"
            )


def _name(prop: Property) -> str:
    return type(prop).__name__
