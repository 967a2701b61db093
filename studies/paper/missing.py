"""Missing values: the distance to the truth for each way to treat them.

In tables of 15 variables, 5, 10 or 20% of the values are removed, completely at random (MCAR) or
depending on observed values (MAR).  The tables are then searched with EM, without the incomplete
rows, with an additional level (discrete tables), and with the mean or the most frequent level in
place of each missing value.  For comparison: the complete table, EM with other numbers of effective
records, and one round of structural EM for discrete tables.
"""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sges.data import Dataset, Kind
from sges.data.completion import completed
from sges.errors import DataWarning
from sges.graph import PDAG, dag_to_cpdag, pdag_to_dag
from sges.network import BayesianNetwork, LinearGaussian, fit, random_dag
from sges.nodeset import nodes
from sges.score import DegenerateGaussian, DiscreteBIC, GaussianBIC
from sges.search import search
from sges.tools.metrics import shd
from studies.charts import STYLE, label
from studies.frame import Row, Task, experiment, natural, one_of, positive, real, seed_of
from studies.summary import distinct, grid, pick, spread_of, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VARIABLES, EDGES, RECORDS = 15, 18, 1000

SHARES = (0.05, 0.1, 0.2)

COPIES, ROUNDS = 5, 10
"""Structural EM: the copies of the table that are filled in, and how often each hole is drawn."""

METHODS = {
    "full": "nothing missing",
    "em": "EM",
    "drop": "drop",
    "level": "level",
    "mean": "mean or mode",
    "em-rows": "EM, all rows",
    "em-least": "EM, least pair",
    "structural": "structural EM",
}
"""The methods for missing values, and their names."""

COLORS = {
    "em": "#08306b",
    "drop": "#c23b22",
    "level": "#2e8b57",
    "mean": "#c98a00",
    "full": "#777777",
}

MODELS = ("gaussian", "mixed", "discrete")


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the trials."""
    trials, shares = (1, (0.1,)) if quick else (30, SHARES)
    for trial in range(trials):
        for model in MODELS:
            for how in ("MCAR", "MAR"):
                for share in shares:
                    for method in METHODS:
                        if fits(method, model):
                            yield {
                                "model": model,
                                "how": how,
                                "share": share,
                                "method": method,
                                "trial": trial,
                            }


def fits(method: str, model: str) -> bool:
    """Return whether a method applies to this kind of table."""
    return method not in ("level", "structural") or model == "discrete"


def measure(task: Task, seed: int) -> Row:
    """Remove values from a table, treat them as missing, and learn."""
    trial, model = int(task["trial"]), str(task["model"])
    start = seed_of(seed, VARIABLES, trial)
    dag, data = sample(model, start)
    rng = np.random.default_rng([start, int(100 * float(task["share"])), task["how"] == "MAR"])
    holes = made_holes(data, str(task["how"]), float(task["share"]), rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        found, records = learned(data, holes, str(task["method"]))
    return {
        "shd": shd(dag_to_cpdag(dag), found),
        "records": records,
        "edges": found.edge_count(),
    }


def sample(model: str, seed: int) -> tuple[PDAG, Dataset]:
    """Return a structure and a table; in a mixed table, every third column is cut into levels."""
    dag = random_dag(VARIABLES, EDGES, seed=seed)
    if model == "discrete":
        arity = np.random.default_rng(seed).integers(2, 4, VARIABLES).tolist()
        records = 5 * RECORDS
        return dag, BayesianNetwork.random(dag, arity, seed=seed).sample(records, seed=seed + 1)
    drawn = LinearGaussian.random(dag, seed=seed).sample(RECORDS, seed=seed + 1)
    if model == "gaussian":
        return dag, drawn
    columns: dict[str, Any] = {}
    for v, name in enumerate(drawn.names):
        column = drawn.values[v]
        low, high = np.quantile(column, [1 / 3, 2 / 3])
        words = np.where(column < low, "low", np.where(column > high, "high", "mid"))
        columns[name] = words if v % 3 == 0 else column
    return dag, Dataset.of(columns)


def made_holes(
    data: Dataset, how: str, share: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Return which values are removed (columns x rows).

    With MAR, values of every second column are removed, more often where the column before it is
    large, which stays complete.
    """
    if how == "MCAR":
        return rng.random((data.n, data.rows)) < share
    holes = np.zeros((data.n, data.rows), np.bool_)
    for v in range(1, data.n, 2):
        rank = np.argsort(np.argsort(_numbers(data, v - 1) + 1e-3 * rng.random(data.rows)))
        holes[v] = rng.random(data.rows) < np.minimum(4 * share * rank / data.rows, 1.0)
    return holes


def _numbers(data: Dataset, v: int) -> NDArray[np.float64]:
    is_continuous = data.kinds[v] is Kind.CONTINUOUS
    column = (
        data.values[data.continuous.index(v)]
        if is_continuous
        else data.codes[data.discrete.index(v)]
    )
    return np.asarray(column, dtype=np.float64)


def learned(data: Dataset, holes: NDArray[np.bool_], method: str) -> tuple[PDAG, int]:
    """Return the class found by one method, and the number of records of its score."""
    if method == "full":
        return _search(data), data.records
    if method == "drop":
        kept = ~holes.any(axis=0)
        if kept.sum() < 2:
            return PDAG.empty(data.n), 1
        rest = replace(data, values=data.values[:, kept], codes=data.codes[:, kept])
        return _search(rest), rest.records
    if method == "level":
        levels = tuple((*(labels or ()), None) for labels in data.levels)
        codes = np.where(holes, data.arities[:, None], data.codes).astype(data.codes.dtype)
        return _search(replace(data, codes=codes, levels=levels)), data.records
    if method == "mean":
        return _search(_filled(data, holes)), data.records
    lost = _with_holes(data, holes)
    if method == "structural":
        return _structural(lost), lost.records
    records = {"em": lost.records, "em-rows": lost.rows, "em-least": _least_pair(holes)}[method]
    return _search(replace(lost, unit=records / lost.records)), records


def _search(data: Dataset) -> PDAG:
    if not data.discrete:
        return search(GaussianBIC(data)).cpdag
    return search((DegenerateGaussian if data.continuous else DiscreteBIC)(data)).cpdag


def _least_pair(holes: NDArray[np.bool_]) -> int:
    seen = (~holes).astype(np.float64)
    return int((seen @ seen.T).min())


def _with_holes(data: Dataset, holes: NDArray[np.bool_]) -> Dataset:
    """Return the table with these values missing, as ``missing="em"`` reads it."""
    continuous, discrete = list(data.continuous), list(data.discrete)
    return replace(
        data,
        values=np.where(holes[continuous], np.nan, data.values),
        codes=np.where(holes[discrete], 0, data.codes).astype(data.codes.dtype),
        holes=holes,
    )


def _filled(data: Dataset, holes: NDArray[np.bool_]) -> Dataset:
    """Return the table with missing values replaced by the mean or the most frequent level."""
    values, codes = data.values.copy(), data.codes.copy()
    for i, v in enumerate(data.continuous):
        values[i, holes[v]] = values[i, ~holes[v]].mean()
    for i, v in enumerate(data.discrete):
        codes[i, holes[v]] = np.bincount(codes[i, ~holes[v]]).argmax()
    return replace(data, values=values, codes=codes)


def _structural(lost: Dataset) -> PDAG:
    """Return the class found after one round of structural EM, by Gibbs sampling."""
    assert lost.holes is not None
    full = completed(lost)
    network = fit(pdag_to_dag(_search(full)), full)
    assert isinstance(network, BayesianNetwork)
    rng = np.random.default_rng(0)
    holes, codes = np.tile(lost.holes, COPIES), np.tile(lost.codes.astype(np.intp), COPIES)
    codes = np.where(holes, rng.integers(lost.arities[:, None], size=holes.shape), codes)
    for _ in range(ROUNDS):
        for v in range(lost.n):
            _redraw(network, codes, v, np.flatnonzero(holes[v]), rng)
    drawn = codes.astype(lost.codes.dtype)
    values, unit = np.empty((0, drawn.shape[1])), lost.records / drawn.shape[1]
    return _search(replace(lost, values=values, codes=drawn, unit=unit, holes=None))


def _redraw(
    network: BayesianNetwork,
    codes: NDArray[np.intp],
    v: int,
    rows: NDArray[np.intp],
    rng: np.random.Generator,
) -> None:
    """Draw a variable in some rows from its distribution given all others."""
    dag, levels = network.dag, len(network.levels[v])
    logs = np.zeros((len(rows), levels))
    for y in (v, *nodes(dag.children(v))):
        family = [*nodes(dag.parents(y)), y]
        for level in range(levels):
            at = tuple(np.full(len(rows), level) if u == v else codes[u, rows] for u in family)
            logs[:, level] += np.log(np.maximum(network.cpts[y][at], 1e-300))
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    ceilings = np.cumsum(chances / chances.sum(axis=1, keepdims=True), axis=1)[:, :-1]
    codes[v, rows] = (rng.random(len(rows))[:, None] > ceilings).sum(axis=1)


# --- the page -----------------------------------------------------------------------------------


def draw(rows: list[Row], figure: "Figure") -> None:
    """Draw the median distances by share of missing values, a panel per kind and mechanism."""
    import matplotlib as mpl

    hows = distinct(rows, "how")
    figure.set_size_inches(10.4, 3.4 * len(hows))
    with mpl.rc_context(STYLE):
        found = figure.subplots(len(hows), len(MODELS), squeeze=False, sharey="col")
    for line, how in zip(found, hows, strict=True):
        for axes, model in zip(line, MODELS, strict=True):
            here = pick(rows, how=how, model=model)
            shares = distinct(here, "share")
            for method, color in COLORS.items():
                if fits(method, model):
                    mids = [_median(pick(here, share=s), method) for s in shares]
                    style = "--" if method == "full" else "-o"
                    axes.plot(
                        [100 * s for s in shares], mids, style, color=color, linewidth=1.8,
                        markersize=4, label=METHODS[method],
                    )  # fmt: skip
            label(axes, "missing values (%)", "wrong edges (SHD)", f"{model}, {how}")
    for axes in found.flat:
        axes.set_ylim(bottom=0)
    handles, names = found[0][-1].get_legend_handles_labels()
    figure.set_layout_engine("constrained", h_pad=0.1, w_pad=0.08)
    figure.legend(
        handles, names, loc="outside lower center", ncols=len(names), frameon=False, fontsize=9
    )


def _median(rows: list[Row], method: str) -> float:
    return median(values(pick(rows, method=method), "shd"))


def _mean(rows: list[Row], method: str) -> str:
    return f"{fmean(values(pick(rows, model='discrete', method=method), 'shd')):.1f}"


def facts(rows: list[Row]) -> dict[str, object]:
    """Return the distances by method and record count, and the settings where EM is not best."""
    return {
        "variables": VARIABLES,
        "edges": EDGES,
        "records": f"{RECORDS:,}",
        "discrete_records": f"{5 * RECORDS:,}",
        "distances": _table(rows, ("full", "em", "drop", "level", "mean")),
        "calibration": _table(rows, ("em", "em-rows", "em-least")),
        "structural": _table(
            pick(rows, model="discrete"), ("full", "em", "structural"), means=True
        ),
        "copies": COPIES,
        "rounds": ROUNDS,
        "em_mean": _mean(rows, "em"),
        "structural_mean": _mean(rows, "structural"),
        "not_best": _not_best(rows),
    }


def _groups(rows: list[Row]) -> list[tuple[str, list[Row]]]:
    return [
        (f"{model}, {how}, {share:.0%}", here)
        for model in distinct(rows, "model")
        for how in distinct(rows, "how")
        for share in distinct(rows, "share")
        if (here := pick(rows, model=model, how=how, share=share))
    ]


def _table(rows: list[Row], methods: tuple[str, ...], *, means: bool = False) -> str:
    lines = []
    for name, here in _groups(rows):
        found = {method: values(pick(here, method=method), "shd") for method in methods}
        lowest = min(median(own) for method, own in found.items() if own and method != "full")
        cells = (_cell(own, None if m == "full" else lowest, means) for m, own in found.items())
        lines.append((name, *cells))
    return grid(("table, missing", *(METHODS[method] for method in methods)), lines)


def _cell(found: list[float], lowest: float | None, means: bool) -> str:
    spread = spread_of(found)
    if spread is None:
        return "–"
    mark = "**" if spread.mid == lowest else ""
    beside = f"{fmean(found):.1f}" if means else f"{spread.low:g}–{spread.high:g}"
    return f"{mark}{spread.mid:g}{mark} ({beside})"


def _not_best(rows: list[Row]) -> str:
    """Return the settings in which another method has a lower median than EM."""
    worse = []
    for name, here in _groups(rows):
        own = _median(here, "em")
        others = {
            method: _median(here, method)
            for method in ("drop", "level", "mean")
            if pick(here, method=method)
        }
        best = min(others, key=others.__getitem__)
        if others[best] < own:
            worse.append(f"{name} ({METHODS[best]} {others[best]:g}, EM {own:g})")
    if not worse:
        return "EM has the lowest median, alone or with another way, in every setting."
    return f"EM has the lowest median except in: {'; '.join(worse)}."


STUDY = experiment(
    "missing",
    "Missing values: EM, dropping rows, a level, and the mean",
    keys={
        "model": one_of(*MODELS),
        "how": one_of("MCAR", "MAR"),
        "share": real,
        "method": one_of(*METHODS),
        "trial": natural,
    },
    columns={"shd": natural, "records": positive, "edges": natural},
    tasks=tasks,
    measure=measure,
    facts=facts,
    draw=draw,
)
