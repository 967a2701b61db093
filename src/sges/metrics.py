"""How far a found graph is from the truth: on equivalence classes, not on one of their members.

Data cannot tell the members of a class apart, so a found class is compared with the *class* of
the truth.  Each pair of nodes is in one of four states: no edge, →, ← or —.

    shd         structural Hamming distance: the number of pairs in different states.  A missing
                edge, a surplus edge, a reversed arrow, and an arrow in place of a line (or the
                other way round) count 1 each
    skeleton    precision, recall and F1 of the pairs that are joined, whatever the edge
    arrows      the same of the directed edges: x → y is right iff the truth has x → y; lines
                count neither as found nor as missed

Precision and recall are shares, from 0 to 1.  What is claimed by nobody is not wrong: precision is
1 if nothing is claimed, recall is 1 if there is nothing to find.

The adjustment identification distances (Henckel, Würtzen & Weichwald 2024) tell how many causal
effects would be estimated with a wrong adjustment set; they are computed by ``gadjid``.
"""

from collections.abc import Set
from dataclasses import asdict, dataclass
from typing import Any

from sges.errors import GraphError, MissingLibrary
from sges.export.matrix import to_numpy
from sges.export.objects import need
from sges.graph.equivalence import dag_to_cpdag, is_cpdag, is_dag
from sges.graph.pdag import PDAG
from sges.nodeset import nodes


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many of the found are right, how many of the right are found, and both in one."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class AdjustmentDistances:
    """Shares of wrong causal effects, from 0 to 1, by the rule that picks the adjustment set."""

    parent: float
    ancestor: float
    oset: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """What ``compare`` found.

    ``aid`` is None if gadjid is not installed, or if one of the graphs is neither a CPDAG nor a
    DAG (as a class refined by background knowledge may be).
    """

    shd: int
    missing: int
    extra: int
    wrong_type: int
    skeleton: Agreement
    arrows: Agreement
    true_edges: int
    found_edges: int
    same_class: bool
    aid: AdjustmentDistances | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain dicts and numbers."""
        return asdict(self)


def compare(truth: PDAG, found: PDAG, *, classes: bool = True) -> Comparison:
    """Return how far a found graph is from the truth.

    Nodes are matched by name if both graphs have names, else by number.  A DAG stands for its
    class and is completed to its CPDAG first; with ``classes=False`` both are taken as they are.

    >>> truth = PDAG.from_edges(3, [(0, 1), (2, 1)])
    >>> compare(truth, PDAG.from_edges(3, undirected=[(0, 1), (1, 2)])).shd
    2
    """
    truth, found = matched(truth, found)
    if classes:
        truth, found = as_class(truth), as_class(found)
    missing, extra = skeleton(truth) - skeleton(found), skeleton(found) - skeleton(truth)
    distance = shd(truth, found)
    return Comparison(
        shd=distance,
        missing=len(missing),
        extra=len(extra),
        wrong_type=distance - len(missing) - len(extra),
        skeleton=agreement(skeleton(truth), skeleton(found)),
        arrows=agreement(set(truth.directed_edges()), set(found.directed_edges())),
        true_edges=truth.edge_count(),
        found_edges=found.edge_count(),
        same_class=distance == 0,
        aid=_distances_if_possible(truth, found),
    )


def shd(truth: PDAG, found: PDAG) -> int:
    """Return the number of pairs of nodes in different states, of graphs on the same nodes.

    >>> shd(PDAG.from_edges(2, [(0, 1)]), PDAG.from_edges(2, [(1, 0)]))
    1
    """
    apart = 0
    for v in range(truth.n):
        differs = truth.out[v] ^ found.out[v] | truth.into[v] ^ found.into[v]
        apart += differs.bit_count()
    return apart // 2


def skeleton(graph: PDAG) -> set[tuple[int, int]]:
    """Return the joined pairs (x, y) with x < y."""
    return {(x, y) for x in range(graph.n) for y in nodes(graph.adjacent(x)) if x < y}


def agreement(right: Set[tuple[int, int]], found: Set[tuple[int, int]]) -> Agreement:
    """Return precision, recall and F1 of a found set."""
    both = len(right & found)
    return Agreement(
        precision=both / len(found) if found else 1.0,
        recall=both / len(right) if right else 1.0,
        f1=2 * both / (len(right) + len(found)) if right or found else 1.0,
    )


def adjustment_distances(truth: PDAG, found: PDAG) -> AdjustmentDistances:
    """Return the adjustment identification distances of DAGs or CPDAGs on the same nodes."""
    gadjid = need("gadjid", "the adjustment identification distance")
    for graph, what in ((truth, "truth"), (found, "found graph")):
        if not (is_cpdag(graph) or is_dag(graph)):
            raise GraphError(f"the {what} is neither a CPDAG nor a DAG, which the distance needs")
    if truth.n < 2:
        return AdjustmentDistances(0.0, 0.0, 0.0)  # without a pair there is no effect
    matrices = [to_numpy(graph, "gadjid") for graph in (truth, found)]
    way = {"edge_direction": "from row to column"}
    return AdjustmentDistances(
        parent=float(gadjid.parent_aid(*matrices, **way)[0]),
        ancestor=float(gadjid.ancestor_aid(*matrices, **way)[0]),
        oset=float(gadjid.oset_aid(*matrices, **way)[0]),
    )


def as_class(graph: PDAG) -> PDAG:
    """Return the CPDAG of a DAG, and any other graph as it is."""
    return dag_to_cpdag(graph) if is_dag(graph) else graph


def matched(truth: PDAG, found: PDAG) -> tuple[PDAG, PDAG]:
    """Return both graphs with the nodes of the second in the order of the first."""
    if truth.n != found.n:
        raise GraphError(
            f"the truth has {truth.n} nodes and the found graph {found.n}; they must be the same"
        )
    if truth.names is None or found.names is None or truth.names == found.names:
        return truth, found
    if strangers := sorted(set(found.names) ^ set(truth.names)):
        where = "found graph" if strangers[0] in found.names else "truth"
        raise GraphError(
            f"the node {strangers[0]!r} is in the {where} only; both must have the same names"
        )
    place = {name: v for v, name in enumerate(truth.names)}
    return truth, found.relabel([place[name] for name in found.names])


def _distances_if_possible(truth: PDAG, found: PDAG) -> AdjustmentDistances | None:
    try:
        return adjustment_distances(truth, found)
    except (MissingLibrary, GraphError):
        return None
