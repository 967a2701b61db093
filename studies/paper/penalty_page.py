"""How the rows of the experiment on the penalty are drawn and told."""

from collections.abc import Callable, Sequence
from statistics import fmean, median, quantiles
from typing import TYPE_CHECKING

from studies.charts import STYLE, label, plain_ticks
from studies.frame import Row, Value
from studies.pages import distinct, grid, number, pick, values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CHOICES = {
    "rule": "rule of thumb",
    "held-out": "held-out",
    "stability": "stability",
    "both": "both",
}
"""The choices that are not a number, and what to call them."""

WEIGHTS = {
    "strong": ", weights ±[0.5, 2]",
    "weak": ", weights ±[0.1, 0.6]",
    "sparse": ", weights ±[0.5, 2]",
    "binary": "",
}
SHADES = ("#9ecae1", "#4292c6", "#08306b")
"""More records, darker."""

FRESH = 7
"""The trials from here on were not looked at before the choices were as they are."""

MARKS = {
    "rule": ("^", "#c98a00", 7.0, "rule of thumb"),
    "held-out": ("x", "#c23b22", 6.0, "held-out"),
    "stability": ("+", "#2e8b57", 8.0, "stability"),
    "both": ("D", "#7a1fa2", 7.5, "both (the choice)"),
}
"""How each choice is marked: sign, colour, size and name."""


def draw(rows: list[Row], figure: "Figure") -> None:
    """Draw the edges wrong over the penalty, one panel per kind of model."""
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
    """Name the curves first, then the marks."""
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
    label(axes, "penalty", "edges wrong (SHD)", f"{first['setting']}: {_described(first)}")


def _marks(axes: "Axes", rows: list[Row], hidden: str) -> None:
    """Mark each choice at its median penalty and edges wrong; named once, and then hidden."""
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
    """Draw the medians as a line, and the middle half of the trials as a band."""
    found = [values(pick(rows, choice=p), "shd") for p in penalties]
    lows, mids, highs = zip(*(quantiles(v, n=4, method="inclusive") for v in found), strict=True)
    axes.fill_between(penalties, lows, highs, color=shade, alpha=0.18, linewidth=0)
    axes.plot(penalties, mids, "-o", color=shade, label=name, linewidth=1.8, markersize=3.5)


def _penalties(rows: list[Row]) -> list[float]:
    return [float(p) for p in distinct(rows, "choice") if not isinstance(p, str)]


def _mid(rows: list[Row], column: str) -> float:
    return median(values(rows, column))


def summary(rows: list[Row]) -> str:
    """Return the curves, how each choice fares against the best penalty, and what it costs."""
    parts = [INTRODUCTION, _curves(rows), CURVES, _choices(rows), COMPARISON, _verdict(rows)]
    return "\n\n".join([*parts, *_fair(rows), _failures(rows), _costs(rows)])


INTRODUCTION = """Structural Hamming distance to the true class, of what GES \
finds. The penalty multiplies that of the BIC: 1 is the \
textbook's, 2 the default of XGES. All samples of one trial come from one model."""

CURVES = """Medians, and in brackets the middle half of the trials; in bold, the lowest median of \
the row."""

COMPARISON = """"Best" is the penalty that is best on each sample, which only an oracle knows: \
nothing can do better. In brackets, the median of the penalties chosen."""


def _curves(rows: list[Row]) -> str:
    penalties = _penalties(rows)
    lines = []
    for name, here in _groups(rows):
        found = [values(pick(here, choice=p), "shd") for p in penalties]
        lowest = min(map(median, found))
        lines.append((name, *(_spread(v, bold=median(v) == lowest) for v in found)))
    return "**Edges wrong by penalty**\n\n" + grid(
        ("model, records", *map(_short, penalties)), lines
    )


def _spread(found: list[float], *, bold: bool) -> str:
    low, mid, high = quantiles(found, n=4, method="inclusive")
    mark = "**" if bold else ""
    return f"{mark}{_short(mid)}{mark} ({_short(low)}–{_short(high)})"


def _choices(rows: list[Row]) -> str:
    header = ("model, records", "best", "penalty 1", "penalty 2", *CHOICES.values())
    lines = []
    for name, here in _groups(rows):
        fixed = (_short(_mid(pick(here, choice=p), "shd")) for p in (1, 2))
        own = (_chosen(pick(here, choice=choice)) for choice in CHOICES)
        lines.append((name, _short(median(_best(here))), *fixed, *own))
    return "**Choosing it: median edges wrong**\n\n" + grid(header, lines)


def _chosen(rows: list[Row]) -> str:
    return f"{_short(_mid(rows, 'shd'))} ({_mid(rows, 'penalty'):.3g})"


def _verdict(rows: list[Row]) -> str:
    """Return how many edges each choice has wrong beyond the best, over all samples."""
    ways: dict[str, Value] = {
        "penalty 1": 1, "penalty 1.5": 1.5, "penalty 2": 2, "penalty 4": 4,
        **{name: choice for choice, name in CHOICES.items()},
    }  # fmt: skip
    best = fmean(_best(rows))
    lines = []
    for name, choice in ways.items():
        beyond = _beyond(rows, choice)
        share = sum(b == 0 for b in beyond) / len(beyond)
        within = sum(b <= 2 for b in beyond) / len(beyond)
        worst = max(_groups(rows), key=lambda group: median(_beyond(group[1], choice)))
        told = f"+{_short(median(_beyond(worst[1], choice)))} ({worst[0]})"
        lines.append((name, fmean(beyond), f"{share:.0%}", f"{within:.0%}", told))
    header = ("choice", "edges beyond the best, mean", "is best", "within two edges", "worst row")
    text = f"Over all samples, where the best has {number(best)} edges wrong on average:"
    return f"{text}\n\n" + grid(header, lines)


def _fair(rows: list[Row]) -> list[str]:
    """Return the same on the trials that had no part in how the choices were made, if any."""
    fresh = [row for row in rows if int(row["trial"]) >= FRESH]
    if not fresh:
        return []
    ways: dict[str, Value] = {
        "penalty 1": 1,
        "penalty 2": 2,
        "rule of thumb": "rule",
        "both": "both",
    }
    told = [f"{name} {number(fmean(_beyond(fresh, way)))}" for name, way in ways.items()]
    return [
        "To take the larger of two verdicts, and the γ of the rule of thumb, were settled on after "
        f"seeing the earlier trials with seed 0, which flatters both. On the trials from {FRESH} "
        f"on alone, edges wrong beyond the best: {', '.join(told)}."
    ]


def _failures(rows: list[Row]) -> str:
    """Return where penalty 1 is the wrong choice, and where choosing from data is."""
    wrong, beaten = [], []
    for name, here in _groups(rows):
        best, textbook = median(_best(here)), _mid(pick(here, choice=1), "shd")
        both, rule = (_mid(pick(here, choice=c), "shd") for c in ("both", "rule"))
        if textbook > max(1.25 * best, best + 2):
            wrong.append(f"{name} ({_short(textbook)} against {_short(best)})")
        if both > rule:
            beaten.append(f"{name} ({_short(both)} against {_short(rule)})")
    return (
        "Where penalty 1 has a quarter more edges wrong than the best, and more than two, by "
        f"median: {'; '.join(wrong) or 'nowhere'}. Where choosing by both, with all its searches, "
        f"has more edges wrong than the rule of thumb, which costs nothing, by median: "
        f"{'; '.join(beaten) or 'nowhere'}."
    )


def _costs(rows: list[Row]) -> str:
    """Return what each choice costs, in searches and as a multiple of the time of one."""
    lines = []
    for name, here in _groups(rows):
        one = sum(values(pick(here, choice=1), "seconds"))
        cells = []
        for choice in CHOICES:
            own = pick(here, choice=choice)
            times = sum(values(own, "seconds")) / one
            cells.append(f"{number(times)} ({_short(_mid(own, 'searches'))})")
        lines.append((name, *cells))
    header = ("model, records", *CHOICES.values())
    text = "**What it costs**, as a multiple of the time of one search with penalty 1, the last \
search included; in brackets, the median number of searches"
    return f"{text}:\n\n" + grid(header, lines)


def _groups(rows: list[Row]) -> list[tuple[str, list[Row]]]:
    """Return the rows by kind of model and records, under a name each."""
    return [
        (f"{setting}, {records:,}", pick(rows, setting=setting, records=records))
        for setting in distinct(rows, "setting")
        for records in distinct(rows, "records")
    ]


def _by_sample(rows: list[Row], wanted: Callable[[Value], bool]) -> dict[tuple[Value, ...], float]:
    """Return the fewest edges wrong on each sample, among the choices that are wanted."""
    found: dict[tuple[Value, ...], float] = {}
    for row in rows:
        if wanted(row["choice"]):
            key = (row["setting"], row["records"], row["trial"])
            found[key] = min(found.get(key, float("inf")), float(row["shd"]))
    return found


def _best(rows: list[Row]) -> list[float]:
    return list(_by_sample(rows, lambda choice: not isinstance(choice, str)).values())


def _beyond(rows: list[Row], choice: Value) -> list[float]:
    """Return how many edges a choice has wrong beyond the best penalty, for each sample."""
    own = _by_sample(rows, lambda other: other == choice)
    best = _by_sample(rows, lambda other: not isinstance(other, str))
    return [own[key] - best[key] for key in own]


def _short(value: float) -> str:
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"
