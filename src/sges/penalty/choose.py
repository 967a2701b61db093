"""Choose the penalty of a BIC from data: search with each candidate on parts of it, and compare.

Held-out likelihood and stability err in different places, and where they err, it is mostly towards
too many edges (studies/results/penalty.md).  So the choice is the larger of the two penalties:
held-out likelihood speaks first, and stability is asked about the penalties from there on.

The cost is that of the searches, and it is counted: parts times candidates.  What a part is scored
from (covariances, rows) is computed once, whatever the number of candidates.  No search starts
from the graph of another candidate: a greedy search depends on its start, and the graphs compared
must be those that the penalty itself would find.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from typing import Any, TypeAlias

import numpy as np

from sges.data import Dataset, Moments
from sges.errors import DataWarning, InvalidArgument
from sges.graph.pdag import PDAG
from sges.penalty.choice import PenaltyChoice, Tried, Verdict
from sges.penalty.criteria import CRITERIA, Criterion
from sges.penalty.rule import rule_of_thumb
from sges.result import Result
from sges.score.base import Score
from sges.score.gaussian import GaussianBIC
from sges.scoring import SCORES, chosen_score
from sges.search import ges

CANDIDATES = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""The penalties that are tried unless told otherwise."""

PARTS = {"held-out": 5, "stability": 10}
"""How many parts each criterion takes unless told otherwise."""

METHODS = {
    "both": ("held-out", "stability"),
    "held-out": ("held-out",),
    "stability": ("stability",),
}
"""The criteria of each method, in the order in which they are asked."""

MakeScore: TypeAlias = Callable[[Any, float], Score]
"""What makes a score of data and a penalty, such as ``GaussianBIC``."""

Search: TypeAlias = Callable[..., Result]
"""A search: called with a score and, if there is a time limit, ``time_limit=`` in seconds."""


def choose_penalty(
    data: Dataset | Moments,
    *,
    score: str | MakeScore = "auto",
    candidates: Sequence[float] = CANDIDATES,
    method: str = "both",
    parts: int | None = None,
    search: Search = ges,
    seed: int = 0,
    time_limit: float | None = None,
) -> PenaltyChoice:
    """Choose the penalty under which the search finds the best graphs, as far as data can tell.

    Parameters
    ----------
    data
        The records.  ``Moments`` have none left to set aside, and are refused.
    score
        "auto", "gaussian-bic", "discrete-bic" or "degenerate-gaussian", or what makes a score of
        data and a penalty; held-out likelihood judges by the kinds of the columns, whatever the
        score is.
    candidates
        The penalties to choose from.
    method
        "held-out" (cross-validated log-likelihood), "stability" (StARS on subsamples), or "both":
        the larger of the two.
    parts
        How many folds and subsamples: by default 5 and 10.
    search
        What finds a graph, such as ``functools.partial(sges, assume=MaxParents(2))``; use the
        search, and the knowledge, that the penalty is wanted for.
    seed
        The same seed draws the same parts.
    time_limit
        Seconds after which the candidates tried so far must do.

    Examples
    --------
    >>> from sges.examples import load
    >>> choice = choose_penalty(Dataset.of(load("asia").table), candidates=[1, 2, 4])
    >>> choice.penalty in (1, 2, 4), choice.score, choice.complete
    (True, 'DiscreteBIC', True)
    """
    run = _Run(search, time_limit)
    wanted = _checked_candidates(candidates)
    make, label = _maker(data, score)
    verdicts: list[Verdict] = []
    for name in _known(method):
        with warnings.catch_warnings():  # whoever searches the whole table is told, once
            warnings.simplefilter("ignore", DataWarning)
            criterion = _criterion(data, name, parts, seed, summed=make is GaussianBIC)
            tried = _tried(criterion, _open(wanted, verdicts), make, run)
        if tried:
            skipped = tuple(p for p in reversed(wanted) if p < tried[-1].penalty)
            curve = tuple(reversed(tried))
            verdicts.append(Verdict(name, criterion.best(tried), curve, skipped))
    return PenaltyChoice(
        penalty=max((one.penalty for one in verdicts), default=rule_of_thumb(data)),
        score=label,
        verdicts=tuple(verdicts),
        searches=run.searches,
        seconds=run.seconds(),
        complete=not run.cut_short,
    )


class _Run:
    """The searches of one choice, counted, and ended when time is up."""

    def __init__(self, search: Search, limit: float | None) -> None:
        if limit is not None and not limit >= 0:
            raise InvalidArgument(f"time_limit = {limit}: it must be 0 or more seconds")
        self._search, self._limit = search, limit
        self._begun = time.perf_counter()
        self.searches = 0
        self.cut_short = False

    def seconds(self) -> float:
        """Return the seconds since the beginning."""
        return time.perf_counter() - self._begun

    def graphs(self, scores: Iterable[Score]) -> list[PDAG] | None:
        """Return what is found by each score, or None if one search could not end."""
        found = []
        for score in scores:
            left = None if self._limit is None else self._limit - self.seconds()
            result = None if left is not None and left <= 0 else self._result(score, left)
            if result is None or not result.complete:
                self.cut_short = True
                return None
            found.append(result.cpdag)
        return found

    def _result(self, score: Score, left: float | None) -> Result:
        self.searches += 1
        return self._search(score) if left is None else self._search(score, time_limit=left)


def _tried(
    criterion: Criterion, wanted: Sequence[float], make: MakeScore, run: _Run
) -> list[Tried]:
    """Return the candidates that were tried to the end, from the first wanted on."""
    tried: list[Tried] = []
    for penalty in wanted:
        begun = run.seconds()
        graphs = run.graphs(make(sample, penalty) for sample in criterion.samples)
        if graphs is None:
            break
        values, edges = criterion.values(graphs), tuple(g.edge_count() for g in graphs)
        tried.append(Tried(penalty, values, edges, run.seconds() - begun))
        if criterion.settled(tried):
            break
    return tried


def _open(wanted: Sequence[float], verdicts: Sequence[Verdict]) -> list[float]:
    """Return the candidates that can still change the choice: the largest verdict, and above."""
    least = max((verdict.penalty for verdict in verdicts), default=0.0)
    return [] if least == wanted[0] else [penalty for penalty in wanted if penalty >= least]


def _known(method: str) -> tuple[str, ...]:
    if method not in METHODS:
        raise InvalidArgument(f"method {method!r} is not known; there are {', '.join(METHODS)}")
    return METHODS[method]


def _criterion(
    data: Dataset | Moments, method: str, parts: int | None, seed: int, *, summed: bool
) -> Criterion:
    count = PARTS[method] if parts is None else parts
    if seed < 0:
        raise InvalidArgument(f"seed = {seed}: it must be 0 or more")
    if count < 2:
        raise InvalidArgument(f"parts = {count}: {method} compares two parts or more")
    if isinstance(data, Moments):
        raise InvalidArgument(
            "means and covariances have no records left to set aside; give the table, or take "
            "sges.penalty.rule_of_thumb"
        )
    return CRITERIA[method](data, count, np.random.default_rng(seed), summed=summed)


def _checked_candidates(candidates: Sequence[float]) -> list[float]:
    """Return the candidates, each once, the largest first."""
    for penalty in candidates:
        if not (isfinite(penalty) and penalty >= 0):
            raise InvalidArgument(f"candidate {penalty}: a penalty is a finite number, 0 or more")
    if not len(candidates):
        raise InvalidArgument("there are no candidates; give one penalty or more")
    return sorted({float(penalty) for penalty in candidates}, reverse=True)


def _maker(data: Dataset | Moments, score: str | MakeScore) -> tuple[MakeScore, str]:
    """Return what makes the score, and what to call it."""
    if not isinstance(score, str):
        return score, getattr(score, "__name__", type(score).__name__)
    name = chosen_score(data) if score == "auto" else score
    with_penalty = [word for word, entry in SCORES.items() if entry.penalised]
    if name not in with_penalty:
        raise InvalidArgument(
            f"score {score!r} has no penalty to choose; there are {', '.join(with_penalty)}"
        )
    from sges import score as home

    return getattr(home, SCORES[name].home), SCORES[name].home
