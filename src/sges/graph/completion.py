"""Completing a PDAG after an operator, examining only the graph around the changed edges.

An operator changes a few edges at x and y, and on a sparse graph the new CPDAG differs from the
old one only nearby.  ``complete_locally`` returns the CPDAG of ``pdag_to_cpdag`` in three steps:

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
extension of a chordal graph.  The tests compare the result with ``pdag_to_cpdag``.
"""

from sges.errors import NoConsistentExtension
from sges.graph.equivalence import compelled_parents, consistent_extension
from sges.graph.pdag import PDAG
from sges.graph.undirected import maximum_cardinality_search
from sges.nodeset import NodeSet, Rows, components, first, nodes, nodeset, reach


def complete_locally(cpdag: PDAG, edited: PDAG, x: int, y: int) -> PDAG:
    """Return the CPDAG of a PDAG that an operator has made from another CPDAG."""
    region = reach(cpdag.neighbors, 1 << x | 1 << y)
    arrows = consistent_extension(edited, region)
    if arrows is None:
        raise NoConsistentExtension(
            f"no consistent extension around {edited.name(x)} and {edited.name(y)}: "
            "the edit is not the result of a valid operator"
        )
    compelled = list(map(cpdag.parents, range(cpdag.n)))
    lines = list(map(edited.neighbors, range(cpdag.n)))
    member = edited.edited(direct=arrows)
    above = list(map(member.parents, range(cpdag.n)))  # the parents in the member DAG
    directed = region  # the nodes whose edges are all directed in the member DAG
    changed, todo = 0, region | edited.children(x) & edited.children(y)
    while todo:
        v = first(todo)
        todo ^= 1 << v
        directed |= _direct((above[v] | 1 << v) & ~directed, lines, above)
        label = compelled_parents(above[v], compelled, above)
        if label != compelled[v]:
            compelled[v] = label
            changed |= 1 << v
            todo |= edited.children(v) | nodeset(u for u in nodes(lines[v]) if above[u] >> v & 1)
    where = list(nodes(region | changed))
    return edited.edited(
        direct=[(p, v) for v in where for p in nodes(compelled[v] & lines[v])],
        undirect=[(p, v) for v in where for p in nodes(edited.parents(v) & ~compelled[v])],
    )


def _direct(met: NodeSet, lines: Rows, above: list[NodeSet]) -> NodeSet:
    """Direct the chain components of some nodes by adding to ``above``; return all their nodes."""
    region = reach(lines.__getitem__, met)
    for component in components(lines.__getitem__, region):
        earlier = 0
        for u in maximum_cardinality_search(lines, component):
            above[u] |= lines[u] & earlier
            earlier |= 1 << u
    return region
