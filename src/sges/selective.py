r"""The deletes that SGES considers.

**Definition 1 is refuted.**  It requires that Π holds on C'[X ∪ Y ∪ W], where W are the common
*descendants* of X and Y in the resulting CPDAG C'.  With it, Theorem 2 (some consistent delete
keeps the IMAP) is true up to five nodes and false from six on; an SBES that filters by it can
get stuck.  If W are the *children of X that are descendants of Y*, Theorem 2 is true; this is
our reading ("repaired"; proof in ``docs/theory.md``, counter-examples in ``docs/errata.md``).
Selective-Generate-Ops uses only H, a set of common children, so Proposition 1 and Theorem 3 hold.

Paper: Section 4.3, generating deletions; Definition 1.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from sges.docstrings import documented_like
from sges.errors import GraphError, check_word, is_number, shown
from sges.graph.pdag import ANSWER, GRAPHS, PDAG
from sges.graph.undirected import adjacency, maximal_cliques
from sges.nodeset import NodeSet, as_node, nodes, subsets
from sges.operators import Delete, deletes
from sges.properties import Property

__all__ = [
    "filter_cliques",
    "is_consistent",
    "selective_generate_ops",
]

Reading: TypeAlias = Literal["repaired", "children", "descendants"]


def filter_cliques(cliques: Sequence[NodeSet], s: int) -> list[NodeSet]:
    r"""Return the cliques whose removal leaves no clique larger than s.

    Given the maximal cliques of a graph, the cliques that remain without C are the subsets of
    the C_j \ C: no second search is needed.

    Paper: Section 4.3, FilterCliques.

    Parameters
    ----------
    cliques : sequence of int
        The maximal cliques of a graph, as masks.
    s : int
        The size of the largest clique that may remain.

    Returns
    -------
    list of int
        The cliques that are kept.
    """
    return [c for c in cliques if all((other & ~c).bit_count() <= s for other in cliques)]


@documented_like(deletes)
def selective_generate_ops(cpdag: PDAG, x: int, y: int, s: int) -> frozenset[NodeSet]:
    """Return every H that Selective-Generate-Ops proposes for the edge x → y or x — y.

    They include every H of a Π-consistent delete for Π_PS^{s+1}, Π_CL^s and Π_VW^s (Proposition
    1), and every H of a valid delete once s ≥ ``|NA_{y,x}|``.

    Paper: Fig. 6; example in Fig. 7.

    Parameters
    ----------
    s : int
        The bound on cliques.

    Returns
    -------
    frozenset of int
        The sets H, as masks.

    Raises
    ------
    GraphError
        If there is no such edge, or if s is negative.

    Examples
    --------
    >>> complete = PDAG.complete(4)  # Fig. 7: X = 0, Y = 1, A = 2, B = 3
    >>> [len(selective_generate_ops(complete, 0, 1, s)) for s in (0, 1, 2)]
    [1, 3, 4]
    """
    x, y = as_node(x, cpdag.n, "x"), as_node(y, cpdag.n, "y")
    if not cpdag.out[x] >> y & 1:
        raise GraphError(f"there is no edge {x}→{y} or {x}—{y} to delete (Fig. 6)")
    if not (is_number(s, whole=True) and s >= 0):
        raise GraphError(f"s = {shown(s)}: the bound on cliques in H must be 0 or more (Fig. 6)")
    return proposed_sets(cpdag, x, y, s, None)


def proposed_sets(
    cpdag: PDAG, x: int, y: int, clique_bound: int | None, size_bound: int | None
) -> frozenset[NodeSet]:
    """Return every H that the bounds allow for an edge; None means no bound.

    Paper: Fig. 6.
    """
    na = cpdag.na(y, x)
    s = na.bit_count() if clique_bound is None else clique_bound
    size = na.bit_count() if size_bound is None else size_bound
    kept = filter_cliques(maximal_cliques(adjacency(cpdag, na), na), s)
    return frozenset(
        na & ~c | chosen
        for c in kept
        for chosen in subsets(c, at_most=min(s, size - (na & ~c).bit_count()))
    )


def room_in(
    m: NodeSet, na: NodeSet, maximal: Sequence[NodeSet], cliques: int | None, size: int | None
) -> int:
    """Return how many nodes of the clique m a delete may put into H besides NA ∖ m; −1 for none."""
    most = m.bit_count()
    if cliques is not None:
        filtered = any((other & ~m).bit_count() > cliques for other in maximal)
        most = -1 if filtered else min(most, cliques)
    if size is not None:
        most = min(most, size - (na & ~m).bit_count())
    return most


def fits(cpdag: PDAG, h: NodeSet, clique_bound: int) -> bool:
    """Return whether H, a subset of some NA_{y,x}, contains no clique larger than the bound."""
    return all(c.bit_count() <= clique_bound for c in maximal_cliques(adjacency(cpdag, h), h))


def bounds_of(assume: Property) -> tuple[int | None, int | None]:
    """Return the clique bound and the size bound of a property; None where it has none."""
    return getattr(assume, "clique_bound", None), getattr(assume, "size_bound", None)


@documented_like(ANSWER, GRAPHS)
def is_consistent(
    delete: Delete,
    cpdag: PDAG,
    property: Property,
    reading: Reading = "repaired",
    *,
    after: PDAG | None = None,
) -> bool:
    """Return whether a delete is Π-consistent: Π holds on C'[x ∪ y ∪ W] afterwards.

    Paper: Definition 1.

    Parameters
    ----------
    delete : Delete
        A valid delete.
    cpdag : PDAG
        The CPDAG before it.
    property : Property
        The property Π.
    reading : {"repaired", "children", "descendants"}, optional
        Which nodes W are: the children of x that are descendants of y ("repaired"), the common
        children ("children"), or the common descendants as Definition 1 prints it
        ("descendants", which is refuted, and here for study only).
    after : PDAG, optional
        The CPDAG after the delete, if it is known already.
    """
    check_word("reading", reading, get_args(Reading))
    after = delete.apply(cpdag) if after is None else after
    return property.holds(after.induced(nodes(consistency_set(after, delete.x, delete.y, reading))))


def consistency_set(after: PDAG, x: int, y: int, reading: Reading = "repaired") -> NodeSet:
    """Return x, y and W of Definition 1 in the CPDAG after a delete of their edge."""
    w = after.children(x) if reading != "descendants" else after.descendants(x)
    if w:
        w &= after.children(y) if reading == "children" else after.descendants(y)
    return w | 1 << x | 1 << y
