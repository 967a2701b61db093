"""Calibration: how often an edge with strength p is true, for each kind of replicates.

Gaussian, discrete and mixed truths, some of them with weak edges, so that strengths between 0 and 1
occur.  Replicates of each table are searched with the default score, by the default strategy and by
"interleaved", and with the textbook BIC, whose penalty is corrected for the noise of drawing.  They
are compared with common practice: bootstrap samples, searched with the textbook BIC without a
correction.  The pairs of all tables are then sorted by strength into classes, and the mean strength
of a class is compared with the share of true edges in it.

Tables of independent columns show how often replicates agree on an edge where there is none.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from sges import BayesianNetwork, confidence, learn
from sges.data import Dataset
from sges.graph import PDAG
from sges.network.gaussian import LinearGaussian
from sges.network.mixed import Family, LinearFamily, LogisticFamily, MixedNetwork
from sges.network.structures import random_dag
from sges.nodeset import nodes
from sges.score.named import Penalty
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
TRIALS = 70
COMPARED = 30
"""The number of trials in which all ways to draw are compared."""
NULL_TRIALS = 40
BINS = 10
"""Classes of strengths below 1; strengths of 1 are a class of their own."""
PLAIN, HALF, WEIGHTS = "plain", "half", "bayesian"
DEFAULT, INTERLEAVED, WISHART = "default", "interleaved", "wishart"
NAMES = {
    DEFAULT: "default",
    INTERLEAVED: 'default, `strategy="interleaved"`',
    WISHART: "default of moments",
    PLAIN: "plain bootstrap",
    HALF: "half-samples",
    WEIGHTS: "random weights, twice the penalty",
}
"""The ways to draw: three with the default score, then three with the textbook BIC."""
COLORS = {PLAIN: RED, HALF: BLUE, WEIGHTS: GREEN, DEFAULT: GOLD, INTERLEAVED: VIOLET}
GAUSSIAN, DISCRETE, MIXED = KINDS = ("Gaussian", "discrete", "mixed")
CLASSES = {
    "0 to .2": range(2),
    ".2 to .4": range(2, 4),
    ".4 to .6": range(4, 6),
    ".6 to .8": range(6, 8),
    ".8 to 1": range(8, 10),
    "1": range(10, 11),
}


@dataclass(frozen=True, slots=True)
class Setting:
    """A kind of truth and the size of its tables.

    Weights are those of a Gaussian or mixed model, ``arity`` is the number of levels of a discrete
    one.
    """

    kind: str
    n: int
    edges: int
    records: int
    weights: tuple[float, float] = (0.1, 0.8)
    arity: int = 2

    def truth(self, seed: int) -> tuple[PDAG, Dataset]:
        """Return a random DAG, and a table sampled from a random model on it."""
        dag = random_dag(self.n, self.edges, seed)
        network: LinearGaussian | MixedNetwork | BayesianNetwork
        if self.kind == GAUSSIAN:
            network = LinearGaussian.random(dag, self.weights, seed=seed_of(seed, 1))
        elif self.kind == MIXED:
            network = random_mixed(dag, self.weights, np.random.default_rng(seed_of(seed, 1)))
        else:
            network = BayesianNetwork.random(dag, arity=self.arity, seed=seed_of(seed, 1))
        return dag, network.sample(self.records, seed=seed_of(seed, 2))

    def null(self, seed: int) -> tuple[PDAG, Dataset]:
        """Return a table of independent columns: normal, or with levels of equal probability."""
        rng = np.random.default_rng(seed)
        columns: dict[str, object] = {}
        for v in range(self.n):
            arity = 2 + v // 2 % 3 if self.kind == MIXED else self.arity
            if self.kind == GAUSSIAN or (self.kind == MIXED and v % 2):
                columns[f"x{v}"] = rng.normal(size=self.records)
            else:
                columns[f"x{v}"] = np.array(list("abcd"))[rng.integers(arity, size=self.records)]
        return PDAG.empty(self.n), Dataset.of(columns)


def random_mixed(dag: PDAG, weights: tuple[float, float], rng: np.random.Generator) -> MixedNetwork:
    """Return a random network in which every other variable has two or three levels.

    The weights are per standard deviation of a continuous parent, and per level of a discrete one.
    """
    arities = [0 if v % 2 else int(rng.integers(2, 4)) for v in range(dag.n)]
    families: list[Family] = []
    for y, arity in enumerate(arities):
        width = sum(max(1, arities[v] - 1) for v in nodes(dag.parents(y)))
        slopes = rng.uniform(*weights, (width, max(1, arity - 1))) * rng.choice([-2, 2], (width, 1))
        if arity:
            families.append(LogisticFamily(np.vstack([np.zeros(arity - 1), slopes])))
        else:
            families.append(LinearFamily(0.0, slopes[:, 0] / 2, 1.0))
    levels = tuple(tuple("abc"[:arity]) if arity else None for arity in arities)
    return MixedNetwork(dag.named([f"x{v}" for v in range(dag.n)]), levels, tuple(families))


SETTINGS = {
    "gaussian, few records": Setting(GAUSSIAN, 15, 15, 60, (0.3, 1.0)),
    "gaussian, sparse": Setting(GAUSSIAN, 12, 12, 200),
    "gaussian, denser": Setting(GAUSSIAN, 12, 24, 500),
    "binary, few records": Setting(DISCRETE, 10, 10, 200),
    "binary, sparse": Setting(DISCRETE, 10, 10, 1000),
    "binary, many variables": Setting(DISCRETE, 20, 15, 1000),
    "ternary": Setting(DISCRETE, 8, 10, 300, arity=3),
    "four levels": Setting(DISCRETE, 10, 10, 300, arity=4),
    "mixed, few records": Setting(MIXED, 10, 10, 200),
    "mixed, sparse": Setting(MIXED, 12, 12, 1000),
    "mixed, denser": Setting(MIXED, 12, 20, 500),
}
NULL_KINDS = {
    "gaussian": (GAUSSIAN, 2),
    "binary": (DISCRETE, 2),
    "ternary": (DISCRETE, 3),
    "four levels": (DISCRETE, 4),
    "mixed": (MIXED, 2),
}
NULLS = {
    f"{word}, no edges, {n} x {records}": Setting(kind, n, 0, records, arity=arity)
    for n in (10, 20, 30)
    for records in (100, 200, 1000)
    for word, (kind, arity) in NULL_KINDS.items()
}
"""Tables without any edge, which are searched in the default way only."""
ALL = SETTINGS | NULLS


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the tables, each with every way to draw."""
    names = ["gaussian, sparse", "binary, sparse", "mixed, sparse"] if quick else list(SETTINGS)
    nulls = ["binary, no edges, 10 x 100"] if quick else list(NULLS)
    for trial in range(2 if quick else TRIALS):
        for name in nulls if trial < NULL_TRIALS else ():
            yield {"setting": name, "draw": DEFAULT, "trial": trial}
        for name in names:
            for way in (DEFAULT, INTERLEAVED):
                yield {"setting": name, "draw": way, "trial": trial}
    for trial in range(2 if quick else COMPARED):
        for name in names:
            for way in (PLAIN, HALF, WEIGHTS):
                yield {"setting": name, "draw": way, "trial": trial}
            if SETTINGS[name].kind == GAUSSIAN:
                yield {"setting": name, "draw": WISHART, "trial": trial}


def measure(task: Task, seed: int) -> Row:
    """Compute the strengths for one table, and sort the pairs into classes by strength."""
    name, way = str(task["setting"]), str(task["draw"])
    setting = ALL[name]
    own = seed_of(seed, list(ALL).index(name), int(task["trial"]))
    dag, data = setting.null(own) if name in NULLS else setting.truth(own)
    strategy = "interleaved" if way == INTERLEAVED else "auto"
    with_bic = way in (PLAIN, HALF, WEIGHTS)
    draw = {PLAIN: "bootstrap", HALF: HALF, WEIGHTS: WEIGHTS, WISHART: WISHART}.get(way, "auto")
    # The penalty of a bootstrap is doubled: one half gives the textbook BIC.
    penalty: Penalty = (0.5 if way == PLAIN else 1.0) if with_bic else "auto"
    begun = process_time()
    found = confidence(data, REPLICATES, draw=draw, penalty=penalty, strategy=strategy, seed=own)
    seconds = process_time() - begun
    estimate = learn(data, penalty=1 if with_bic else "auto", strategy=strategy)
    strengths = found.strengths
    true = {(min(edge), max(edge)) for edge in dag.directed_edges()}
    counts, sums, hits = np.zeros(BINS + 1, int), np.zeros(BINS + 1), np.zeros(BINS + 1, int)
    for pair, strength in strengths.items():
        place = int(strength * BINS + 1e-9)
        counts[place] += 1
        sums[place] += strength
        hits[place] += pair in true
    row: dict[str, object] = {
        "true_edges": len(true),
        "never": setting.n * (setting.n - 1) // 2 - len(strengths),
        "never_true": len(true - strengths.keys()),
        "edges": estimate.cpdag.edge_count(),
        "replicate_edges": float(np.mean([graph.edge_count() for graph in found.graphs])),
        "averaged_edges": found.averaged().cpdag.edge_count(),
        "above_half": sum(strength > 0.5 for strength in strengths.values()),
        "seconds": seconds,
    }
    for i in range(BINS + 1):
        row |= {f"pairs_{i}": int(counts[i]), f"sum_{i}": float(sums[i]), f"true_{i}": int(hits[i])}
    return row


def _total(rows: list[Row], what: str, places: Iterable[int]) -> float:
    return sum(float(row[f"{what}_{i}"]) for row in rows for i in places)


def miscalibration(rows: list[Row], *, never: bool = False) -> float:
    """Return the mean absolute difference of strength and frequency over the classes of pairs.

    It includes the pairs that are adjacent in some replicate and so have a strength; with ``never``
    also the other pairs, with strength 0 in the first class.
    """
    pairs = _total(rows, "pairs", range(BINS + 1))
    differences = [_total(rows, "sum", [i]) - _total(rows, "true", [i]) for i in range(BINS + 1)]
    if never:
        pairs += sum(int(row["never"]) for row in rows)
        differences[0] -= sum(int(row["never_true"]) for row in rows)
    return sum(map(abs, differences)) / pairs if pairs else 0.0


def by_class(rows: list[Row], classes: Iterable[Iterable[int]]) -> list[tuple[float, float, int]]:
    """Return the mean strength, the share of true edges and the number of pairs of each class."""
    found = []
    for places in map(list, classes):
        if pairs := _total(rows, "pairs", places):
            total, true = (_total(rows, what, places) / pairs for what in ("sum", "true"))
            found.append((total, true, round(pairs)))
    return found


def draw(rows: list[Row], figure: "Figure") -> None:
    """Draw the share of true edges over the strength, for each kind of truth."""
    all_axes = panels(figure, 3, sharey=True)
    for axes, kind in zip(all_axes, KINDS, strict=True):
        axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.9, linestyle="--")
        for way, color in COLORS.items():
            if own := [row for row in pick(rows, draw=way) if _kind(row) == kind]:
                found = by_class(own, ([i] for i in range(BINS + 1)))
                xs, ys = [x for x, _, _ in found], [y for _, y, _ in found]
                line(axes, (xs, ys), NAMES[way].replace("`", ""), color)
        label(axes, "strength", "share of true edges", f"{kind} truths")
    lines, names = all_axes[0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside lower center", ncols=3, frameon=False)


def facts(rows: list[Row]) -> dict[str, object]:
    """Return the calibration and the numbers of edges by setting and way to draw."""
    nulls = [row for row in rows if row["setting"] in NULLS]
    rows = [row for row in rows if row["setting"] in SETTINGS]
    compared = [row for row in rows if row["trial"] < COMPARED]
    cells = [pick(nulls, setting=name) for name in distinct(nulls, "setting")]
    ways = [way for way in NAMES if pick(rows, draw=way)]
    header = tuple(NAMES[way] for way in ways)
    found: dict[str, object] = {
        "replicates": REPLICATES,
        "settings": len(distinct(rows, "setting")),
        "trials": len(distinct(rows, "trial")),
        "compared": len(distinct(compared, "trial")),
        "classes": grid(("strength", *CLASSES), _classes(rows)),
        "calibration": grid(("setting", *header), _calibration(compared, ways)),
        "shares": grid(("settings", *header), _shares(compared, ways)),
        "sizes": grid(("setting", "true", *header), _sizes(compared, ways)),
        "null_trials": len(distinct(nulls, "trial")),
        "null_cells": len(cells),
        "null_tables": f"{len(nulls):,}",
        "null_estimate": _percent(sum(row["edges"] > 0 for row in nulls) / len(nulls)),
        "null_found": _percent(sum(row["above_half"] > 0 for row in nulls) / len(nulls)),
        "null_edges": f"{mean(nulls, 'edges'):.2f}",
        "null_averaged": f"{mean(nulls, 'averaged_edges'):.2f}",
        "null_below_one": sum(mean(own, "averaged_edges") < 1 for own in cells),
        "null_rare": sum(_tables(own, "above_half") <= len(own) / 20 for own in cells),
        "null_rare_estimate": sum(_tables(own, "edges") <= len(own) / 20 for own in cells),
        "nulls": grid(("variables × records", *NULL_KINDS), _nulls(nulls)),
    }
    for name, never in (("default_share", False), ("default_share_of_all", True)):
        sums = _sums(compared, distinct(rows, "setting"), never=never)
        found[name] = f"{sums[DEFAULT] / sums[PLAIN]:.2f}"
    return found


def _tables(rows: list[Row], column: str) -> int:
    """Return the number of tables in which a count is above zero."""
    return sum(row[column] > 0 for row in rows)


def _classes(rows: list[Row]) -> list[tuple[str, ...]]:
    """Return the mean strength, the share of true edges and the number of pairs by class."""
    lines = []
    for kind in KINDS:
        for way in (DEFAULT, INTERLEAVED):
            own = [row for row in pick(rows, draw=way) if _kind(row) == kind]
            cells = [
                f"{x:.2f}: {y:.2f} ({pairs:,})"
                for places in CLASSES.values()
                for x, y, pairs in by_class(own, [places]) or [(0.0, 0.0, 0)]
            ]
            lines.append((f"{kind}, {NAMES[way]} ({len(own)} tables)", *cells))
    return lines


def _nulls(nulls: list[Row]) -> list[tuple[str, ...]]:
    """Return the tables with a false edge, those with a strength above ½, and averaged edges."""
    lines = []
    for n, records in dict.fromkeys((s.n, s.records) for s in NULLS.values()):
        cells = [f"{n} × {records:,}"]
        for word in NULL_KINDS:
            own = pick(nulls, setting=f"{word}, no edges, {n} x {records}")
            shares = [100 * _tables(own, x) / max(1, len(own)) for x in ("edges", "above_half")]
            means = [mean(own, x) for x in ("edges", "averaged_edges")]
            text = "{:.0f}%, {:.0f}%; {:.2f}, {:.2f}".format(*shares, *means)
            cells.append(text if own else "")
        lines.append(tuple(cells))
    return lines


def _sizes(rows: list[Row], ways: list[str]) -> list[tuple[str, ...]]:
    """Return the numbers of edges by setting: of the truth, of the estimate, of replicates."""
    lines = []
    for name in distinct(rows, "setting"):
        own = pick(rows, setting=name)
        sizes = (_size(pick(own, draw=way)) for way in ways)
        lines.append((name, f"{mean(own, 'true_edges'):.0f}", *sizes))
    return lines


def _calibration(rows: list[Row], ways: list[str]) -> list[tuple[str, ...]]:
    """Return a line per setting: the miscalibration of each way."""
    lines = []
    for name in distinct(rows, "setting"):
        both = ((way, pick(rows, setting=name, draw=way)) for way in ways)
        values = (_percent(miscalibration(own)) if own else "" for _, own in both)
        lines.append((_describe(name), *values))
    return lines


def _sums(rows: list[Row], names: list[str], *, never: bool) -> dict[str, float]:
    """Return the sum of miscalibrations for each way that all of these settings have."""
    return {
        way: sum(miscalibration(pick(rows, setting=name, draw=way), never=never) for name in names)
        for way in NAMES
        if all(pick(rows, setting=name, draw=way) for name in names)
    }


def _shares(rows: list[Row], ways: list[str]) -> list[tuple[str, ...]]:
    """Return the mean miscalibration of each way as a share of that of the plain bootstrap."""
    lines = []
    for kind in KINDS:
        names = [name for name in distinct(rows, "setting") if SETTINGS[name].kind == kind]
        for what, never in (("pairs with a strength", False), ("all pairs", True)):
            sums = _sums(rows, names, never=never)
            cells = (f"{sums[way] / sums[PLAIN]:.2f}" if way in sums else "" for way in ways)
            lines.append((f"{kind}, {what}", *cells))
    return lines


def _kind(row: Row) -> str:
    """Return the kind of the truth of a row."""
    return ALL[row["setting"]].kind if row["setting"] in SETTINGS else ""


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def _size(rows: list[Row]) -> str:
    columns = ("edges", "replicate_edges", "averaged_edges")
    return ", ".join(f"{mean(rows, column):.1f}" for column in columns) if rows else ""


def _describe(name: str) -> str:
    setting = SETTINGS[name]
    return f"{name} ({setting.n} variables, {setting.edges} edges, {setting.records} records)"


STUDY = experiment(
    "confidence",
    "Calibration of the strengths of edges",
    keys={"setting": one_of(*ALL), "draw": one_of(*NAMES), "trial": natural},
    columns={
        "true_edges": natural,
        "never": natural,
        "never_true": natural,
        "edges": natural,
        "replicate_edges": amount,
        "averaged_edges": natural,
        "above_half": natural,
        "seconds": amount,
        **{f"pairs_{i}": natural for i in range(BINS + 1)},
        **{f"sum_{i}": amount for i in range(BINS + 1)},
        **{f"true_{i}": natural for i in range(BINS + 1)},
    },
    tasks=tasks,
    measure=measure,
    facts=facts,
    draw=draw,
)
