"""Estimators with scikit-learn's conventions: ``GES`` and ``SGES``.

    SGES(assume=MaxVWidth(2)).fit(X).causal_graph_

Parameters are those of ``sges.learn``; what was learned has a trailing underscore:

    causal_graph_           the CPDAG, a ``PDAG`` under the names of the columns
    adjacency_matrix_       the same as 0 and 1, row → column, both for an undirected edge: a
                            pandas frame labelled on both sides (a NumPy array without pandas)
    score_, n_score_evaluations_, trace_     its score, what it cost, and the steps to it
    result_                 the whole ``Result``
    n_features_in_, feature_names_in_        as everywhere in scikit-learn: names only if the
                            columns of X have names, and these are text

The search has nothing to predict or transform: an estimator is the last step of a pipeline.
"""

from collections.abc import Callable
from typing import Any, Literal, Self

from sges.api import AnyPenalty, learn
from sges.data import Kinds, Missing
from sges.errors import InvalidArgument, MissingLibrary
from sges.export import adjacency_frame, to_numpy
from sges.graph.pdag import PDAG
from sges.properties.base import Property
from sges.result import Result
from sges.scoring import ScoreChoice
from sges.search import Progress
from sges.search.algorithms import Forward
from sges.search.strategy import AnyStrategy

try:
    from sklearn.base import BaseEstimator  # type: ignore[import-untyped]
    from sklearn.utils.validation import validate_data  # type: ignore[import-untyped]
except ImportError as error:
    raise MissingLibrary(
        "the estimators need scikit-learn 1.6 or newer; install it with pip install scikit-learn, "
        "or call sges.learn, which needs it not"
    ) from error


class _Searcher(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """What GES and SGES share: fitting, and what it leaves behind."""

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: ANN401, ARG002, N803
        """Learn the class that X supports, and return the estimator itself.

        ``X`` is anything ``sges.learn`` takes as a table; ``y`` is ignored.
        """
        self.result_: Result = self._learn(self._checked(X))
        self.causal_graph_: PDAG = self.result_.cpdag
        self.adjacency_matrix_ = _labelled(self.causal_graph_)
        self.score_: float = self.result_.score
        self.n_score_evaluations_: int | None = self.result_.score_evaluations
        self.trace_ = self.result_.steps
        return self

    def _learn(self, table: Any) -> Result:  # noqa: ANN401
        """Run the search with the parameters of the estimator."""
        given = self.get_params(deep=False)
        return learn(table, score=given.pop("scoring_method"), **given)

    def _checked(self, X: Any) -> Any:  # noqa: ANN401, N803
        """Return a table that ``learn`` reads, and note how many columns it has and which.

        Frames keep their columns' types, so they go to ``learn`` as they are; all else goes
        through scikit-learn's own check, which gives its usual errors.
        """
        if _is_frame(X):
            validate_data(self, X, skip_check_array=True)
            return X
        finite = self.missing == "error" or "allow-nan"
        return validate_data(self, X, dtype=None, ensure_all_finite=finite, ensure_min_samples=2)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 (scikit-learn's Tags)
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags


class GES(_Searcher):
    """Greedy Equivalence Search as an estimator.

    Parameters are those of ``sges.learn``.  Its ``score`` is here ``scoring_method``, because
    scikit-learn takes an attribute ``score`` for a method: a name, or a function that makes a
    score of a ``Dataset``, such as ``sges.score.BDeu``.  The search is the paper's, in two
    phases, unless ``strategy`` says otherwise: ``strategy="extended"`` is the default of ``learn``.

    >>> import sges
    >>> model = GES().fit(sges.examples.load("greenhouse").table.to_pandas())
    >>> model.n_features_in_, model.causal_graph_.edge_count()
    (11, 12)
    """

    def __init__(
        self,
        *,
        scoring_method: ScoreChoice = "auto",
        strategy: AnyStrategy = "two-phase",
        forward: Forward = "fes",
        knowledge: Any = None,  # noqa: ANN401 (a Knowledge or a path)
        penalty: AnyPenalty = 1.0,
        time_limit: float | None = None,
        progress: Callable[[Progress], object] | None = None,
        kinds: Kinds = None,
        missing: Missing = "error",
    ) -> None:
        self.scoring_method = scoring_method
        self.strategy = strategy
        self.forward = forward
        self.knowledge = knowledge
        self.penalty = penalty
        self.time_limit = time_limit
        self.progress = progress
        self.kinds = kinds
        self.missing = missing


class SGES(_Searcher):
    """Selective Greedy Equivalence Search as an estimator.

    Parameters are those of ``GES``; ``assume`` is needed, for without an assumed property
    there is nothing to select by, and the search is ``GES``.  ``assume="auto"`` chooses a bound
    on parents from the data.

    >>> import sges
    >>> table = sges.examples.load("greenhouse").table.to_pandas()
    >>> SGES(assume=sges.MaxVWidth(1)).fit(table).causal_graph_.edge_count()
    12
    """

    def __init__(
        self,
        assume: Property | Literal["auto"] | None = None,
        *,
        scoring_method: ScoreChoice = "auto",
        strategy: AnyStrategy = "two-phase",
        forward: Forward = "fes",
        knowledge: Any = None,  # noqa: ANN401 (a Knowledge or a path)
        penalty: AnyPenalty = 1.0,
        time_limit: float | None = None,
        progress: Callable[[Progress], object] | None = None,
        kinds: Kinds = None,
        missing: Missing = "error",
    ) -> None:
        self.assume = assume
        self.scoring_method = scoring_method
        self.strategy = strategy
        self.forward = forward
        self.knowledge = knowledge
        self.penalty = penalty
        self.time_limit = time_limit
        self.progress = progress
        self.kinds = kinds
        self.missing = missing

    def _learn(self, table: Any) -> Result:  # noqa: ANN401
        if self.assume is None:
            raise InvalidArgument(
                "SGES needs a property to assume, such as assume=MaxVWidth(2); without one the "
                "search is GES"
            )
        return super()._learn(table)


def _is_frame(X: Any) -> bool:  # noqa: ANN401, N803
    """Tell whether X is a frame whose columns have names and types of their own."""
    return hasattr(X, "__arrow_c_stream__") or hasattr(X, "__dataframe__") or hasattr(X, "iloc")


def _labelled(graph: PDAG) -> Any:  # noqa: ANN401 (a pandas frame, or an array without pandas)
    """Return the adjacency matrix, row → column, under the names of the columns."""
    try:
        return adjacency_frame(graph)
    except MissingLibrary:
        return to_numpy(graph, "row-to-column")
