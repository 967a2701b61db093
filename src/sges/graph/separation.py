"""d-separation, and whether one class is an independence map of another.

The ball of Shachter (1998) walks the active paths in the sense of the paper's Appendix A:
paths need not be simple, and a collider is open iff it is itself in the conditioning set
(the path goes down to it and back up).

Paper: Appendix A, d-separation; Section 3, IMAP.
"""

from sges.docstrings import documented_like
from sges.errors import GraphError
from sges.graph.equivalence import pdag_to_dag, topological_order
from sges.graph.pdag import ANSWER, GRAPHS, PDAG
from sges.graph.undirected import moral_graph
from sges.nodeset import Nodes, NodeSet, as_nodeset, nodes, reach


@documented_like(ANSWER, GRAPHS)
def d_separated(dag: PDAG, x: Nodes, y: Nodes, given: Nodes = ()) -> bool:
    """Return whether some nodes are d-separated from others by a third set.

    Paper: Appendix A, d-separation.

    Parameters
    ----------
    x : int or iterable of int
        One node, or several nodes.
    y : int or iterable of int
        The nodes to be separated from x.
    given : int or iterable of int, optional
        The nodes to condition on; none by default.

    Raises
    ------
    NotADAG
        If the graph has an undirected edge or a directed cycle.
    GraphError
        If a node does not exist, or is in two of the three sets.

    Examples
    --------
    >>> collider = PDAG.from_edges(3, directed=[(0, 2), (1, 2)])
    >>> d_separated(collider, 0, 1), d_separated(collider, 0, 1, {2})
    (True, False)
    """
    xs, ys = as_nodeset(x, dag.n, "x"), as_nodeset(y, dag.n, "y")
    conditioned = as_nodeset(given, dag.n, "given")
    if twice := xs & ys | (xs | ys) & conditioned:
        raise GraphError(
            f"d-separation needs three disjoint sets; {dag.show(twice)} is in two of them"
        )
    topological_order(dag)  # raises an error if it is not a DAG
    return not ys & connected(dag, xs, conditioned)


def connected(dag: PDAG, xs: NodeSet, given: NodeSet) -> NodeSet:
    """Return xs and all nodes that an active path joins to xs; the arguments are trusted."""
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


@documented_like(ANSWER)
def is_imap(candidate: PDAG, truth: PDAG) -> bool:
    """Return whether ``candidate`` is an IMAP of ``truth``: truth ≤ candidate.

    All independences of the candidate follow from its Markov conditions, and those from the
    independence of each node from its predecessors, given its parents, in one order of one member
    (Verma & Pearl 1988); so it suffices to check those in the truth.

    Paper: Section 3, IMAP.

    Parameters
    ----------
    candidate : PDAG
        A DAG, a PDAG or a CPDAG.
    truth : PDAG
        A DAG, a PDAG or a CPDAG on the same nodes.

    Raises
    ------
    GraphError
        If the numbers of nodes differ, or if a graph represents no class.

    Examples
    --------
    >>> chain, collider = PDAG.from_edges(3, [(0, 1), (1, 2)]), PDAG.from_edges(3, [(0, 1), (2, 1)])
    >>> is_imap(chain, collider), is_imap(PDAG.complete(3), chain)
    (False, True)
    """
    if candidate.n != truth.n:
        raise GraphError(
            f"the candidate has {candidate.n} nodes and the truth {truth.n}; the numbers must be "
            "equal"
        )
    h, g = pdag_to_dag(candidate), pdag_to_dag(truth)
    before = 0
    for v in topological_order(h):
        parents = h.parents(v)
        if connected(g, 1 << v, parents) & before & ~parents:
            return False
        before |= 1 << v
    return True


def markov_boundary(dag: PDAG, y: int, candidates: NodeSet) -> NodeSet:
    """Return the smallest subset of the candidates that d-separates y from the other candidates.

    In the moral graph of the ancestors of y and the candidates, these are the candidates that a
    path from y reaches without passing another candidate (Lauritzen et al. 1990).
    """
    moral = moral_graph(dag, reach(dag.parents, candidates | 1 << y))
    return candidates & reach(lambda v: 0 if candidates >> v & 1 else moral[v], 1 << y)
