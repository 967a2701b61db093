"""Scores by name, and the one that fits the columns of a table.

                              "auto"                 "bic"
    all columns continuous    gaussian-bic           gaussian-bic
    all columns discrete      qnml, bdeu-levels      discrete-bic
    some of each              degenerate-gaussian    degenerate-gaussian

is the score that "auto" and "bic" select.  qNML finds edges between independent columns if most
combinations of their levels do not occur: if the two columns with the most levels leave fewer than
``MIN_RECORDS_PER_CELL`` records per combination of levels, "auto" is BDeu, with an equivalent
sample size of one record for each level of the column with the most levels.

With ``penalty="auto"`` every score gets an edge prior (``EdgePrior``).  A number as penalty
multiplies the penalty of a BIC, so "auto" then means "bic"; 1 is the textbook BIC, the score of the
paper (which calls it MDL).  These defaults were chosen by measurement: see
``studies/results/defaults.md``.
"""

from functools import partial
from operator import itemgetter
from typing import Any, Literal, NamedTuple, TypeAlias

from sges.combinations import refuse
from sges.data import Dataset, Moments
from sges.errors import Argument, not_one_of
from sges.score.protocol import EdgePrior, Score

Penalty: TypeAlias = float | Literal["auto"]
"""A multiplier of the penalty of a BIC, or "auto" for the edge prior."""

MIN_RECORDS_PER_CELL = 4
"""The least ``Dataset.records_per_cell`` for which qNML is the default."""


class NamedScore(NamedTuple):
    """A score that has a name: its class in ``sges.score``, why it takes no penalty, a setting."""

    class_name: str
    instead_of_penalty: str = ""
    ess: str | None = None

    @property
    def is_penalized(self) -> bool:
        """Whether the score is a BIC, whose penalty can be multiplied."""
        return not self.instead_of_penalty

    @property
    def make(self) -> Any:  # noqa: ANN401 (the class of the score)
        """The class of the score, or a function that makes it with its setting."""
        from sges import score

        kind = getattr(score, self.class_name)
        return kind if self.ess is None else partial(kind, ess=self.ess)


SCORES = {
    "gaussian-bic": NamedScore("GaussianBIC"),
    "bge": NamedScore("BGe", "it has a prior instead"),
    "discrete-bic": NamedScore("DiscreteBIC"),
    "qnml": NamedScore("QNML", "it has a regret instead"),
    "bdeu": NamedScore("BDeu", "it has an equivalent sample size instead"),
    "bdeu-levels": NamedScore("BDeu", "it has an equivalent sample size instead", "levels"),
    "degenerate-gaussian": NamedScore("DegenerateGaussian"),
    "basis": NamedScore("BasisBIC"),
    "rank": NamedScore("RankBIC"),
}
"""Every score that ``learn`` knows by name."""

SCORE_WORDS = ("auto", "bic", *SCORES)
"""The words for ``score=``; "auto" and "bic" stand for a score that fits the columns."""


def check_score_word(word: str) -> None:
    """Raise an error if a word does not name a score."""
    if word not in SCORE_WORDS:
        raise not_one_of("score", word, SCORE_WORDS)


def named_score(word: str, data: Dataset | Moments, penalty: Penalty = 1.0) -> NamedScore:
    """Return the score that a word stands for on these data, with this penalty."""
    check_score_word(word)
    if word not in ("auto", "bic"):
        return SCORES[word]
    if isinstance(data, Moments) or not data.discrete:
        return SCORES["gaussian-bic"]
    if data.continuous:
        return SCORES["degenerate-gaussian"]
    if word == "bic" or penalty != "auto":
        return SCORES["discrete-bic"]
    return SCORES["qnml" if data.records_per_cell >= MIN_RECORDS_PER_CELL else "bdeu-levels"]


def make_score(word: str, data: Dataset | Moments, penalty: Penalty = 1.0) -> Score:
    """Return the score of this name on these data, with an edge prior if penalty is "auto"."""
    named = named_score(word, data, penalty)
    if penalty == "auto":
        return EdgePrior(named.make(data))
    refuse(
        score_without_penalty=None if named.is_penalized else word,
        penalty_number=None if penalty == 1.0 else penalty,
        argument=Argument("penalty"),
        instead=named.instead_of_penalty,
    )
    score: Score = named.make(data, penalty) if named.is_penalized else named.make(data)
    return score


def why_score(word: str, data: Dataset | Moments, penalty: Penalty) -> str:
    """Return why a word stands for its score on these data, for people."""
    if word not in ("auto", "bic"):
        return "as requested"
    discrete = 0 if isinstance(data, Moments) else len(data.discrete)
    counts = {"continuous": len(data.names) - discrete, "discrete": discrete}
    kind, n = max(counts.items(), key=itemgetter(1))
    why = f"the one column is {kind}" if n == 1 else f"all {n} columns are {kind}"
    if 0 not in counts.values():
        why = " and ".join(
            f"{count} column{'' if count == 1 else 's'} {'is' if count == 1 else 'are'} {kind}"
            for kind, count in counts.items()
        )
    if named_score(word, data, penalty) is not SCORES["bdeu-levels"]:
        return why
    assert isinstance(data, Dataset)
    return (
        f"{why}, and the two with the most levels leave {data.records_per_cell:.2g} records per "
        f"combination of levels; with fewer than {MIN_RECORDS_PER_CELL}, qNML finds edges between "
        "independent columns"
    )
