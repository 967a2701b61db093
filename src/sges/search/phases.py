"""The phases: which operators the greedy loop looks at.

Paper: Section 3.1, FES and BES; Fig. 4.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb

from sges.errors import SgesError
from sges.graph.chordal import largest_clique
from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, nodes
from sges.operators.delete import Delete
from sges.properties.base import Property
from sges.search.conservative import ConservativeInsertSource, InformedConservativeInsertSource
from sges.search.constraint import Constraint
from sges.search.deletes import DeleteSource, Kept
from sges.search.escapes import DeleteEscapes, Escapes, ScratchEscapes
from sges.search.informed import InformedInsertSource, InformedPolySource, informed_deletes
from sges.search.inserts import InsertSource
from sges.search.poly import PolySource
from sges.search.priority import PrioritySource
from sges.search.run import Run
from sges.search.scratch import Generate, ScratchSource, over_all_edges
from sges.search.source import Source
from sges.search.turns import TurnSource
from sges.selective import (
    bounds_of,
    every_clique_kept,
    is_consistent,
    kept_cliques,
    selective_deletes,
)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which deletes a backward phase looks at."""

    assume: Property | None = None
    exact: bool = False
    drop_large: bool = False

    def __post_init__(self) -> None:
        if self.assume is not None and not isinstance(self.assume, Property):
            raise SgesError(
                f"assume = {self.assume!r} is no property; it needs a method holds(graph), such "
                "as MaxParents(2) has"
            )
        for option in ("exact", "drop_large"):
            if getattr(self, option) and self.assume is None:
                raise SgesError(f"{option}=True selects deletes by a property; give it as assume=")
        if self.drop_large and bounds_of(self.assume)[0] is None:  # type: ignore[arg-type]
            raise SgesError(f"drop_large=True needs a bound on cliques, which {self.assume} lacks")

    @property
    def bounds(self) -> tuple[int | None, int | None]:
        """The bounds on the cliques in H and on the size of H; None for each that is none."""
        return (None, None) if self.assume is None else bounds_of(self.assume)

    @property
    def one_by_one(self) -> bool:
        """Whether each delete is asked by itself whether it is consistent."""
        return self.assume is not None and (self.exact or self.bounds == (None, None))


def forward_everywhere(run: Run, cpdag: PDAG, *, conservative: bool = False) -> PDAG:
    """FES: all inserts."""
    return run.climb("fes", cpdag, lambda g: insert_source(run, g, conservative=conservative))


def insert_source(run: Run, cpdag: PDAG, *, conservative: bool = False) -> Source:
    """Return all inserts: under knowledge, of the edges that may point so.

    ``conservative`` puts those first of pairs that the score has not called independent.
    """
    ask, tolerance, check = run.insert_gains, run.tolerance, run.check_time
    every: Source
    some: Source
    if run.constraint is None:
        every = InsertSource(cpdag, ask, tolerance, check=check)
        if not conservative:
            return every
        some = ConservativeInsertSource(cpdag, ask, tolerance, check=check)
    else:
        barred = run.constraint
        every = InformedInsertSource(cpdag, ask, tolerance, barred, check=check)
        if not conservative:
            return every
        some = InformedConservativeInsertSource(cpdag, ask, tolerance, barred, check=check)
    return PrioritySource([some, every])


def forward_polynomial(run: Run, cpdag: PDAG, largest_t: int) -> PDAG:
    """Poly-FES: the inserts of one member, and those with a small T."""
    if largest_t < 0:
        raise SgesError(f"largest_t = {largest_t}: the size of T must be 0 or more")
    return run.climb("poly-fes", cpdag, lambda g: _poly_source(run, g, largest_t))


def _poly_source(run: Run, cpdag: PDAG, largest_t: int) -> Source:
    """Return the inserts of one member: under knowledge, of one that satisfies it."""
    ask, tolerance = run.insert_gains, run.tolerance
    if run.constraint is None:
        return PolySource(cpdag, ask, tolerance, largest_t)
    return InformedPolySource(cpdag, ask, tolerance, largest_t, run.constraint)


def backward(run: Run, cpdag: PDAG, selection: Selection | None = None) -> PDAG:
    """BES, or SBES if a property is assumed.

    Paper: Fig. 4, SBES.
    """
    selection = selection or Selection()
    phase = "bes" if selection.assume is None else "sbes"
    return run.climb(phase, cpdag, lambda g: delete_source(run, g, selection))


def turn_edges(run: Run, cpdag: PDAG) -> PDAG:
    """Turn edges while that improves the score."""
    return run.climb("turning", cpdag, lambda g: TurnSource(g, run, run.tolerance))


def every_source(run: Run, cpdag: PDAG, selection: Selection, *, conservative: bool) -> Source:
    """Return deletes before turns before inserts: the steps of interleaved search."""
    return PrioritySource(
        [
            delete_source(run, cpdag, selection),
            TurnSource(cpdag, run, run.tolerance),
            insert_source(run, cpdag, conservative=conservative),
        ]
    )


def delete_source(run: Run, cpdag: PDAG, selection: Selection) -> Source:
    """Return the deletes to look at: by what they keep where bounds tell, else one by one."""
    if selection.one_by_one:
        generate = generate_consistent(selection)
        return ScratchSource(cpdag, run, run.tolerance, generate, keep_ties=True)
    kept = kept_by(selection, run.constraint)
    return DeleteSource(cpdag, run.delete_gains, run.tolerance, kept, check=run.check_time)


def delete_escapes(run: Run, selection: Selection) -> Escapes:
    """Return the same deletes, for those who want them although they lower the score."""
    if selection.one_by_one:
        return ScratchEscapes(run, generate_consistent(selection))
    return DeleteEscapes(run.delete_gains, kept_by(selection, run.constraint))


def kept_by(selection: Selection, constraint: Constraint | None) -> Kept:
    """Return what the deletes may keep, by the bounds of the selection and the knowledge."""
    if selection.assume is None:
        return informed_deletes(every_clique_kept, constraint)
    bounds = selection.bounds

    def kept(g: PDAG, y: int) -> Iterable[tuple[NodeSet, NodeSet]]:
        pairs = kept_cliques(g, y, *bounds).items()
        if not selection.drop_large:
            return pairs
        return ((s, _without_large(g, y, s, xs, bounds[0] or 0)) for s, xs in pairs)

    return informed_deletes(kept, constraint)


def generate_consistent(selection: Selection) -> Generate:
    """Return what generates the deletes that are consistent with the assumption, one by one."""
    assume = selection.assume
    assert assume is not None
    return over_all_edges(lambda g, x, y: _consistent_deletes(g, x, y, assume))


def _consistent_deletes(cpdag: PDAG, x: int, y: int, assume: Property) -> Iterable[Delete]:
    proposed = selective_deletes(cpdag, x, y, assume)
    return (delete for delete in proposed if is_consistent(delete, cpdag, assume))


def _without_large(cpdag: PDAG, y: int, s: NodeSet, xs: NodeSet, bound: int) -> NodeSet:
    """Return the x whose H = NA ∖ S holds no clique larger than the bound."""
    rows = cpdag.skeleton()
    fits = (1 << x for x in nodes(xs) if largest_clique(rows, cpdag.na(y, x) & ~s) <= bound)
    return sum(fits)


def sbes_bound(n: int, selection: Selection) -> int | None:
    """Return a bound on the unique families that SBES asks for on n variables, if it has one.

    As in Proposition 2: at most n(n−1)/2 + 1 states; in each at most n(n−1) edges, counting
    both orders; for each at most n maximal cliques and the subsets of up to s nodes of one; two
    families per operator.  None without an assumed bound.

    Paper: Proposition 2.
    """
    cliques, size = selection.bounds
    limits = [bound for bound in (cliques, size) if bound is not None]
    if not limits:
        return None
    states = n * (n - 1) // 2 + 1
    subsets = sum(comb(max(n - 2, 0), j) for j in range(min(limits) + 1))
    return 2 * states * n * (n - 1) * n * subsets
