"""Wrappers of scores: one that counts evaluations, and one that adds an edge prior."""

from functools import partial
from math import isfinite, log
from typing import Any

from sges.errors import ScoreError, check_flag, is_number, shown
from sges.nodeset import NodeSet
from sges.score.protocol import (
    Candidates,
    Gains,
    Score,
    as_gains,
    batch_method,
    check_is_score,
    delete_gains,
    documented_score,
    family_score,
    gains_by_local,
    insert_gains,
    is_score,
)


@documented_score
class CountingScore:
    """A score that counts the unique (node, parent set) pairs that are evaluated.

    It wraps any score and returns the values of that score, batch methods included.  A batched call
    counts (y, base) and, for each candidate, the family with the candidate added or removed.
    Use one wrapper per run: it stores every family that was evaluated.

    Paper: Section 5, score evaluations.

    Parameters
    ----------
    score
        The score to wrap.
    counting
        Whether to count; without it, ``evaluations`` is None.
    caching
        Whether to store the values of ``local``.

    Attributes
    ----------
    asked
        For each node, the sets of parents that were evaluated, if they are counted.

    Examples
    --------
    >>> from sges.score import GaussianBIC
    >>> counter = CountingScore(GaussianBIC.from_covariance([[1.0, 0.5], [0.5, 1.0]], 100))
    >>> _ = counter.local(0, 0b10), counter.local(0, 0b10), counter.local(1, 0b01)
    >>> counter.evaluations
    2
    """

    def __init__(self, score: Score, *, counting: bool = True, caching: bool = True) -> None:
        check_is_score(score)
        check_flag("counting", counting)
        check_flag("caching", caching)
        self.score, self.n = score, score.n
        self.counting, self.caching = counting, caching
        self.names: tuple[str, ...] | None = getattr(score, "names", None)
        self.asked: list[set[NodeSet]] = [set() for _ in range(score.n)]
        self._values: dict[tuple[int, NodeSet], float] = {}

    @property
    def evaluations(self) -> int | None:
        """The number of unique families evaluated so far; None if they are not counted."""
        return sum(map(len, self.asked)) if self.counting else None

    def local(self, y: int, parents: NodeSet) -> float:
        """Return the wrapped score of a node with some parents."""
        if self.counting:
            self.asked[y].add(parents)
        return self._value(y, parents)

    def insert_gains(self, y: int, base: NodeSet, candidates: Candidates) -> Gains:
        """Return the gains of adding each candidate to the parents of a node."""
        return self._gains("insert_gains", y, base, candidates)

    def delete_gains(self, y: int, base: NodeSet, candidates: Candidates) -> Gains:
        """Return the gains of removing each candidate from the parents of a node."""
        return self._gains("delete_gains", y, base, candidates)

    def _gains(self, name: str, y: int, base: NodeSet, candidates: Candidates) -> Gains:
        if self.counting:
            self.asked[y].add(base)
            self.asked[y].update(base ^ 1 << x for x in candidates.tolist())
        batch = batch_method(self.score, name) or partial(gains_by_local, self._value)
        return as_gains(self.score, y, base, len(candidates), batch(y, base, candidates))

    def _value(self, y: int, parents: NodeSet) -> float:
        value = self._values.get((y, parents))
        if value is None:
            value = family_score(self.score, y, parents)
            if self.caching:
                self._values[y, parents] = value
        return value


@documented_score
class EdgePrior:
    """A score with a prior over graphs: each edge has the same prior odds, 1/p by default.

    Each edge costs −log(odds): ``local(y, parents)`` is that of the score minus cost · |parents|.
    Equivalent DAGs have equally many edges, so a score-equivalent score stays score equivalent.
    A uniform prior over graphs expects half of all pairs to be joined; with odds of 1/p the
    expected number of edges of a variable is finite for any p.  With the Gaussian BIC this is the
    extended BIC with γ = ½, whose penalty per edge is ½ log m + 2γ log p.

    Any score can be given such a prior.  If the compiled engine reads the score natively, it also
    does so with the prior.

    Parameters
    ----------
    score
        The score of the data, such as ``BDeu(data)``.
    cost
        The cost of each edge: minus the logarithm of its prior odds.  The default is log p for p
        variables, which are odds of 1/p; 0 is a uniform prior, which does not change the score.

    Raises
    ------
    ScoreError
        If ``score`` is not a score, or ``cost`` is not finite.

    References
    ----------
    Chen & Chen (2008), Extended Bayesian information criteria for model selection with large model
    spaces.  Biometrika 95(3).

    Foygel & Drton (2010), Extended Bayesian information criteria for Gaussian graphical models.
    NeurIPS 23.

    Examples
    --------
    >>> from sges.score import GaussianBIC
    >>> score = GaussianBIC.from_covariance([[1.0, 0.8], [0.8, 1.0]], records=100)
    >>> prior = EdgePrior(score)  # two variables: each edge costs log 2
    >>> round(score.local(1, 0b01) - prior.local(1, 0b01), 4)
    0.6931
    """

    def __init__(self, score: Score, cost: float | None = None) -> None:
        if not is_score(score):
            raise ScoreError(
                f"EdgePrior: {shown(score)} is not a score; it needs n and local(y, parents)"
            )
        if cost is not None and not (is_number(cost) and isfinite(cost)):
            raise ScoreError(
                f"EdgePrior: cost {shown(cost)} is not a finite number; the default is log p for "
                "p variables"
            )
        self.score, self.n = score, score.n
        self.cost = log(max(score.n, 1)) if cost is None else float(cost)

    def __repr__(self) -> str:
        return f"EdgePrior({self.score!r}, cost={self.cost:.4g})"

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (whatever the score has kept)
        """Return an attribute of the wrapped score, such as its data."""
        if name in ("data", "kinds", "moments", "names", "records", "table"):
            return getattr(self.score, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    @property
    def label(self) -> str:
        """The name of the score in results: "BDeu with edge prior"."""
        return f"{type(self.score).__name__} with edge prior"

    def local(self, y: int, parents: NodeSet, /) -> float:
        """Return the score of a node with some parents, and the prior of its edges."""
        return family_score(self.score, y, parents) - self.cost * parents.bit_count()

    def insert_gains(self, y: int, base: NodeSet, candidates: Candidates, /) -> Gains:
        """Return the gains of adding each candidate to the parents of a node."""
        return insert_gains(self.score, y, base, candidates) - self.cost

    def delete_gains(self, y: int, base: NodeSet, candidates: Candidates, /) -> Gains:
        """Return the gains of removing each candidate from the parents of a node."""
        return delete_gains(self.score, y, base, candidates) + self.cost
