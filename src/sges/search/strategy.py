"""How a search goes, as a value: which steps, in which order, and what after the local optimum.

    "two-phase"      the paper: a forward phase, then deletes
    "turning"        the same with turns after the deletes, all repeated until nothing improves
    "interleaved"    at every step a delete before a turn before an insert
    "conservative"   the same, inserts between pairs last that the score calls independent
    "extended"       interleaved, once from the start and once from the best order of the
                     variables that is found; then, from the better of the two, escapes from the
                     local optimum: forced deletes
    "auto"           the same with bounded work: at most 64 subsets of each clique of neighbors are
                     looked at, and orders and escapes take a multiple of the work before them

Each word stands for a ``Strategy``; other combinations are made with ``Strategy`` itself.  What
each of them guarantees is in ``docs/explanation/strategies.md``.
"""

from dataclasses import dataclass, field, fields
from typing import TypeAlias

from sges.errors import InvalidArgument, check_word


@dataclass(frozen=True, slots=True)
class Strategy:
    """How a search goes; the words of ``sges.search.strategy`` are the usual ones.

    Parameters
    ----------
    interleaved
        At every step prefer a delete, then a turn, then an insert.  Otherwise in two phases: the
        forward phase, then deletes.
    conservative
        Take an insert between two nodes that the score calls independent, given some set that it
        was asked about, only when there is no other insert.
    order
        Search also from the best order of the variables that is found (``sges.search.order``),
        and go on from the better of the two.
    turning, repeat
        After the two phases turn edges; begin again from where they end while that improves.
    extended
        From the local optimum force deletes, one after the other, search on from each, and keep
        what is better.
    patience
        An escape ends when the best insert regains less than this share of what is still lost;
        0 lets every escape go on to its own local optimum.  0.1 takes about half the time and
        misses some improvements.
    time_limit, max_evaluations
        Seconds and score evaluations that the escapes may take, beyond the search that they begin
        from; None is no limit.
    sets_per_clique
        Look only at the smallest and largest subsets of a clique of neighbors that has more
        subsets than this; None looks at all of them, which may be exponentially many.
    effort
        How much work the search may do beyond a plain interleaved one; None is no limit.  The
        escapes may list three times this multiple of the sets of neighbors and turns that were
        listed before them.  The search for an order may take ten times this multiple of the work
        of its first guess, and the second climb this multiple of all the work before it; work is
        counted in gains computed, sets listed and nodes walked.  None of this depends on the
        machine or on the number of jobs.
    exact
        Keep only deletes that are consistent with the assumed property one by one.
    drop_large
        Leave out the sets H that contain a clique beyond the assumed bound.  Like ``exact`` this
        examines fewer deletes, with the same guarantee.
    counting
        Whether to count the unique families that are scored; False saves memory, and the count of
        the result is then None.

    Examples
    --------
    >>> print(Strategy(interleaved=True, order=True, extended=True))
    extended
    >>> print(Strategy(extended=True, time_limit=10))
    Strategy(extended=True, time_limit=10)
    """

    interleaved: bool = False
    conservative: bool = False
    order: bool = False
    turning: bool = False
    repeat: bool = False
    extended: bool = False
    patience: float = 0.0
    time_limit: float | None = None
    max_evaluations: int | None = None
    sets_per_clique: int | None = None
    effort: float | None = None
    exact: bool = False
    drop_large: bool = False
    counting: bool = field(default=True, compare=False)  # it changes no step

    def __post_init__(self) -> None:
        if self.interleaved and (self.turning or self.repeat):
            word = "turning" if self.turning else "repeat"
            raise InvalidArgument(
                f"{word}=True is for two phases: interleaved search does it anyway"
            )
        if self.order and not self.interleaved:
            raise InvalidArgument(
                'order=True is for interleaved search; two phases take forward="order"'
            )
        if not 0 <= self.patience <= 1:
            raise InvalidArgument(f"patience = {self.patience}: it is a share, from 0 to 1")
        if self.sets_per_clique is not None and not self.sets_per_clique >= 1:
            raise InvalidArgument(
                f"sets_per_clique = {self.sets_per_clique}: it is 1 or more, or None"
            )
        if self.max_evaluations is not None and not self.counting:
            raise InvalidArgument(
                f"max_evaluations = {self.max_evaluations} needs evaluations to be counted; "
                "leave out counting=False"
            )
        for name in ("time_limit", "max_evaluations", "effort"):
            self._check_budget(name)

    def _check_budget(self, name: str) -> None:
        given = getattr(self, name)
        if given is None:
            return
        if not self.extended:
            raise InvalidArgument(
                f"{name} = {given} limits the escapes; give it with extended=True"
            )
        if not given >= 0:
            raise InvalidArgument(f"{name} = {given}: a budget is 0 or more, or None")

    def __str__(self) -> str:
        for word, strategy in STRATEGIES.items():
            if self == strategy:
                return word
        given = (f"{name}={value!r}" for name, value in self._changed())
        return f"Strategy({', '.join(given)})"

    def _changed(self) -> list[tuple[str, object]]:
        """Return the fields that are not as usual."""
        pairs = [(one, getattr(self, one.name)) for one in fields(self)]
        return [(one.name, value) for one, value in pairs if value != one.default]


STRATEGIES = {
    "two-phase": Strategy(),
    "turning": Strategy(turning=True, repeat=True),
    "interleaved": Strategy(interleaved=True),
    "conservative": Strategy(interleaved=True, conservative=True),
    "extended": Strategy(interleaved=True, order=True, extended=True),
    "auto": Strategy(interleaved=True, order=True, extended=True, sets_per_clique=64, effort=10.0),
}
"""The strategies that have a name."""

AnyStrategy: TypeAlias = Strategy | str


def as_strategy(given: AnyStrategy) -> Strategy:
    """Return the strategy that a word stands for, or the strategy itself."""
    if isinstance(given, Strategy):
        return given
    check_word("strategy", given, STRATEGIES)
    return STRATEGIES[given]
