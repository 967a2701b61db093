"""Strategies as values: the steps of a search, their order, and how it continues.

    "two-phase"      the search of the paper: a forward phase, then deletes
    "turning"        two phases, then turns; all repeated while that improves the score
    "interleaved"    at every step a delete before a turn before an insert
    "conservative"   interleaved; inserts between nodes that the score finds independent come last
    "extended"       interleaved search, once from the start and once from the best order of the
                     variables that is found; then escapes from the better local optimum
    "auto"           extended with bounded work: at most 64 subsets of each clique of neighbors are
                     examined, and orders and escapes take a multiple of the work before them
    "low-order"      first deletes from the complete graph that condition on few variables
                     (``sges.search.low_order``), then as "auto" from the best state of all levels;
                     for dense true graphs and small discrete tables

Each name stands for a ``Strategy``; ``Strategy`` makes other combinations.  Their guarantees are in
``docs/explanation/strategies.md``.
"""

from dataclasses import dataclass, field, fields
from typing import TypeAlias

from sges.errors import InvalidArgument, check_flag, check_number, check_word


@dataclass(frozen=True, slots=True)
class Strategy:
    """Which steps a search takes, in which order, and how it continues from a local optimum.

    The usual strategies have names, such as "extended": see ``sges.search.STRATEGIES``.

    Parameters
    ----------
    interleaved : bool
        At every step prefer a delete to a turn and a turn to an insert.  Otherwise the search has
        two phases: the forward phase, then deletes.
    conservative : bool
        Consider an insert between two nodes that the score has found independent, given some set,
        only when there is no other insert.
    order : bool
        Also start from the best order of the variables that is found, and continue from the
        better of the two results.
    turning : bool
        Turn edges after the two phases.
    repeat : bool
        Repeat the phases while that improves the score.
    low_order : bool
        Begin with a low-order backward search from the complete graph, or from the given start
        (``sges.search.low_order``); at each level search on in two phases, assuming at most as
        many parents as the level, and continue from the best state of all levels.
    extended : bool
        Escape from the local optimum: force each delete in turn, search on, and keep the result
        if it scores higher.
    patience : float
        Abandon an escape when its best insert regains less than this share of what is still lost.
        0 continues every escape to its own local optimum; 0.1 takes about half the time and
        misses some improvements.
    time_limit : float, optional
        Seconds that the escapes may take; None is no limit.
    max_evaluations : int, optional
        Score evaluations that the escapes may take; None is no limit.
    sets_per_clique : int, optional
        Examine only the smallest and largest subsets of a clique of neighbors that has more
        subsets than this; None examines all of them, which may be exponentially many.
    effort : float, optional
        How much work the search may do beyond interleaved search; None is no limit.  The
        escapes may list three times this multiple of the sets of neighbors and turns that were
        listed before them.  The search for an order may take ten times this multiple of the work
        of its first guess, and starts again from mixed orders; the second climb may take this
        multiple of all the work before it.  Work is counted in gains computed, sets listed and
        nodes visited.  None of this depends on the machine or on the number of jobs.
    exact : bool
        Test each delete for consistency with the assumed property, and keep only those that pass.
    drop_large : bool
        Omit the sets H that contain a clique larger than the assumed bound.  Like ``exact`` this
        examines fewer deletes, with the same guarantee.
    counting : bool
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
    low_order: bool = False
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
        for option in fields(self):
            if isinstance(option.default, bool):
                check_flag(option.name, getattr(self, option.name))
        check_number("patience", self.patience)
        check_number("sets_per_clique", self.sets_per_clique, least=1, optional=True)
        check_number("time_limit", self.time_limit, optional=True)
        check_number("max_evaluations", self.max_evaluations, whole=True, optional=True)
        check_number("effort", self.effort, optional=True)
        if self.interleaved and (self.turning or self.repeat):
            option_name = "turning" if self.turning else "repeat"
            raise InvalidArgument(
                f"{option_name}=True applies to two-phase search only; interleaved search always "
                "does this"
            )
        if self.order and not self.interleaved:
            raise InvalidArgument(
                'order=True applies to interleaved search only; for two phases use forward="order"'
            )
        if self.low_order and self.order:
            raise InvalidArgument(
                "low_order=True and order=True cannot be combined; choose one of them"
            )
        if not 0 <= self.patience <= 1:
            raise InvalidArgument(f"patience = {self.patience}: it must be a share, from 0 to 1")
        if self.max_evaluations is not None and not self.counting:
            raise InvalidArgument(
                f"max_evaluations = {self.max_evaluations} needs evaluations to be counted; "
                "leave out counting=False"
            )
        for name in ("time_limit", "max_evaluations", "effort"):
            value = getattr(self, name)
            if value is not None and not self.extended:
                raise InvalidArgument(
                    f"{name} = {value} limits the escapes; give it with extended=True"
                )

    def __str__(self) -> str:
        for word, strategy in STRATEGIES.items():
            if self == strategy:
                return word
        pairs = [(option, getattr(self, option.name)) for option in fields(self)]
        changed = (f"{option.name}={value!r}" for option, value in pairs if value != option.default)
        return f"Strategy({', '.join(changed)})"


STRATEGIES = {
    "two-phase": Strategy(),
    "turning": Strategy(turning=True, repeat=True),
    "interleaved": Strategy(interleaved=True),
    "conservative": Strategy(interleaved=True, conservative=True),
    "extended": Strategy(interleaved=True, order=True, extended=True),
    "auto": Strategy(interleaved=True, order=True, extended=True, sets_per_clique=64, effort=10.0),
    "low-order": Strategy(
        interleaved=True, low_order=True, extended=True, sets_per_clique=64, effort=10.0
    ),
}
"""The strategies that have a name."""

AnyStrategy: TypeAlias = Strategy | str


def as_strategy(strategy: AnyStrategy) -> Strategy:
    """Return the strategy with this name, or the strategy itself."""
    if isinstance(strategy, Strategy):
        return strategy
    check_word("strategy", strategy, STRATEGIES)
    return STRATEGIES[strategy]
