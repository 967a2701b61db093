"""Scores by name, and the one that fits the columns of a table.

                              "auto"                 "bic"
    all columns continuous    gaussian-bic           gaussian-bic
    all columns discrete      qnml                   discrete-bic
    some of each              degenerate-gaussian    degenerate-gaussian

is the rule for the two words that stand for a score.  With ``penalty="auto"`` every score gets a
prior of edges (``EdgePrior``).  A number as penalty multiplies the penalty of a BIC, so "auto"
then means "bic"; 1 is the textbook BIC, the score of the paper (which calls it MDL).  These
defaults were chosen by measurement: see ``studies/results/defaults.md``.
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sges.data import Dataset, Moments
from sges.errors import InvalidArgument, not_one_of
from sges.score.edge_prior import EdgePrior
from sges.score.protocol import Score

Penalty: TypeAlias = float | Literal["auto"]
"""A multiplier of the penalty of a BIC, or "auto" for the prior of edges."""


@dataclass(frozen=True, slots=True)
class NamedScore:
    """A score that has a name: its class in ``sges.score``, and whether it takes a penalty."""

    class_name: str
    instead_of_penalty: str | None = None

    @property
    def is_penalised(self) -> bool:
        """Whether the score is a BIC, whose penalty can be multiplied."""
        return self.instead_of_penalty is None

    @property
    def make(self) -> Any:  # noqa: ANN401 (the class of the score)
        """The class of the score."""
        from sges import score

        return getattr(score, self.class_name)


SCORES = {
    "gaussian-bic": NamedScore("GaussianBIC"),
    "bge": NamedScore("BGe", "its prior takes the place of a penalty"),
    "discrete-bic": NamedScore("DiscreteBIC"),
    "qnml": NamedScore("QNML", "its regret takes the place of a penalty"),
    "bdeu": NamedScore("BDeu", "its equivalent sample size takes the place of a penalty"),
    "degenerate-gaussian": NamedScore("DegenerateGaussian"),
    "basis": NamedScore("BasisBIC"),
    "rank": NamedScore("RankBIC"),
}
"""Every score that ``learn`` knows by name."""

SCORE_WORDS = ("auto", "bic", *SCORES)
"""What ``score=`` may say; "auto" and "bic" stand for a score that fits the columns."""


def check_score_word(word: str) -> None:
    """Refuse a word that names no score."""
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
    return SCORES["qnml" if word == "auto" and penalty == "auto" else "discrete-bic"]


def make_score(word: str, data: Dataset | Moments, penalty: Penalty = 1.0) -> Score:
    """Return the score of this name on these data, with a prior of edges if penalty is "auto"."""
    named = named_score(word, data, penalty)
    if penalty == "auto":
        return EdgePrior(named.make(data))
    if named.is_penalised:
        made: Score = named.make(data, penalty=penalty)
        return made
    if penalty != 1.0:
        raise InvalidArgument(
            f"penalty = {penalty:g}: score {word!r} takes no penalty; {named.instead_of_penalty}"
        )
    prior: Score = named.make(data)
    return prior


def kinds_in_words(data: Dataset | Moments) -> str:
    """Return how many columns are of which kind, for people."""
    if isinstance(data, Moments):
        counts = {"continuous": len(data.names), "discrete": 0}
    else:
        counts = {"continuous": len(data.continuous), "discrete": len(data.discrete)}
    if 0 not in counts.values():
        return " and ".join(
            f"{count} column{'' if count == 1 else 's'} {'is' if count == 1 else 'are'} {kind}"
            for kind, count in counts.items()
        )
    kind = next(kind for kind, count in counts.items() if count)
    n = counts[kind]
    return f"the one column is {kind}" if n == 1 else f"all {n} columns are {kind}"
