"""Properties that SGES may assume of the true graph, and the bounds on deletes that follow.

SGES may use any property that is *equivalence invariant* (it holds for both or neither of two
equivalent DAGs) and *hereditary* (if it holds for a graph, it holds for all induced subgraphs): an
EIH property.  The search is polynomial if the property bounds the sets H of deletes:

    clique_bound   no clique inside H may be larger           (parents, cliques, v-width, ...)
    size_bound     H itself may not be larger                 (number of v-structures)

The properties here have the form "this measure is at most k".  The paper says that these measures
"cannot increase when we remove nodes and edges"; for v-width and v-structures this is false for
edges (``docs/errata.md``).  Heredity concerns only nodes, and holds.

Paper: Section 4.2, complexity measures; Section 6, v-structures and treewidth.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import ClassVar, Protocol, Self, runtime_checkable

from sges.docstrings import documented_like, documented_like_base
from sges.errors import (
    InvalidArgument,
    InvalidProperty,
    Message,
    Spelling,
    Undecided,
    check_number,
    has_own_text,
    is_number,
    shown,
)
from sges.graph.equivalence import covered_edges, is_dag, pdag_to_dag
from sges.graph.pdag import PDAG, check_graph
from sges.graph.undirected import Between, largest_clique, moral_graph, treewidth

__all__ = [
    "AtMost",
    "MaxClique",
    "MaxParents",
    "MaxTreewidth",
    "MaxVStructures",
    "MaxVWidth",
    "Property",
    "check_property",
]


@runtime_checkable
class Property(Protocol):
    """The interface of a property.

    The bounds ``clique_bound`` and ``size_bound`` are optional attributes; a property without
    them is evaluated after each delete.

    Paper: Section 4, EIH property.
    """

    def holds(self, graph: PDAG, /) -> bool:
        """Return whether the property holds for a class.

        Parameters
        ----------
        graph : PDAG
            A DAG, PDAG or CPDAG that represents the class.

        Returns
        -------
        bool
            Whether the property holds.
        """


@dataclass(frozen=True, slots=True)
class AtMost(ABC):
    """A property of the form: this measure of the graph is at most k.

    Parameters
    ----------
    k : int
        The bound.

    Raises
    ------
    InvalidProperty
        If the bound is not an integer, or too small for any graph.
    """

    k: int
    smallest: ClassVar[int] = 0
    why_smallest: ClassVar[str] = "the measure is never negative"

    def __init_subclass__(cls) -> None:
        documented_like_base(cls)

    def __post_init__(self) -> None:
        name = type(self).__name__
        if isinstance(self.k, bool) or not is_number(self.k, whole=True):
            raise InvalidProperty(f"{name}({shown(self.k)}): the bound must be an integer")
        object.__setattr__(self, "k", int(self.k))  # NumPy's integers are accepted
        if self.k < self.smallest:
            option = "-".join(re.findall("[A-Z][a-z]*", name)).lower()
            stated = Spelling(f"{name}({shown(self.k)})", f"--{option} {shown(self.k)}")
            rule = f": the bound must be at least {self.smallest}; {self.why_smallest}"
            raise InvalidProperty(Message(stated, rule))

    @classmethod
    @documented_like(Property.holds)
    def measure(cls, graph: PDAG) -> int | Between:
        """Return the measure of a class.

        Returns
        -------
        int or Between
            The measure, or an interval that contains it if computing it would take too long.
        """
        check_graph("graph", graph)
        return cls._measure_dag(graph if is_dag(graph) else pdag_to_dag(graph))

    @classmethod
    @abstractmethod
    def _measure_dag(cls, dag: PDAG) -> int | Between:
        """Return the measure of one DAG."""

    @classmethod
    @documented_like(Property.holds)
    def of(cls, graph: PDAG) -> Self:
        """Return the tightest property of this kind that is known to hold for a class.

        Returns
        -------
        AtMost
            The property.
        """
        value = cls.measure(graph)
        return cls(max(value.high if isinstance(value, Between) else value, cls.smallest))

    @documented_like(Property.holds)
    def holds(self, graph: PDAG) -> bool:
        """Return whether the property holds for a class: whether the measure is at most k.

        Raises
        ------
        Undecided
            If the measure is known only as an interval that contains k.
        """
        value = self.measure(graph)
        low, high = value if isinstance(value, Between) else (value, value)
        if low <= self.k < high:
            raise Undecided(
                f"{self}: the measure is between {low} and {high}, "
                f"so it is not known whether it is at most {self.k}"
            )
        return high <= self.k

    @property
    def clique_bound(self) -> int | None:
        """The size of the largest clique that H may contain; None if cliques are not bounded."""
        return None

    @property
    def size_bound(self) -> int | None:
        """The most nodes that H may have; None if only cliques are bounded."""
        return None


@dataclass(frozen=True, slots=True)
class MaxParents(AtMost):
    """Π_PS^k: every node has at most k parents.

    Paper: Section 4.2, Π_PS.

    Parameters
    ----------
    k : int
        The most parents of a node, at least 1.

    Examples
    --------
    >>> MaxParents.measure(PDAG.from_edges(3, directed=[(0, 2), (1, 2)]))
    2
    """

    smallest: ClassVar[int] = 1
    why_smallest: ClassVar[str] = "with no parents there are no edges"

    @classmethod
    def _measure_dag(cls, dag: PDAG) -> int:
        """Return the largest number of parents of a node."""
        return max(map(int.bit_count, dag.into), default=0)

    @property
    def clique_bound(self) -> int:
        """The size of the largest clique that H may contain: k − 1.

        The lowest node of a clique of r nodes in H has r − 1 parents in it, and x and y.
        """
        return self.k - 1


@dataclass(frozen=True, slots=True)
class MaxClique(AtMost):
    """Π_CL^k: no more than k nodes are pairwise adjacent.

    Paper: Section 4.2, Π_CL.

    Parameters
    ----------
    k : int
        The size of the largest clique.
    tight : bool, optional
        True for the clique bound k − 1, which suffices, instead of the paper's k.
    """

    tight: bool = False

    @classmethod
    def _measure_dag(cls, dag: PDAG) -> int | Between:
        """Return the size of the largest clique."""
        return largest_clique(dag.skeleton(), [(1 << dag.n) - 1])

    @property
    def clique_bound(self) -> int:
        """The size of the largest clique that H may contain: k, or k − 1 if ``tight``.

        k − 1 suffices, as H ∪ {x} contains a clique one larger.
        """
        return max(self.k - 1, 0) if self.tight else self.k


@dataclass(frozen=True, slots=True)
class MaxVWidth(AtMost):
    """Π_VW^k: no two non-adjacent nodes have more than k mutually adjacent common children.

    Paper: Section 4.2, v-width.

    Parameters
    ----------
    k : int
        The size of the largest clique of common children.

    Examples
    --------
    >>> bat = [(0, 2), (1, 2), (0, 3), (1, 3), (2, 3)]
    >>> MaxVWidth.measure(PDAG.from_edges(4, bat))
    2
    """

    @classmethod
    def _measure_dag(cls, dag: PDAG) -> int | Between:
        """Return the size of the largest clique among common children of non-adjacent nodes."""
        common = {dag.out[x] & dag.out[y] for x, _, y in dag.v_structures()}
        return largest_clique(dag.skeleton(), common)

    @property
    def clique_bound(self) -> int:
        """The size of the largest clique that H may contain: k, as x and y are not adjacent."""
        return self.k


@dataclass(frozen=True, slots=True)
class MaxTreewidth(AtMost):
    """Π_TW^k: the moral graph has treewidth at most k.

    Paper: Section 4.2, Π_TW; Section 6, treewidth.

    Parameters
    ----------
    k : int
        The largest treewidth.
    """

    @classmethod
    def _measure_dag(cls, dag: PDAG) -> int | Between:
        """Return the treewidth of the moral graph."""
        return treewidth(moral_graph(dag))

    @property
    def clique_bound(self) -> int:
        """The size of the largest clique that H may contain: max(k − 1, 0).

        In the moral graph, x, y and a clique of H are a clique.
        """
        return max(self.k - 1, 0)


@dataclass(frozen=True, slots=True)
class MaxVStructures(AtMost):
    """At most k v-structures.

    Paper: Section 6, number of v-structures.

    Parameters
    ----------
    k : int
        The largest number of v-structures.
    """

    @classmethod
    def _measure_dag(cls, dag: PDAG) -> int:
        """Return the number of v-structures."""
        return len(dag.v_structures())

    @property
    def size_bound(self) -> int:
        """The most nodes that H may have: k, as every h of H makes a v-structure x → h ← y."""
        return self.k


def text_of(assume: object) -> str:
    """Return a property as results show it: as text, or else by the name of its class."""
    return str(assume) if has_own_text(assume) else type(assume).__name__


def check_is_property(what: str, value: object) -> None:
    """Raise an error if a value is not a property, for example the class of one."""
    if isinstance(value, type):
        name = value.__name__
        raise InvalidArgument(f"{what} = {name} is a class; give a bound, such as {name}(2)")
    if not callable(getattr(value, "holds", None)):  # isinstance of a protocol is slow
        raise InvalidArgument(
            f"{what} = {shown(value)} is not a property; it needs a method holds(graph), like "
            "MaxParents(2)"
        )
    for name in ("clique_bound", "size_bound"):
        bound = getattr(value, name, None)
        if bound is not None and not (is_number(bound, whole=True) and bound >= 0):
            raise InvalidProperty(
                f"{type(value).__name__}.{name} is {shown(bound)}; it must be a whole number, 0 or "
                "more, or None"
            )


def check_property(prop: Property, largest: int = 4) -> None:
    """Check on every small DAG that a property is equivalence invariant and hereditary.

    Equivalence invariance is tried on every covered edge: reversing them reaches the whole
    class (Chickering 1995).  Heredity is tried by removing one node at a time.

    Parameters
    ----------
    prop : Property
        The property.
    largest : int, optional
        The number of nodes of the largest DAGs to try, at most 7: there are 1.1 billion of 7.

    Raises
    ------
    InvalidProperty
        If the property is not EIH, with a counter-example, or if ``holds`` does not return True or
        False.

    Examples
    --------
    >>> class OneEdgeAtLeast:
    ...     def holds(self, graph):
    ...         return graph.edge_count() > 0
    >>> check_property(OneEdgeAtLeast())
    Traceback (most recent call last):
    ...
    sges.errors.InvalidProperty: OneEdgeAtLeast is not hereditary: it holds for \
PDAG(2 nodes: 0→1) but not for the subgraph without node 0, PDAG(1 node)
    """
    if not callable(getattr(prop, "holds", None)) or isinstance(prop, type):
        raise InvalidProperty(f"{shown(prop)} is not a property; it needs a method holds(graph)")
    check_number("largest", largest, whole=True, least=1, most=7)
    for n in range(1, largest + 1):
        for dag in all_dags(n):
            _check_on(prop, dag)


def all_dags(n: int) -> Iterator[PDAG]:
    """Yield every DAG on n nodes lazily."""
    pairs = list(combinations(range(n), 2))
    for kinds in product((None, False, True), repeat=len(pairs)):
        edges = [
            pair[::-1] if turned else pair
            for pair, turned in zip(pairs, kinds, strict=True)
            if turned is not None
        ]
        dag = PDAG.from_edges(n, edges)
        if is_dag(dag):
            yield dag


def _check_on(prop: Property, dag: PDAG) -> None:
    """Check the members of a DAG's class next to it, and its subgraphs without one node."""
    name, is_held = type(prop).__name__, _holds(prop, dag)
    for x, y in covered_edges(dag):
        other = dag.edited(direct=[(y, x)])
        if is_held != _holds(prop, other):
            holds, not_holds = (dag, other) if is_held else (other, dag)
            raise InvalidProperty(
                f"{name} is not equivalence invariant: it holds for {holds!r} but not for the "
                f"equivalent {not_holds!r}"
            )
    for v in range(dag.n) if is_held else ():
        part = dag.induced(u for u in range(dag.n) if u != v)
        if not _holds(prop, part):
            raise InvalidProperty(
                f"{name} is not hereditary: it holds for {dag!r} but not for the subgraph "
                f"without node {v}, {part!r}"
            )


def _holds(prop: Property, dag: PDAG) -> bool:
    """Return whether a property holds; raise an error if the answer is not True or False."""
    answer = prop.holds(dag)
    if type(answer).__name__ not in ("bool", "bool_"):  # bool_ is NumPy's
        raise InvalidProperty(
            f"{type(prop).__name__}.holds({dag!r}) is {shown(answer)}; it must be True or False"
        )
    return answer
