"""Choose the penalty of a BIC: by searches on parts of the data, or by a rule that costs nothing.

Held-out likelihood and stability fail on different tables, and mostly with too many edges
(studies/results/penalty.md).  So the choice is the larger of the two penalties: held-out likelihood
comes first, and stability then examines the penalties from there upward.

The cost is that of the searches, parts times candidates, and it is reported.  The statistics of a
part (covariances, rows) are computed once for all candidates.  No search starts from the graph of
another candidate: a greedy search depends on its start, and the graphs compared must be those that
the penalty itself would find.
"""

import threading
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import groupby
from math import inf, log
from operator import itemgetter
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np

from sges.combinations import refuse
from sges.data import Dataset, Moments
from sges.data.dataset import check_no_missing
from sges.errors import DataWarning, check_word
from sges.graph.pdag import PDAG
from sges.result import Result
from sges.score.gaussian.bic import GaussianBIC
from sges.score.named import SCORES, NamedScore, named_score
from sges.score.protocol import Score
from sges.search import ges
from sges.search.run import effective_jobs
from sges.tools.penalty.criteria import Candidate, HeldOut, Stability

CANDIDATES = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)  # the penalties tried by default

CRITERIA: dict[str, tuple[type[HeldOut | Stability], int]] = {
    "held-out": (HeldOut, 5),
    "stability": (Stability, 10),
}
"""The criteria, in the order in which they are used, and their default numbers of parts."""

LINE = (
    "{mark} {penalty:9g}  {value:10.5g}  {difference:+10.3g} ± {error:<7.2g} {edges:6.1f}"
    "  {seconds:7.2f}"
)
"""A candidate in a table."""

MakeScore: TypeAlias = Callable[[Any, float], Score]
"""A function that makes a score from data and a penalty, such as ``GaussianBIC``."""

Search: TypeAlias = Callable[..., Result]
"""A search: called with a score and, if there is a time limit, ``time_limit=`` in seconds."""


@dataclass(frozen=True, slots=True)
class CriterionResult:
    """The penalty that one criterion chooses, and the curve of candidates by rising penalty."""

    method: str
    chosen: Candidate
    curve: tuple[Candidate, ...]

    @property
    def penalty(self) -> float:
        """The penalty that this criterion chooses."""
        return self.chosen.penalty


@dataclass(frozen=True, slots=True, repr=False)
class PenaltyChoice:
    """A penalty, the criteria that chose it, and the cost.

    Parameters
    ----------
    penalty : float
        The largest of the penalties that the criteria choose.
    score : str
        The name of the score.
    criteria : tuple of CriterionResult
        The result of each criterion.  Empty if the time was up before one candidate was tried: the
        penalty is then that of the rule of thumb.
    searches : int
        The number of searches.
    seconds : float
        How long they took.
    complete : bool
        Whether all searches ended within the time limit.
    """

    penalty: float
    score: str
    criteria: tuple[CriterionResult, ...]
    searches: int = 0
    seconds: float = 0.0
    complete: bool = True

    @property
    def note(self) -> str:
        """One sentence for ``result.notes``."""
        cost = f"{self.searches} searches in {self.seconds:.3g} s"
        if not self.criteria:
            rule = "by the rule of thumb, because the time limit was reached"
            return f"penalty {self.penalty:.4g}: {rule} after {cost}"
        says = " and ".join(
            f"{criterion.method} ({criterion.penalty:g})" for criterion in self.criteria
        )
        cut = "" if self.complete else ", stopped early"
        return f"penalty {self.penalty:g}: chosen by {says}{cut}, with {cost}"

    def rows(self) -> list[dict[str, str | float | bool]]:
        """Return the curves as records, one per candidate, for a data frame or a CSV file.

        ``difference`` is the criterion of a candidate minus that of the chosen one, and ``error``
        its standard error over the parts.
        """
        return [
            {
                "method": result.method,
                "penalty": tried.penalty,
                "value": tried.value,
                "difference": difference,
                "error": error,
                "edges": fmean(tried.edges),
                "seconds": tried.seconds,
                "chosen": tried is result.chosen,
            }
            for result in self.criteria
            for tried in result.curve
            for difference, error in [tried.ahead(result.chosen)]
        ]

    def as_table(self) -> str:
        """Return a table per criterion in plain text, and a sentence on the choice."""
        lines = []
        for method, rows in groupby(self.rows(), itemgetter("method")):
            lines.append(f"{method:>11}       value  difference ± error    edges  seconds")
            lines += [LINE.format(mark="→" if row["chosen"] else " ", **row) for row in rows]
        return "\n".join([*lines, self.note])

    def __repr__(self) -> str:
        says = ", ".join(f"{criterion.method} {criterion.penalty:g}" for criterion in self.criteria)
        cost = f"{self.searches} searches, {self.seconds:.3g} s"
        return f"PenaltyChoice({self.penalty:g}: {says or 'rule of thumb'}; {cost})"


def choose_penalty(
    data: Dataset | Moments,
    *,
    score: str = "auto",
    candidates: Sequence[float] = CANDIDATES,
    method: str = "both",
    search: Search = ges,
    seed: int = 0,
    n_jobs: int | None = None,
    time_limit: float | None = None,
) -> PenaltyChoice:
    """Choose the penalty of a BIC from data.

    Parameters
    ----------
    data : Dataset
        The records.  ``Moments`` are an error, because they have no records to hold out.
    score : str
        "auto" or "bic", "gaussian-bic", "discrete-bic" or "degenerate-gaussian".  Held-out
        likelihood depends on the kinds of the columns, not on the score.
    candidates : sequence of float
        The penalties to choose from.
    method : {"both", "held-out", "stability"}
        "held-out" (cross-validated log-likelihood), "stability" (StARS on subsamples), or "both":
        the larger of the two.
    search : callable
        The search that the penalty is for, such as
        ``functools.partial(sges, assume=MaxParents(2))``.
    seed : int
        The same seed draws the same parts.
    n_jobs : int, optional
        How many parts are searched at once, with the meaning of joblib: None is one, unless
        ``joblib.parallel_config`` says otherwise; -1 is as many as there are cores.  The choice
        does not depend on it.
    time_limit : float, optional
        Seconds after which the choice is made among the candidates tried so far.

    Returns
    -------
    PenaltyChoice
        The penalty, the curves of both criteria, and the cost.

    Raises
    ------
    InvalidArgument
        If the score has no penalty, or the method is unknown.
    DataError
        If there are too few records for the parts.

    References
    ----------
    Liu, Roeder & Wasserman (2010), Stability approach to regularization selection (StARS) for
    high dimensional graphical models, NeurIPS 23.

    Examples
    --------
    >>> from sges.examples import load
    >>> choice = choose_penalty(Dataset.of(load("asia").table), candidates=[1, 2, 4])
    >>> choice.penalty in (1, 2, 4), choice.score, choice.complete
    (True, 'DiscreteBIC', True)
    """
    begun, jobs = time.perf_counter(), effective_jobs(n_jobs)
    wanted = sorted(set(map(float, candidates)), reverse=True)
    check_word("method", method, ("both", *CRITERIA))
    named = _checked(data, score)
    assert isinstance(data, Dataset)
    until = inf if time_limit is None else begun + time_limit
    searches = _Searches(search, named.make, jobs, until)
    criteria: list[CriterionResult] = []
    least, count, is_whole = -inf, 0, True
    for name in CRITERIA if method == "both" else (method,):
        if least == wanted[0]:
            break  # no other penalty can change the choice
        make_criterion, parts = CRITERIA[name]
        # The search of the whole table gives these warnings, once.
        with warnings.catch_warnings(action="ignore", category=DataWarning):
            criterion = make_criterion(data, parts, np.random.default_rng(seed))
            tried, more, is_cut = searches.curve(criterion, [p for p in wanted if p >= least])
        count += more
        is_whole &= not is_cut
        if tried:
            best = criterion.best(tried)
            least = max(least, best.penalty)
            criteria.append(CriterionResult(name, best, tuple(reversed(tried))))
    return PenaltyChoice(
        penalty=least if criteria else rule_of_thumb(data),
        score=named.class_name,
        criteria=tuple(criteria),
        searches=count,
        seconds=time.perf_counter() - begun,
        complete=is_whole,
    )


def _checked(data: Dataset | Moments, score: str) -> NamedScore:
    """Return the score that a word stands for; raise an error if no penalty can be chosen."""
    named = named_score(score, data)
    table = None if isinstance(data, Moments) else data
    refuse(
        penalty_choose=True,
        score_without_penalty=None if named.is_penalized else score,
        penalized=", ".join(word for word, entry in SCORES.items() if entry.is_penalized),
        moments=table is None,
        survey_weights=table is not None and table.unit != 1,
    )
    if table is not None:
        check_no_missing(table, "choosing the penalty on parts of the table")
    return named


@dataclass(frozen=True, slots=True)
class _Searches:
    """How parts of a table are searched, several at once, and when time is up."""

    search: Search
    make: MakeScore
    jobs: int
    until: float

    def curve(
        self, criterion: HeldOut | Stability, penalties: Sequence[float]
    ) -> tuple[list[Candidate], int, bool]:
        """Return the candidates tried, the number of searches, and whether time was up."""
        tried, count = list[Candidate](), 0
        by_moments = self.make is GaussianBIC
        samples = [Moments.of(part) if by_moments else part for part in criterion.samples()]
        for penalty in penalties:
            begun = time.perf_counter()
            found = self.graphs(samples, penalty)
            graphs = [graph for graph in found if graph is not None]
            count += len(found)
            if len(graphs) < len(samples):
                return tried, count, True
            values, edges = criterion.values(graphs), tuple(g.edge_count() for g in graphs)
            tried.append(Candidate(penalty, values, edges, time.perf_counter() - begun))
            if criterion.settled(tried):
                break
        return tried, count, False

    def graphs(self, samples: Sequence[Dataset | Moments], penalty: float) -> list[PDAG | None]:
        """Return the graph found on each sample, until time is up: None is a search cut short."""
        found: list[PDAG | None] = []
        for at in range(0, len(samples), self.jobs):
            left = self.until - time.perf_counter()
            if None in found or left <= 0:
                break
            wave = samples[at : at + self.jobs]
            if len(wave) == 1:
                found.append(self.graph(wave[0], penalty, left))
            else:
                from joblib import Parallel, delayed

                tasks = (delayed(self.graph)(part, penalty, left) for part in wave)
                found += Parallel(n_jobs=self.jobs)(tasks)
        return found

    def graph(self, sample: Dataset | Moments, penalty: float, left: float) -> PDAG | None:
        """Return the graph found on one sample; None if time was up before."""
        quiet: AbstractContextManager[Any] = nullcontext()
        if threading.current_thread() is threading.main_thread():  # perhaps of a worker process
            quiet = warnings.catch_warnings(action="ignore", category=DataWarning)
        with quiet:
            score = self.make(sample, penalty)
        result = self.search(score) if left == inf else self.search(score, time_limit=left)
        return result.cpdag if result.complete else None


# The rule


def rule_of_thumb(data: Dataset | Moments) -> float:
    """Return the extended BIC of a table as a multiplier; 1 if it has discrete columns.

    An edge between discrete columns has many parameters, and the multiplier would charge each of
    them.

    Parameters
    ----------
    data : Dataset or Moments
        The table.

    Returns
    -------
    float
        The penalty, 1 or more.

    Examples
    --------
    >>> import numpy as np
    >>> rule_of_thumb(Moments(("a", "b"), 4, np.zeros(2), np.eye(2)))
    2.0
    """
    if isinstance(data, Dataset) and data.discrete:
        return 1.0
    return extended_bic(len(data.names), data.records)


def extended_bic(variables: int, records: float, gamma: float = 0.5) -> float:
    """Return 1 + 4γ log(variables) / log(records), the extended BIC as a multiplier.

    The BIC, which charges ½ log m for a parameter, was made for a fixed number of models.  With n
    variables each node has about n candidate parents, some of which look useful by chance; so the
    extended BIC adds 2γ log n to the price of each edge.

    Parameters
    ----------
    variables : int
        The number of variables, 1 or more.
    records : float
        The number of records, 2 or more.
    gamma : float
        The weight of the number of variables; 0 is the BIC.

    Returns
    -------
    float
        The multiplier of the BIC's penalty.

    References
    ----------
    Chen & Chen (2008), Extended Bayesian information criteria for model selection with large model
    spaces, Biometrika 95, 759-771.
    Foygel & Drton (2010), Extended Bayesian information criteria for Gaussian graphical models,
    NeurIPS 23.

    Examples
    --------
    >>> extended_bic(100, 10_000), round(extended_bic(100, 1000), 2)
    (2.0, 2.33)
    """
    return 1 + 4 * gamma * log(variables) / log(records)
