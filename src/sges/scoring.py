"""Which score a table is searched with: by name, by the kinds of its columns, or as given.

The rule for ``score="auto"``:

    all columns continuous    gaussian-bic
    all columns discrete      discrete-bic
    some of each              degenerate-gaussian

All three are BICs, so that ``penalty`` means the same whatever the columns are.  For discrete
columns BDeu would do as well, but its graphs depend on an equivalent sample size that has to be
chosen, and the BIC is the paper's own score (it calls it MDL).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeAlias, TypedDict, TypeGuard, cast

from sges.data import Dataset, Kinds, Missing, Moments
from sges.errors import InvalidArgument
from sges.score.base import Score

Table: TypeAlias = Any
"""What ``Dataset.of`` takes."""

ScoreChoice: TypeAlias = str | Score | Callable[[Any], Score]
"""A score: its name, itself, or what makes it of a ``Dataset`` (such as its class)."""


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


def table_for(table: Table, score: ScoreChoice, reading: TableOptions) -> Dataset | Moments | None:
    """Return the table as the scores read it; None beside a score object, which has its own."""
    if isinstance(score, str):
        known_score(score, "auto")
    elif is_score(score):
        _refuse_table_beside_score(table, score, reading)
        return None
    elif not callable(score):
        raise InvalidArgument(
            f"score = {score!r} is neither a name nor a score; a score has n and local(y, parents)"
        )
    if table is None:
        raise InvalidArgument("there is no table; give one, or a score object as score=")
    return table if isinstance(table, Moments) else Dataset.of(table, **reading)


def score_of(
    data: Dataset | Moments | None, score: ScoreChoice, penalty: float = 1.0
) -> tuple[Score, tuple[str, ...]]:
    """Return the score to search with, and a note on how it came about, unless it was given."""
    if is_score(score):
        _refuse_penalty(penalty, "a score object", "give it where the score is made")
        return score, ()
    assert data is not None  # only a score object does without
    if not isinstance(score, str):
        _refuse_penalty(penalty, "a score of your own", "give it where the score is made")
        made = cast("Callable[[Any], Score]", score)(data)
        return made, (f"score {type(made).__name__}: as asked for",)
    name, why = (chosen_score(data), kinds_in_words(data)) if score == "auto" else (score, "")
    entry = known_score(name)
    arguments: dict[str, float] = {"penalty": penalty}
    if not entry.penalised:
        _refuse_penalty(penalty, f"score {name!r}", entry.other)
        arguments = {}
    from sges import score as home

    made = getattr(home, entry.home)(data, **arguments)
    return made, (f"score {entry.home}: {why or 'as asked for'}",)


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


def is_score(score: ScoreChoice) -> TypeGuard[Score]:
    """Tell whether this is a score itself."""
    return not isinstance(score, type) and hasattr(score, "local") and hasattr(score, "n")


def _refuse_table_beside_score(table: Table, score: Score, reading: TableOptions) -> None:
    given = [word for word in ("kinds", "missing", "weights") if word in reading]
    if table is not None or given:
        what = "a table" if table is not None else f"{given[0]}="
        raise InvalidArgument(
            f"{what} was given beside a {type(score).__name__} object, which has its own data; "
            "give the table and the score's name or class, or the score alone"
        )


def _refuse_penalty(penalty: float, what: str, instead: str) -> None:
    if penalty != 1.0:
        raise InvalidArgument(f"penalty {penalty:g}: {what} takes none; {instead}")


def known_score(name: str, *more: str) -> ScoreName:
    """Return the score of this name, or refuse; ``more`` are names that stand for others."""
    known = [*more, *SCORES]
    if name not in known:
        close = get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise InvalidArgument(f"score {name!r} is not known; {hint}there are {', '.join(known)}")
    return SCORES.get(name, SCORES["gaussian-bic"])


def given_options(
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
