"""d-separation, and whether one class is an independence map of another.

A set separates two others iff it does so in the moral graph of the ancestors of all three
(Lauritzen et al. 1990).  The tests compare with the active paths of the paper's Appendix A.

Paper: Appendix A, d-separation; Section 3, IMAP.
"""

from sges.docstrings import documented_like
from sges.errors import GraphError
from sges.graph.equivalence import pdag_to_dag, topological_order
from sges.graph.pdag import ANSWER, GRAPHS, PDAG
from sges.nodeset import Nodes, NodeSet, as_nodeset, nodes, reach, union


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
    return not ys & markov_boundary(dag, xs, conditioned | ys)


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
        if markov_boundary(g, 1 << v, before) & ~parents:
            return False
        before |= 1 << v
    return True


def markov_boundary(dag: PDAG, of: NodeSet, candidates: NodeSet) -> NodeSet:
    """Return the smallest subset of the candidates that d-separates a set from the others.

    In the moral graph, these are the candidates that a path reaches without passing another one.
    """
    ancestral = reach(dag.into.__getitem__, candidates | of)

    def beside(v: int) -> NodeSet:
        if candidates >> v & 1:
            return 0
        children = dag.out[v] & ancestral
        return dag.into[v] | children | union(dag.into[z] for z in nodes(children))

    return candidates & reach(beside, of)
