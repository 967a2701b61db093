"""Searching replicates of a table, on one core or many, and counting the edges that are found.

Each replicate is drawn with its own seed, its columns are permuted (so that ties do not favor the
first), and it is searched by the strategy of the estimate, from its usual start and never from the
estimate's graph.  The graph of a replicate depends only on its number and the seed; so the result
is the same for any number of jobs, any backend of joblib, and any order in which replicates are
completed.
"""

import re
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

import numpy as np

from sges.checkpoint import SECONDS_BETWEEN, Checkpoint, name_of
from sges.data import Dataset, Moments
from sges.data.reading import Kinds, Missing, ReadingOptions, reading_of_call
from sges.docstrings import documented_like
from sges.errors import (
    Argument,
    ClusterError,
    DataError,
    DataWarning,
    InvalidArgument,
    Message,
    Undecided,
    check_callable,
    check_number,
    check_word,
    cluster_failure,
)
from sges.graph.pdag import PDAG
from sges.knowledge.indexed import IndexedKnowledge
from sges.learning import (
    AnyAssumption,
    AnyKnowledge,
    AnyPenalty,
    AnyScore,
    SearchPlan,
    Table,
    check_search,
    learn,
    read_table,
    resolve_penalty,
    scorer_of,
    watched,
)
from sges.score.named import SCORES, Penalty, make_score, named_score
from sges.score.protocol import EdgePrior, Score, score_name
from sges.search.run import effective_jobs
from sges.search.strategy import AnyStrategy, Forward
from sges.uncertainty.draws import DRAWS, Source, edge_cost, permuted
from sges.uncertainty.strengths import Confidence, edge_list, graph_of_list
from sges.writing import PathLike

if TYPE_CHECKING:
    from sges.result import Result

MakeScore: TypeAlias = Callable[[Any], Score]
"""A function that makes a score from data, such as ``BDeu``."""

MAX_REPLICATES = 1_000_000
MAX_SEED = 2**63 - 1

CHUNK_SECONDS = 0.5
"""About how long a job works before it returns its results."""


@dataclass(frozen=True, slots=True)
class ReplicateProgress:
    """How far a run is: the replicates done, their mean number of edges, the time that is left."""

    done: int
    total: int
    edges: float
    seconds: float
    remaining: float


OnReplicate: TypeAlias = Callable[[ReplicateProgress], object]
"""A callback that receives the number of replicates that are done."""


@documented_like(learn)
def confidence(
    table: Table = None,
    replicates: int = 200,
    *,
    draw: str = "auto",
    score: AnyScore = "auto",
    assume: AnyAssumption = None,
    knowledge: AnyKnowledge = None,
    strategy: AnyStrategy = "auto",
    penalty: AnyPenalty = "auto",
    forward: Forward | None = None,
    max_indegree: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    progress: OnReplicate | bool | None = None,
    checkpoint: PathLike | None = None,
    kinds: Kinds = None,
    missing: Missing = "error",
    **reading: Unpack[ReadingOptions],
) -> Confidence:
    """Estimate the confidence in each edge by searching many replicates of a table.

    Each replicate is drawn from the table, its columns are permuted, and it is searched as
    ``sges.learn`` with the same arguments would search the table.  With the default penalty, the
    table itself is searched first, and replicates have an edge prior that expects as many edges as
    were found; of the edges with a given share of the replicates, about this share are true.

    Parameters
    ----------
    table : table, array, path, Dataset or Moments
        Anything that ``sges.learn`` accepts.  None if ``score`` is a score object.
    replicates : int
        How many replicates to search.
    draw : {"auto", "half", "bootstrap", "bayesian", "wishart"}
        How a replicate is drawn: half of the records without replacement; records with replacement;
        random weights; or a random covariance matrix, which needs only the moments of the table.
        With the default penalty, all except "half" have a third of the variance of a plain
        bootstrap.  With a number as penalty, all except "half" are searched with twice that
        penalty, because otherwise they would have far too many edges.  "auto" is "bayesian" for
        continuous tables, "wishart" if only their moments are known, and otherwise "bootstrap" with
        the default penalty and "half" without.
    score : str, score or callable
        As for ``sges.learn``.  A score object must have kept its data: a ``GaussianBIC`` its
        moments, a ``DiscreteBIC``, ``QNML`` or ``BDeu`` its table.
    strategy : str or Strategy
        The strategy of the search.  It should be that of the estimate: with a weaker one,
        strengths are too small on dense graphs.
    penalty : "auto", float or "choose"
        The penalty of the estimate, as for ``sges.learn``.  "choose" chooses it once, on the table.
    seed : int
        The same seed gives the same replicates.
    n_jobs : int, optional
        How many replicates are searched at once, with the meaning of joblib: None is one, unless
        ``joblib.parallel_config`` says otherwise; -1 is as many as there are cores.  The result
        does not depend on it.
    time_limit : float, optional
        Seconds after which the replicates that are done are counted.
    progress : callable or bool, optional
        Called with a ``ReplicateProgress`` whenever replicates are done; True shows a progress
        line on standard error, in a terminal or a notebook.
    checkpoint : path, optional
        A file in which finished replicates are saved.  If the run is killed, the same call
        continues from there and returns the same result; so does a call for more replicates.

    Returns
    -------
    Confidence
        The classes that were found, and the shares of edges in them.

    Raises
    ------
    InvalidArgument
        If an argument has the wrong type or range, or if the score does not allow this ``draw``.
    DataError
        If the table cannot be used, or has too few records to draw from; or if the checkpoint is
        damaged, or was made from other data or with other settings.
    Undecided
        If no replicate was finished within the time limit.
    ClusterError
        If the connection to a cluster was lost before one replicate was finished.

    References
    ----------
    Friedman, Goldszmidt & Wyner (1999), Data analysis with Bayesian networks: a bootstrap
    approach, UAI.  Steck & Jaakkola (2004), Bias-corrected bootstrap and model uncertainty,
    NeurIPS 16.  Rubin (1981), The Bayesian bootstrap, Annals of Statistics 9, 130-134.

    Examples
    --------
    >>> import sges
    >>> found = sges.confidence(sges.examples.load("asia"), replicates=20)
    >>> found.strength("tub", "either") > 0.5
    True
    """
    begun = time.perf_counter()
    check_run(replicates, draw, seed, time_limit, progress)
    check_search(strategy, forward, max_indegree, n_jobs, penalty)
    options = reading_of_call(confidence, kinds, missing, reading)
    needs_rows = draw not in ("auto", "wishart") or (isinstance(score, str) and score == "bge")
    data = read_table(table, score, penalty, options, rows=needs_rows)
    kept: Penalty | None = None
    if data is None:
        data, score, kept = source_of(score)  # type: ignore[arg-type]
    plan = SearchPlan.of(
        data.names, assume, knowledge, strategy, forward, None, max_indegree, n_jobs
    )
    notes: Sequence[str] = ()
    if kept is None:
        kept, notes = resolve_penalty(penalty, data, score, plan, time_limit)
    question = Question.of(data, score, kept, plan, draw, seed)
    with watched(progress) as callback:
        return run(
            question,
            replicates,
            n_jobs=n_jobs,
            time_limit=time_limit,
            spent=time.perf_counter() - begun,
            progress=callback,
            checkpoint=None if checkpoint is None else question.checkpoint(checkpoint),
            notes=(*data.notes, *notes),
        )


def confidence_of_result(
    result: "Result",
    replicates: int = 200,
    *,
    draw: str = "auto",
    seed: int = 0,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    progress: OnReplicate | bool | None = None,
) -> Confidence:
    """Return the confidence of a result of ``learn``, by the search that made it."""
    check_run(replicates, draw, seed, time_limit, progress)
    if result.scorer is None or not isinstance(result.plan, SearchPlan):
        raise InvalidArgument(
            "this result does not contain its score and settings, because it was read from a file "
            "or a pickle, or not made by sges.learn; call sges.confidence(table, ...)"
        )
    data, score, penalty = source_of(result.scorer)
    if result.cpdag.names is not None:
        data = replace(data, names=result.cpdag.names)
    with quietly():  # learn has already warned about the table
        question = Question.of(data, score, penalty, result.plan, draw, seed)
    note = "unlike the estimate, replicates were not searched from the start graph"
    with watched(progress) as callback:
        return run(
            question,
            replicates,
            n_jobs=n_jobs,
            time_limit=time_limit,
            progress=callback,
            notes=() if result.plan.start is None else (note,),
        )


def check_run(
    replicates: object, draw: object, seed: object, time_limit: object, progress: object
) -> None:
    """Raise an error for invalid arguments of a run, before anything is read."""
    check_number("replicates", replicates, whole=True, least=1, most=MAX_REPLICATES)
    check_word("draw", draw, ("auto", *DRAWS))
    check_number("seed", seed, whole=True, most=MAX_SEED)
    check_number("time_limit", time_limit, optional=True)
    if progress is not None and not isinstance(progress, bool):
        check_callable("progress", progress)


def source_of(score: Score) -> tuple[Dataset | Moments, AnyScore, Penalty]:
    """Return the data of a score object, a function that makes such a score, and its penalty."""
    from sges.score import QNML, BDeu, DiscreteBIC, GaussianBIC, RankBIC

    match score:
        case EdgePrior():
            return _source_of_prior(score)
        case GaussianBIC() if not isinstance(score, RankBIC):
            return score.moments, "gaussian-bic", score.penalty
        case DiscreteBIC():
            return score.table, "discrete-bic", score.penalty
        case QNML():
            return score.table, "qnml", 1.0
        case BDeu():
            words = {float(max(score.table.arities)): "bdeu-levels", 1.0: "bdeu"}
            return score.table, words.get(score.ess) or partial(BDeu, ess=score.ess), 1.0
    raise InvalidArgument(
        f"a {type(score).__name__} object does not keep the data that replicates are drawn from; "
        "call sges.confidence with the table and the name or class of the score"
    )


def _source_of_prior(prior: EdgePrior) -> tuple[Dataset | Moments, AnyScore, Penalty]:
    data, make, penalty = source_of(prior.score)
    if isinstance(make, str) and penalty == 1.0 and prior.cost == EdgePrior(prior.score).cost:
        return data, make, "auto"
    return data, partial(_with_prior, make=make, penalty=penalty, cost=prior.cost), 1.0


def _with_prior(data: Dataset | Moments, make: Any, penalty: Penalty, cost: float) -> Score:  # noqa: ANN401
    """Return the score of a replicate with an edge prior other than the default one."""
    return EdgePrior(make_score(make, data, penalty) if isinstance(make, str) else make(data), cost)


@dataclass(frozen=True, slots=True)
class Question:
    """What determines the graphs of replicates; ``cost`` is that of an edge, with the default."""

    source: Source
    score: str | MakeScore
    score_name: str
    penalty: Penalty | None
    plan: SearchPlan
    seed: int
    cost: float | None = None

    @classmethod
    def of(
        cls,
        data: Dataset | Moments,
        score: AnyScore,
        penalty: Penalty,
        plan: SearchPlan,
        draw: str,
        seed: int,
    ) -> "Question":
        """Return the question; raise an error if the score does not allow the way to draw."""
        plan = replace(plan, start=None, n_jobs=None)
        if isinstance(score, str):
            named = named_score(score, data, penalty)
            word = next(word for word, entry in SCORES.items() if entry is named)
            penalized, prior = named.is_penalized, penalty == "auto"
            source = Source.of(
                data, draw, penalized=penalized, gaussian=word == "gaussian-bic", prior=prior
            )
            name = score_name(make_score(word, data, penalty))  # warns of the table, once
            return cls(source, word, name, penalty if penalized or prior else None, plan, seed)
        source = Source.of(data, draw, penalized=False)
        name = score_name(scorer_of(source.data, score, penalty))
        return cls(source, score, name, None, plan, seed)  # type: ignore[arg-type]

    def with_cost(self, seconds: float) -> "Question | None":
        """Return the question with the cost of an edge, if it has one; None if time was up."""
        if self.penalty != "auto":
            return self
        data, constraint = self.source.data, self.plan.constraint
        with quietly():
            graph = _class_found(self.plan, make_score(str(self.score), data, "auto"), seconds)
        if graph is None:
            return None
        pairs, edges = len(data.names) * (len(data.names) - 1) // 2, graph.edge_count()
        if constraint is not None:  # pairs that knowledge decides say nothing about the others
            assert isinstance(constraint, IndexedKnowledge)
            decided = len(constraint.required)
            both = zip(constraint.forbidden, constraint.barred, strict=True)
            excluded = sum((out & into).bit_count() for out, into in both) // 2
            pairs, edges = pairs - decided - excluded, edges - decided
        return replace(self, cost=edge_cost(pairs, edges))

    def checkpoint(self, path: object) -> Checkpoint:
        """Return the checkpoint at a path, for runs of this question."""
        settings = {
            "run": "confidence",
            "draw": self.source.draw,
            "seed": self.seed,
            "score": self.score if isinstance(self.score, str) else name_of(self.score),
            "penalty": self.penalty,
            "times": self.source.times,
            **self.plan.settings(),
        }
        return Checkpoint(path, settings, self.source.data)

    def replicate(self, number: int, seconds: float = inf) -> PDAG | None:
        """Return the class found on one replicate; None if time was up."""
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,)))
        data = self.source.drawn(rng)
        order = rng.permutation(len(data.names))
        data = permuted(data, order)
        if isinstance(self.score, str):
            if self.cost is not None:
                score: Score = EdgePrior(make_score(self.score, data), self.cost)
            else:
                penalty = 1.0 if self.penalty is None else float(self.penalty)
                score = make_score(self.score, data, penalty * self.source.correction)
        else:
            score = self.score(data)
        plan = self.plan
        if plan.constraint is not None:
            assert isinstance(plan.constraint, IndexedKnowledge)
            plan = replace(plan, constraint=plan.constraint.relabel(np.argsort(order).tolist()))
        graph = _class_found(plan, score, seconds)
        if graph is None:
            return None
        return graph.named(None).relabel(order.tolist()).named(self.source.data.names)


def _class_found(plan: SearchPlan, score: Score, seconds: float) -> PDAG | None:
    """Return the class that a search finds; None if time was up."""
    result = plan.run(score, time_limit=None if seconds == inf else max(0.0, seconds))
    if result.stopped == "interrupted":
        raise KeyboardInterrupt
    return result.cpdag if result.complete else None


def run(
    question: Question,
    replicates: int,
    *,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    spent: float = 0.0,
    progress: OnReplicate | None = None,
    checkpoint: Checkpoint | None = None,
    notes: Sequence[str] = (),
) -> Confidence:
    """Return the confidence; ``spent`` is how much of the time limit has passed already."""
    begun = time.perf_counter()
    graphs = _restored(checkpoint, question.source.data.names)
    missing = [number for number in range(replicates) if number not in graphs]
    seconds = inf if time_limit is None else time_limit - spent
    searched = _searched(question, missing, n_jobs, seconds)
    stopped = "time limit"
    try:
        _collect(searched, graphs, replicates, checkpoint, progress)
    except (KeyboardInterrupt, Exception) as error:
        stopped = _reason(error, bool(graphs))
    found = tuple(graphs[number] for number in range(replicates) if number in graphs)
    if not found:
        rest = f" = {time_limit:g}: no replicate was finished in that time; increase it"
        raise Undecided(Message(Argument("time_limit"), rest))
    return Confidence(
        graphs=found,
        replicates=replicates,
        draw=question.source.draw,
        score_name=question.score_name,
        strategy=str(question.plan.strategy),
        penalty=question.penalty,
        seed=question.seed,
        seconds=time.perf_counter() - begun,
        stopped=stopped if len(found) < replicates else None,
        notes=tuple(notes),
    )


def _collect(
    searched: Generator[tuple[int, PDAG], None, None],
    graphs: dict[int, PDAG],
    total: int,
    checkpoint: Checkpoint | None,
    progress: OnReplicate | None,
) -> None:
    """Keep replicates as they are done, in a checkpoint as well, and report each."""
    begun = saved = time.perf_counter()
    kept = sum(number < total for number in graphs)
    edges = sum(graph.edge_count() for graph in graphs.values())
    try:
        for done, (number, graph) in enumerate(searched, kept + 1):
            graphs[number] = graph
            edges += graph.edge_count()
            now = time.perf_counter()
            if checkpoint is not None and now - saved > SECONDS_BETWEEN:
                checkpoint.save(_stored(graphs))
                saved = now
            if progress is not None:
                left, mean = (now - begun) / (done - kept) * (total - done), edges / len(graphs)
                progress(ReplicateProgress(done, total, mean, now - begun, left))
    finally:
        searched.close()
        if checkpoint is not None and graphs:
            checkpoint.save(_stored(graphs))


def _reason(error: BaseException, has_graphs: bool) -> str:
    """Return why a run ends with the graphs that it has; raise the error if it cannot."""
    is_stopped = isinstance(error, KeyboardInterrupt)
    lost = ("interrupted", "") if is_stopped else cluster_failure(error)
    if lost is not None and has_graphs:
        return lost[0]
    if lost is None or is_stopped:
        raise error
    raise ClusterError(
        f"{lost[0]} before one replicate was finished; {lost[1]} and repeat the call"
    ) from error


def _stored(graphs: dict[int, PDAG]) -> dict[str, object]:
    """Return the graphs found so far, as a checkpoint keeps them."""
    return {str(number): edge_list(graph) for number, graph in sorted(graphs.items())}


def _restored(checkpoint: Checkpoint | None, names: tuple[str, ...]) -> dict[int, PDAG]:
    """Return the graphs that a checkpoint has kept."""
    if checkpoint is None or (state := checkpoint.load()) is None:
        return {}
    if not isinstance(state, dict) or not all(re.fullmatch(r"[0-9]{1,7}", key) for key in state):
        raise checkpoint.error("it does not contain the graphs of replicates")
    try:
        return {int(key): graph_of_list(edges, names) for key, edges in state.items()}
    except DataError as error:
        raise checkpoint.error(str(error)) from None


def _searched(
    question: Question, numbers: list[int], n_jobs: int | None, seconds: float
) -> Generator[tuple[int, PDAG], None, None]:
    """Yield the number and the class of each replicate as it is done, until time is up."""
    begun, size = time.perf_counter(), 1
    known = question.with_cost(seconds) if numbers else None
    if known is None:
        return
    jobs = min(effective_jobs(n_jobs), len(numbers))
    if jobs <= 1:
        yield from _in_turn(known, numbers, seconds - (time.perf_counter() - begun))
        return
    from joblib import Parallel, delayed

    with quietly(), Parallel(n_jobs=jobs) as pool:
        while numbers and (remaining := seconds - (time.perf_counter() - begun)) > 0:
            wave, numbers = numbers[: size * jobs], numbers[size * jobs :]
            started = time.perf_counter()
            for pairs in pool(
                delayed(_chunk)(known, wave[i::jobs], remaining) for i in range(jobs)
            ):
                yield from pairs
            took = (time.perf_counter() - started) / size
            most = min(4 * size, -(-len(numbers) // jobs))
            size = max(1, min(int(CHUNK_SECONDS / max(took, 1e-6)), most))


def _in_turn(question: Question, numbers: list[int], seconds: float) -> Iterator[tuple[int, PDAG]]:
    """Search replicates one after the other, until time is up."""
    begun = time.perf_counter()
    with quietly():
        for number in numbers:
            remaining = seconds - (time.perf_counter() - begun)
            graph = question.replicate(number, remaining) if remaining > 0 else None
            if graph is None:
                return
            yield number, graph


def _chunk(question: Question, numbers: list[int], seconds: float) -> list[tuple[int, PDAG]]:
    """Search some replicates: the work of one job."""
    return list(_in_turn(question, numbers, seconds))


@contextmanager
def quietly() -> Iterator[None]:
    """Search with one thread of BLAS on any backend, and without warnings on replicates.

    Warnings about columns are given when the table itself is searched.  Both settings are those
    of the whole process, so other threads do not change them: the main thread has set them.
    """
    from threadpoolctl import threadpool_limits

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        yield
