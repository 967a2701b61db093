"""Calibration: how often an edge with strength p is true, for each kind of replicates.

Gaussian and discrete truths, some of them with weak edges, so that strengths between 0 and 1
occur.  Replicates of each table are drawn in each way, and searched with the textbook BIC, whose
penalty is corrected for the noise of drawing, and with the default score, which has an edge prior
and is not corrected.  They are compared with common practice: bootstrap samples, searched with the
textbook BIC without a correction.  The pairs of all tables are then sorted by strength into ten
classes, and the mean strength of a class is compared with the share of true edges in it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from sges import BayesianNetwork, confidence, learn
from sges.data import Dataset
from sges.graph import PDAG
from sges.network.gaussian import LinearGaussian
from sges.network.structures import random_dag
from sges.resampling import DRAWS
from studies.charts import BLUE, GOLD, GREEN, GREY, RED, VIOLET, label, line, panels
from studies.frame import (
    Row,
    Task,
    amount,
    experiment,
    natural,
    one_of,
    seed_of,
)
from studies.summary import distinct, grid, mean, pick

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REPLICATES = 50
BINS = 10
PLAIN, MILD = "plain", "mild"
PENALTIES = {PLAIN: 0.5, MILD: 0.75}
"""Penalties of bootstrap samples before they are doubled: the searches use 1 and 1.5."""
BIC_WAYS = (PLAIN, MILD, *DRAWS)
PRIOR = {f"prior {draw}": draw for draw in DRAWS}
"""The ways to draw with the default score: BIC or qNML with the edge prior."""
WAYS = (*BIC_WAYS, *PRIOR)
DEFAULTS = {True: "prior bayesian", False: "prior bootstrap"}
"""The default draws of ``sges.confidence`` for Gaussian and for discrete tables."""
NAMES = {
    PLAIN: "plain bootstrap",
    MILD: "bootstrap, 1.5 times the penalty",
    "half": "half-samples",
    "bootstrap": "bootstrap, twice the penalty",
    "bayesian": "random weights, twice the penalty",
    "wishart": "random covariances, twice the penalty",
    "prior half": "half-samples, prior",
    "prior bootstrap": "bootstrap, prior",
    "prior bayesian": "random weights, prior",
    "prior wishart": "random covariances, prior",
}
COLORS = {
    PLAIN: RED,
    "half": BLUE,
    "bayesian": GREEN,
    "prior half": VIOLET,
    "prior bayesian": GOLD,
    "prior bootstrap": GOLD,
}
"""The draws in the figure: the plain bootstrap, the best with the BIC, those with the prior."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A kind of truth and the size of its tables."""

    n: int
    edges: int
    records: int
    weights: tuple[float, float] | None = None
    """The range of the weights of a Gaussian model; None for a discrete one."""
    arity: int = 2

    @property
    def ways(self) -> tuple[str, ...]:
        """The ways to draw replicates that apply to this setting."""
        without = () if self.weights is not None else ("wishart", "prior wishart", "prior bayesian")
        return tuple(way for way in WAYS if way not in without)

    def truth(self, seed: int) -> tuple[PDAG, Dataset]:
        """Return a random DAG, and a table sampled from a random model on it."""
        dag = random_dag(self.n, self.edges, seed)
        if self.weights is not None:
            model = LinearGaussian.random(dag, self.weights, seed=seed_of(seed, 1))
            return dag, model.sample(self.records, seed=seed_of(seed, 2))
        network = BayesianNetwork.random(dag, arity=self.arity, seed=seed_of(seed, 1))
        return dag, network.sample(self.records, seed=seed_of(seed, 2))


SETTINGS = {
    "gaussian, no edges": Setting(20, 0, 1000, (0.5, 1.5)),
    "gaussian, sparse": Setting(12, 12, 200, (0.1, 0.8)),
    "gaussian, denser": Setting(12, 24, 500, (0.1, 0.8)),
    "gaussian, few records": Setting(15, 15, 60, (0.3, 1.0)),
    "binary, few records": Setting(10, 10, 200),
    "binary, sparse": Setting(10, 10, 1000),
    "binary, denser": Setting(10, 15, 3000),
    "ternary": Setting(8, 10, 2000, arity=3),
    "binary, no edges": Setting(20, 0, 1000),
    "binary, many variables": Setting(20, 15, 1000),
}


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the tables, each with every way to draw."""
    names = ["gaussian, sparse", "binary, sparse"] if quick else list(SETTINGS)
    for trial in range(2 if quick else 100):
        for name in names:
            for way in SETTINGS[name].ways:
                yield {"setting": name, "draw": way, "trial": trial}


def measure(task: Task, seed: int) -> Row:
    """Compute the strengths for one table, and sort the pairs into classes by strength."""
    name, way = str(task["setting"]), str(task["draw"])
    setting = SETTINGS[name]
    own = seed_of(seed, list(SETTINGS).index(name), int(task["trial"]))
    dag, data = setting.truth(own)
    begun = process_time()
    found = confidence(
        data,
        REPLICATES,
        draw="bootstrap" if way in PENALTIES else PRIOR.get(way, way),
        penalty="auto" if way in PRIOR else PENALTIES.get(way, 1.0),
        seed=own,
    )
    seconds = process_time() - begun
    strengths = found.strengths
    true = {(min(edge), max(edge)) for edge in dag.directed_edges()}
    counts, sums, hits = np.zeros(BINS, int), np.zeros(BINS), np.zeros(BINS, int)
    for pair, strength in strengths.items():
        place = min(int(strength * BINS + 1e-9), BINS - 1)
        counts[place] += 1
        sums[place] += strength
        hits[place] += pair in true
    row: dict[str, object] = {
        "true_edges": len(true),
        "never": setting.n * (setting.n - 1) // 2 - len(strengths),
        "never_true": len(true - strengths.keys()),
        "edges": learn(data, penalty="auto" if way in PRIOR else 1).cpdag.edge_count(),
        "replicate_edges": float(np.mean([graph.edge_count() for graph in found.graphs])),
        "averaged_edges": found.averaged().cpdag.edge_count(),
        "threshold": found.threshold,
        "seconds": seconds,
    }
    for i in range(BINS):
        row |= {f"pairs_{i}": int(counts[i]), f"sum_{i}": float(sums[i]), f"true_{i}": int(hits[i])}
    return row


def miscalibration(rows: list[Row], *, never: bool = False) -> float:
    """Return the mean absolute difference of strength and frequency over the classes of pairs.

    It includes the pairs that are adjacent in some replicate and so have a strength; with ``never``
    also the other pairs, with strength 0 in the first class.
    """
    pairs = sum(int(row[f"pairs_{i}"]) for row in rows for i in range(BINS))
    differences = [
        sum(float(row[f"sum_{i}"]) - int(row[f"true_{i}"]) for row in rows) for i in range(BINS)
    ]
    if never:
        pairs += sum(int(row["never"]) for row in rows)
        differences[0] -= sum(int(row["never_true"]) for row in rows)
    return sum(map(abs, differences)) / pairs if pairs else 0.0


def by_class(rows: list[Row]) -> tuple[list[float], list[float]]:
    """Return the mean strength and the share of true edges of each nonempty class."""
    xs, ys = [], []
    for i in range(BINS):
        pairs = sum(int(row[f"pairs_{i}"]) for row in rows)
        if pairs:
            xs.append(sum(float(row[f"sum_{i}"]) for row in rows) / pairs)
            ys.append(sum(int(row[f"true_{i}"]) for row in rows) / pairs)
    return xs, ys


def draw(rows: list[Row], figure: "Figure") -> None:
    """Draw the share of true edges over the stated strength, Gaussian and discrete."""
    both = panels(figure, 2, sharey=True)
    kinds = {"Gaussian truths": True, "discrete truths": False}
    for axes, (title, gaussian) in zip(both, kinds.items(), strict=True):
        axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.9, linestyle="--")
        own = [row for row in rows if _is_gaussian(row["setting"]) == gaussian]
        for way in distinct(own, "draw"):
            if way in COLORS and way not in set(DEFAULTS.values()) - {DEFAULTS[gaussian]}:
                name = "default" if way == DEFAULTS[gaussian] else NAMES[way]
                line(axes, by_class(pick(own, draw=way)), name, COLORS[way])
        label(axes, "strength", "share of true edges", title)
    lines, names = both[0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside lower center", ncols=3, frameon=False)


def facts(rows: list[Row]) -> dict[str, object]:
    """Return the calibration and the numbers of edges by setting and way to draw."""
    found: dict[str, object] = {
        "replicates": REPLICATES,
        "truths": len(distinct(rows, "trial")),
        "settings": len(distinct(rows, "setting")),
        "default_share": f"{_default_share(rows, never=False):.2f}",
        "default_share_of_all": f"{_default_share(rows, never=True):.2f}",
    }
    for group, members in (("bic", BIC_WAYS), ("prior", (PLAIN, *PRIOR))):
        ways = [way for way in members if pick(rows, draw=way)]
        header = tuple(NAMES[way] for way in ways)
        found |= {
            f"calibration_{group}": grid(("setting", *header), _calibration(rows, ways, False)),
            f"of_all_{group}": grid(("setting", *header), _calibration(rows, ways, True)),
            f"shares_{group}": grid(("settings", *header), _shares(rows, ways)),
            f"sizes_{group}": grid(("setting", "true", "estimate", *header), _sizes(rows, ways)),
        }
    classes = []
    for way in WAYS:
        if own := pick(rows, draw=way):
            pairs = zip(*by_class(own), strict=True)
            classes.append((NAMES[way], *(f"{x:.2f}: {y:.2f}" for x, y in pairs)))
    widest = max(len(cells) for cells in classes)
    padded = [(*cells, *[""] * (widest - len(cells))) for cells in classes]
    return found | {"classes": grid(("", *[f"{i}" for i in range(1, widest)]), padded)}


def _sizes(rows: list[Row], ways: list[str]) -> list[tuple[str, ...]]:
    """Return the numbers of edges by setting: of the truth, of the estimate, of replicates."""
    lines = []
    for name in distinct(rows, "setting"):
        own = pick(rows, setting=name)
        some = pick(own, draw=next(way for way in ways[1:] if pick(own, draw=way)))
        known = [f"{mean(some, column):.1f}" for column in ("true_edges", "edges")]
        lines.append((name, *known, *(_size(pick(own, draw=way)) for way in ways)))
    return lines


def _calibration(rows: list[Row], ways: list[str], never: bool) -> list[tuple[str, ...]]:
    """Return a line per setting, and the mean for each way that applies to all settings."""
    settings = distinct(rows, "setting")
    found = {
        (name, way): miscalibration(own, never=never)
        for name in settings
        for way in ways
        if (own := pick(rows, setting=name, draw=way))
    }
    lines = [
        (_describe(name), *(_percent(found.get((name, way))) for way in ways)) for name in settings
    ]
    means = []
    for way in ways:
        own_values = [found[name, way] for name in settings if (name, way) in found]
        whole = len(own_values) == len(settings)
        means.append(f"**{_percent(sum(own_values) / len(settings))}**" if whole else "")
    return [*lines, ("mean of settings", *means)]


def _shares(rows: list[Row], ways: list[str]) -> list[tuple[str, ...]]:
    """Return the mean miscalibration of each way as a share of that of the plain bootstrap."""
    lines = []
    for kind, gaussian in (("Gaussian", True), ("discrete", False)):
        names = [name for name in distinct(rows, "setting") if _is_gaussian(name) == gaussian]
        for what, never in (("pairs with a strength", False), ("all pairs", True)):
            sums = {
                way: sum(
                    miscalibration(pick(rows, setting=name, draw=way), never=never)
                    for name in names
                )
                for way in ways
                if all(pick(rows, setting=name, draw=way) for name in names)
            }
            cells = [f"{sums[way] / sums[PLAIN]:.2f}" if way in sums else "" for way in ways]
            lines.append((f"{kind}, {what}", *cells))
    return lines


def _default_share(rows: list[Row], *, never: bool) -> float:
    """Return the mean miscalibration of the defaults as a share of that of the plain bootstrap."""
    sums = {True: 0.0, False: 0.0}
    for name in distinct(rows, "setting"):
        for is_default, way in ((True, DEFAULTS[_is_gaussian(name)]), (False, PLAIN)):
            own = pick(rows, setting=name, draw=way)
            sums[is_default] += miscalibration(own, never=never)
    return sums[True] / sums[False]


def _is_gaussian(name: str) -> bool:
    return SETTINGS[name].weights is not None


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"


def _size(rows: list[Row]) -> str:
    return (
        f"{mean(rows, 'replicate_edges'):.1f} ({mean(rows, 'averaged_edges'):.1f})" if rows else ""
    )


def _describe(name: str) -> str:
    setting = SETTINGS[name]
    return f"{name} ({setting.n} variables, {setting.edges} edges, {setting.records} records)"


STUDY = experiment(
    "confidence",
    "Calibration of the strengths of edges",
    keys={"setting": one_of(*SETTINGS), "draw": one_of(*WAYS), "trial": natural},
    columns={
        "true_edges": natural,
        "never": natural,
        "never_true": natural,
        "edges": natural,
        "replicate_edges": amount,
        "averaged_edges": natural,
        "threshold": amount,
        "seconds": amount,
        **{f"pairs_{i}": natural for i in range(BINS)},
        **{f"sum_{i}": amount for i in range(BINS)},
        **{f"true_{i}": natural for i in range(BINS)},
    },
    tasks=tasks,
    measure=measure,
    facts=facts,
    draw=draw,
)
