"""The front door: one call from a table to the class that it supports.

``learn`` reads the table, chooses the score by the kinds of its columns, runs the search and
returns a ``Result`` under the names of the columns.  Whatever it chose is in ``result.notes``
and in the log (``logging.getLogger("sges")``).

The rule for ``score="auto"``:

    all columns continuous    gaussian-bic
    all columns discrete      discrete-bic
    some of each              degenerate-gaussian

All three are BICs, so that ``penalty`` means the same whatever the columns are.  For discrete
columns BDeu would do as well, but its graphs depend on an equivalent sample size that has to be
chosen, and the BIC is the paper's own score (it calls it MDL).
"""

import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, TypeGuard

from sges.data import Dataset, Kinds, Missing, Moments
from sges.errors import WrongUse
from sges.properties.base import Property
from sges.result import Result
from sges.score.base import Score
from sges.search import Progress, sges
from sges.search.algorithms import Forward
from sges.search.auto import auto_bound
from sges.search.run import Options

if TYPE_CHECKING:
    from sges.knowledge import Knowledge

Table: TypeAlias = Any
"""What ``Dataset.of`` takes."""

ScoreChoice: TypeAlias = str | Score | Callable[[Any], Score]
"""A score: its name, itself, or what makes it of a ``Dataset`` (such as its class)."""

FORWARD_WORDS = ("fes", "poly", "complete")
"""The forward phases that can be named."""

LOG = logging.getLogger("sges")


@dataclass(frozen=True, slots=True)
class ScoreName:
    """A score that can be named: its class in ``sges.score``, and whether it has a penalty."""

    home: str
    penalised: bool
    other: str = ""


SCORES = {
    "gaussian-bic": ScoreName("GaussianBIC", True),
    "bge": ScoreName("BGe", False, "the prior takes the place of one"),
    "discrete-bic": ScoreName("DiscreteBIC", True),
    "bdeu": ScoreName("BDeu", False, "its equivalent sample size takes the place of one"),
    "degenerate-gaussian": ScoreName("DegenerateGaussian", True),
}
"""Every score that ``learn`` knows by name."""


class TableOptions(TypedDict, total=False):
    """How a table is read: what was given of the options of ``Dataset.of``."""

    kinds: Kinds
    missing: Missing
    names: Sequence[str]
    weights: Any


def learn(
    table: Table = None,
    *,
    score: ScoreChoice = "auto",
    assume: Property | Literal["auto"] | None = None,
    forward: Forward = "fes",
    knowledge: "Knowledge | str | os.PathLike[str] | None" = None,
    penalty: float = 1.0,
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
    forward
        "fes", "poly" (polynomially many score evaluations), "complete" (no forward phase), or
        a CPDAG or DAG to start from.
    knowledge
        Required and forbidden edges and tiers: a ``Knowledge``, or the path of a file of it.
    penalty
        Multiplies the penalty of a BIC: 1 is the textbook's; more gives sparser graphs.
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
    >>> print(result.notes[-1])
    score DiscreteBIC: all 8 columns are discrete
    """
    reading = _given(kinds=kinds, missing=missing, names=names, weights=weights)
    scorer, notes = _scorer(table, score, penalty, reading)
    given = names if names is not None else getattr(scorer, "names", None)
    labels = None if given is None else tuple(given)
    bound = None if knowledge is None else _as_knowledge(knowledge).bind(labels or scorer.n)
    options: Options = {
        "constraint": bound,
        "time_limit": time_limit,
        "progress": progress,
        "counting": counting,
    }
    start = _by_name(forward, labels)
    if isinstance(assume, str):
        found = _with_chosen_bound(scorer, assume, start, options, exact or drop_large)
    else:
        found = sges(scorer, assume, forward=start, exact=exact, drop_large=drop_large, **options)
    return replace(found, cpdag=found.cpdag.named(labels), notes=(*notes, *found.notes))


def _with_chosen_bound(
    scorer: Score, assume: str, forward: Forward, options: Options, selective: bool
) -> Result:
    """Return the result under the smallest bound on parents beyond which nothing improves."""
    if assume != "auto":
        raise WrongUse(f"assume = {assume!r} is not known; it is 'auto', a property or None")
    if selective:
        raise WrongUse("exact and drop_large select deletes by a given property, not by 'auto'")
    chosen = auto_bound(scorer, forward=forward, **options)
    tried = ", ".join(str(one.k) for one in chosen.rounds)
    note = f"assume {chosen.assume}: chosen among k = {tried}; beyond it the score did not improve"
    return replace(chosen.result, notes=(*chosen.result.notes, note))


def score_of(
    data: Dataset | Moments, score: str | Callable[[Any], Score], penalty: float = 1.0
) -> tuple[Score, str]:
    """Return the score of a table that a name stands for, and a note on the choice."""
    if not isinstance(score, str):
        _refuse_penalty(penalty, "a score of your own", "give it where the score is made")
        made = score(data)
        return made, f"score {type(made).__name__}: as asked for"
    name, why = (chosen_score(data), kinds_in_words(data)) if score == "auto" else (score, "")
    entry = _known_score(name)
    arguments: dict[str, float] = {"penalty": penalty}
    if not entry.penalised:
        _refuse_penalty(penalty, f"score {name!r}", entry.other)
        arguments = {}
    from sges import score as home

    made = getattr(home, entry.home)(data, **arguments)
    return made, f"score {entry.home}: {why or 'as asked for'}"


def chosen_score(data: Dataset | Moments) -> str:
    """Return the name of the score for columns of these kinds; the rule is above."""
    if isinstance(data, Moments) or not data.discrete:
        return "gaussian-bic"
    return "degenerate-gaussian" if data.continuous else "discrete-bic"


def kinds_in_words(data: Dataset | Moments) -> str:
    """Return how many columns are of which kind, for people."""
    if isinstance(data, Moments):
        return "means and covariances were given"
    counts = {"continuous": len(data.continuous), "discrete": len(data.discrete)}
    if 0 not in counts.values():
        return " and ".join(
            f"{count} column{'' if count == 1 else 's'} {'is' if count == 1 else 'are'} {kind}"
            for kind, count in counts.items()
        )
    kind = next(kind for kind, count in counts.items() if count)
    return f"the one column is {kind}" if data.n == 1 else f"all {data.n} columns are {kind}"


def _scorer(
    table: Table, score: ScoreChoice, penalty: float, reading: TableOptions
) -> tuple[Score, tuple[str, ...]]:
    """Return the score to search with, and the notes on how it came about."""
    if isinstance(score, str):
        _known_score(score, "auto")
    elif _is_score(score):
        _refuse_table_beside_score(table, score, reading)
        _refuse_penalty(penalty, "a score object", "give it where the score is made")
        return score, ()
    elif not callable(score):
        raise WrongUse(
            f"score = {score!r} is neither a name nor a score; a score has n and local(y, parents)"
        )
    if table is None:
        raise WrongUse("there is no table; give one, or a score object as score=")
    data = table if isinstance(table, Moments) else Dataset.of(table, **reading)
    made, note = score_of(data, score, penalty)
    for said in (*data.notes, note):
        LOG.info(said)
    return made, (*data.notes, note)


def _is_score(score: ScoreChoice) -> TypeGuard[Score]:
    return not isinstance(score, type) and hasattr(score, "local") and hasattr(score, "n")


def _refuse_table_beside_score(table: Table, score: Score, reading: TableOptions) -> None:
    given = [word for word in ("kinds", "missing", "weights") if word in reading]
    if table is not None or given:
        what = "a table" if table is not None else f"{given[0]}="
        raise WrongUse(
            f"{what} was given beside a {type(score).__name__} object, which has its own data; "
            "give the table and the score's name or class, or the score alone"
        )


def _refuse_penalty(penalty: float, what: str, instead: str) -> None:
    if penalty != 1.0:
        raise WrongUse(f"penalty {penalty:g}: {what} takes none; {instead}")


def _known_score(name: str, *more: str) -> ScoreName:
    known = [*more, *SCORES]
    if name not in known:
        close = get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise WrongUse(f"score {name!r} is not known; {hint}there are {', '.join(known)}")
    return SCORES.get(name, SCORES["gaussian-bic"])


def _by_name(forward: Forward, labels: tuple[str, ...] | None) -> Forward:
    """Return a start whose nodes are in the order of the columns, matched by their names."""
    if isinstance(forward, str):
        if forward not in FORWARD_WORDS:
            raise WrongUse(
                f"forward = {forward!r} is not known; it is {', '.join(FORWARD_WORDS)} or a PDAG"
            )
        return forward
    if forward.names is None or labels is None or forward.names == labels:
        return forward
    if strangers := sorted(set(forward.names) ^ set(labels)):
        where = "the start" if strangers[0] in forward.names else "the table"
        raise WrongUse(
            f"{strangers[0]!r} is a variable of {where} only; a start has the columns of the table "
            "for nodes"
        )
    place = {name: v for v, name in enumerate(labels)}
    return forward.relabel([place[name] for name in forward.names])


def _as_knowledge(knowledge: "Knowledge | str | os.PathLike[str]") -> "Knowledge":
    if isinstance(knowledge, str | os.PathLike):
        from sges.knowledge import Knowledge

        return Knowledge.from_file(knowledge)
    return knowledge


def _given(
    kinds: Kinds,
    missing: Missing,
    names: Sequence[str] | None,
    weights: Any,  # noqa: ANN401
) -> TableOptions:
    """Return the options that differ from their defaults: those that somebody gave."""
    given = TableOptions()
    if kinds is not None:
        given["kinds"] = kinds
    if missing != "error":
        given["missing"] = missing
    if names is not None:
        given["names"] = names
    if weights is not None:
        given["weights"] = weights
    return given
