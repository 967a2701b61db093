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

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import NamedTuple

from sges.graph import PDAG, dag_to_cpdag, pdag_to_dag
from sges.graph.undirected import maximal_cliques
from sges.nodeset import NodeSet, nodes, nodeset, reach, subsets
from sges.operators import Delete
from sges.properties import MaxParents
from sges.result import Result
from sges.score import Score
from sges.score.protocol import tie_tolerance
from sges.search import Strategy, search, sges
from sges.selective import filter_cliques


class Families:
    """A score that stores every family it was asked for."""

    def __init__(self, score: Score) -> None:
        self.n = score.n
        self.asked: dict[tuple[int, NodeSet], float] = {}
        self._score = score

    def local(self, y: int, parents: NodeSet, /) -> float:
        """Return the score of a family."""
        if (y, parents) not in self.asked:
            self.asked[y, parents] = self._score.local(y, parents)
        return self.asked[y, parents]


class Kept(NamedTuple):
    """A delete that a level examines, with its gain and the separator that certifies it, if any."""

    gain: float
    delete: Delete
    separator: NodeSet | None


class LowOrder:
    """A low-order search: the class that it has reached, and the separators found so far.

    It starts from a CPDAG or DAG that is an IMAP of the truth, by default the complete graph.
    ``less`` lowers the bound of Selective-Generate-Ops, which is k at level k, for study.

    Paper: Chickering (2020), low-order search.
    """

    def __init__(self, score: Score, start: PDAG | None = None, *, less: int = 0) -> None:
        self.cpdag = PDAG.complete(score.n) if start is None else dag_to_cpdag(pdag_to_dag(start))
        self._score, self._less = score, less
        self._tolerance = tie_tolerance(sum(score.local(v, 0) for v in range(score.n)))
        self._separators: dict[tuple[int, int], NodeSet] = {}
        self._separated: list[NodeSet] = [0] * score.n  # the nodes with which each has a separator
        self._evidence: dict[tuple[int, int], float] = {}

    def levels(self, max_order: int | None = None) -> Iterator[int]:
        """Delete level after level, and yield each level at its end."""
        last = max(self._score.n - 1, 0) if max_order is None else max_order
        for k in range(last + 1):
            self.find_separators(k)
            while (kept := self._best(k)) is not None:
                self.cpdag = kept.delete.carry_out(self.cpdag)
            yield k
            if max(self._member(), key=int.bit_count, default=0).bit_count() <= k:
                return

    def find_separators(self, k: int) -> None:
        """Find the separators of k nodes of the pairs that have no smaller one.

        Of several sets the one with the most evidence is taken, and of those that tie the first.

        Paper: Chickering (2020), separators.
        """
        local, found = self._score.local, dict[tuple[int, int], NodeSet]()
        for x, y in combinations(range(self._score.n), 2):
            if self._separated[x] >> y & 1:
                continue
            for chosen in combinations([v for v in range(self._score.n) if v not in (x, y)], k):
                base = nodeset(chosen)
                evidence = local(y, base) - local(y, base | 1 << x)
                if evidence > self._evidence.get((x, y), 0.0) + self._tolerance:
                    found[x, y], self._evidence[x, y] = base, evidence
        for (x, y), base in found.items():
            for one, other in ((x, y), (y, x)):
                self._separators[one, other] = base
                self._separated[one] |= 1 << other
                self._evidence[one, other] = self._evidence[x, y]

    def _best(self, k: int) -> Kept | None:
        """Return the best kept delete if it does not lower the score."""
        keeping = list(self.kept(k))
        most = max((kept.gain for kept in keeping), default=-1.0)
        if most < -self._tolerance:
            return None
        tied = (kept for kept in keeping if kept.gain >= most - self._tolerance)
        return min(tied, key=lambda kept: kept.delete.sort_key())

    def kept(self, k: int) -> Iterator[Kept]:
        """Yield the deletes of the class that level k keeps, with their gains."""
        few = self._few_parents(k)
        for y in range(self.cpdag.n):
            for x in nodes(self.cpdag.into[y]):
                yield from self._kept_of(x, y, k, few)

    def _member(self) -> list[NodeSet]:
        """Return the parents of each node in a member of the class."""
        dag = pdag_to_dag(self.cpdag)
        return [dag.parents(v) for v in range(dag.n)]

    def _few_parents(self, k: int) -> NodeSet:
        """Return the nodes that have, as do all their children, at most k parents.

        Paper: Chickering (2020), parent bound.
        """
        many = 0
        for v, parents in enumerate(self._member()):
            if parents.bit_count() > k:
                many |= parents | 1 << v
        return ((1 << self.cpdag.n) - 1) & ~many

    def _kept_of(self, x: int, y: int, k: int, few: NodeSet) -> Iterator[Kept]:
        """Yield the kept deletes of one edge.

        H is as Selective-Generate-Ops proposes it with bound k: the nodes outside a maximal clique
        of NA, and up to k of its nodes.
        """
        graph, local, bound = self.cpdag, self._score.local, max(k - self._less, 0)
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
        for clique in filter_cliques(maximal_cliques(graph.skeleton(), na), bound):
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
                    gain = local(y, staying) - local(y, staying | 1 << x)
                    yield Kept(gain, Delete(x, y, h), None)
                elif separator is not None and self._is_certified(x, y, h, children):
                    yield Kept(self._evidence[x, y], Delete(x, y, h), separator)

    def _is_certified(self, x: int, y: int, h: NodeSet, children: NodeSet) -> bool:
        """Return whether a delete of an edge whose ends have a separator is certified.

        Paper: Chickering (2020), certified delete.
        """
        graph, separators = self.cpdag, self._separators
        common = graph.children(x) & graph.children(y) | h
        if common & ~children:
            return False
        staying = graph.na(y, x) & ~h
        reached = reach(graph.out.__getitem__, common, staying | 1 << x | 1 << y)
        others = (graph.parents(y) & ~(1 << x) | staying) & ~separators[x, y]
        return all(
            any((end, e) in separators and not separators[end, e] & reached for end in (x, y))
            for e in nodes(others)
        )


class Found(NamedTuple):
    """A class, and the number of unique families that were asked for."""

    cpdag: PDAG
    score_evaluations: int


def low_order(score: Score, start: PDAG | None = None, max_order: int | None = None) -> Found:
    """Search backward from an IMAP, with scores that condition on at most ``max_order`` variables.

    >>> from sges.score import SeparationOracle
    >>> truth = PDAG.from_edges(5, [(0, 2), (1, 2), (2, 3), (2, 4)])
    >>> low_order(SeparationOracle(truth)).cpdag
    PDAG(5 nodes: 0→2, 1→2, 2→3, 2→4)
    """
    families = Families(score)
    descent = LowOrder(families, start)
    for _ in descent.levels(max_order):
        pass
    return Found(descent.cpdag, len(families.asked))


def se_ges(
    score: Score,
    bound: MaxParents,
    finish: Strategy,
    forward: Callable[[Score], Result] | None = None,
) -> Found:
    """Search on in two phases after each level, and finish from the best of their ends.

    ``forward`` finds another start than the complete graph.
    """
    families, best = Families(score), None
    descent = LowOrder(families, None if forward is None else forward(families).cpdag)
    for k in descent.levels(bound.k):
        end = sges(families, MaxParents(max(k, 1)), forward="fes", start=descent.cpdag)
        if best is None or end.score > best.score + tie_tolerance(best.score):
            best = end
    start = None if best is None else best.cpdag
    return Found(search(families, bound, strategy=finish, start=start).cpdag, len(families.asked))
