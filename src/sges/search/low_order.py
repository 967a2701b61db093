"""Low-order selective search (SE-GES): deletes chosen by scores that condition on few variables.

A backward phase that begins in a dense class scores families with many parents, which a table of
discrete values can hardly estimate.  Chickering (2020) shows that conditioning on k variables is
enough if no variable has more than k parents in the true graph.  At level k a delete is kept if its
own families are that small, or if small families *certify* it:

* a *separator* of X and Y is a smallest set M with local(Y, M) > local(Y, M ∪ X), |M| ≤ k;
* Z is a *certified common child* of X and Y if X and Y have a separator, Z is not in it, neither
  X and Z nor Y and Z have one, and neither Z nor a child of Z has more than k parents;
* Delete(X, Y, H) is *certified* if X and Y have a separator M, every common child of X and Y and
  every node of H is a certified common child, and each other node E that stays a parent of Y, and
  is not in M, has a separator with X or with Y that no semi-directed path from those children
  reaches around NA ∖ H, X and Y.

Level after level, the best kept delete is applied while it does not lower the score.  Its gain is
that of the separator, so no family of more than k + 1 parents is ever scored.  The search ends when
no variable has more than k parents.

``docs/theory.md`` states what is proven, and what is only known from exhaustive tests.

References
----------
Chickering (2020), Statistically Efficient Greedy Equivalence Search, UAI.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sges.docstrings import documented_like
from sges.errors import check_number
from sges.graph.pdag import PDAG
from sges.graph.undirected import maximal_cliques
from sges.nodeset import NodeSet, nodes, reach, subsets
from sges.operators import Delete
from sges.result import Result
from sges.score import Score
from sges.search.moves import Constraint, best_first
from sges.search.run import OPTIONS, OnProgress, Run
from sges.selective import filter_cliques

PHASE = "low-order"


@documented_like(OPTIONS)
def low_order(
    score: Score,
    start: PDAG | None = None,
    max_order: int | None = None,
    *,
    time_limit: float | None = None,
    progress: OnProgress | None = None,
    counting: bool = True,
    constraint: Constraint | None = None,
) -> Result:
    """Search backward from an IMAP, with scores that condition on few variables.

    In the large-sample limit the result is the true class, and no family of more than k + 1
    parents was scored if no variable has more than k parents in the true graph.

    Paper: Chickering (2020), low-order search.

    Parameters
    ----------
    start : PDAG, optional
        A CPDAG or DAG that is an IMAP of the truth, such as the end of a forward phase; by default
        the complete graph.
    max_order : int, optional
        The last level: the largest number of variables that a delete conditions on.  By default
        the search ends when no variable has more parents than the level.
    time_limit : float, optional
        Seconds after which the search stops and returns the state that it has reached.
    progress : callable, optional
        Called with a ``Progress`` at the start of each level and after each step.
    constraint : Constraint, optional
        Background knowledge with nodes as numbers, from ``Knowledge.bind``.  A delete to a class
        that it does not admit is never taken.  Even if the knowledge is true, this may exclude the
        delete on which the guarantee rests, so with knowledge nothing is guaranteed.

    Returns
    -------
    Result
        The class, its score and the steps.  ``Step.separator`` is the separator that certified a
        delete.  The gains of such steps are those of the separators; the total after a step is
        the score of the result minus the gains of the following steps.

    References
    ----------
    Chickering (2020), Statistically Efficient Greedy Equivalence Search, UAI.

    Examples
    --------
    >>> from sges.score import SeparationOracle
    >>> truth = PDAG.from_edges(5, [(0, 2), (1, 2), (2, 3), (2, 4)])
    >>> result = low_order(SeparationOracle(truth))
    >>> result.cpdag
    PDAG(5 nodes: 0→2, 1→2, 2→3, 2→4)
    >>> print(result.steps[-1])
    low-order: Delete(3, 4, {}) gains 1
    """
    check_number("max_order", max_order, whole=True, optional=True)
    run = Run(score, None, time_limit, progress, counting, constraint)
    run.start(PDAG.complete(run.n) if start is None else start, scored=False)
    levels = LowOrder(run)
    for k in levels.up_to(max_order):
        levels.descend(k)
    return run.result(forward="complete" if start is None else "given")


class Kept(NamedTuple):
    """A delete that a level examines, with its gain and the separator that certifies it, if any."""

    gain: float
    delete: Delete
    separator: NodeSet | None


class LowOrder:
    """The levels of a low-order search on one run, which store the separators found.

    ``less`` lowers the bound of Selective-Generate-Ops, which is k at level k, for study.
    """

    def __init__(self, run: Run, *, less: int = 0) -> None:
        self._run = run
        self._less = less
        self._separators: dict[tuple[int, int], NodeSet] = {}
        self._separated: list[NodeSet] = [0] * run.n  # the nodes with which each has a separator
        self._evidence: dict[tuple[int, int], float] = {}

    def up_to(self, max_order: int | None) -> Iterator[int]:
        """Yield the levels until no variable has more parents than the level."""
        run = self._run
        last = max(run.n - 1, 0) if max_order is None else max_order
        for k in range(last + 1):
            if run.stopped is not None:
                return
            yield k
            if all(parents.bit_count() <= k for parents in run.engine.member()):
                return

    def descend(self, k: int) -> None:
        """Find the separators of a level, and delete while a kept delete does not lose."""
        run = self._run
        with run.phase(PHASE):
            run.tell(PHASE)
            self._find_separators(k)
            for step, separator in run.act("level", lambda: self._delete(k)) or ():
                run.separators[step] = int(separator, 16)

    def _delete(self, k: int) -> list[tuple[int, str]]:
        """Delete while a kept delete does not lose; return the steps that have a separator."""
        run, engine, certified = self._run, self._run.engine, []
        while run.stopped is None and (kept := self._best(k)) is not None:
            if kept.separator is not None:
                run.separators[engine.step_count] = kept.separator
                certified.append((engine.step_count, f"{kept.separator:x}"))
            engine.apply(PHASE, kept.delete, kept.gain)
            run.tell(PHASE)
        return certified

    def _find_separators(self, k: int) -> None:
        """Find the separators of k nodes of the pairs that have no smaller one.

        Paper: Chickering (2020), separators.
        """
        n = self._run.n
        wanted = [((1 << y) - 1) & ~self._separated[y] for y in range(n)]

        def found() -> list[tuple[int, int, str, float]]:
            pairs = self._run.engine.separators(k, wanted)
            return [(x, y, f"{separator:x}", evidence) for x, y, separator, evidence in pairs]

        for x, y, separator, evidence in self._run.act("separators", found) or ():
            for one, other in ((x, y), (y, x)):
                self._separators[one, other] = int(separator, 16)
                self._separated[one] |= 1 << other
                self._evidence[one, other] = evidence

    def _best(self, k: int) -> Kept | None:
        """Return the best kept delete that knowledge admits, if it does not lower the score."""
        engine = self._run.engine
        tolerance = engine.tolerance
        keeping = (kept for kept in self.kept(k) if kept.gain >= -tolerance)
        ranked = best_first(keeping, tolerance)
        return next((kept for kept in ranked if engine.admits(kept.delete)), None)

    def kept(self, k: int) -> Iterator[Kept]:
        """Yield the deletes of the state that level k keeps, with their gains."""
        graph = self._run.engine.cpdag
        few, adjacent = self._few_parents(k), graph.skeleton()
        for y in range(graph.n):
            for x in nodes(graph.into[y]):
                self._run.check_time()
                yield from self._kept_of(graph, adjacent, x, y, k, few)

    def _few_parents(self, k: int) -> NodeSet:
        """Return the nodes that have, as do all their children, at most k parents.

        Paper: Chickering (2020), parent bound.
        """
        parents = self._run.engine.member()
        many = sum(1 << v for v, above in enumerate(parents) if above.bit_count() > k)
        above_many = 0
        for v in nodes(many):
            above_many |= parents[v]
        return ((1 << len(parents)) - 1) & ~(many | above_many)

    def _kept_of(
        self, graph: PDAG, adjacent: Sequence[NodeSet], x: int, y: int, k: int, few: NodeSet
    ) -> Iterator[Kept]:
        """Yield the kept deletes of one edge.

        H is as Selective-Generate-Ops proposes it with bound k: the nodes outside a maximal clique
        of NA, and up to k of its nodes.
        """
        engine, bound = self._run.engine, max(k - self._less, 0)
        na, above = graph.na(y, x), graph.parents(y) & ~(1 << x)
        separator = self._separators.get((x, y))
        children = 0  # those that may be certified common children
        if separator is not None:
            children = few & ~(separator | self._separated[x] | self._separated[y])
            if graph.children(x) & graph.children(y) & ~children:
                separator = None
        if separator is None and above.bit_count() > k:
            return
        seen = set[NodeSet]()
        for clique in filter_cliques(maximal_cliques(adjacent, na), bound):
            outside = na & ~clique
            fewest = above.bit_count() + clique.bit_count() - k  # for an order of at most k
            certifiable = separator is not None and not outside & ~children
            if not certifiable and fewest > bound:
                continue
            inside = clique if fewest <= bound else clique & children
            for chosen in subsets(inside, at_most=bound):
                h = outside | chosen
                if h in seen:
                    continue
                seen.add(h)
                staying = above | (na & ~h)
                if staying.bit_count() <= k:
                    with_x = engine.local(y, staying | 1 << x)
                    yield Kept(engine.local(y, staying) - with_x, Delete(x, y, h), None)
                elif separator is not None and self._is_certified(graph, x, y, h, children):
                    yield Kept(self._evidence[x, y], Delete(x, y, h), separator)

    def _is_certified(self, graph: PDAG, x: int, y: int, h: NodeSet, children: NodeSet) -> bool:
        """Return whether a delete of an edge whose ends have a separator is certified.

        Paper: Chickering (2020), certified delete.
        """
        common = graph.children(x) & graph.children(y) | h
        if common & ~children:
            return False
        kept = graph.na(y, x) & ~h
        reached = reach(graph.out.__getitem__, common, kept | 1 << x | 1 << y)
        others = (graph.parents(y) & ~(1 << x) | kept) & ~self._separators[x, y]
        return all(
            any(
                (end, other) in self._separators and not self._separators[end, other] & reached
                for end in (x, y)
            )
            for other in nodes(others)
        )
