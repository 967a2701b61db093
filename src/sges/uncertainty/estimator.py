"""Confidence in edges as a meta-estimator, with scikit-learn's conventions.

EdgeConfidence(StructureLearner(), n_resamples=100).fit(X).confidence_
"""

from typing import Any, Self

import numpy as np

from sges.docstrings import documented_like
from sges.errors import InvalidArgument, check_number, shown
from sges.estimator import Searcher, StructureLearner  # an error without scikit-learn
from sges.uncertainty.replicates import MAX_REPLICATES, confidence
from sges.uncertainty.strengths import Confidence

from sklearn.base import BaseEstimator  # type: ignore[import-untyped]  # isort: skip


@documented_like(confidence)
class EdgeConfidence(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """Confidence in the edges that an estimator finds, from many replicates of the data.

    Parameters
    ----------
    estimator : StructureLearner, GES or SGES, optional
        The search, with its score, penalty and knowledge; ``StructureLearner()`` by default.  It
        is not changed.
    n_resamples : int
        How many replicates to search.
    random_state : int, RandomState or None
        The seed of the draws; None draws other replicates every time.

    Attributes
    ----------
    confidence_ : Confidence
        The classes that were found, and the shares of edges in them.
    strengths_ : ndarray of shape (n_features, n_features)
        The share of replicates in which two variables are adjacent; symmetric.
    causal_graph_ : PDAG
        The averaged class: the edges whose share exceeds the threshold.
    threshold_ : float
        The threshold.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of str
        The names of the columns, if they are text.

    Examples
    --------
    >>> import sges
    >>> table = sges.examples.load("greenhouse").table.to_pandas()
    >>> model = EdgeConfidence(sges.StructureLearner(), n_resamples=10, random_state=0).fit(table)
    >>> model.strengths_.shape, model.confidence_.done
    ((11, 11), 10)
    """

    def __init__(
        self,
        estimator: Any = None,  # noqa: ANN401 (an estimator)
        n_resamples: int = 200,
        *,
        draw: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,  # noqa: ANN401 (as in scikit-learn)
    ) -> None:
        self.estimator = estimator
        self.n_resamples = n_resamples
        self.draw = draw
        self.n_jobs = n_jobs
        self.random_state = random_state

    @documented_like(StructureLearner.fit)
    def fit(self, X: Any, y: object = None) -> Self:  # noqa: ANN401, ARG002, N803
        """Search replicates of the data, and count their edges."""
        check_number("n_resamples", self.n_resamples, whole=True, least=1, most=MAX_REPLICATES)
        searcher = StructureLearner() if self.estimator is None else self.estimator
        if not isinstance(searcher, Searcher):
            raise InvalidArgument(
                f"estimator = {shown(searcher)} is not one of StructureLearner, GES and SGES"
            )
        table, arguments = searcher._checked(X, self), searcher._arguments()
        for name in ("start", "n_jobs", "time_limit", "progress"):
            arguments.pop(name, None)
        self.confidence_: Confidence = confidence(
            table,
            self.n_resamples,
            draw=self.draw,
            n_jobs=self.n_jobs,
            seed=_seed(self.random_state),
            **arguments,
        )
        n = len(self.confidence_.names)
        self.strengths_ = np.zeros((n, n))
        for (a, b), share in self.confidence_.strengths.items():
            self.strengths_[a, b] = self.strengths_[b, a] = share
        self.threshold_ = self.confidence_.threshold
        self.causal_graph_ = self.confidence_.averaged().cpdag
        return self

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 (scikit-learn's Tags)
        searcher = StructureLearner() if self.estimator is None else self.estimator
        return searcher.__sklearn_tags__()


def _seed(random_state: Any) -> int:  # noqa: ANN401 (as in scikit-learn)
    from sklearn.utils import check_random_state  # type: ignore[import-untyped]

    if isinstance(random_state, int) and not isinstance(random_state, bool) and random_state >= 0:
        return random_state
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except (ValueError, TypeError):
        raise InvalidArgument(
            f"random_state = {shown(random_state)}: it must be a whole number, a RandomState, or "
            "None"
        ) from None
