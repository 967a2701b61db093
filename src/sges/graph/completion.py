"""Completing a PDAG after an operator, looking only around the edges that changed.

``pdag_to_cpdag`` reads the whole graph.  An operator changes a few edges at x and y, and on a
sparse graph the new CPDAG differs from the old one only nearby.  ``complete_locally`` returns the
same CPDAG in three steps:

1. *Direct the chain components of x and y.*  All nodes of a chain component have the same
   parents outside it, so whichever way its edges are directed, no v-structure arises with the
   outside; a consistent extension of the edited PDAG restricted to these components extends
   the whole.  No cycle arises outside either: a directed path that leaves the components and
   returns is a semi-directed path, which the operator's conditions exclude.
2. *Label downstream.*  Which edges into a node are compelled depends only on its parents'
   parents and labels (``compelled_parents``).  So label the components again, and the common
   children of x and y, whose parents x and y have become or ceased to be adjacent; and go on to
   the children of a node only if its label changed.  The dependence is acyclic, so the order of
   the work does not matter.
3. *Write the labels* where they differ from the edited PDAG.

A component met on the way is directed by maximum cardinality search, which is a consistent
extension of a chordal graph.  Twin in the tests: ``pdag_to_cpdag``.
"""

from collections.abc import Callable

from sges.errors import NoConsistentExtension
from sges.graph.equivalence import compelled_parents, consistent_extension
from sges.graph.pdag import PDAG
from sges.graph.undirected import maximum_cardinality_search
from sges.nodeset import NodeSet, first, nodes


def complete_locally(cpdag: PDAG, edited: PDAG, x: int, y: int) -> PDAG:
    """Return the CPDAG of a PDAG that an operator made of another CPDAG.

    Parameters
    ----------
    cpdag : PDAG
        The CPDAG before the operator.
    edited : PDAG
        What a valid operator on x and y makes of it.
    x : int
        The first node of the operator.
    y : int
        The second node of the operator.

    Returns
    -------
    PDAG
        The same graph as ``pdag_to_cpdag(edited)``.

    Raises
    ------
    NoConsistentExtension
        If the changed components have no consistent extension: the operator was not valid.
    """
    region = cpdag.chain_component(x) | cpdag.chain_component(y)
    arrows = consistent_extension(edited, region)
    if arrows is None:
        raise NoConsistentExtension(
            f"no consistent extension around {edited.name(x)} and {edited.name(y)}: "
            "the edit is not that of a valid operator"
        )
    labels = _Labels(cpdag, edited, region)
    for parent, child in arrows:
        labels.dag_parents[child] |= 1 << parent
    changed = labels.settle(region | edited.children(x) & edited.children(y))
    return labels.write(region | changed)


class _Lazily(dict[int, NodeSet]):
    """One set per node: the one that was written, or else the one that the rule returns."""

    def __init__(self, rule: Callable[[int], NodeSet]) -> None:
        self.rule = rule

    def __missing__(self, v: int) -> NodeSet:
        return self.rule(v)


class _Labels:
    """A member DAG, as far as it is needed, and its compelled edges."""

    def __init__(self, cpdag: PDAG, edited: PDAG, region: NodeSet) -> None:
        self.graph = edited
        self.directed = region  # the nodes whose edges are all directed in the member DAG
        self.dag_parents = _Lazily(edited.parents)
        self.compelled = _Lazily(cpdag.parents)

    def settle(self, todo: NodeSet) -> NodeSet:
        """Label these nodes, and what follows from them; return those whose label changed."""
        changed = 0
        while todo:
            v = first(todo)
            todo ^= 1 << v
            self._direct_around(v)
            parents = self.dag_parents[v]
            label = compelled_parents(parents, self.compelled, self.dag_parents) if parents else 0
            if label != self.compelled[v]:
                self.compelled[v] = label
                changed |= 1 << v
                todo |= self._dag_children(v)
        return changed

    def write(self, where: NodeSet) -> PDAG:
        """Return the graph with the edges into the given nodes as labelled."""
        direct, undirect = [], []
        for v in nodes(where):
            label = self.compelled[v]
            direct += [(p, v) for p in nodes(label & self.graph.neighbors(v))]
            undirect += [(p, v) for p in nodes(self.graph.parents(v) & ~label)]
        return self.graph.edited(direct=direct, undirect=undirect)

    def _direct_around(self, v: int) -> None:
        """Direct the chain components of v and of its parents, unless they are directed already."""
        self._direct(v)
        for p in nodes(self.dag_parents[v] & ~self.directed):
            self._direct(p)

    def _direct(self, v: int) -> None:
        if self.directed >> v & 1:
            return
        component = self.graph.chain_component(v)
        self.directed |= component
        if component == 1 << v:
            return
        lines = _Lazily(self.graph.neighbors)
        earlier = 0
        for u in maximum_cardinality_search(lines, component):
            self.dag_parents[u] |= lines[u] & earlier
            earlier |= 1 << u

    def _dag_children(self, v: int) -> NodeSet:
        children = self.graph.children(v)
        for u in nodes(self.graph.neighbors(v)):
            if self.dag_parents[u] >> v & 1:
                children |= 1 << u
        return children
