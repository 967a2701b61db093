"""d-separation, and which class is an independence map of which.

The ball of Shachter (1998) walks the active paths in the sense of the paper's Appendix A:
paths need not be simple, and a collider is open iff it is itself in the conditioning set
(the path goes down to it and back up).

Paper: Appendix A, d-separation; Section 3, IMAP.
"""

from sges.errors import GraphError
from sges.graph.equivalence import pdag_to_dag, topological_order
from sges.graph.pdag import PDAG
from sges.nodeset import Nodes, NodeSet, as_nodeset, nodes, show


def d_separated(dag: PDAG, xs: Nodes, ys: Nodes, given: Nodes = ()) -> bool:
    """Tell whether every node of xs is d-separated from every node of ys by ``given``.

    >>> collider = PDAG.from_edges(3, directed=[(0, 2), (1, 2)])
    >>> d_separated(collider, {0}, {1}), d_separated(collider, {0}, {1}, {2})
    (True, False)

    Paper: Appendix A, d-separation.
    """
    xs, ys = as_nodeset(xs, dag.n, "first set"), as_nodeset(ys, dag.n, "second set")
    given = as_nodeset(given, dag.n, "conditioning set")
    if twice := xs & ys | xs & given | ys & given:
        raise GraphError(
            f"d-separation is about three disjoint sets; {show(twice)} is in two of them"
        )
    topological_order(dag)  # refuses what is not a DAG
    return not ys & connected(dag, xs, given)


def connected(dag: PDAG, xs: NodeSet, given: NodeSet) -> NodeSet:
    """Return xs and all nodes that an active path joins to xs; trusts its arguments."""
    down = up = 0  # nodes that the ball has entered from a parent, from a child
    from_parent, from_child = 0, xs
    while from_parent | from_child:
        down, up = down | from_parent, up | from_child
        to_child = to_parent = 0
        for v in nodes(from_parent):
            if given >> v & 1:
                to_parent |= dag.into[v]  # an open collider sends the ball back up
            else:
                to_child |= dag.out[v]
        for v in nodes(from_child & ~given):
            to_child |= dag.out[v]
            to_parent |= dag.into[v]
        from_parent, from_child = to_child & ~down, to_parent & ~up
    return (down | up) & ~given


def is_imap(candidate: PDAG, truth: PDAG) -> bool:
    """Tell whether ``candidate`` is an IMAP of ``truth``: truth ≤ candidate.

    All independences of the candidate follow from its Markov conditions, and those from each
    node's with its predecessors in one order of one member (Verma & Pearl 1988); so it
    suffices to look those up in the truth.  Either may be a DAG, a PDAG or a CPDAG.

    >>> chain, collider = PDAG.from_edges(3, [(0, 1), (1, 2)]), PDAG.from_edges(3, [(0, 1), (2, 1)])
    >>> is_imap(chain, collider), is_imap(PDAG.complete(3), chain)
    (False, True)

    Paper: Section 3, IMAP.
    """
    if candidate.n != truth.n:
        raise GraphError(f"{candidate.n} and {truth.n} nodes: an IMAP is on the same nodes")
    h, g = pdag_to_dag(candidate), pdag_to_dag(truth)
    before = 0
    for v in topological_order(h):
        parents = h.parents(v)
        if connected(g, 1 << v, parents) & before & ~parents:
            return False
        before |= 1 << v
    return True
