"""The penalty: wrong edges by multiplier of the BIC, and the effect of choosing it from data.

Four kinds of models, three sizes of samples, eight penalties, and the penalties that
``sges.tools.penalty`` chooses by held-out likelihood, by stability, by both, or by a rule of thumb.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from time import process_time
from typing import TYPE_CHECKING

from sges.data import Dataset
from sges.graph import PDAG, dag_to_cpdag
from sges.network import BayesianNetwork, LinearGaussian, random_dag
from sges.score import DiscreteBIC, GaussianBIC
from sges.search import ges
from sges.tools.metrics import agreement, shd, skeleton
from sges.tools.penalty import choose_penalty, rule_of_thumb
from studies.charts import STYLE, label, plain_ticks
from studies.frame import (
    Row,
    Task,
    amount,
    experiment,
    natural,
    one_of,
    positive,
    real,
    seed_of,
)
from studies.summary import distinct, grid, number, pick, spread_of, values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CHOICES = {
    "rule": "rule of thumb",
    "held-out": "held-out",
    "stability": "stability",
    "both": "both",
}
"""The choices other than numbers, and their names."""

WEIGHTS = {
    "strong": ", weights ±[0.5, 2]",
    "weak": ", weights ±[0.1, 0.6]",
    "sparse": ", weights ±[0.5, 2]",
    "binary": "",
}
SHADES = ("#9ecae1", "#4292c6", "#08306b")
"""Darker for more records."""

FRESH = 7
"""Trials from this one on were not used while the methods were developed."""

MARKS = {
    "rule": ("^", "#c98a00", 7.0, "rule of thumb"),
    "held-out": ("x", "#c23b22", 6.0, "held-out"),
    "stability": ("+", "#2e8b57", 8.0, "stability"),
    "both": ("D", "#7a1fa2", 7.5, "both (the choice)"),
}
"""The marker, color, size and name of each choice."""

PENALTIES = (0.5, 0.75, 1, 1.5, 2, 3, 4, 6)


@dataclass(frozen=True, slots=True)
class Setting:
    """One kind of model: its size, and the range of its weights, or None for binary networks."""

    variables: int
    edges: int
    weights: tuple[float, float] | None


SETTINGS = {
    "strong": Setting(30, 60, (0.5, 2.0)),
    "weak": Setting(30, 60, (0.1, 0.6)),
    "sparse": Setting(60, 60, (0.5, 2.0)),
    "binary": Setting(20, 30, None),
}
QUICK = {"weak": Setting(6, 8, (0.1, 0.6)), "binary": Setting(5, 5, None)}


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the trials."""
    settings, sizes, trials = (
        (QUICK, (100, 1000), 2) if quick else (SETTINGS, (200, 1000, 10_000), 10)
    )
    for trial in range(trials):
        for setting, kind in settings.items():
            for records in sizes:
                for choice in (*map(str, PENALTIES), *CHOICES):
                    yield {
                        "setting": setting,
                        "variables": kind.variables,
                        "records": records,
                        "choice": choice,
                        "trial": trial,
                    }


def measure(task: Task, seed: int) -> Row:
    """Choose a penalty unless it is given, and learn with it."""
    setting, variables = str(task["setting"]), int(task["variables"])
    kind = next(k for s in (SETTINGS, QUICK) if (k := s.get(setting)) and k.variables == variables)
    dag, data = sample(kind, int(task["records"]), seed_of(seed, variables, int(task["trial"])))
    begun = process_time()
    penalty, searches = chosen(task["choice"], data)
    score = (DiscreteBIC if kind.weights is None else GaussianBIC)(data, penalty)
    found, truth = ges(score).cpdag, dag_to_cpdag(dag)
    return {
        "penalty": penalty,
        "shd": shd(truth, found),
        "f1": agreement(skeleton(truth), skeleton(found)).f1,
        "edges": found.edge_count(),
        "true_edges": truth.edge_count(),
        "searches": searches + 1,
        "seconds": process_time() - begun,
    }


def sample(kind: Setting, records: int, seed: int) -> tuple[PDAG, Dataset]:
    """Return the structure and the records of one trial."""
    dag = random_dag(kind.variables, kind.edges, seed=seed)
    if kind.weights is None:
        return dag, BayesianNetwork.random(dag, seed=seed).sample(records, seed=seed + 1)
    model = LinearGaussian.random(dag, kind.weights, variances=(1.0, 1.0), seed=seed)
    return dag, model.sample(records, seed=seed + 1)


def chosen(choice: str, data: Dataset) -> tuple[float, int]:
    """Return the penalty of a choice, and the number of searches for choosing it."""
    if choice == "rule":
        return rule_of_thumb(data), 0
    if choice not in CHOICES:
        return float(choice), 0
    found = choose_penalty(data, method=choice, candidates=PENALTIES, search=ges)
    return found.penalty, found.searches


def draw(rows: list[Row], figure: "Figure") -> None:
    """Draw the number of wrong edges over the penalty, one panel per kind of model."""
    import matplotlib as mpl

    settings = distinct(rows, "setting")
    figure.set_size_inches(10.4, 3.9 * ((len(settings) + 1) // 2))
    with mpl.rc_context(STYLE):
        found = figure.subplots((len(settings) + 1) // 2, 2, squeeze=False)
    for axes, setting in zip(found.flat, settings, strict=False):
        _panel(axes, pick(rows, setting=setting))
    figure.set_layout_engine("constrained", h_pad=0.1, w_pad=0.08)
    _legend(found.flat[0], figure)


def _legend(axes: "Axes", figure: "Figure") -> None:
    """Add a legend with the curves first, then the marks."""
    named = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    marks = [name for *_, name in MARKS.values()]
    names = [*(name for name in named if name not in marks), *marks]
    figure.legend(
        [named[name] for name in names], names, loc="outside lower center", ncols=len(names),
        frameon=False, fontsize=9, columnspacing=1.4, handletextpad=0.5, handlelength=1.6,
    )  # fmt: skip


def _panel(axes: "Axes", rows: list[Row]) -> None:
    axes.set_xscale("log")
    penalties = _penalties(rows)
    for at, name in ((1, "BIC"), (2, "XGES")):
        axes.axvline(at, color="#bbbbbb", linewidth=0.9, linestyle=(0, (4, 3)), zorder=0)
        axes.annotate(
            name, (at, 1), (3, -2), xycoords=("data", "axes fraction"), va="top", fontsize=8,
            textcoords="offset points", color="#777777",
        )  # fmt: skip
    sizes = distinct(rows, "records")
    for records, shade in zip(sizes, SHADES[-len(sizes) :], strict=True):
        here = pick(rows, records=records)
        _curve(axes, here, penalties, f"{records:,} records", shade)
        _marks(axes, here, "" if records == sizes[0] else "_")
    plain_ticks(axes, penalties)
    axes.set_ylim(bottom=0)
    first = rows[0]
    label(axes, "penalty", "wrong edges (SHD)", f"{first['setting']}: {_described(first)}")


def _marks(axes: "Axes", rows: list[Row], hidden: str) -> None:
    """Mark each choice at its median penalty and wrong edges; ``hidden`` omits its legend entry."""
    for choice, (mark, color, size, name) in MARKS.items():
        own = pick(rows, choice=choice)
        edge = color if mark in "x+" else "white"
        axes.plot(
            _mid(own, "penalty"), _mid(own, "shd"), mark, color=color, label=hidden + name,
            markersize=size, markeredgecolor=edge, markeredgewidth=1.6 if mark in "x+" else 0.9,
            linestyle="", zorder=6 if choice == "both" else 5, clip_on=False,
        )  # fmt: skip


def _described(row: Row) -> str:
    return f"{row['variables']} variables, {row['true_edges']} edges{WEIGHTS[str(row['setting'])]}"


def _curve(
    axes: "Axes", rows: list[Row], penalties: Sequence[float], name: str, shade: str
) -> None:
    """Draw the medians as a line, and the interquartile range as a band."""
    found = [values(pick(rows, choice=f"{p:g}"), "shd") for p in penalties]
    spreads = [spread for each in found if (spread := spread_of(each))]
    lows, highs = [spread.low for spread in spreads], [spread.high for spread in spreads]
    axes.fill_between(penalties, lows, highs, color=shade, alpha=0.18, linewidth=0)
    mids = [spread.mid for spread in spreads]
    axes.plot(penalties, mids, "-o", color=shade, label=name, linewidth=1.8, markersize=3.5)


def _penalties(rows: list[Row]) -> list[float]:
    return [float(p) for p in distinct(rows, "choice") if p not in CHOICES]


def _mid(rows: list[Row], column: str) -> float:
    return median(values(rows, column))


def facts(rows: list[Row]) -> dict[str, object]:
    """Return the curves, how each choice compares with the best penalty, and what it costs."""
    fresh = [row for row in rows if row["trial"] >= FRESH] or rows
    ways = {"1": "penalty 1", "2": "penalty 2", "rule": "rule of thumb", "both": "both"}
    told = [f"{name} {number(fmean(_beyond(fresh, way)))}" for way, name in ways.items()]
    return {
        "curves": _curves(rows),
        "choices": _choices(rows),
        "best": number(fmean(_best(rows))),
        "verdict": _verdict(rows),
        "fresh_from": FRESH,
        "fresh": ", ".join(told),
        "costs": _costs(rows),
    }


def _curves(rows: list[Row]) -> str:
    penalties = [f"{penalty:g}" for penalty in _penalties(rows)]
    lines = []
    for name, here in _groups(rows):
        found = [values(pick(here, choice=penalty), "shd") for penalty in penalties]
        lowest = min(map(median, found))
        lines.append((name, *(_spread(each, bold=median(each) == lowest) for each in found)))
    return grid(("model, records", *penalties), lines)


def _spread(found: list[float], *, bold: bool) -> str:
    spread, mark = spread_of(found), "**" if bold else ""
    assert spread is not None
    return f"{mark}{_short(spread.mid)}{mark} ({_short(spread.low)}–{_short(spread.high)})"


def _choices(rows: list[Row]) -> str:
    lines = []
    for name, here in _groups(rows):
        fixed = (_short(_mid(pick(here, choice=penalty), "shd")) for penalty in ("1", "2"))
        own = (pick(here, choice=choice) for choice in CHOICES)
        cells = (f"{_short(_mid(each, 'shd'))} ({_mid(each, 'penalty'):.3g})" for each in own)
        lines.append((name, _short(median(_best(here))), *fixed, *cells))
    header = ("model, records", "best", "penalty 1", "penalty 2", *CHOICES.values())
    return grid(header, lines)


def _verdict(rows: list[Row]) -> str:
    """Tabulate the wrong edges of each choice beyond those of the best penalty."""
    ways = {penalty: f"penalty {penalty}" for penalty in ("1", "1.5", "2", "4")} | CHOICES
    lines = []
    for choice, name in ways.items():
        beyond = _beyond(rows, choice)
        share = sum(edges == 0 for edges in beyond) / len(beyond)
        within = sum(edges <= 2 for edges in beyond) / len(beyond)
        worst, where = max((median(_beyond(here, choice)), group) for group, here in _groups(rows))
        told = f"+{_short(worst)} ({where})"
        lines.append((name, fmean(beyond), f"{share:.0%}", f"{within:.0%}", told))
    header = ("choice", "edges beyond the best, mean", "is best", "within two edges", "worst row")
    return grid(header, lines)


def _costs(rows: list[Row]) -> str:
    """Tabulate the time of each choice in multiples of one search, and its searches."""
    lines = []
    for name, here in _groups(rows):
        one = sum(values(pick(here, choice="1"), "seconds"))
        own = [pick(here, choice=choice) for choice in CHOICES]
        cells = (
            f"{number(sum(values(each, 'seconds')) / one)} ({_short(_mid(each, 'searches'))})"
            for each in own
        )
        lines.append((name, *cells))
    return grid(("model, records", *CHOICES.values()), lines)


def _groups(rows: list[Row]) -> list[tuple[str, list[Row]]]:
    """Return the rows by kind of model and number of records, with a name for each group."""
    return [
        (f"{setting}, {records:,}", pick(rows, setting=setting, records=records))
        for setting in distinct(rows, "setting")
        for records in distinct(rows, "records")
    ]


def _by_sample(rows: list[Row], wanted: Callable[[str], bool]) -> dict[tuple[object, ...], float]:
    """Return the fewest wrong edges on each sample among the ``wanted`` choices."""
    found: dict[tuple[object, ...], float] = {}
    for row in rows:
        if wanted(row["choice"]):
            key = (row["setting"], row["records"], row["trial"])
            found[key] = min(found.get(key, float("inf")), float(row["shd"]))
    return found


def _best(rows: list[Row]) -> list[float]:
    return list(_by_sample(rows, lambda choice: choice not in CHOICES).values())


def _beyond(rows: list[Row], choice: str) -> list[float]:
    """Return the wrong edges of a choice beyond those of the best penalty, for each sample."""
    own = _by_sample(rows, lambda other: other == choice)
    best = _by_sample(rows, lambda other: other not in CHOICES)
    return [own[key] - best[key] for key in own]


def _short(value: float) -> str:
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


STUDY = experiment(
    "penalty",
    "The penalty: wrong edges by penalty, and choosing it from data",
    keys={
        "setting": one_of(*SETTINGS),
        "variables": positive,
        "records": positive,
        "choice": one_of(*map(str, PENALTIES), *CHOICES),
        "trial": natural,
    },
    columns={
        "penalty": real,
        "shd": natural,
        "f1": amount,
        "edges": natural,
        "true_edges": natural,
        "searches": positive,
        "seconds": amount,
    },
    tasks=tasks,
    measure=measure,
    facts=facts,
    draw=draw,
)
