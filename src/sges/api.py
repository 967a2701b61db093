"""The front door: one call from a table to the class that it supports.

``learn`` reads the table, chooses the score by the kinds of its columns, runs the search and
returns a ``Result`` under the names of the columns.  Whatever it chose is in ``result.notes``
and in the log (``logging.getLogger("sges")``).
"""

import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, Unpack, cast

from sges.data import Dataset, Kinds, Missing, Moments
from sges.errors import InvalidArgument, SgesError
from sges.graph.pdag import PDAG
from sges.properties.base import Property
from sges.properties.measures import MaxParents
from sges.result import Result
from sges.score.base import Score
from sges.scoring import ScoreChoice, Table, given_options, is_score, score_of, table_for
from sges.search import Progress, Strategy, search
from sges.search.algorithms import Forward
from sges.search.auto import auto_bound
from sges.search.run import Options
from sges.search.strategy import AnyStrategy, as_strategy

if TYPE_CHECKING:
    from sges.knowledge import Knowledge

FORWARD_WORDS = ("fes", "poly", "order", "complete")
"""The forward phases that can be named."""

AnyPenalty: TypeAlias = float | Literal["rule", "auto"]
"""A penalty, or how it is chosen."""

LOG = logging.getLogger("sges")


def learn(
    table: Table = None,
    *,
    score: ScoreChoice = "auto",
    assume: Property | Literal["auto"] | None = None,
    strategy: AnyStrategy | None = "auto",
    forward: Forward | None = None,
    start: PDAG | None = None,
    max_indegree: int | None = None,
    knowledge: "Knowledge | str | os.PathLike[str] | None" = None,
    penalty: AnyPenalty = 1.0,
    time_limit: float | None = None,
    progress: Callable[[Progress], object] | None = None,
    kinds: Kinds = None,
    missing: Missing = "error",
    names: Sequence[str] | None = None,
    weights: Any = None,  # noqa: ANN401 (whatever Dataset.of takes)
    exact: bool = False,
    drop_large: bool = False,
    counting: bool = True,
) -> Result:
    """Learn the equivalence class of a Bayesian network from a table.

    Parameters
    ----------
    table
        A pandas, polars or pyarrow table, a NumPy array, a mapping of columns, the path of a
        file (CSV, TSV, Parquet, Feather), ``"-"`` for standard input, a ``Dataset``, or
        ``Moments``.  None if ``score`` is a score object, which has its own data.
    score
        ``"auto"``, one of "gaussian-bic", "bge", "discrete-bic", "bdeu" and
        "degenerate-gaussian", a function that makes a score of a ``Dataset``, or a score.
    assume
        A property that you believe of the truth, such as ``MaxVWidth(2)``: SGES looks only at
        the deletes that it leaves.  None is plain GES.  ``"auto"`` raises the bound on parents
        until the score no longer improves (a heuristic: see ``sges.search.auto``).
    strategy
        "auto" searches for the best graph with polynomially bounded work.  "extended" is the same
        without the bound, "interleaved" is faster, and "two-phase" is the paper's search;
        "conservative", "turning" and any ``Strategy`` are taken as well.  If ``forward`` is given
        and ``strategy`` is not, the search is the paper's.
    forward
        The forward phase of the paper's search: "fes", "poly" (polynomially many score
        evaluations), "order" (the best order of the variables that is found), or "complete" (no
        forward phase).
    start
        A CPDAG or DAG to start from.
    max_indegree
        Allow at most this many parents in the graph: a hard limit on inserts and turns.  Unlike
        ``assume=MaxParents(k)``, which is an assumption about the truth and selects deletes only.
    knowledge
        Required and forbidden edges and tiers: a ``Knowledge``, or the path of a file of it.
    penalty
        Multiplies the penalty of a BIC: 1 is the textbook's; more gives sparser graphs.  "rule"
        takes it from the numbers of variables and records, "auto" from many searches on parts of
        the table (``sges.penalty``).
    time_limit
        Seconds after which the search ends with what it has; the result says so.
    progress
        Called with a ``Progress`` at the start of each phase and after each step.
    kinds, missing, names, weights
        How the table is read: as in ``Dataset.of``.
    exact, drop_large, counting
        How the search goes: as in ``sges.search.sges``.

    Examples
    --------
    >>> import sges
    >>> result = sges.learn(sges.examples.load("asia"), assume=sges.MaxParents(2))
    >>> result.score_name, result.assume, result.complete
    ('DiscreteBIC', 'MaxParents(k=2)', True)
    >>> print(result.notes[0])
    score DiscreteBIC: all 8 columns are discrete
    """
    reading = given_options(kinds=kinds, missing=missing, names=names, weights=weights)
    data = table_for(table, score, reading)
    given = names if names is not None else getattr(score if data is None else data, "names", None)
    labels = None if given is None else tuple(given)
    bound = None
    if knowledge is not None:
        variables = score.n if is_score(score) else 0  # a table has names for its columns
        bound = _as_knowledge(knowledge).bind(labels or variables)
    finder = partial(
        _search,
        how=How(
            assume,
            _strategy(strategy, forward),
            _by_name(forward, labels),
            _by_name(start, labels),
            exact,
            drop_large,
        ),
        constraint=bound,
        max_indegree=max_indegree,
    )
    weight, said, limit = _weighed(data, score, penalty, finder, time_limit)
    scorer, note = score_of(data, score, weight)
    notes = (*(() if data is None else data.notes), *said, *note)
    for line in notes:
        LOG.info(line)
    found = finder(scorer, time_limit=limit, progress=progress, counting=counting)
    return replace(found, cpdag=found.cpdag.named(labels), notes=(*notes, *found.notes))


@dataclass(frozen=True, slots=True)
class How:
    """How a search goes, whatever the score."""

    assume: Property | str | None
    strategy: Strategy
    forward: Forward | None
    start: PDAG | None
    exact: bool
    drop_large: bool


def _search(scorer: Score, *, how: How, **options: Unpack[Options]) -> Result:
    """Search as asked for: with a property, or with a bound that is chosen from the data."""
    if isinstance(how.assume, str):
        return _with_chosen_bound(scorer, how, options)
    found = search(
        scorer,
        how.assume,
        strategy=how.strategy,
        forward=how.forward,
        start=how.start,
        exact=how.exact,
        drop_large=how.drop_large,
        **options,
    )
    return replace(found, notes=(*found.notes, *_contradiction(found, how.assume)))


def _contradiction(found: Result, assume: Property | None) -> tuple[str, ...]:
    """Return a note if the graph that was found has more parents than the truth was assumed to.

    That is no error: the bound selects deletes, not graphs.  Only parents are counted, as other
    measures may take longer than the search.
    """
    if not isinstance(assume, MaxParents) or not found.complete:
        return ()
    measured = assume.measure(found.cpdag)
    if measured <= assume.k:
        return ()
    return (
        f"the graph found has a MaxParents of {measured}, beyond the {assume.k} assumed: "
        "the bound selects deletes, not graphs; raise it if the truth may be like that",
    )


def _weighed(
    data: Dataset | Moments | None,
    score: ScoreChoice,
    penalty: AnyPenalty,
    finder: Callable[..., Result],
    limit: float | None,
) -> tuple[float, tuple[str, ...], float | None]:
    """Return the penalty, a note if it was chosen, and what that leaves of the time limit."""
    if not isinstance(penalty, str):
        return penalty, (), limit
    if penalty not in ("rule", "auto"):
        raise InvalidArgument(
            f"penalty = {penalty!r} is not known; it is a number, 'rule' or 'auto'"
        )
    if data is None or not isinstance(score, str):
        raise InvalidArgument(
            f"penalty {penalty!r} needs a table and the name of a score with a penalty"
        )
    from sges.penalty import choose_penalty, rule_of_thumb

    if penalty == "rule":
        value = rule_of_thumb(data)
        return value, (f"penalty {value:.3g}: by the rule of thumb",), limit
    half = None if limit is None else limit / 2
    quiet = partial(finder, counting=False)
    choice = choose_penalty(data, score=score, search=quiet, time_limit=half)
    left = None if limit is None else max(limit - choice.seconds, 0.0)
    return choice.penalty, (choice.note,), left


def _with_chosen_bound(scorer: Score, how: How, options: Options) -> Result:
    """Return the result under the smallest bound on parents beyond which nothing improves."""
    if how.assume != "auto":
        raise InvalidArgument(
            f"assume = {how.assume!r} is not known; it is 'auto', a property or None"
        )
    if how.exact or how.drop_large:
        raise InvalidArgument(
            "exact and drop_large select deletes by a given property, not by 'auto'"
        )
    chosen = auto_bound(
        scorer, forward=how.forward, start=how.start, strategy=how.strategy, **options
    )
    tried = ", ".join(str(one.k) for one in chosen.rounds)
    note = f"assume {chosen.assume}: chosen among k = {tried}; beyond it the score did not improve"
    beyond = _contradiction(chosen.result, chosen.assume)
    return replace(chosen.result, notes=(*chosen.result.notes, note, *beyond))


def _strategy(given: AnyStrategy | None, forward: Forward | None) -> Strategy:
    if given is None or given == "auto":
        given = "auto" if forward is None else "two-phase"
    try:
        return as_strategy(given)
    except SgesError as error:
        raise InvalidArgument(str(error)) from None


Start = TypeVar("Start", bound=Forward | PDAG | None)


def _by_name(start: Start, labels: tuple[str, ...] | None) -> Start | PDAG:
    """Return a start whose nodes are in the order of the columns, matched by their names."""
    if start is None:
        return start
    if isinstance(start, str):
        if start not in FORWARD_WORDS:
            raise InvalidArgument(
                f"forward = {start!r} is not known; it is {', '.join(FORWARD_WORDS)}"
            )
        return cast("Start", start)
    if start.names is None or labels is None or start.names == labels:
        return start
    if strangers := sorted(set(start.names) ^ set(labels)):
        where = "the start" if strangers[0] in start.names else "the table"
        raise InvalidArgument(
            f"{strangers[0]!r} is a variable of {where} only; a start has the columns of the table "
            "for nodes"
        )
    place = {name: v for v, name in enumerate(labels)}
    return start.relabel([place[name] for name in start.names])


def _as_knowledge(knowledge: "Knowledge | str | os.PathLike[str]") -> "Knowledge":
    if isinstance(knowledge, str | os.PathLike):
        from sges.knowledge import Knowledge

        return Knowledge.from_file(knowledge)
    return knowledge
