"""Distances of a found graph from the truth, between equivalence classes rather than members.

Data cannot tell the members of a class apart, so a found class is compared with the *class* of
the truth.  Each pair of nodes is in one of four states: no edge, →, ← or —.

    shd         structural Hamming distance: the number of pairs in different states
    skeleton    precision, recall and F1 of the adjacent pairs, for any kind of edge
    arrows      the same for the directed edges: x → y is right iff the truth has x → y;
                undirected edges count neither as found nor as missed

Precision is 1 if nothing was found, and recall is 1 if there is nothing to find.

The adjustment identification distances (Henckel, Würtzen & Weichwald 2024) are the shares of causal
effects that would be estimated with a wrong adjustment set; they are computed by ``gadjid``.
"""

from collections.abc import Set
from dataclasses import asdict, dataclass
from typing import Any

from sges.errors import (
    GraphError,
    InvalidArgument,
    MissingLibrary,
    NoConsistentExtension,
    check_flag,
    need,
    shown,
)
from sges.graph.equivalence import is_cpdag, is_dag, pdag_to_cpdag
from sges.graph.pdag import PDAG
from sges.nodeset import nodes
from sges.result import Result
from sges.tools.export.matrix import to_numpy

__all__ = [
    "Comparison",
    "compare",
]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Precision, recall and F1 of a set that was found."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class AdjustmentDistances:
    """Shares of causal effects that would be estimated with a wrong adjustment set, from 0 to 1."""

    parent: float
    ancestor: float
    oset: float


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """The distances of a graph from the truth.

    Parameters
    ----------
    shd : int
        The structural Hamming distance: missing, extra and wrongly typed edges together.
    missing, extra, wrong_type : int
        Edges of the truth that were not found, edges that are not in the truth, and edges that
        are in both but differ in kind or direction.
    skeleton, arrows : Agreement
        Precision, recall and F1 of the adjacent pairs, and of the directed edges.
    true_edges, found_edges : int
        The numbers of edges.
    same_class : bool
        Whether both represent the same class: they have an extension, the same skeleton and the
        same v-structures.
    aid : AdjustmentDistances, optional
        None if gadjid is not installed, or if one of the compared graphs is neither a CPDAG nor a
        DAG: it represents no class, or is a refined class and ``classes`` is False.
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

    def __repr__(self) -> str:
        lines = ["both represent the same class"] if self.same_class else []
        lines += [
            f"structural Hamming distance {self.shd}: {self.missing} of {self.true_edges} edges "
            f"missing, {self.extra} extra, {self.wrong_type} of the wrong type"
        ]
        for name, shares in (("edges", self.skeleton), ("arrows", self.arrows)):
            lines.append(f"{name}: precision {shares.precision:.3g}, recall {shares.recall:.3g}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain dicts and numbers."""
        return asdict(self)


def compare(truth: PDAG | Result, found: PDAG | Result, *, classes: bool = True) -> Comparison:
    """Compare a found graph with the truth.

    Parameters
    ----------
    truth, found : PDAG or Result
        The two graphs; their nodes are matched by name if both have names, else by number.
    classes : bool
        Whether a DAG, or a class refined by background knowledge, is first completed to the CPDAG
        of its class.  A graph that represents no class, such as a cyclic one, is compared
        directly.

    Returns
    -------
    Comparison
        The distances.

    Raises
    ------
    GraphError
        If the graphs are not on the same nodes.

    Examples
    --------
    >>> truth = PDAG.from_edges(3, [(0, 1), (2, 1)])
    >>> compare(truth, PDAG.from_edges(3, undirected=[(0, 1), (1, 2)])).shd
    2
    """
    check_flag("classes", classes)
    truth, found = matched(_graph_of(truth), _graph_of(found))
    right_class, our_class = _class_of(truth), _class_of(found)
    same_class = right_class and our_class and not shd(right_class, our_class)
    if classes:
        truth, found = right_class or truth, our_class or found
    right, ours, distance = skeleton(truth), skeleton(found), shd(truth, found)
    try:
        aid = adjustment_distances(truth, found)
    except (MissingLibrary, GraphError):
        aid = None
    return Comparison(
        shd=distance,
        missing=len(right - ours),
        extra=len(ours - right),
        wrong_type=distance - len(right ^ ours),
        skeleton=agreement(right, ours),
        arrows=agreement(set(truth.directed_edges()), set(found.directed_edges())),
        true_edges=len(right),
        found_edges=len(ours),
        same_class=bool(same_class),
        aid=aid,
    )


def _graph_of(value: PDAG | Result) -> PDAG:
    """Return a graph, or the class of a result; raise an error for any other value."""
    graph = value.cpdag if isinstance(value, Result) else value
    if not isinstance(graph, PDAG):
        raise InvalidArgument(f"compare: {shown(graph)} is neither a PDAG nor a Result")
    return graph


def shd(truth: PDAG, found: PDAG) -> int:
    """Return the structural Hamming distance: the number of pairs in different states.

    >>> shd(PDAG.from_edges(2, [(0, 1)]), PDAG.from_edges(2, [(1, 0)]))
    1
    """
    rows = zip(truth.out, found.out, truth.into, found.into, strict=True)
    return sum((a ^ b | c ^ d).bit_count() for a, b, c, d in rows) // 2


def skeleton(graph: PDAG) -> set[tuple[int, int]]:
    """Return the adjacent pairs (x, y) of a graph, x < y."""
    return {(x, y) for x in range(graph.n) for y in nodes(graph.adjacent(x)) if x < y}


def agreement(right: Set[tuple[int, int]], found: Set[tuple[int, int]]) -> Agreement:
    """Return precision, recall and F1 of a set that was found."""
    both = len(right & found)
    return Agreement(
        precision=both / len(found) if found else 1.0,
        recall=both / len(right) if right else 1.0,
        f1=2 * both / (len(right) + len(found)) if right or found else 1.0,
    )


def adjustment_distances(truth: PDAG, found: PDAG) -> AdjustmentDistances:
    """Return the adjustment identification distances of two DAGs or CPDAGs."""
    gadjid = need("gadjid", "the adjustment identification distance")
    for graph, what in ((truth, "truth"), (found, "found graph")):
        if not (is_cpdag(graph) or is_dag(graph)):
            raise GraphError(f"the {what} is neither a CPDAG nor a DAG; the distance needs one")
    if truth.n < 2:
        return AdjustmentDistances(0.0, 0.0, 0.0)  # no pair of nodes, so no effect
    matrices = [to_numpy(graph, "gadjid") for graph in (truth, found)]
    rules = (gadjid.parent_aid, gadjid.ancestor_aid, gadjid.oset_aid)
    shares = (rule(*matrices, edge_direction="from row to column")[0] for rule in rules)
    return AdjustmentDistances(*map(float, shares))


def matched(truth: PDAG, found: PDAG) -> tuple[PDAG, PDAG]:
    """Return both graphs with the nodes of the second in the order of the first."""
    if truth.n != found.n:
        raise GraphError(
            f"the truth has {truth.n} nodes and the found graph {found.n}; the numbers must be "
            "equal"
        )
    if truth.names is None or found.names is None or truth.names == found.names:
        return truth, found
    if unmatched := sorted(set(found.names) ^ set(truth.names)):
        where = "found graph" if unmatched[0] in found.names else "truth"
        raise GraphError(
            f"the node {unmatched[0]!r} is only in the {where}; both must have the same names"
        )
    place = {name: v for v, name in enumerate(truth.names)}
    return truth, found.relabel([place[name] for name in found.names])


def _class_of(graph: PDAG) -> PDAG | None:
    """Return the CPDAG of the class that a graph represents, if any."""
    try:
        return pdag_to_cpdag(graph)
    except NoConsistentExtension:
        return None
