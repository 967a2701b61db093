r"""A prior over graphs for any score: every edge has the same prior odds, 1/p by default.

With p variables and the prior P(G) ∝ odds^|E|, each edge costs −log(odds), which is log p:

    local(y, parents) = score.local(y, parents) − cost · |parents|

The sum over the nodes counts every edge once, so the prior is decomposable.  Equivalent DAGs have
equally many edges, so it leaves a score-equivalent score score equivalent.  A uniform prior over
graphs expects half of all pairs to be joined; with odds of 1/p the expected number of edges of a
variable is finite for any p.  For the Gaussian BIC this is the extended BIC with γ = ½, whose
penalty per edge is ½ log m + 2γ log p.
"""

from math import isfinite, log
from typing import Any

from sges.errors import ScoreError, is_number, shown
from sges.nodeset import NodeSet
from sges.score.protocol import (
    Candidates,
    Gains,
    Score,
    delete_gains,
    documented_score,
    insert_gains,
    is_score,
)


@documented_score
class EdgePrior:
    """A score with a prior over graphs: each edge has the same prior odds.

    Any score can be given such a prior.  If the compiled engine reads the score natively, it also
    does so with the prior.

    Parameters
    ----------
    score
        The score of the data, such as ``BDeu(data)``.
    cost
        What each edge costs: minus the logarithm of its prior odds.  The default is log p for p
        variables, which are odds of 1/p; 0 is a uniform prior, which leaves the score as it is.

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
                f"EdgePrior: {shown(score)} is not a score; a score has n and local(y, parents)"
            )
        if cost is not None and not (is_number(cost) and isfinite(cost)):
            raise ScoreError(
                f"EdgePrior: cost {shown(cost)} is not a finite number; the default is log p for "
                "p variables"
            )
        self.score = score
        self.cost = log(max(score.n, 1)) if cost is None else float(cost)

    def __repr__(self) -> str:
        return f"EdgePrior({self.score!r}, cost={self.cost:.4g})"

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (whatever the score has kept)
        """Return what the score has kept of its data."""
        if name in ("data", "moments", "names", "records", "table"):
            return getattr(self.score, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.score.n

    @property
    def label(self) -> str:
        """What to call the score in results: "BDeu with edge prior"."""
        return f"{type(self.score).__name__} with edge prior"

    def local(self, y: int, parents: NodeSet, /) -> float:
        """Return the score of a node with some parents, and the prior of its edges."""
        return self.score.local(y, parents) - self.cost * parents.bit_count()

    def insert_gains(self, y: int, base: NodeSet, candidates: Candidates, /) -> Gains:
        """Return the gains of adding each candidate to the parents of a node."""
        return insert_gains(self.score, y, base, candidates) - self.cost

    def delete_gains(self, y: int, base: NodeSet, candidates: Candidates, /) -> Gains:
        """Return the gains of removing each candidate from the parents of a node."""
        return delete_gains(self.score, y, base, candidates) + self.cost
