"""From a table to a graph in one call: ``sges.learn``.

``learn`` reads the table, chooses the score by the kinds of its columns, runs the search and
returns a ``Result`` with the names of the columns.  Its choices are recorded in ``result.notes``
and in the log (``logging.getLogger("sges")``).

The module is not called ``learn``, because importing ``sges.learn`` as a module would replace the
function of that name in the package.
"""

import logging
import os
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, fields, replace
from functools import cache
from inspect import signature
from math import inf, prod
from time import perf_counter
from typing import Any, Literal, TypeAlias, Unpack, get_args

from sges.checkpoint import Checkpoint, continued, name_of
from sges.combinations import refuse
from sges.data import Dataset, Moments
from sges.data.concerns import concerns
from sges.data.dataset import digest_of
from sges.data.reading import Kinds, Missing, Reading, ReadingOptions, reading_of_call
from sges.display import brief
from sges.errors import (
    Argument,
    InvalidArgument,
    Message,
    Spelling,
    check_number,
    check_word,
    is_number,
    shown,
)
from sges.graph.pdag import PDAG
from sges.knowledge import Knowledge
from sges.properties import MaxParents, Property
from sges.result import Result
from sges.score.named import SCORES, Penalty, check_score_word, make_score, why_score
from sges.score.protocol import Score, is_score, score_name
from sges.search.auto import auto_bound
from sges.search.moves import Constraint
from sges.search.run import Keep, OnProgress, bytes_of, effective_jobs
from sges.search.strategy import AnyStrategy, Forward, Strategy, as_strategy, search
from sges.toolbox import tool

Table: TypeAlias = Any
"""A table in any form that ``Dataset.of`` accepts."""

AnyScore: TypeAlias = str | Score | Callable[[Any], Score]
"""A score: its name, an object, or a function that makes it from a ``Dataset``."""

AnyPenalty: TypeAlias = float | Literal["auto", "choose"]
"""A multiplier of the BIC's penalty, an edge prior, or a multiplier chosen from the data."""

AnyAssumption: TypeAlias = Property | Literal["auto"] | None
"""A property, "auto" for a bound chosen from the data, or None."""

AnyKnowledge: TypeAlias = "Knowledge | Mapping[str, Any] | str | os.PathLike[str] | None"
"""Background knowledge, a mapping of it, or the path of a file."""

AnyStart: TypeAlias = PDAG | str | os.PathLike[str] | None
"""A graph to start from, or the path of its file."""

LOG = logging.getLogger("sges")


def learn(
    table: Table = None,
    *,
    score: AnyScore = "auto",
    assume: AnyAssumption = None,
    knowledge: AnyKnowledge = None,
    strategy: AnyStrategy = "auto",
    penalty: AnyPenalty = "auto",
    forward: Forward | None = None,
    start: AnyStart = None,
    max_indegree: int | None = None,
    exogenous: Sequence[str] = (),
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    n_jobs: int | None = None,
    progress: OnProgress | bool | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    kinds: Kinds = None,
    missing: Missing = "error",
    **reading: Unpack[ReadingOptions],
) -> Result:
    """Learn the equivalence class of a Bayesian network from a table.

    Parameters
    ----------
    table : table, array, path, Dataset or Moments
        A pandas, polars or pyarrow table, a NumPy array, a mapping of columns, the path of a
        file (CSV, TSV, Parquet, Feather), of a folder of files or a pattern of paths, ``"-"`` for
        standard input, a Dask frame, a Polars LazyFrame, a DuckDB relation, a ``Dataset``, or
        ``Moments``.  None if ``score`` is a score object, which has its own data.
    score : str, score or callable
        "auto" is qNML for discrete columns (the BIC if ``penalty`` is a number), and the BIC that
        fits the columns otherwise; "bic" is that BIC for all columns.  If the two columns with the
        most levels leave fewer than 4 records per combination of levels, "auto" is "bdeu-levels"
        instead of qNML.  Or "gaussian-bic", "bge", "discrete-bic", "qnml", "bdeu", "bdeu-levels"
        (BDeu whose equivalent sample size is the largest number of levels), "degenerate-gaussian",
        "basis" (curved relations), "rank" (skewed columns and outliers), a score object, or a
        function that makes a score from a ``Dataset``, such as ``sges.score.BDeu``.
    assume : Property or "auto", optional
        A property that you assume of the true graph, such as ``MaxVWidth(2)``: the search is then
        selective (SGES) and skips deletions that would violate the assumption.  ``"auto"`` raises
        a bound on parents until the score no longer improves (a heuristic: see
        ``sges.search.auto``).
    knowledge : Knowledge, mapping or path, optional
        Required edges, forbidden edges and tiers.
    strategy : str or Strategy
        "auto" searches for the best graph and bounds the work at each state.  "extended" is the
        same without the bound, "interleaved" is faster, and "two-phase" is the search of the paper;
        "turning" and any ``Strategy`` are accepted as well.  With ``forward``, "auto" means
        "two-phase".
    penalty : "auto", float or "choose"
        "auto" gives each edge prior odds of 1/p, for p variables, with any score given by name
        (``sges.score.EdgePrior``).  A number multiplies the penalty of a BIC instead: 1 is the
        textbook BIC, and more gives sparser graphs.  "choose" finds such a number by many searches
        on parts of the table (``sges.tools.penalty``).  A score given as an object or a function is
        used as it is.
    forward : {"fes", "poly", "order", "complete"}, optional
        The forward phase of the paper's two-phase search: "fes", "poly" (polynomially many score
        evaluations), "order" (search for the best order of the variables), or "complete" (start
        from the complete graph).
    start : PDAG or path, optional
        A CPDAG or DAG to start from, or the path of a graph file.
    max_indegree : int, optional
        The largest number of parents that a variable may have in the graph.  This limits the
        result; ``assume=MaxParents(k)`` is an assumption about the true graph and does not.
    exogenous : sequence of str, optional
        Columns that may be parents of the others, but to which no edge points: covariates, or
        past values.  Their own laws are not modelled, so there are no edges among them, and the
        score is that of the other columns.
    time_limit : float, optional
        Seconds after which the search stops and returns the best graph found so far; the result
        is then marked as not complete.  Reading the table counts, but is not cut short.
    memory_limit : int or str, optional
        The memory that the search may hold beside the table and its statistics, in bytes or as
        "200MB" or "2GB".  With more it stops, as at a time limit.
    n_jobs : int, optional
        How many of the searches that choose a penalty run at once, as in scikit-learn: None is
        one, -1 as many as there are cores.  The result does not depend on it.
    progress : callable or bool, optional
        Called with a ``Progress`` at the start of each phase and after each step; True shows a
        progress line on standard error, in a terminal or a notebook.
    checkpoint : path, optional
        A file in which the best graph so far is saved every few seconds.  If the run is killed or
        stopped, the same call starts from that graph, and says so; a finished run returns its
        result at once.  A checkpoint of other data or settings is an error.
    kinds : str or mapping, optional
        The kinds of the columns, "continuous" or "discrete", where they should not be detected.
    missing : {"error", "drop", "level", "em"}
        What to do with missing values: stop with an error, drop their rows, make them a level of a
        discrete column, or score the observed values (EM).
    **reading : optional
        The other options of ``Dataset.of`` on how the table is read: names, columns, exclude,
        weights, delimiter, decimal, encoding, missing_words, format.

    Returns
    -------
    Result
        The CPDAG with the names of the columns, its score, the steps, and notes on every choice.

    Raises
    ------
    InvalidArgument
        If an argument has the wrong type or is not one of the allowed words (a ``ValueError``).
    DataError
        If the table cannot be used as it is (a ``ValueError``).
    FileError
        If a file cannot be read (an ``OSError``).

    Examples
    --------
    >>> import sges
    >>> result = sges.learn(sges.examples.load("asia"), max_indegree=2)
    >>> result.score_name, result.strategy, result.complete
    ('QNML with edge prior', 'auto', True)
    >>> print(result.notes[0])
    score QNML with edge prior: all 8 columns are discrete
    >>> print(result.notes[2])
    penalty auto: each edge has prior odds of 1/8; penalty=1 is the textbook BIC
    """
    call = _call(dict(locals()))
    begun = perf_counter()
    check_number("time_limit", time_limit, optional=True)
    bytes_of(memory_limit)
    check_search(strategy, forward, max_indegree, n_jobs, penalty)
    options = reading_of_call(learn, kinds, missing, reading)
    data = read_table(table, score, penalty, options, checkpoint=checkpoint)
    source: Any = score if data is None else data
    names = getattr(source, "names", None)
    if data is None and options.names is not None:  # columns of a table have their new names
        names = options.names
    labels = None if names is None else tuple(names)
    plan = SearchPlan.of(
        labels or source.n, assume, knowledge, strategy, forward, start, max_indegree, n_jobs,
        memory_limit, exogenous,
    )  # fmt: skip
    left = seconds_left(time_limit, begun)
    value, about_penalty = resolve_penalty(penalty, data, score, plan, left)
    with few_threads(data):
        scorer = scorer_of(data, score, value)
    notes = _notes(data, score, value, scorer, about_penalty)
    if exogenous:
        named = ", ".join(map(str, exogenous))
        notes.append(f"exogenous, so their own laws are not scored: {named}")
    for note in notes:
        LOG.info(note)
    file = None if checkpoint is None else _checkpoint(checkpoint, score, value, plan, data)
    with watched(progress) as callback:
        left = seconds_left(time_limit, begun)
        if file is None:
            result = plan.run(scorer, time_limit=left, progress=callback)
        else:
            result = continued(file, plan, scorer, left, callback)
    return replace(
        result,
        cpdag=result.cpdag.named(labels),
        notes=(*notes, *result.notes),
        call=call,
        digest=_digest(data),
        plan=plan,
    )


def seconds_left(time_limit: float | None, begun: float) -> float | None:
    """Return how much of a time limit is left."""
    return None if time_limit is None else max(time_limit - (perf_counter() - begun), 0.0)


@contextmanager
def watched(progress: Callable[[Any], object] | bool | None) -> Iterator[Any]:
    """Yield the callback of ``progress``: for True, one that writes a line where it is seen."""
    if progress is not True:
        yield None if progress is False else progress
        return

    with tool("progress_line")() as show:
        yield show


# The call


MAX_WRITTEN = 2_000
"""The longest argument that is written out in the call of a result, in characters."""
MAX_DIGESTED = 1_000_000
"""The largest number of values of which a digest is made, which takes a few milliseconds."""


def _call(arguments: dict[str, Any]) -> str:
    """Return a call of ``learn`` as Python, with the arguments that differ from their defaults.

    A value that cannot be written as Python, such as a frame or a score object, is written as a
    bare name: the name of the argument, and ``data`` for the table.  Progress is left out.
    """
    table, reading = arguments.pop("table"), arguments.pop("reading")
    del arguments["progress"]
    words = [] if table is None else [_name_of(table)]
    for word, value in {**arguments, **reading}.items():
        default = _defaults().get(word)
        if value is not default and not (isinstance(value, str) and value == default):
            words.append(f"{word}={_written(value) or word}")
    return f"result = sges.learn({', '.join(words)})"


def _name_of(table: Table) -> str:
    """Return what stands for a table: its path, how an example is loaded, or ``data``."""
    if type(table).__module__ == "sges.examples":
        return f"sges.examples.load({table.name!r})"
    return (_written(table) if isinstance(table, str | os.PathLike) else None) or "data"


@cache
def _defaults() -> dict[str, Any]:
    """Return the defaults of the arguments of ``learn``, and of its options of reading."""
    options = {each.name: each.default for each in fields(Reading)}
    return options | {name: each.default for name, each in signature(learn).parameters.items()}


def _written(value: object) -> str | None:
    """Return a value as Python, or None if it cannot be written, or not in a few lines."""
    if isinstance(value, Knowledge):
        value = {kind: pairs for kind, pairs in value.to_dict().items() if pairs}
    elif isinstance(value, str | os.PathLike):
        value = str(os.fspath(value))
    if type(value).__module__ in ("sges.properties", "sges.search.strategy"):
        return f"sges.{brief(value)}"
    if isinstance(value, type) and value.__module__.startswith("sges.score"):
        return f"sges.score.{value.__name__}"
    return _literal(value)


def _literal(value: object) -> str | None:
    """Return a plain value as Python, or None if it is long or contains other objects."""
    if not isinstance(value, str | int | float | list | tuple | dict | None):
        return None
    try:
        text = repr(value)
        return text if len(text) <= MAX_WRITTEN and literal_eval(text) == value else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _digest(data: Dataset | Moments | None) -> str | None:
    """Return the digest of a table that is not large."""
    if data is None:
        return None
    height = len(data.names) if isinstance(data, Moments) else data.rows
    return digest_of(data) if len(data.names) * height <= MAX_DIGESTED else None


def _checkpoint(
    path: object,
    score: AnyScore,
    penalty: Penalty,
    plan: "SearchPlan",
    data: Dataset | Moments | None,
) -> Checkpoint:
    """Return the checkpoint of a run, which its settings and its table identify."""
    assert data is not None
    settings = {
        "run": "learn",
        "score": score if isinstance(score, str) else name_of(score),
        "penalty": penalty,
        "start": None if plan.start is None else (plan.start.out, plan.start.into),
        **plan.settings(),
    }
    return Checkpoint(path, settings, data)


def check_search(
    strategy: AnyStrategy,
    forward: Forward | None,
    max_indegree: int | None,
    n_jobs: int | None,
    penalty: AnyPenalty,
) -> None:
    """Raise an error for invalid options before a table is read, which may take long."""
    as_strategy(strategy)
    if forward is not None:
        check_word("forward", forward, get_args(Forward))
    check_number("max_indegree", max_indegree, whole=True, optional=True)
    effective_jobs(n_jobs)
    if is_number(penalty) and not isinstance(penalty, bool | str) and 0 <= penalty < inf:
        return
    if not isinstance(penalty, str) or penalty not in ("auto", "choose"):
        rule = "it must be a number of at least 0, 'auto' or 'choose'"
        raise InvalidArgument(Message(Argument("penalty"), f" = {shown(penalty)}: {rule}"))


@dataclass(frozen=True, slots=True, repr=False)
class SearchPlan:
    """Everything that determines a search, except the score and the time limit."""

    assume: AnyAssumption
    strategy: Strategy
    forward: Forward | None
    start: PDAG | None
    max_indegree: int | None
    n_jobs: int | None
    constraint: Constraint | None
    memory_limit: int | str | None = None
    exogenous: tuple[int, ...] = ()

    __repr__ = Strategy.__repr__  # as Python, with the fields that were given

    @classmethod
    def of(
        cls,
        names: Sequence[str] | int,
        assume: AnyAssumption,
        knowledge: AnyKnowledge,
        strategy: AnyStrategy,
        forward: Forward | None,
        start: AnyStart,
        max_indegree: int | None,
        n_jobs: int | None,
        memory_limit: int | str | None = None,
        exogenous: Sequence[str] = (),
    ) -> "SearchPlan":
        """Return the plan for variables with these names, or for this number of variables."""
        if isinstance(assume, str) and assume != "auto":
            raise InvalidArgument(
                f"assume = {shown(assume)}: it must be a property such as MaxParents(2), 'auto', "
                "or None"
            )
        if isinstance(strategy, str) and strategy == "auto" and forward is not None:
            strategy = "two-phase"
        constraint = None if knowledge is None else Knowledge.of(knowledge).bind(names)
        matched = _matched_start(start, names)
        return cls(
            assume, as_strategy(strategy), forward, matched, max_indegree, n_jobs, constraint,
            memory_limit, _places(exogenous, names),
        )  # fmt: skip

    def run(
        self,
        score: Score,
        *,
        time_limit: float | None = None,
        progress: OnProgress | None = None,
        keep: Keep | None = None,
    ) -> Result:
        """Search with a score: under the property, or under a bound chosen from the data."""
        options: dict[str, Any] = {
            **{field.name: getattr(self, field.name) for field in fields(self)},
            "time_limit": time_limit,
            "progress": progress,
            "counting": False,
            "keep": keep,
        }
        assume, notes = options.pop("assume"), list[str]()
        del options["n_jobs"]
        if isinstance(assume, str):
            chosen = auto_bound(score, **options)
            result, assume = chosen.result, chosen.assume
            tried = ", ".join(str(one.k) for one in chosen.rounds) or "none"
            beyond = "a larger k did not improve the score"
            if not result.complete:
                beyond = "the search was stopped, so a larger k may improve the score"
            notes.append(f"assume {assume}: chosen among k = {tried}; {beyond}")
        else:
            result = search(score, assume, **options)
        # Only parents are counted, as other measures may take longer than the search.
        if isinstance(assume, MaxParents) and result.complete:
            measured = MaxParents.of(result.cpdag).k
            if measured > assume.k:
                notes.append(
                    Message(
                        f"a variable of the graph has {measured} parents, more than the {assume.k} "
                        "assumed for the true graph: the assumption restricts which deletions are "
                        "considered, not the result; use ",
                        Argument("max_indegree"),
                        " to limit the graph",
                    )
                )
        return replace(result, notes=(*result.notes, *notes))

    def settings(self) -> dict[str, object]:
        """Return the settings that the result depends on, for checkpoints."""
        return {
            "strategy": self.strategy,
            "assume": self.assume,
            "forward": self.forward,
            "max_indegree": self.max_indegree,
            "knowledge": self.constraint,
            "exogenous": self.exogenous,
        }


def resolve_penalty(
    penalty: AnyPenalty,
    data: Dataset | Moments | None,
    score: AnyScore,
    plan: SearchPlan,
    time_limit: float | None,
) -> tuple[Penalty, list[str]]:
    """Return the penalty, as given or chosen on parts of the table, and a note on it.

    "auto" is 1 for a score that is not made by name, which is used as it is.
    """
    if not isinstance(penalty, str):
        return float(penalty), []
    if data is None or not isinstance(score, str):
        return 1.0, []
    if penalty == "auto":
        prior = f"penalty auto: each edge has prior odds of 1/{len(data.names):,}; "
        is_bic = score not in SCORES or SCORES[score].is_penalized
        instead = "the textbook BIC" if is_bic else "the score without this prior"
        return "auto", [Message(prior, Argument("penalty", 1), f" is {instead}")]

    half = None if time_limit is None else time_limit / 2
    choice = tool("choose_penalty")(
        data, score=score, search=plan.run, n_jobs=plan.n_jobs, time_limit=half
    )
    return choice.penalty, [choice.note]


# Tables and scores


def read_table(
    table: Table,
    score: AnyScore,
    penalty: AnyPenalty,
    reading: Reading,
    *,
    rows: bool = False,
    checkpoint: object = None,
) -> Dataset | Moments | None:
    """Return the table in the form that scores use; None for a score object, which has its data.

    If statistics suffice, the rows of a large table are not kept.  ``rows`` says that the rows
    are needed for something besides the score.
    """
    is_object = not isinstance(score, str) and is_score(score)
    if isinstance(score, str):
        check_score_word(score)
    elif not is_object and not callable(score):
        raise InvalidArgument(
            f"score = {shown(score)} is neither a name nor a score; a score has n and "
            "local(y, parents)"
        )
    if table is None and not is_object:
        raise InvalidArgument("no table was given; give one, or a score object as score=")
    given = [word for word in reading.given() if word != "names" or not is_object]
    refuse(
        score_object=type(score).__name__ if is_object else None,
        made_score=None if isinstance(score, str) else "an object" if is_object else "a function",
        table=table is not None,
        moments=isinstance(table, Moments),
        reading=given[0] if given else None,
        checkpoint=checkpoint,
        penalty_number=None if isinstance(penalty, str) or penalty == 1.0 else penalty,
        penalty_choose=penalty == "choose",
    )
    if is_object:
        return None
    if isinstance(table, Moments):
        return table
    from sges.data.sources import statistics_of

    by_moments = score in ("auto", "bic", "gaussian-bic", "bge") and penalty != "choose"
    return statistics_of(table, reading, rows=rows or not by_moments)


SMALL_PRODUCTS = 500_000_000
"""Multiplications that one core does in about 20 milliseconds: fewer need no threads."""

MANY_COLUMNS = 16
"""With fewer continuous columns, products are so small that BLAS uses one thread by itself."""


def few_threads(data: Dataset | Moments | None) -> AbstractContextManager[object]:
    """Return a context in which BLAS uses one thread if the statistics of a table are small.

    Its threads wait for each other in every product, which takes many times as long if another
    program uses a core.
    """
    columns, rows = data.values.shape if isinstance(data, Dataset) else (0, 0)
    if columns < MANY_COLUMNS or columns**2 * rows >= SMALL_PRODUCTS:
        return nullcontext()
    from threadpoolctl import threadpool_limits  # takes 30 milliseconds

    limit: AbstractContextManager[object] = threadpool_limits(1, user_api="blas")
    return limit


def scorer_of(data: Dataset | Moments | None, score: AnyScore, penalty: Penalty) -> Score:
    """Return the score to search with."""
    if data is not None and isinstance(score, str):
        return make_score(score, _merged(data), penalty)
    made = score if data is None else score(data)  # type: ignore[operator]
    if not is_score(made):
        raise InvalidArgument(
            f"score = {shown(score)} returned {shown(made)}, which is not a score; a score has n "
            "and local(y, parents)"
        )
    return made


def _merged(data: Dataset | Moments) -> Dataset | Moments:
    """Return the data; with each row once, if there are four rows per possible distinct row."""
    if not isinstance(data, Dataset) or data.continuous:
        return data
    if data.weights is not None or data.holes is not None:
        return data
    return data.merged() if 4 * prod(data.arities.tolist()) <= data.rows else data


def _notes(
    data: Dataset | Moments | None,
    score: AnyScore,
    penalty: Penalty,
    scorer: Score,
    about_penalty: Sequence[str],
) -> list[str]:
    """Return notes on what was read, on the choice of the score, and on what to inspect."""
    notes: list[str] = []
    if data is not None:
        why = why_score(score, data, penalty) if isinstance(score, str) else "as requested"
        columns = f"{len(data.names):,} column{'' if len(data.names) == 1 else 's'}"
        notes += [
            *data.notes,
            f"score {score_name(scorer)}: {why}",
            f"data: {_size(data)} of {columns}",
        ]
    notes += about_penalty
    topics = () if data is None else concerns(data)
    if score == "rank":
        topics = tuple(topic for topic in topics if topic != "skew and heavy tails")
    if topics:
        where = Spelling("sges.inspect(table)", "sges inspect")
        look = f"inspect the table before interpreting the edges ({', '.join(topics)}): "
        notes.append(Message(look, where))
    return notes


def _size(data: Dataset | Moments) -> str:
    """Return how many rows there are, and how many records they are scored as, in words."""
    if isinstance(data, Dataset) and (data.unit != 1 or data.holes is not None):
        return f"{data.rows:,} rows, scored as {data.records:,} records,"
    if not isinstance(data, Dataset) or data.rows == data.records:
        return f"{data.records:,} row{'' if data.records == 1 else 's'}"
    rows = "1 row that represents" if data.rows == 1 else f"{data.rows:,} rows that represent"
    return f"{rows} {data.records:,} records"


def _places(exogenous: Sequence[str], names: Sequence[str] | int) -> tuple[int, ...]:
    """Return the numbers of exogenous columns."""
    if isinstance(exogenous, str) or not isinstance(exogenous, Sequence):
        rule = "it must be a list of columns"
        raise InvalidArgument(Message(Argument("exogenous"), f" = {shown(exogenous)}: {rule}"))
    known: Sequence[Any] = range(names) if isinstance(names, int) else names
    for name in exogenous:
        if name not in known:
            rule = "it is not a column that is searched"
            raise InvalidArgument(Message(Argument("exogenous"), f" = {shown(name)}: {rule}"))
    if exogenous and len(set(exogenous)) == len(known):
        rule = ": all columns are given, so there is nothing to learn; leave out at least one"
        raise InvalidArgument(Message(Argument("exogenous"), rule))
    return tuple(sorted({known.index(name) for name in exogenous}))


def _matched_start(start: AnyStart, names: Sequence[str] | int) -> PDAG | None:
    """Return the graph to start from with its nodes in the order of the columns, by name."""
    if isinstance(start, str | os.PathLike):
        read: PDAG = tool("read_graph")(start)
        start = read
    if isinstance(names, int) or not isinstance(start, PDAG) or start.names in (None, names):
        return start
    if unmatched := sorted(set(start.names) ^ set(names)):
        where = "the start" if unmatched[0] in start.names else "the table"
        raise InvalidArgument(
            f"{unmatched[0]!r} occurs only in {where}; the nodes of the start must be the columns "
            "of the table"
        )
    position = {name: v for v, name in enumerate(names)}
    return start.relabel([position[name] for name in start.names])
