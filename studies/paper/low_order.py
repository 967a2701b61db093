"""Low-order search on dense discrete truths: the experiment of Chickering (2020), and its cost.

Twelve variables with three levels and at most three parents, 15 to 30 edges, 500 to 10,000
records.  Three kinds of rows, by ``model``:

    discrete   the experiment: how often each search finds the true class, and its distance to it
    gaussian   linear models of the same structures, as a control: they have no empty cells
    work       the families that the pure search asks for with Gaussian oracles, by level and n

Low-order search is run alone, with the interleaved search of the experiment after it (SE-GES), and
with the escapes of extended search as well ("low-order"), also from the result of another search.

The stored rows were measured when the package had this search, in its compiled engine; they can be
measured again with the plain implementation beside this study, which takes longer.
"""

from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from sges import Strategy
from sges.graph import PDAG, dag_to_cpdag
from sges.network import BayesianNetwork, LinearGaussian
from sges.properties import MaxParents
from sges.result import Result
from sges.score import DiscreteBIC, GaussianBIC, GaussianOracle, Score
from sges.search import ges, poly_fes, search, sges
from sges.tools.metrics import shd
from studies.charts import (
    BLUE,
    GOLD,
    GREEN,
    GREY,
    RED,
    VIOLET,
    axes_grid,
    label,
    line,
    plain_ticks,
)
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
from studies.paper.low_order_search import Found, low_order, se_ges
from studies.paper.models import against_truth
from studies.summary import curve, distinct, exponent, grid, mean, number, pick, spread_of, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BOUND = MaxParents(3)
ESCAPES = Strategy(interleaved=True, extended=True, sets_per_clique=64)
ordered = partial(search, strategy="two-phase", forward="order")
METHODS: dict[str, Callable[[Score], Result | Found]] = {
    "ges": ges,
    "sges": lambda score: sges(score, BOUND, forward="complete"),
    "pure": lambda score: low_order(score, max_order=BOUND.k),
    "se-ges": lambda score: se_ges(score, BOUND, Strategy(interleaved=True)),
    "low-order": lambda score: se_ges(score, BOUND, ESCAPES),
    "low-order-order": lambda score: se_ges(score, BOUND, ESCAPES, ordered),
    "low-order-poly": lambda score: se_ges(score, BOUND, ESCAPES, poly_fes),
    "order": ordered,
    "interleaved": lambda score: search(score, strategy="interleaved"),
    "extended": lambda score: search(score, strategy="extended"),
    "auto": lambda score: search(score, strategy="auto"),
}
NAMES = {
    "ges": "GES",
    "sges": "SGES from the complete graph",
    "pure": "pure low-order",
    "se-ges": "SE-GES",
    "low-order": '"low-order"',
    "low-order-order": '"low-order" after order',
    "low-order-poly": '"low-order" after poly-FES',
    "order": "order, then BES",
    "interleaved": '"interleaved"',
    "extended": '"extended"',
    "auto": '"auto"',
}
LEVELS = {"k=1": 1, "k=2": 2, "k=3": 3}
COLORS = {
    "ges": RED,
    "sges": GOLD,
    "pure": GREY,
    "se-ges": BLUE,
    "low-order": VIOLET,
    "auto": GREEN,
}
SGES_TRIALS = 5
"""Networks per setting on which SGES is run: it takes more time than all others together."""
SIZES = {1: (10, 14, 20, 28, 40), 2: (10, 14, 20, 28, 40), 3: (10, 14, 20, 28, 40)}
"""The numbers of variables for which the work of each level is measured."""


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the trials, network by network: first the fast searches, then SGES, then the work."""
    n, trials = (7, 2) if quick else (12, 20)
    fast = [method for method in METHODS if method != "sges"]
    for methods, count in ((fast, trials), (["sges"], min(trials, SGES_TRIALS))):
        for trial in range(count):
            for model, edges, records in _settings(quick):
                place = {"model": model, "n": n, "edges": edges, "records": records}
                yield from ({**place, "method": method, "trial": trial} for method in methods)
    sizes = dict.fromkeys(LEVELS.values(), (6, 8)) if quick else SIZES
    for method, k in LEVELS.items():
        for n in sizes[k]:
            for trial in range(2 if n < 40 else 1):
                place = {"model": "work", "n": n, "edges": max(n, k * n // 2), "records": 0}
                yield {**place, "method": method, "trial": trial}


def _settings(quick: bool) -> list[tuple[str, int, int]]:
    """Return the model, edges and records of each setting."""
    if quick:
        return [("discrete", 8, 500), ("discrete", 12, 500), ("gaussian", 8, 500)]
    discrete = [
        ("discrete", edges, records)
        for edges in (15, 20, 25, 30)
        for records in (500, 1000, 2000, 5000, 10_000)
    ]
    return discrete + [
        ("gaussian", edges, records) for edges in (15, 30) for records in (500, 5000)
    ]


def structure(n: int, edges: int, max_parents: int, seed: int) -> PDAG:
    """Return a random DAG as in Chickering (2020).

    In a random order of the nodes, each node gets ``max_parents`` random predecessors as parents,
    or all if there are fewer; then edges are removed at random until ``edges`` are left.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(n).tolist()
    drawn = [
        (order[int(p)], y)
        for place, y in enumerate(order)
        for p in rng.permutation(place)[:max_parents]
    ]
    kept = rng.permutation(len(drawn))[:edges]
    return PDAG.from_edges(n, [drawn[int(i)] for i in sorted(kept)])


def measure(task: Task, seed: int) -> Row:
    """Search once, with the score of a sample or, for ``work``, of an oracle."""
    own = seed_of(seed, *(int(task[key]) for key in ("n", "edges", "trial")))
    method, n, edges = str(task["method"]), int(task["n"]), int(task["edges"])
    dag = structure(n, edges, LEVELS.get(method, BOUND.k), own)
    score = _score(str(task["model"]), dag, int(task["records"]), own)
    begun = process_time()
    if method in LEVELS:
        result: Result | Found = low_order(score, max_order=LEVELS[method])
    else:
        result = METHODS[method](score)
    seconds = process_time() - begun
    return {
        **against_truth(score, dag, result.cpdag),
        "shd": shd(dag_to_cpdag(dag), result.cpdag),
        "found_edges": result.cpdag.edge_count(),
        "evaluations": result.score_evaluations,
        "seconds": seconds,
    }


def _score(model: str, dag: PDAG, records: int, seed: int) -> Score:
    """Return the BIC of a sample, or the Gaussian oracle if the model is ``work``."""
    if model == "discrete":
        network = BayesianNetwork.random(dag, arity=3, concentration=1.0, seed=seed)
        return DiscreteBIC(network.sample(records, seed=seed_of(seed, records)))
    linear = LinearGaussian.random(dag, seed=seed)
    if model == "work":
        return GaussianOracle(linear)
    return GaussianBIC(linear.sample(records, seed=seed_of(seed, records)))


def draw(rows: list[Row], figure: "Figure") -> None:
    """Draw the share of recovered classes and the distance to the truth, a column per density.

    Distances are medians, with a band from the first to the third quartile.
    """
    discrete = pick(rows, model="discrete")
    densities = distinct(discrete, "edges")
    every = axes_grid(figure, 2 * len(densities), columns=len(densities))
    figure.set_size_inches(4.2 * len(densities), 7.6)
    shares, distances = every[: len(densities)], every[len(densities) :]
    records = sorted(distinct(discrete, "records"))
    for share, distance, edges in zip(shares, distances, densities, strict=True):
        for method, color in COLORS.items():
            here = pick(discrete, edges=edges, method=method)
            line(share, curve(here, "records", "recovered"), NAMES[method], color)
            spreads = [spread_of(values(pick(here, records=size), "shd")) for size in records]
            known = [(size, one) for size, one in zip(records, spreads, strict=True) if one]
            sizes = [size for size, _ in known]
            line(distance, (sizes, [one.mid for _, one in known]), NAMES[method], color)
            low, high = [one.low for _, one in known], [one.high for _, one in known]
            distance.fill_between(sizes, low, high, color=color, alpha=0.12, linewidth=0)
        for axes in (share, distance):
            axes.set_xscale("log")
            plain_ticks(axes, records)
        share.set_ylim(0, 1)
        label(share, "records", "share of networks recovered exactly", f"{edges} edges")
        label(distance, "records", "SHD: median and quartiles", "distance to the truth")
    lines, names = shares[0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside lower center", ncols=len(names), frameon=False)


def facts(rows: list[Row]) -> dict[str, object]:
    """Return the recoveries, distances and times by setting, the gains by density, the work."""
    discrete, work = pick(rows, model="discrete"), pick(rows, model="work")
    gaussian = pick(rows, model="gaussian")
    return {
        "recovered": _by_setting(discrete, _share),
        "shd": _by_setting(discrete, lambda here: _spread(here, "shd")),
        "gaussian": _by_setting(gaussian, lambda h: f"{_share(h)}; {_spread(h, 'shd')}"),
        "seconds": _by_setting(discrete, lambda h: _median(h, "seconds", 3)),
        "gains": _gains(discrete),
        "optimum": _below_truth(discrete),
        "work": _work(work),
        "exponents": "; ".join(_exponent(pick(work, method=m), k) for m, k in LEVELS.items()),
        "work_recovered": int(sum(values(work, "recovered"))),
        "work_runs": len(work),
        "networks": len(distinct(discrete, "trial")),
        "sges_networks": len(distinct(pick(discrete, method="sges"), "trial")),
    }


def _by_setting(rows: list[Row], cell: Callable[[list[Row]], str]) -> str:
    lines = []
    for edges in distinct(rows, "edges"):
        for records in distinct(rows, "records"):
            here = pick(rows, edges=edges, records=records)
            cells = (cell(pick(here, method=method)) for method in METHODS)
            lines.append((str(edges), f"{records:,}", *cells))
    return grid(("edges", "records", *NAMES.values()), lines)


def _share(rows: list[Row]) -> str:
    return f"{100 * mean(rows, 'recovered'):.0f}%"


def _spread(rows: list[Row], column: str) -> str:
    spread = spread_of(values(rows, column))
    assert spread is not None  # every setting has rows of every method
    return f"{spread.mid:g} ({spread.low:g} to {spread.high:g})"


def _median(rows: list[Row], column: str, digits: int) -> str:
    return f"{median(values(rows, column)):.{digits}f}"


def _gains(rows: list[Row]) -> str:
    """Compare SE-GES and the strategy with other searches on the same samples, by density."""
    pairs = [
        ("se-ges", "ges"),
        ("se-ges", "interleaved"),
        ("low-order", "ges"),
        ("low-order", "auto"),
        ("low-order-order", "auto"),
    ]
    lines = []
    for edges in distinct(rows, "edges"):
        here = pick(rows, edges=edges)
        cells = (_paired(pick(here, method=a), pick(here, method=b)) for a, b in pairs)
        lines.append((str(edges), *cells))
    return grid(("edges", *(f"{NAMES[a]} against {NAMES[b]}" for a, b in pairs)), lines)


def _paired(ours: list[Row], theirs: list[Row]) -> str:
    """Return how often only one of two searches recovers the truth, and the mean change of SHD."""
    other = {(row["records"], row["trial"]): row for row in theirs}
    both = [(row, other[row["records"], row["trial"]]) for row in ours]
    only = sum(a["recovered"] > b["recovered"] for a, b in both)
    lost = sum(a["recovered"] < b["recovered"] for a, b in both)
    change = sum(int(a["shd"]) - int(b["shd"]) for a, b in both) / len(both)
    return f"+{only} −{lost}; {change:+.2f}"


def _below_truth(rows: list[Row]) -> str:
    """Tabulate the share of runs that ended with a lower score than that of the truth."""
    lines = []
    for edges in distinct(rows, "edges"):
        here = [pick(pick(rows, edges=edges), method=method) for method in METHODS]
        shares = (100 * sum(r["gain"] < -1e-6 for r in each) / len(each) for each in here)
        lines.append((str(edges), *(f"{share:.0f}%" for share in shares)))
    return grid(("edges", *NAMES.values()), lines)


def _work(rows: list[Row]) -> str:
    lines = []
    for n in sorted(distinct(rows, "n")):
        here = pick(rows, n=n)
        cells = []
        for method in LEVELS:
            each = pick(here, method=method)
            cells.append(
                f"{number(mean(each, 'evaluations'))} ({mean(each, 'seconds'):.1f} s)"
                if each
                else "not run"
            )
        lines.append((str(n), *cells))
    return grid(("n", *(f"k = {k}" for k in LEVELS.values())), lines)


def _exponent(rows: list[Row], k: int) -> str:
    ns, counts = curve(rows, "n", "evaluations")
    return f"n^{exponent(ns, counts):.1f} for k = {k} (n = {ns[0]:g} to {ns[-1]:g})"


STUDY = experiment(
    "low-order",
    "Low-order search on dense networks",
    keys={
        "model": one_of("discrete", "gaussian", "work"),
        "n": positive,
        "edges": positive,
        "records": natural,
        "method": one_of(*METHODS, *LEVELS),
        "trial": natural,
    },
    columns={
        "recovered": natural,
        "gain": real,
        "shd": natural,
        "found_edges": natural,
        "evaluations": positive,
        "seconds": amount,
    },
    tasks=tasks,
    measure=measure,
    facts=facts,
    draw=draw,
)
