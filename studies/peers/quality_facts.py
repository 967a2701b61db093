"""What the rows of the quality preset say: spreads, comparisons seed by seed, verdicts.

Everything on the page is one of these values.  The rules by which our default is called better
or worse than the peers are the functions ``shd_mark`` and ``bic_mark``, and nothing else.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median, quantiles
from typing import Literal, TypeAlias

from studies.peers.medians import BIC_TOLERANCE
from studies.peers.registry import all_peers
from studies.peers.rows import Row, latest
from studies.peers.suite import PRESETS, Preset, Spec

DEFAULT = "sges-extended"
"""What ``sges.learn`` does when no strategy is named."""

RIVAL = "xges"
"""The peer whose time is compared with ours: XGES with its extended search."""

SAME_DATA = 0.01
"""The BIC of the true graph is computed once per run: on the same table it differs by rounding."""

MEASURABLE = 0.1
"""Seconds of the processor from which on they say something about the clock's."""

QUALITY = PRESETS["quality"]

Mark: TypeAlias = Literal["better", "equal", "worse", "not judged"]


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of some values, and the quartiles around it."""

    low: float
    mid: float
    high: float


def spread_of(values: Sequence[float]) -> Spread | None:
    """Return median and quartiles, interpolated as NumPy does; None of no values.

    >>> spread_of([1.0, 2.0, 3.0, 10.0])
    Spread(low=1.75, mid=2.5, high=4.75)
    """
    if not values:
        return None
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    return Spread(*quantiles(values, n=4, method="inclusive"))


@dataclass(frozen=True, eq=False)
class Line:
    """One program on one setting: its rows, and what they amount to."""

    setting: str
    program: str
    seeds: int
    """How many seeds the preset has: a program with fewer rows has not been run on all."""
    rows: tuple[Row, ...]

    @cached_property
    def done(self) -> dict[int, Row]:
        """The rows of the runs that ended with a graph, by seed."""
        return {row["seed"]: row for row in self.rows if row["failed"] is None}

    @cached_property
    def scored(self) -> dict[int, Row]:
        """Those whose graph has a BIC: some DAG extends it."""
        return {seed: row for seed, row in self.done.items() if row["bic"] is not None}

    @property
    def finished(self) -> bool:
        """Whether there is a graph for every seed."""
        return len(self.done) == self.seeds

    @property
    def takes_the_data(self) -> bool:
        """Whether the program is made for this kind of data at all."""
        return not any((row["failed"] or "").startswith("wrong kind") for row in self.rows)

    @property
    def below_truth(self) -> int:
        """How many graphs score below the true one, so that a better graph is known to exist."""
        return sum(gap_to_truth(row) < -BIC_TOLERANCE for row in self.scored.values())

    @property
    def reasons(self) -> list[tuple[str, int]]:
        """Why runs have no graph, and how many, in order of appearance."""
        said = Counter(plain_reason(row["failed"]) for row in self.rows if row["failed"])
        return list(said.items())

    @property
    def shares(self) -> list[float]:
        """The share of the processor that finished runs had, where long enough to be measured."""
        long = [row for row in self.done.values() if row["cpu_seconds"] >= MEASURABLE]
        return [min(1.0, row["cpu_seconds"] / row["seconds"]) for row in long]

    def spread(self, field: str) -> Spread | None:
        """Return the spread of a column over the runs that ended with a graph."""
        return spread_of([float(row[field]) for row in self.done.values()])

    @property
    def bic(self) -> Spread | None:
        """The spread of the BIC beyond that of the true graph."""
        return spread_of([gap_to_truth(row) for row in self.scored.values()])


def gap_to_truth(row: Row) -> float:
    """Return the BIC of what was found minus that of the true graph."""
    return float(row["bic"] - row["bic_true"])


_FOLDERS = re.compile(r"(?<!\w)/(?:[\w.+-]+/)+")


def plain_reason(reason: str) -> str:
    """Return a reason on one line, without folders of the machine it happened on.

    >>> plain_reason("crash in run: /usr/lib/x.py   failed")
    'crash in run: x.py failed'
    """
    return " ".join(_FOLDERS.sub("", reason).replace("|", "/").split())


class MixedData(Exception):
    """Rows of one seed are not of one table, so they cannot be compared."""


class Results:
    """The latest rows of a preset, by setting and program."""

    def __init__(self, rows: Iterable[Row], preset: Preset = QUALITY) -> None:
        seeds = {spec.name: count for spec, count in preset.problems}
        self.preset = preset
        self.rows = [row for row in latest(rows) if row["seed"] < seeds.get(row["dataset"], 0)]
        check_same_data(self.rows)
        grouped: dict[tuple[str, str], list[Row]] = {}
        for row in sorted(self.rows, key=lambda row: int(row["seed"])):
            grouped.setdefault((row["dataset"], row["peer"]), []).append(row)
        self.lines = {
            (setting, program): Line(setting, program, seeds[setting], tuple(own))
            for (setting, program), own in grouped.items()
        }

    @property
    def settings(self) -> list[Spec]:
        """The data sets, as the preset lists them."""
        return [spec for spec, _ in self.preset.problems]

    @cached_property
    def programs(self) -> list[str]:
        """All programs with rows: ours as they are declared, then peers by name."""
        found = {row["peer"] for row in self.rows}
        order = {peer.name: place for place, peer in enumerate(all_peers())}
        ours = sorted(filter(is_ours, found), key=lambda name: (order.get(name, 99), name))
        return [*ours, *sorted(found - set(ours))]

    def of(self, setting: str) -> list[Line]:
        """Return the lines of a setting, of all programs that take its data."""
        found = [self.lines.get((setting, program)) for program in self.programs]
        return [line for line in found if line is not None and line.takes_the_data]

    def peers_of(self, setting: str) -> list[Line]:
        """Return the lines of the peers that take its data."""
        return [line for line in self.of(setting) if not is_ours(line.program)]


def check_same_data(rows: Iterable[Row]) -> None:
    """Raise unless the true graph of each setting and seed has one BIC, whoever was run on it."""
    first: dict[tuple[str, int], Row] = {}
    for row in rows:
        if row["failed"] is None:
            other = first.setdefault((row["dataset"], row["seed"]), row)
            if abs(row["bic_true"] - other["bic_true"]) > SAME_DATA:
                raise MixedData(
                    f"{row['dataset']}, seed {row['seed']}: the true graph scores "
                    f"{row['bic_true']} where {row['peer']} was run and {other['bic_true']} where "
                    f"{other['peer']} was; measure one of them again, with --again"
                )


def described(spec: Spec) -> tuple[str, str]:
    """Return what the data are, and how many.

    >>> described(Spec("er", 50, 1_000, 2))
    ('Gaussian ER, 2d edges', 'd = 50, 1,000 rows')
    """
    many = spec.edges_per_node
    what = {
        "er": f"Gaussian ER, {'' if many == 1 else many}d edges",
        "sf": f"Gaussian SF, {many} parents each",
        "cpt": "discrete, random tables",
        "network": spec.network,
    }
    return what[spec.source], f"d = {spec.d}, {spec.rows:,} rows"


def is_ours(program: str) -> bool:
    """Tell whether a program is one of our strategies."""
    return program.startswith("sges")


@dataclass(frozen=True, slots=True)
class Duel:
    """Two programs seed by seed, on the seeds that both finished."""

    better: int
    equal: int
    worse: int
    gain: float
    """The median difference, above 0 where the first program is better."""

    @property
    def seeds(self) -> int:
        """How many seeds both finished."""
        return self.better + self.equal + self.worse


Value: TypeAlias = Callable[[Row], float]


def shd_duel(first: Line, second: Line) -> Duel | None:
    """Compare distances to the truth; a smaller one is better."""
    return _duel(first.done, second.done, lambda row: -float(row["shd"]))


def bic_duel(first: Line, second: Line) -> Duel | None:
    """Compare scores on the same data; the true graph's cancels out."""
    return _duel(first.scored, second.scored, lambda row: float(row["bic"]))


def _duel(first: dict[int, Row], second: dict[int, Row], value: Value) -> Duel | None:
    both = sorted(first.keys() & second.keys())
    if not both:
        return None
    gains = [value(first[seed]) - value(second[seed]) for seed in both]
    better = sum(gain > BIC_TOLERANCE for gain in gains)
    worse = sum(gain < -BIC_TOLERANCE for gain in gains)
    return Duel(better, len(gains) - better - worse, worse, median(gains))


def time_ratio(first: Line, second: Line) -> float | None:
    """Return how many times as long the second takes, by median, on the seeds both finished."""
    both = first.done.keys() & second.done.keys()
    ratios = [
        second.done[seed]["cpu_seconds"] / first.done[seed]["cpu_seconds"] for seed in sorted(both)
    ]
    return median(ratios) if ratios else None


def shd_mark(ours: Line | None, peers: Sequence[Line]) -> Mark:
    """Compare our median SHD with the lowest of the peers that finished all seeds."""
    medians = [mid for line in peers if (mid := shd_median(line)) is not None]
    own = None if ours is None else shd_median(ours)
    if own is None or not medians:
        return "not judged"
    return _mark(min(medians) - own)


def bic_mark(ours: Line | None, peers: Sequence[Line]) -> Mark:
    """Compare our BIC seed by seed with each peer that finished all seeds; the worst counts."""
    if ours is None or not all_scored(ours):
        return "not judged"
    duels = [bic_duel(ours, line) for line in peers if all_scored(line)]
    gains = [duel.gain for duel in duels if duel is not None]
    return _mark(min(gains), BIC_TOLERANCE) if gains else "not judged"


def _mark(gain: float, tolerance: float = 0.0) -> Mark:
    return "worse" if gain < -tolerance else "better" if gain > tolerance else "equal"


def shd_median(line: Line) -> float | None:
    """Return the median SHD of a program that finished all seeds."""
    found = line.spread("shd") if line.finished else None
    return None if found is None else found.mid


def bic_median(line: Line) -> float | None:
    """Return the median BIC beyond the truth of a program that has one for all seeds."""
    return line.bic.mid if all_scored(line) and line.bic is not None else None


def all_scored(line: Line) -> bool:
    """Tell whether every seed has a graph that a DAG extends."""
    return len(line.scored) == line.seeds


@dataclass(frozen=True, slots=True)
class Verdict:
    """Our default on one setting, beside the peers."""

    spec: Spec
    ours: Line | None
    peers: tuple[Line, ...]
    shd: Mark
    bic: Mark

    @property
    def name(self) -> str:
        """What the data set is called in the rows."""
        return self.spec.name

    @property
    def closest(self) -> list[Line]:
        """The peers with the lowest median SHD."""
        return _best(self.peers, shd_median, min)

    @property
    def highest(self) -> list[Line]:
        """The peers with the highest median BIC beyond the truth."""
        return _best(self.peers, bic_median, max)


def _best(
    lines: Sequence[Line],
    value: Callable[[Line], float | None],
    which: Callable[[list[float]], float],
) -> list[Line]:
    known = [mid for line in lines if (mid := value(line)) is not None]
    if not known:
        return []
    best = which(known)
    found = [(line, value(line)) for line in lines]
    return [line for line, mid in found if mid is not None and abs(mid - best) <= BIC_TOLERANCE]


def verdicts(results: Results, program: str = DEFAULT) -> list[Verdict]:
    """Return how a program of ours stands on every setting."""
    found = []
    for spec in results.settings:
        ours, peers = results.lines.get((spec.name, program)), results.peers_of(spec.name)
        marks = shd_mark(ours, peers), bic_mark(ours, peers)
        found.append(Verdict(spec, ours, tuple(peers), *marks))
    return found
