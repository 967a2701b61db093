"""The quality of the graphs: every strategy of ours and the peers, judged on the same data.

A peer is compared on a setting only if it finished all seeds.  ``marks`` alone decides whether our
default is better or worse than the peers.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Literal, TypeAlias

from studies.charts import axes_grid, intervals
from studies.frame import Key, Options, Row, Study, StudyError, Task
from studies.peers.adapters import all_peers
from studies.peers.problems import PRESETS, SPECS, Preset, Spec
from studies.peers.runner import COLUMNS, KEYS, needs, rows_of, tasks
from studies.peers.standard import BIC_TOLERANCE, circumstances, is_ours
from studies.summary import MISSING, Spread, distinct, grid, seconds, spread_of, times

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT = "sges-extended"
"""The default of ``sges.learn`` when the rows were measured; now its work is bounded."""

SAME_DATA = 0.01
"""The tolerance for the BIC of the true graph, which rounding may change between runs."""

Mark: TypeAlias = Literal["better", "equal", "worse", "not judged"]


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One program on one setting."""

    program: str
    seeds: int
    """The number of seeds of the setting."""
    rows: tuple[Row, ...]

    @property
    def done(self) -> dict[int, Row]:
        """The rows of the runs that ended with a graph, by seed."""
        return {row["seed"]: row for row in self.rows if row["failed"] is None}

    @property
    def scored(self) -> dict[int, Row]:
        """The rows of ``done`` whose graph has a BIC because it has a consistent extension."""
        return {seed: row for seed, row in self.done.items() if row["bic"] is not None}

    @property
    def finished(self) -> bool:
        """Whether there is a graph for every seed."""
        return len(self.done) == self.seeds

    @property
    def takes_the_data(self) -> bool:
        """Whether the program accepts this kind of data."""
        return not any((row["failed"] or "").startswith("wrong kind") for row in self.rows)

    def spread(self, field: str) -> Spread | None:
        """Return the spread of a column over the runs that ended with a graph."""
        return spread_of([float(row[field]) for row in self.done.values()])

    @property
    def bic(self) -> Spread | None:
        """The spread of the BIC minus that of the true graph."""
        return spread_of([row["bic"] - row["bic_true"] for row in self.scored.values()])

    @property
    def reasons(self) -> Counter[str]:
        """The reasons why seeds have no graph, with their counts."""
        said = Counter(plain_reason(row["failed"]) for row in self.rows if row["failed"])
        if left := self.seeds - len(self.rows):
            said["not measured"] = left
        return said


_FOLDERS = re.compile(r"(?<!\w)/(?:[\w.+-]+/)+")


def plain_reason(reason: str) -> str:
    """Return a reason without the folders in it.

    >>> plain_reason("crash in run: /usr/lib/x.py   failed")
    'crash in run: x.py failed'
    """
    return " ".join(_FOLDERS.sub("", reason).split())


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """One setting: our default and all other programs on the same data."""

    spec: Spec
    lines: tuple[Line, ...]

    def of(self, program: str) -> Line | None:
        """Return the line of a program, if it has one."""
        return next((line for line in self.lines if line.program == program), None)

    @property
    def peers(self) -> list[Line]:
        """The peers that accept the data."""
        return [x for x in self.lines if not is_ours(x.program) and x.takes_the_data]

    @property
    def title(self) -> str:
        """A short description of the data."""
        many = "" if self.spec.edges_per_node == 1 else self.spec.edges_per_node
        what = {
            "er": f"Gaussian ER, {many}d edges",
            "sf": f"Gaussian SF, {many} parents each",
            "cpt": "discrete, random tables",
            "network": self.spec.network,
        }
        return f"{what[self.spec.source]}, d = {self.spec.d}, {self.spec.rows:,} rows"


def settings_of(rows: Sequence[Row]) -> list[Setting]:
    """Return the settings in the order of the rows, each with all programs, ours first."""
    check_same_data(rows)
    order = {peer.name: place for place, peer in enumerate(all_peers())}
    names = sorted(distinct(rows, "peer"), key=lambda n: (not is_ours(n), order.get(n, 99), n))
    settings = []
    for name in distinct(rows, "dataset"):
        here = sorted((r for r in rows if r["dataset"] == name), key=lambda row: row["seed"])
        seeds = len(set(distinct(here, "seed")))
        lines = (Line(p, seeds, tuple(r for r in here if r["peer"] == p)) for p in names)
        settings.append(Setting(SPECS[name], tuple(lines)))
    return settings


def check_same_data(rows: Iterable[Row]) -> None:
    """Raise an error unless the BIC of the true graph of a data set is the same in all rows."""
    first: dict[tuple[str, int], Row] = {}
    for row in rows:
        if row["failed"] is None:
            other = first.setdefault((row["dataset"], row["seed"]), row)
            if abs(row["bic_true"] - other["bic_true"]) > SAME_DATA:
                raise StudyError(
                    f"{row['dataset']}, seed {row['seed']}: the true graph scores "
                    f"{row['bic_true']} where {row['peer']} was run and {other['bic_true']} where "
                    f"{other['peer']} was; measure one of them again with --again"
                )


# The rules.


@dataclass(frozen=True, slots=True)
class Duel:
    """A comparison of two programs, seed by seed, on the seeds that both finished."""

    better: int
    equal: int
    worse: int
    gain: float
    """The median difference; it is positive if the first program is better."""

    def __str__(self) -> str:
        return f"({self.better}, {self.equal}, {self.worse})"


def shd_duel(first: Line, second: Line) -> Duel | None:
    """Compare distances to the truth; a smaller one is better."""
    return _duel(first.done, second.done, lambda row: -row["shd"])


def bic_duel(first: Line, second: Line) -> Duel | None:
    """Compare scores on the same data."""
    return _duel(first.scored, second.scored, lambda row: row["bic"])


def _duel(
    first: dict[int, Row], second: dict[int, Row], value: Callable[[Row], float]
) -> Duel | None:
    both = sorted(first.keys() & second.keys())
    if not both:
        return None
    gains = [value(first[seed]) - value(second[seed]) for seed in both]
    better = sum(gain > BIC_TOLERANCE for gain in gains)
    worse = sum(gain < -BIC_TOLERANCE for gain in gains)
    return Duel(better, len(gains) - better - worse, worse, median(gains))


def marks(ours: Line | None, peers: Sequence[Line]) -> tuple[Mark, Mark]:
    """Return the marks of our program in SHD and BIC against peers that finished all seeds.

    SHD: our median compared with the lowest median of these peers.  BIC: the median difference
    over the seeds to each of these peers, of which the least favorable one counts.
    """
    if ours is None or not ours.finished:
        return "not judged", "not judged"
    own = ours.spread("shd")
    medians = [s.mid for line in peers if line.finished and (s := line.spread("shd"))]
    scored = [line for line in peers if len(line.scored) == line.seeds]
    duels = [duel for line in scored if (duel := bic_duel(ours, line))]
    whole = len(ours.scored) == ours.seeds
    return (
        _mark(min(medians) - own.mid) if own and medians else "not judged",
        _mark(min(duel.gain for duel in duels)) if whole and duels else "not judged",
    )


def _mark(gain: float) -> Mark:
    return "better" if gain > BIC_TOLERANCE else "worse" if gain < -BIC_TOLERANCE else "equal"


def closest(lines: Sequence[Line]) -> list[Line]:
    """Return the lines that finished, lowest median SHD first."""
    known = [(s.mid, x.program, x) for x in lines if x.finished and (s := x.spread("shd"))]
    return [line for *_, line in sorted(known, key=lambda each: each[:2])]


def highest(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with a score for every seed, highest median BIC first."""
    known = [(-s.mid, x.program, x) for x in lines if len(x.scored) == x.seeds and (s := x.bic)]
    return [line for *_, line in sorted(known, key=lambda each: each[:2])]


# The page.


def facts(rows: list[Row]) -> dict[str, object]:
    """Return the verdicts, all tables, and the failures."""
    settings = settings_of(rows)
    judged = [marks(setting.of(DEFAULT), setting.peers) for setting in settings]
    told: dict[str, object] = {
        "default": DEFAULT,
        "settings": len(settings),
        "seeds": min(line.seeds for setting in settings for line in setting.lines),
        "summary": _summary(settings),
        "losses": _losses(settings),
        "scoreboard": _scoreboard(settings),
        "tables": "\n\n".join(f"### {s.title}\n\n{_table(s)}" for s in settings),
        "unfinished": _unfinished(settings),
        "circumstances": circumstances(rows),
        "versions": _versions(rows),
    }
    for place, measure in enumerate(("shd", "bic")):
        for mark in ("better", "equal", "worse"):
            told[f"{measure}_{mark}"] = sum(each[place] == mark for each in judged)
    return told


def _summary(settings: Sequence[Setting]) -> str:
    lines = []
    for setting in settings:
        ours, peers = setting.of(DEFAULT), setting.peers
        shd, bic = marks(ours, peers)
        near, high = closest(peers), highest(peers)
        lines.append(
            (
                setting.title,
                f"{sum(line.finished for line in peers)} of {len(peers)}",
                _shd(ours),
                f"{_shd(near[0])} (`{near[0].program}`)" if near else "none finished",
                _told(shd, shd_duel(ours, near[0]) if ours and near else None),
                _bic(ours),
                f"{_bic(high[0])} (`{high[0].program}`)" if high else "none finished",
                _told(bic, bic_duel(ours, high[0]) if ours and high else None),
            )
        )
    head = ("setting", "peers compared", "SHD, ours", "best peer", "ours is")
    return grid((*head, "BIC, ours", "best peer", "ours is"), lines)


def _told(mark: Mark, duel: Duel | None) -> str:
    return (f"**{mark}**" if mark == "worse" else mark) + (f" {duel}" if duel else "")


def _shd(line: Line | None) -> str:
    found = line.spread("shd") if line and line.finished else None
    return f"{found.mid:g}" if found else MISSING


def _bic(line: Line | None) -> str:
    found = line.bic if line and len(line.scored) == line.seeds else None
    return signed(found.mid) if found else MISSING


def signed(value: float) -> str:
    """Return a difference of scores with its sign; differences due to rounding are 0.

    >>> [signed(value) for value in (1234.56, -0.02, 0.0004)]
    ['+1,234.6', '−0.02', '0']
    """
    if abs(value) <= BIC_TOLERANCE:
        return "0"
    text = f"{value:+,.1f}" if abs(value) >= 0.1 else f"{value:+.2g}"
    return text.replace("-", "−")


def _losses(settings: Sequence[Setting]) -> str:
    """Tabulate the peers whose median is better than that of our default."""
    lines = []
    for setting in settings:
        ours = setting.of(DEFAULT)
        for line in setting.peers if ours else ():
            assert ours is not None
            shd, bic = shd_duel(ours, line), bic_duel(ours, line)
            own, their = ours.spread("shd"), line.spread("shd")
            closer = own and their and their.mid < own.mid and line.finished
            part = shd and not line.finished and shd.gain < 0
            if closer or part or (bic and bic.gain < -BIC_TOLERANCE):
                name = f"`{line.program}`"
                seeds = "" if line.finished else f" ({len(line.done)} of {line.seeds} seeds)"
                gap = signed(bic.gain) if bic else MISSING
                distances = [f"{s.mid:g}" if s else MISSING for s in (own, their)]
                lines.append((setting.title, name + seeds, *distances, shd or MISSING, gap))
    head = ("setting", "peer", "SHD, ours", "SHD, peer", "seeds", "BIC, ours minus peer")
    return grid(head, lines, left=2) if lines else "None."


def _scoreboard(settings: Sequence[Setting]) -> str:
    lines = []
    for program in [line.program for line in settings[0].lines if line.program != DEFAULT]:
        pairs = [(s.of(DEFAULT), line) for s in settings if (line := s.of(program)) and line.rows]
        pairs = [(ours, line) for ours, line in pairs if line.takes_the_data]
        judged = [marks(ours, [line]) for ours, line in pairs]
        ratios = [r for ours, line in pairs if ours and (r := _time_ratio(ours, line))]
        ends = f" ({times(min(ratios))} to {times(max(ratios))})" if ratios else ""
        span = times(median(ratios)) + ends if ratios else MISSING
        finished = f"{sum(line.finished for _, line in pairs)} of {len(pairs)}"
        counts = (_counts([each[place] for each in judged]) for place in (0, 1))
        lines.append((f"`{program}`", finished, *counts, span))
    return grid(("program", "settings finished", "SHD", "BIC", "time"), lines)


def _time_ratio(ours: Line, other: Line) -> float | None:
    both = sorted(ours.done.keys() & other.done.keys())
    ratios = [other.done[s]["cpu_seconds"] / ours.done[s]["cpu_seconds"] for s in both]
    return median(ratios) if ratios else None


def _counts(found: Sequence[Mark]) -> str:
    if not any(mark != "not judged" for mark in found):
        return MISSING
    return " / ".join(str(found.count(mark)) for mark in ("better", "equal", "worse"))


def _table(setting: Setting) -> str:
    lines = sorted((line for line in setting.lines if line.done), key=_rank)
    body = []
    for line in lines:
        name = f"`{line.program}`"
        below = sum(r["bic"] - r["bic_true"] < -BIC_TOLERANCE for r in line.scored.values())
        body.append(
            (
                f"**{name}**" if line.program == DEFAULT else name,
                f"{len(line.done)}" if line.finished else f"{len(line.done)} of {line.seeds}",
                _spread(line.spread("shd"), lambda value: f"{value:g}"),
                _spread(line.spread("skeleton_f1"), lambda value: f"{value:.3f}"),
                _spread(line.spread("arrow_f1"), lambda value: f"{value:.3f}"),
                _spread(line.bic, signed),
                f"{below} of {len(line.scored)}",
                _spread(line.spread("cpu_seconds"), seconds),
            )
        )
    head = ("program", "seeds", "SHD", "skeleton F1", "arrow F1", "BIC − true", "below", "CPU s")
    return grid(head, body)


def _rank(line: Line) -> tuple[bool, float, float, str]:
    shd, bic = line.spread("shd"), line.bic
    far = shd.mid if shd else float("inf")
    return not line.finished, far, -bic.mid if bic else float("inf"), line.program


def _spread(found: Spread | None, show: Callable[[float], str]) -> str:
    return f"{show(found.mid)} [{show(found.low)}, {show(found.high)}]" if found else MISSING


def _unfinished(settings: Sequence[Setting]) -> str:
    places: dict[tuple[str, str], list[str]] = {}
    for setting in settings:
        for line in setting.lines:
            for why, count in line.reasons.items() if line.takes_the_data else ():
                name = setting.spec.name
                places.setdefault((f"`{line.program}`", why), []).append(f"{name} ({count})")
            if loose := len(line.done) - len(line.scored):
                key = f"`{line.program}`", "no DAG extends the graph"
                places.setdefault(key, []).append(f"{setting.spec.name} ({loose})")
    lines = [(*key, ", ".join(where)) for key, where in sorted(places.items())]
    return grid(("program", "why", "where (runs)"), lines, left=3) if lines else "Nothing."


def _versions(rows: Sequence[Row]) -> str:
    lines = [
        (f"`{peer.name}`", peer.method, ", ".join(sorted(found)), peer.penalty)
        for peer in all_peers()
        if (found := {row["version"] for row in rows if row["peer"] == peer.name})
    ]
    return grid(("program", "method", "version", "penalty"), lines, left=4)


# The figures.


def draw(rows: list[Row], figure: "Figure", value: Callable[[Line], Spread | None]) -> None:
    """Draw median and quartiles of every program on every setting, a panel per setting."""
    settings = settings_of(rows)
    every = [line.program for line in settings[0].lines]
    for axes, setting in zip(axes_grid(figure, len(settings), 3), settings, strict=True):
        known = {line.program: found for line in setting.lines if (found := value(line))}
        spreads = {name: known.get(name) for name in every}
        ends = {name: (s.low, s.mid, s.high) if s else None for name, s in spreads.items()}
        intervals(axes, ends, is_ours)
        axes.set_title(setting.title, loc="left", fontsize=9)


def draw_shd(rows: list[Row], figure: "Figure") -> None:
    """Draw the distance to the truth."""
    draw(rows, figure, lambda line: line.spread("shd"))


def draw_bic(rows: list[Row], figure: "Figure") -> None:
    """Draw the BIC minus that of the true graph, in nats."""
    draw(rows, figure, lambda line: line.bic)


def _preset(options: Options) -> Preset:
    return PRESETS["quick" if options.quick else "quality"]


def _measure(asked: list[Task], known: Mapping[Key, Row], options: Options) -> Iterator[Row]:
    return rows_of(_preset(options), asked, known, options)


STUDY = Study(
    "quality",
    "The quality of the graphs: our strategies and the peers",
    KEYS,
    COLUMNS,
    lambda options: tasks(_preset(options)),
    _measure,
    facts,
    {"": draw_shd, "-bic": draw_bic},
    needs,
)
