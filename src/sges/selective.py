r"""Which deletes SGES looks at.

    filter_cliques            cliques of NA whose removal leaves none larger than s
    selective_generate_ops    every H that the bound s leaves, without listing all subsets
    selective_deletes         the same for one edge, for any property
    is_consistent             Π-consistent, in three readings

**Definition 1 is refuted.**  It asks that Π hold on C'[X ∪ Y ∪ W] for W the common
*descendants* of X and Y in the resulting CPDAG C'.  With it, Theorem 2 (some consistent delete
keeps the IMAP) is true up to five nodes and false from six on; an SBES that filters by it can
be stuck.  With W the *children of X that are descendants of Y* Theorem 2 is true, and that is
our reading ("repaired"; proof in ``docs/theory.md``, counter-examples in ``docs/errata.md``).
Selective-Generate-Ops looks only at H, common children, so Proposition 1 and Theorem 3 stand.

Paper: Section 4.3, generating deletions; Definition 1.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from sges.errors import GraphError
from sges.graph.chordal import cliques, largest_clique, maximal_cliques
from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, by_size_then_nodes, nodes, subsets
from sges.operators.delete import Delete, deletes
from sges.properties.base import Property

Reading: TypeAlias = Literal["repaired", "children", "descendants"]


def filter_cliques(cliques: Sequence[NodeSet], s: int) -> list[NodeSet]:
    r"""Keep each clique whose removal leaves no clique larger than s.

    Given the maximal cliques of a graph, what its cliques become without C are the subsets of
    the C_j \ C: no second search is needed.

    Paper: Section 4.3, FilterCliques.
    """
    return [c for c in cliques if all((other & ~c).bit_count() <= s for other in cliques)]


def selective_generate_ops(cpdag: PDAG, x: int, y: int, s: int) -> frozenset[NodeSet]:
    """Return every H that Selective-Generate-Ops proposes for the edge x → y or x — y.

    Holds every H of a Π-consistent delete for Π_PS^{s+1}, Π_CL^s and Π_VW^s (Proposition 1),
    and every H of a valid delete once s ≥ |NA_{y,x}|.  A set: one H can arise from two cliques.

    >>> complete = PDAG.complete(4)  # Fig. 7: X = 0, Y = 1, A = 2, B = 3
    >>> [len(selective_generate_ops(complete, 0, 1, s)) for s in (0, 1, 2)]
    [1, 3, 4]

    Paper: Fig. 6; example in Fig. 7.
    """
    if not cpdag.out[x] >> y & 1:
        raise GraphError(f"there is no edge {x}→{y} or {x}—{y} to delete (Fig. 6)")
    if s < 0:
        raise GraphError(f"s = {s}: the bound on cliques in H must be 0 or more (Fig. 6)")
    na = cpdag.na(y, x)
    rows = {v: cpdag.adjacent(v) for v in nodes(na)}
    kept = filter_cliques(maximal_cliques(rows, na), s)
    return frozenset(na & ~c | chosen for c in kept for chosen in subsets(c, at_most=s))


def size_limited_ops(cpdag: PDAG, x: int, y: int, size: int) -> frozenset[NodeSet]:
    """Return every H of a valid delete of the edge with at most so many nodes.

    NA ∖ H is a clique, so H holds all of NA outside some maximal clique: what is missing to
    ``size`` is chosen inside it.
    """
    na = cpdag.na(y, x)
    return frozenset(
        na & ~c | chosen
        for c in maximal_cliques({v: cpdag.adjacent(v) for v in nodes(na)}, na)
        if (room := size - (na & ~c).bit_count()) >= 0
        for chosen in subsets(c, at_most=room)
    )


def every_clique_kept(cpdag: PDAG, y: int) -> Iterator[tuple[NodeSet, NodeSet]]:
    """Yield what every valid delete at y keeps: each clique S of Ne(y), and the X it allows.

    A valid Delete(x, y, H) keeps the clique H̄ = NA ∖ H; with S = H̄ for x → y, and S = H̄ ∪ x
    for x — y, S is a clique among the neighbors of y, and x is one of Pa(y) ∪ S.
    """
    near, parents = cpdag.neighbors(y), cpdag.parents(y)
    if not near:  # the usual case
        if parents:
            yield 0, parents
        return
    rows = {v: cpdag.adjacent(v) for v in nodes(near)}
    for s in cliques(rows, near):
        if allowed := parents | s:
            yield s, allowed


def kept_cliques(
    cpdag: PDAG, y: int, clique_bound: int | None, size_bound: int | None = None
) -> dict[NodeSet, NodeSet]:
    """Return what the deletes at y keep that the bounds leave: each S, and the X it allows.

    The same operators as ``selective_generate_ops`` over all edges into y, by what they keep:
    every maximal clique of NA_{y,x} is a maximal clique M of Ne(y), less x where x — y.  So for
    each M, S = M less a few nodes c, where *how many* may differ from x to x.

    Paper: Fig. 6.
    """
    near, parents = cpdag.neighbors(y), cpdag.parents(y)
    rows = {v: cpdag.adjacent(v) for v in nodes(near)}
    maximal = maximal_cliques(rows, near)
    kept: dict[NodeSet, NodeSet] = {}
    for m in maximal:
        room: dict[int, NodeSet] = {}  # how many nodes c may hold -> the X for which it may
        if parents:
            most = room_in(m, near, maximal, clique_bound, size_bound)
            room[most] = parents
        for x in nodes(m):
            with_x = [c for c in maximal if c >> x & 1]
            most = room_in(m, near & rows[x], with_x, clique_bound, size_bound)
            room[most] = room.get(most, 0) | 1 << x
        for c in subsets(m, at_most=max(room, default=0)):
            size = c.bit_count()
            allowed = nodeset_union(xs for most, xs in room.items() if most >= size) & ~c
            if allowed:
                kept[m & ~c] = kept.get(m & ~c, 0) | allowed
    return kept


def room_in(
    m: NodeSet, na: NodeSet, maximal: Sequence[NodeSet], cliques: int | None, size: int | None
) -> int:
    """Return how many nodes of the clique m a delete may put into H besides NA ∖ m."""
    most = m.bit_count()
    if cliques is not None:
        filtered = any((other & ~m).bit_count() > cliques for other in maximal)
        most = -1 if filtered else min(most, cliques)
    if size is not None:
        most = min(most, size - (na & ~m).bit_count())
    return most


def nodeset_union(sets: Iterable[NodeSet]) -> NodeSet:
    """Return the union of sets of nodes."""
    union = 0
    for s in sets:
        union |= s
    return union


def selective_deletes(
    cpdag: PDAG, x: int, y: int, assume: Property, *, drop_large: bool = False
) -> Iterator[Delete]:
    """Yield the deletes of one edge that the property leaves to look at, each once.

    By the property's bounds on H; a property without bounds is asked about each valid delete.
    Selective-Generate-Ops also proposes some H that hold a clique larger than s, mixed from H_0
    and C; ``drop_large`` leaves these out, which is sound and lowers counts, but is not what
    the paper counted.
    """
    bound, size = bounds_of(assume)
    if bound is None and size is None:
        yield from (d for d in deletes(cpdag, x, y) if is_consistent(d, cpdag, assume))
        return
    proposed = proposed_sets(cpdag, x, y, bound, size)
    if drop_large and bound is not None:
        proposed = frozenset(h for h in proposed if fits(cpdag, h, bound))
    yield from (Delete(x, y, h) for h in sorted(proposed, key=by_size_then_nodes))


def proposed_sets(
    cpdag: PDAG, x: int, y: int, clique_bound: int | None, size_bound: int | None
) -> frozenset[NodeSet]:
    """Return every H that the bounds, of which one at least is given, leave for an edge.

    Paper: Fig. 6.
    """
    if clique_bound is None:
        return size_limited_ops(cpdag, x, y, size_bound or 0)
    proposed = selective_generate_ops(cpdag, x, y, clique_bound)
    return proposed if size_bound is None else proposed & size_limited_ops(cpdag, x, y, size_bound)


def fits(cpdag: PDAG, h: NodeSet, clique_bound: int) -> bool:
    """Tell whether H holds no clique larger than the bound."""
    return largest_clique(cpdag.skeleton(), h) <= clique_bound


def bounds_of(assume: Property) -> tuple[int | None, int | None]:
    """Return the clique bound and the size bound of a property, None for each it lacks."""
    return getattr(assume, "clique_bound", None), getattr(assume, "size_bound", None)


def is_consistent(
    delete: Delete,
    cpdag: PDAG,
    property: Property,
    reading: Reading = "repaired",
    *,
    after: PDAG | None = None,
) -> bool:
    """Tell whether a delete is Π-consistent: Π holds on C'[x ∪ y ∪ W] afterwards.

    ``reading`` says which W: the children of x that are descendants of y ("repaired"), the
    common children ("children"), or the common descendants as Definition 1 prints it
    ("descendants", refuted: for study only).  ``after`` is the class after the delete, if it is
    known already.

    Paper: Definition 1.
    """
    after = delete.apply(cpdag) if after is None else after
    return property.holds(after.induced(consistency_set(after, delete.x, delete.y, reading)))


def consistency_set(after: PDAG, x: int, y: int, reading: Reading = "repaired") -> NodeSet:
    """Return x, y and W in the CPDAG after a delete.

    Paper: Definition 1.
    """
    if reading == "repaired":
        w = after.children(x) & after.descendants(y)
    elif reading == "children":
        w = after.children(x) & after.children(y)
    elif reading == "descendants":
        w = after.descendants(x) & after.descendants(y)
    else:
        raise GraphError(
            f"reading {reading!r} is not known; it is 'repaired', 'children' or 'descendants'"
        )
    return w | 1 << x | 1 << y
