"""Our searches compared with other programs: time, memory, score, distance to the truth.

The tables show medians over seeds and comparisons seed by seed, and our losses as clearly as wins.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, TypeAlias

from studies.charts import INK, Looks, axes_grid, label, line, panels, plain_ticks
from studies.frame import Key, Options, Row, Study, Task
from studies.peers.problems import PRESETS, SOURCES, SPECS, Preset, Spec
from studies.peers.runner import COLUMNS, KEYS, needs, rows_of, tasks
from studies.summary import MISSING, distinct, grid, pick, seconds, times

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REFERENCE = "sges-ges"
"""Our search, with which the others are compared."""

BIC_TOLERANCE = 1e-3
"""Scores that differ by no more than this, in nats, are equal."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One program on one data set: medians over the seeds that it finished."""

    d: int
    runs: int
    done: int
    failed: str | None
    seconds: float | None = None
    megabytes: float | None = None
    shd: float | None = None
    ratio: float | None = None
    """The time divided by that of the reference, on the same seeds: slower if above 1."""
    bic_gain: float | None = None
    """The BIC minus that of the reference, on the same seeds: better if above 0."""

    @property
    def wrong_kind(self) -> bool:
        """Whether the program does not accept data of this kind."""
        return (self.failed or "").startswith("wrong kind")


Cells: TypeAlias = Mapping[tuple[str, str], Cell]
"""The cells by program and data set."""


def cells_of(rows: Iterable[Row], reference: str = REFERENCE) -> dict[tuple[str, str], Cell]:
    """Return the medians of every program on every data set."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["peer"], row["dataset"]), []).append(row)
    return {
        (peer, dataset): _cell(group, groups.get((reference, dataset), []))
        for (peer, dataset), group in groups.items()
    }


def _cell(group: list[Row], ours: list[Row]) -> Cell:
    done = [row for row in group if row["failed"] is None]
    by_seed = {row["seed"]: row for row in ours if row["failed"] is None}
    pairs = [(row, by_seed[row["seed"]]) for row in done if row["seed"] in by_seed]
    gains = [
        row["bic"] - our["bic"]
        for row, our in pairs
        if row["bic"] is not None and our["bic"] is not None
    ]
    return Cell(
        d=group[0]["d"],
        runs=len(group),
        done=len(done),
        failed=next((row["failed"] for row in group if row["failed"]), None),
        seconds=_median(row["seconds"] for row in done),
        megabytes=_median(row["megabytes"] for row in done),
        shd=_median(row["shd"] for row in done),
        ratio=_median(row["seconds"] / our["seconds"] for row, our in pairs),
        bic_gain=_median(0.0 if abs(gain) <= BIC_TOLERANCE else gain for gain in gains),
    )


def _median(numbers: Iterable[float]) -> float | None:
    known = list(numbers)
    return median(known) if known else None


@dataclass(frozen=True, slots=True)
class Family:
    """Data sets that differ only in their number of variables, or all reference networks."""

    title: str
    columns: tuple[str, ...]
    """The heading of each data set: its size, or the name of the network."""
    datasets: tuple[str, ...]


def families_of(rows: Iterable[Row]) -> list[Family]:
    """Return the families of all data sets in the rows, each ordered by size."""
    specs = sorted(
        (SPECS[name] for name in distinct(rows, "dataset")), key=lambda spec: (spec.d, spec.name)
    )
    groups: dict[str, list[Spec]] = {}
    for spec in sorted(specs, key=lambda spec: SOURCES.index(spec.source)):
        groups.setdefault(_title(spec), []).append(spec)
    return [
        Family(
            title,
            tuple(spec.network or f"d = {spec.d}" for spec in group),
            tuple(spec.name for spec in group),
        )
        for title, group in groups.items()
    ]


def _title(spec: Spec) -> str:
    rows = f"{spec.rows:,} rows"
    if spec.source == "network":
        return f"Reference networks, {rows}"
    if spec.source == "null":
        return f"Independent columns, {spec.kind}, {rows}"
    if spec.source == "cpt":
        return f"Discrete, random tables, {rows}"
    graph = {"er": "Erdős–Rényi", "sf": "scale-free"}[spec.source]
    return f"Linear Gaussian, {graph}, {spec.edges_per_node} edges per variable, {rows}"


# The page.


def facts(rows: list[Row]) -> dict[str, object]:
    """Return all tables of the page."""
    peers, cells = programs(rows), cells_of(rows)
    return {
        "reference": REFERENCE,
        "circumstances": circumstances(rows),
        "scoreboard": scoreboard(peers, cells),
        "losses": losses(cells),
        "families": "\n\n".join(_family(family, peers, cells) for family in families_of(rows)),
        "failures": failures(cells),
        "versions": versions(rows),
    }


def programs(rows: Sequence[Row]) -> list[str]:
    """Return the names of the programs: ours first in order of appearance, then peers by name."""
    names = distinct(rows, "peer")
    ours = [name for name in names if is_ours(name)]
    return [*ours, *sorted(set(names) - set(ours))]


def is_ours(program: str) -> bool:
    """Return whether a program is one of our searches."""
    return program.startswith("sges")


def circumstances(rows: Sequence[Row]) -> str:
    """Return the dates, the machines and the time limits of the measurements."""
    dates = sorted(set(distinct(rows, "date")))
    span = " to ".join(dict.fromkeys((dates[0], dates[-1])))
    limits = " or ".join(f"{limit:g}" for limit in sorted(distinct(rows, "limit")))
    machines = "; ".join(sorted(distinct(rows, "machine")))
    return f"Measured {span} on {machines}; at most {limits} s per run."


def scoreboard(peers: Sequence[str], cells: Cells) -> str:
    """Tabulate on how many data sets each peer is faster or better than the reference."""
    lines = []
    for peer in peers:
        own = [c for (name, _), c in cells.items() if name == peer and not c.wrong_kind]
        ratios = [cell.ratio for cell in own if cell.ratio is not None]
        gains = [c.bic_gain for c in own if c.ratio is not None and c.bic_gain is not None]
        if not is_ours(peer):
            lines.append(
                (
                    peer,
                    f"{sum(cell.done > 0 for cell in own)} of {len(own)}",
                    sum(ratio < 1 for ratio in ratios),
                    sum(ratio >= 1 for ratio in ratios),
                    times(median(ratios)) if ratios else MISSING,
                    sum(gain > 0 for gain in gains),
                    sum(gain == 0 for gain in gains),
                    sum(gain < 0 for gain in gains),
                )
            )
    head = ("peer", "finished", "faster than ours", "slower", "median time, ours = 1")
    return grid((*head, "better BIC than ours", "equal", "worse"), lines)


def losses(cells: Cells) -> str:
    """Tabulate the data sets on which a peer was faster than the reference or had a better BIC."""
    lines = []
    for (peer, dataset), cell in sorted(cells.items(), key=lambda item: item[0][::-1]):
        if is_ours(peer) or cell.ratio is None or cell.seconds is None:
            continue
        gain = cell.bic_gain or 0.0
        if cell.ratio < 1 or gain > 0:
            time = times(cell.ratio) if cell.ratio < 1 else f"slower, {times(cell.ratio)}"
            lines.append(
                (dataset, peer, seconds(cell.seconds), time, f"{gain:+,.1f}" if gain else "=")
            )
    head = ("data set", "peer", "seconds", "time, ours = 1", "BIC beyond ours")
    return grid(head, lines, left=2) if lines else "None."


def failures(cells: Cells) -> str:
    """Tabulate the failures with their reasons, except data of a kind that is not accepted."""
    lines = [
        (peer, dataset, f"{cell.runs - cell.done} of {cell.runs}", cell.failed)
        for (peer, dataset), cell in sorted(cells.items())
        if cell.done < cell.runs and not cell.wrong_kind
    ]
    return grid(("peer", "data set", "runs", "reason"), lines, left=4) if lines else "None."


def versions(rows: Sequence[Row]) -> str:
    """Tabulate the versions of each program, of Python and of NumPy."""
    lines = []
    for peer in programs(rows):
        own = pick(rows, peer=peer)
        known = [sorted(filter(None, distinct(own, c))) for c in ("version", "python", "numpy")]
        lines.append((peer, *(", ".join(each) or MISSING for each in known)))
    return grid(("program", "version", "Python", "NumPy"), lines, left=4)


def _family(family: Family, peers: Sequence[str], cells: Cells) -> str:
    return "\n\n".join(
        (
            f"## {family.title}",
            "Seconds:",
            by_dataset(family, peers, cells, show_seconds),
            "BIC beyond ours / SHD:",
            by_dataset(family, peers, cells, show_quality),
            "Peak memory, MB:",
            by_dataset(family, peers, cells, lambda cell: f"{cell.megabytes:,.0f}"),
        )
    )


def by_dataset(
    family: Family, peers: Sequence[str], cells: Cells, show: Callable[[Cell], str]
) -> str:
    """Return a table with a line per program and a column per data set."""
    lines = []
    for peer in peers:
        own = [cells.get((peer, dataset)) for dataset in family.datasets]
        if any(cell is not None and not cell.wrong_kind for cell in own):
            lines.append((peer, *(_shown(cell, show) for cell in own)))
    return grid(("", *family.columns), lines)


def _shown(cell: Cell | None, show: Callable[[Cell], str]) -> str:
    """Return the text of a cell, or the kind of failure if no run has finished."""
    if cell is None:
        return MISSING
    if not cell.done:
        return (cell.failed or MISSING).partition(":")[0].partition(" in ")[0]
    return show(cell) + (f" ({cell.done} of {cell.runs})" if cell.done < cell.runs else "")


def show_seconds(cell: Cell) -> str:
    """Return the time in seconds and, in parentheses, its ratio to the reference."""
    text = seconds(cell.seconds or 0.0)
    if cell.ratio is None or cell.ratio == 1:
        return text
    text = f"{text} ({times(cell.ratio)})"
    return f"**{text}**" if cell.ratio < 1 else text


def show_quality(cell: Cell) -> str:
    """Return the BIC minus that of the reference, and the distance to the truth."""
    gain = MISSING if cell.bic_gain is None else f"{cell.bic_gain:+,.1f}" if cell.bic_gain else "="
    gain = f"**{gain}**" if (cell.bic_gain or 0) > 0 else gain
    return f"{gain} / {cell.shd:g}"


# The figures.


def draw_growth(rows: list[Row], figure: "Figure") -> None:
    """Draw seconds over variables, a panel for each of the four families with the most sizes."""
    cells, looks = cells_of(rows), Looks(programs(rows), is_ours)
    sized = [family for family in families_of(rows) if not family.title.startswith("Reference")]
    shown = sorted(sized, key=lambda family: -len(family.datasets))[:4]
    for axes, family in zip(axes_grid(figure, len(shown)), shown, strict=True):
        sizes = [float(SPECS[name].d) for name in family.datasets]
        axes.set_xscale("log")
        axes.set_yscale("log")
        for peer in looks.programs:
            own = [cells.get((peer, dataset)) for dataset in family.datasets]
            points = [(d, c.seconds) for d, c in zip(sizes, own, strict=True) if c and c.seconds]
            line(axes, ([d for d, _ in points], [s for _, s in points]), peer, **looks.of(peer))
        plain_ticks(axes, sizes)
        label(axes, "variables", "seconds", family.title.replace(", ", "\n", 1))


def draw_tradeoff(rows: list[Row], figure: "Figure") -> None:
    """Draw the BIC over time, both relative to ours: the upper left corner is best."""
    cells, looks = cells_of(rows), Looks(programs(rows), is_ours)
    (axes,) = panels(figure)
    figure.set_size_inches(9.0, 5.2)
    for peer in looks.programs:
        own = [cell for (name, _), cell in cells.items() if name == peer]
        points = [(c.ratio, c.bic_gain / c.d) for c in own if c.ratio and c.bic_gain is not None]
        style = looks.of(peer) | {"linewidth": 0, "alpha": 0.8}
        line(axes, ([x for x, _ in points], [y for _, y in points]), peer, **style)
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=0.1)
    axes.axvline(1, color=INK, linewidth=0.7)
    axes.axhline(0, color=INK, linewidth=0.7)
    axes.margins(0.05)
    title = "Each point is a data set: left is faster than ours, above is better"
    label(axes, "time, as a multiple of ours", "BIC minus ours, nats per variable", title)
    figure.legend(loc="outside right center", fontsize=8.5, frameon=False)


def _preset(options: Options) -> Preset:
    return PRESETS["quick" if options.quick else "full" if options.large else "standard"]


def _measure(asked: list[Task], known: Mapping[Key, Row], options: Options) -> Iterator[Row]:
    return rows_of(_preset(options), asked, known, options)


STUDY = Study(
    "standard",
    "Comparison with other programs",
    KEYS,
    COLUMNS,
    lambda options: tasks(_preset(options)),
    _measure,
    facts,
    {"-growth": draw_growth, "-tradeoff": draw_tradeoff},
    needs,
)
