"""check_score: test whether a score has the properties that the search relies on."""

from collections.abc import Callable, Sequence
from itertools import combinations
from math import isfinite
from typing import TypeAlias

import numpy as np

from sges.errors import ScoreError, check_callable, check_number, check_seed, shown
from sges.graph.equivalence import covered_edges
from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, nodes, nodeset, show
from sges.score.protocol import (
    Candidates,
    Score,
    as_gains,
    batch_method,
    dag_score,
    family_score,
)

Permuted: TypeAlias = Callable[[Sequence[int]], Score]
"""Given ``order``, the score of the data in which variable i is the old variable order[i]."""


def check_score(
    score: Score,
    *,
    seed: int = 0,
    pairs: int = 1000,
    width: int = 6,
    tolerance: float = 1e-9,
    permuted: Permuted | None = None,
) -> None:
    """Raise ``ScoreError`` with a counter-example if the score breaks the contract of a score.

    Each property is tested on random families or DAGs; every score of this package has them all.

    * Finite: every family has a finite score.
    * Decomposable: a family's score depends on the node and its parents alone.  It does
      not change after other families have been evaluated.
    * Score equivalent: equivalent DAGs, related by reversals of covered edges (Chickering 1995),
      have the same score.
    * Batch = one by one: ``insert_gains`` and ``delete_gains``, if the score has them, are
      differences of ``local``.
    * Symmetric: permuting the variables permutes the scores.  This is tested if the score has a
      method ``permuted``, or such a function is given.

    Parameters
    ----------
    score
        Any score: one of this package or your own.
    seed
        The seed of the random families and DAGs.
    pairs
        The number of pairs of equivalent DAGs to compare; a tenth as many batches and renamings.
    width
        The largest number of variables in one DAG or one family.
    tolerance
        The error allowed, relative to the size of the scores compared.
    permuted
        Given ``order``, returns the score in which variable i is the old variable order[i]; for a
        score that has no such method.

    Raises
    ------
    ScoreError
        If the score breaks the contract; the message shows a counter-example.

    Examples
    --------
    >>> from sges.score import GaussianBIC
    >>> check_score(GaussianBIC.from_covariance([[1.0, 0.5], [0.5, 1.0]], records=100))
    """
    has_size = isinstance(getattr(score, "n", None), int)
    if not has_size or not callable(getattr(score, "local", None)):
        raise ScoreError(f"{shown(score)} is not a score; it needs n and local(y, parents)")
    check_seed(seed)
    check_number("pairs", pairs, whole=True, least=1, most=10_000_000)
    check_number("width", width, whole=True, least=1)
    check_number("tolerance", tolerance)
    if permuted is not None:
        check_callable("permuted", permuted)
    if score.n < 1:
        raise ScoreError(f"the score has {score.n} variables; it needs at least one")
    checks = _Checks(score, np.random.default_rng(seed), min(width, score.n), tolerance)
    few = max(1, pairs // 10)
    checks.families(pairs)
    for _ in range(pairs):
        checks.equivalence()
    for _ in range(few):
        checks.batches()
    rename: Permuted | None = permuted or getattr(score, "permuted", None)
    if rename is not None:
        for _ in range(few):
            checks.renaming(rename)


class _Checks:
    """The tests of one score, with one source of random numbers."""

    def __init__(
        self, score: Score, rng: np.random.Generator, width: int, tolerance: float
    ) -> None:
        self.score, self.rng, self.width, self.tolerance = score, rng, width, tolerance

    def families(self, times: int) -> None:
        """Evaluate families twice, in another order: the values must be finite and the same."""
        asked = [self._family() for _ in range(times)]
        first = [family_score(self.score, y, parents) for y, parents in asked]
        for (y, parents), value in zip(asked, first, strict=True):
            if not isfinite(value):
                raise ScoreError(
                    f"not finite: local({y}, {show(parents)}) is {value:.10g}; "
                    f"every family must have a finite score"
                )
        for i in self.rng.permutation(times).tolist():
            y, parents = asked[i]
            again = family_score(self.score, y, parents)
            if not self._same(again, first[i], first[i]):
                raise ScoreError(
                    f"not decomposable: local({y}, {show(parents)}) was {first[i]:.10g} and "
                    f"then {again:.10g}; the score of a family must always be the same"
                )

    def equivalence(self) -> None:
        """Compare two DAGs of one class, connected by a random walk of reversed covered edges."""
        order, density = self._some_nodes(), self.rng.uniform(0.2, 1.0)
        pairs = [pair for pair in combinations(order, 2) if self.rng.random() < density]
        dag = equivalent = PDAG.from_edges(self.score.n, pairs)
        for _ in range(2 * self.width):
            if covered := covered_edges(equivalent):
                x, y = covered[int(self.rng.integers(len(covered)))]
                equivalent = equivalent.edited(remove=[(x, y)], direct=[(y, x)])
        first, second = (
            dag_score(self.score, dag),
            dag_score(self.score, equivalent),
        )
        size = sum(abs(self.score.local(y, dag.parents(y))) for y in range(dag.n))
        if not self._same(first, second, size):
            raise ScoreError(
                f"not score equivalent: {_edges(dag)} has the score {first:.10g} and "
                f"{_edges(equivalent)}, of the same class, {second:.10g}; equivalent DAGs "
                "must have equal scores"
            )

    def batches(self) -> None:
        """Compare the gains of all candidates at once with differences of ``local``."""
        y, base = self._family()
        inside = np.array([*nodes(base)], dtype=np.intp)
        outside = np.setdiff1d(np.arange(self.score.n), [y, *inside])
        self.rng.shuffle(outside)
        self._batch("insert_gains", y, base, outside[: 10 * self.width])
        self._batch("delete_gains", y, base, inside[: self.rng.integers(len(inside) + 1)])
        self._batch("delete_gains", y, base, inside)

    def renaming(self, rename: Permuted) -> None:
        """Compare a family with the same family once the variables have other names."""
        order = self.rng.permutation(self.score.n).tolist()
        new = {old: i for i, old in enumerate(order)}
        y, parents = self._family()
        before = self.score.local(y, parents)
        after = rename(order).local(new[y], nodeset(new[x] for x in nodes(parents)))
        if not self._same(before, after, before):
            raise ScoreError(
                f"not symmetric: local({y}, {show(parents)}) is {before:.10g}, and "
                f"{after:.10g} if the variables are in the order {order}; the score must not "
                "depend on the order of the variables"
            )

    def _batch(self, name: str, y: int, base: NodeSet, candidates: Candidates) -> None:
        method = batch_method(self.score, name)
        if method is None:
            return
        gains = as_gains(self.score, y, base, len(candidates), method(y, base, candidates.copy()))
        before = self.score.local(y, base)
        for x, gain in zip(candidates.tolist(), gains.tolist(), strict=True):
            after = self.score.local(y, base ^ 1 << x)
            expected = after - before
            if not self._same(gain, expected, abs(before) + abs(after)):
                raise ScoreError(
                    f"not consistent: {name}({y}, {show(base)}, [{x}]) returns {gain:.10g}, but "
                    f"the difference of local is {expected:.10g}; they must be equal"
                )

    def _same(self, one: float, two: float, size: float) -> bool:
        # Written so that a NaN on either side is a difference.
        return abs(one - two) <= self.tolerance * (1 + abs(size))

    def _family(self) -> tuple[int, NodeSet]:
        chosen = self._some_nodes()
        return chosen[0], nodeset(chosen[1 : 1 + int(self.rng.integers(self.width))])

    def _some_nodes(self) -> list[int]:
        chosen: list[int] = self.rng.choice(self.score.n, self.width, replace=False).tolist()
        return chosen


def _edges(dag: PDAG) -> str:
    return ", ".join(f"{x}→{y}" for x, y in dag.directed_edges()) or "the empty graph"
