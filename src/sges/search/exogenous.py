"""Exogenous nodes: they may be parents, and their own laws are neither scored nor learned.

No edge points to an exogenous node, and there are none among them: they count as adjacent, as if
each pair had an edge that every class has.  So two DAGs are equivalent if they have the same
edges from exogenous nodes, the same skeleton and the same v-structures, where x → y ← z with
exogenous x and z is none.  The class is that of a search under knowledge of a first tier whose
edges are all required, without these edges; its score leaves out the families of the tier.
"""

from collections.abc import Iterable
from itertools import combinations

from sges.errors import GraphError, InvalidArgument, NotACPDAG, shown
from sges.graph.equivalence import dag_to_cpdag, is_dag, pdag_to_dag
from sges.graph.pdag import PDAG
from sges.knowledge.indexed import IndexedKnowledge
from sges.nodeset import NodeSet, as_node, nodes, nodeset
from sges.search.moves import Constraint


def block_of(exogenous: Iterable[int], n: int) -> NodeSet:
    """Return exogenous nodes as a set; raise an error unless they are nodes, not all of them."""
    if isinstance(exogenous, str | bytes) or not isinstance(exogenous, Iterable):
        raise InvalidArgument(f"exogenous = {shown(exogenous)} is not a list of nodes")
    block = nodeset(as_node(v, n, "exogenous") for v in exogenous)
    if block and block.bit_count() == n:
        raise InvalidArgument(
            f"exogenous: all {n} variables are given, so there is nothing to learn; leave out at "
            "least one"
        )
    return block


def constraint_beside(constraint: Constraint | None, block: NodeSet, n: int) -> Constraint | None:
    """Return knowledge that says that no edge points to an exogenous node, if there is any."""
    if constraint is None or not block:
        return constraint
    if not isinstance(constraint, IndexedKnowledge):
        raise InvalidArgument(
            f"constraint = {shown(constraint)}: with exogenous variables it must be made by "
            "Knowledge.bind"
        )
    if any(constraint.fixed[v] for v in nodes(block)):
        raise InvalidArgument(
            "the knowledge requires an edge to an exogenous variable, but none points to one"
        )
    required = constraint.required
    rows = [row | block & ~(1 << v) for v, row in enumerate(constraint.forbidden)]
    free = [row & block if block >> v & 1 else row for v, row in enumerate(rows)]
    known = IndexedKnowledge.of(n, required, free)
    if free == rows:
        return known
    # Forbidden edges from exogenous nodes are no order, as these come first.
    relaxed = known.relaxed or known
    return IndexedKnowledge(n, known.required, tuple(rows), relaxed)


def class_with(graph: PDAG, block: NodeSet) -> PDAG:
    """Return the class of a DAG, or of a class, in which some nodes are exogenous."""
    inside = list(combinations(nodes(block), 2))
    whole = pdag_to_dag(graph).edited(direct=inside)
    rows = [block & ~(1 << v) if not block >> v & 1 else 0 for v in range(graph.n)]
    known = IndexedKnowledge.of(graph.n, inside, rows)
    return known.refine(dag_to_cpdag(whole)).edited(remove=inside)


def checked_class(graph: PDAG, block: NodeSet) -> PDAG:
    """Return the class of a start; raise an error unless it is a DAG or such a class."""
    if graph == PDAG.complete(graph.n):
        free = [(x, y) for x in nodes(block) for y in range(graph.n) if not block >> y & 1]
        return graph.edited(remove=combinations(nodes(block), 2), direct=free)
    rule = f"the start {graph!r} is neither a DAG nor a class with these exogenous variables"
    if any(graph.into[v] for v in nodes(block)):
        raise NotACPDAG(f"{rule}: an edge points to one of them")
    try:
        found = class_with(graph, block)
    except GraphError:
        raise NotACPDAG(rule) from None
    if found != graph and not is_dag(graph):
        raise NotACPDAG(rule)
    return found
