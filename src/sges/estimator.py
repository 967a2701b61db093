"""Estimators with scikit-learn's conventions: ``StructureLearner``, ``GES`` and ``SGES``.

    StructureLearner().fit(X).causal_graph_

``StructureLearner`` is ``sges.learn`` as an estimator; ``GES`` and ``SGES`` are the two-phase
searches of the paper.  Attributes that are learned have a trailing underscore.  There is nothing
to predict or transform, so an estimator is the last step of a pipeline.
"""

from typing import Any, Self

from sges.data.reading import Kinds, Missing
from sges.docstrings import documented_like
from sges.errors import InvalidArgument, MissingLibrary, shown
from sges.graph.pdag import PDAG
from sges.learning import AnyAssumption, AnyKnowledge, AnyPenalty, AnyScore, AnyStart, learn
from sges.result import Result
from sges.search.run import OnProgress
from sges.search.strategy import AnyStrategy, Forward
from sges.toolbox import tool

try:
    from sklearn.base import BaseEstimator  # type: ignore[import-untyped]
    from sklearn.utils.validation import validate_data  # type: ignore[import-untyped]
except ImportError as error:
    raise MissingLibrary(
        "the estimators need scikit-learn 1.6 or newer; install it with pip install scikit-learn, "
        "or call sges.learn, which does not need scikit-learn"
    ) from error


class Searcher(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """The base class of the estimators: ``fit``, and the attributes that it sets."""

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: ANN401, ARG002, N803
        """Learn the equivalence class that the data support.

        Parameters
        ----------
        X : array-like or data frame
            Anything that ``sges.learn`` takes as a table, one row per sample.
        y : None
            Ignored; present for consistency with scikit-learn.

        Returns
        -------
        self
            The fitted estimator.
        """
        self.result_: Result = learn(self._checked(X, self), **self._arguments())
        self.causal_graph_: PDAG = self.result_.cpdag
        try:
            self.adjacency_matrix_ = tool("adjacency_frame")(self.causal_graph_)
        except MissingLibrary:
            self.adjacency_matrix_ = tool("to_numpy")(self.causal_graph_, "row-to-column")
        self.score_: float = self.result_.score
        self.n_score_evaluations_: int | None = self.result_.score_evaluations
        self.trace_ = self.result_.steps
        return self

    def _arguments(self) -> dict[str, Any]:
        """Return the arguments of ``learn``: the parameters, for the paper's two phases."""
        arguments: dict[str, Any] = self.get_params(deep=False)
        return {"strategy": "two-phase", "score": arguments.pop("scoring_method"), **arguments}

    def _keep(self, arguments: dict[str, Any]) -> None:
        """Keep the arguments of the constructor as they are, as scikit-learn requires."""
        for name, value in arguments.items():
            if name != "self":
                setattr(self, name, value)

    def _checked(self, X: Any, owner: Any) -> Any:  # noqa: ANN401, N803
        """Return a table that ``learn`` reads; record its columns in an estimator, the owner.

        Frames keep the types of their columns, so they go to ``learn`` as they are; all else goes
        through scikit-learn's own check, which raises its usual errors.
        """
        if any(hasattr(X, name) for name in ("__arrow_c_stream__", "__dataframe__", "iloc")):
            validate_data(owner, X, skip_check_array=True)
            return X
        finite = shown(self.missing) == "'error'" or "allow-nan"
        return validate_data(owner, X, dtype=None, ensure_all_finite=finite, ensure_min_samples=2)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 (scikit-learn's Tags)
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        tags.input_tags.allow_nan = shown(self.missing) != "'error'"
        return tags


@documented_like(learn)
class StructureLearner(Searcher):
    """``sges.learn`` as an estimator: the search for the best graph, with bounded work.

    The parameters are those of ``sges.learn`` and have the same defaults, so that both find the
    same graph; ``checkpoint`` is not among them, and of the options on how a table is read only
    ``kinds`` and ``missing`` are.

    Parameters
    ----------
    scoring_method : str or callable
        The score: a name as for ``sges.learn``, or a function that makes a score from a
        ``Dataset``, such as ``sges.score.BDeu``.  (``score`` in ``sges.learn``; scikit-learn
        expects an attribute ``score`` to be a method.)
    kinds : str or mapping, optional
        The kinds of the columns, "continuous" or "discrete", where they should not be detected.
    missing : str
        How missing values are handled, as in ``Dataset.of``.

    Attributes
    ----------
    causal_graph_ : PDAG
        The CPDAG, with the names of the columns.
    adjacency_matrix_ : DataFrame or ndarray
        The graph as a matrix of 0 and 1, from row to column; an undirected edge is 1 both ways.  A
        pandas frame, or a NumPy array without pandas.
    score_ : float
        The score of the graph.
    n_score_evaluations_ : int or None
        The number of unique families that were scored.
    trace_ : tuple of Step
        The steps of the search.
    result_ : Result
        The whole result.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of str
        The names of the columns, if they are text.

    Examples
    --------
    >>> import sges
    >>> model = StructureLearner().fit(sges.examples.load("greenhouse").table.to_pandas())
    >>> model.n_features_in_, model.causal_graph_.edge_count(), model.result_.strategy
    (11, 12, 'auto')
    """

    def __init__(
        self,
        *,
        scoring_method: AnyScore = "auto",
        assume: AnyAssumption = None,
        knowledge: AnyKnowledge = None,
        strategy: AnyStrategy = "auto",
        penalty: AnyPenalty = "auto",
        forward: Forward | None = None,
        start: AnyStart = None,
        max_indegree: int | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        progress: OnProgress | bool | None = None,
        kinds: Kinds = None,
        missing: Missing = "error",
    ) -> None:
        self._keep(locals())


@documented_like(StructureLearner)
class GES(Searcher):
    """Greedy Equivalence Search as an estimator: inserts, then deletes, as in the paper.

    Parameters
    ----------
    penalty : float, "auto" or "choose"
        Multiplies the penalty of a BIC; the default, 1, is the textbook BIC of the paper.  "auto"
        and "choose" mean the same as in ``sges.learn``.

    References
    ----------
    Chickering (2002), Optimal structure identification with greedy search, JMLR 3, 507-554.

    Examples
    --------
    >>> import sges
    >>> model = GES().fit(sges.examples.load("greenhouse").table.to_pandas())
    >>> model.n_features_in_, model.causal_graph_.edge_count()
    (11, 12)
    """

    def __init__(
        self,
        *,
        scoring_method: AnyScore = "auto",
        knowledge: AnyKnowledge = None,
        penalty: AnyPenalty = 1.0,
        start: AnyStart = None,
        max_indegree: int | None = None,
        time_limit: float | None = None,
        progress: OnProgress | bool | None = None,
        kinds: Kinds = None,
        missing: Missing = "error",
    ) -> None:
        self._keep(locals())


@documented_like(GES, StructureLearner)
class SGES(Searcher):
    """Selective Greedy Equivalence Search as an estimator: the two phases of the paper.

    ``assume`` is needed: without an assumed property the search is ``GES``.

    Parameters
    ----------
    assume : Property or "auto"
        The property that you assume of the true graph, such as ``MaxVWidth(2)``; "auto" chooses a
        bound on parents from the data.

    References
    ----------
    Chickering & Meek (2015), Selective Greedy Equivalence Search, UAI.

    Examples
    --------
    >>> import sges
    >>> table = sges.examples.load("greenhouse").table.to_pandas()
    >>> SGES(assume=sges.MaxVWidth(1)).fit(table).causal_graph_.edge_count()
    12
    """

    def __init__(
        self,
        assume: AnyAssumption = None,
        *,
        scoring_method: AnyScore = "auto",
        knowledge: AnyKnowledge = None,
        penalty: AnyPenalty = 1.0,
        forward: Forward | None = None,
        start: AnyStart = None,
        max_indegree: int | None = None,
        time_limit: float | None = None,
        progress: OnProgress | bool | None = None,
        kinds: Kinds = None,
        missing: Missing = "error",
    ) -> None:
        self._keep(locals())

    def _arguments(self) -> dict[str, Any]:
        if self.assume is None:
            raise InvalidArgument(
                "SGES needs a property to assume, such as assume=MaxVWidth(2); without one the "
                "search is GES"
            )
        return super()._arguments()
