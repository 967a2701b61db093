"""The defaults: which score and penalty come closest to the truth, over many kinds of tables.

A setting is a kind of truth, a number of variables and a number of records.  On each table all
candidates use the same search.  A rule is derived on half of the settings and checked on the other
half; the halves form a checkerboard, so that both have every kind, size and number of records.

    continuous   random linear models, with strong and weak weights, sparse, dense and scale-free
    discrete     random tables, and reference networks
    mixed        linear models in which half of the variables are cut into two to four levels
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import product
from math import comb, log
from statistics import fmean, median
from time import process_time
from typing import TYPE_CHECKING, Any, cast
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import NDArray

from sges.data import Dataset
from sges.errors import DataWarning
from sges.graph import PDAG, dag_to_cpdag, topological_order
from sges.network import LinearGaussian
from sges.nodeset import nodes
from sges.score import (
    QNML,
    BDeu,
    BGe,
    DegenerateGaussian,
    DiscreteBIC,
    EdgePrior,
    GaussianBIC,
    Score,
)
from sges.search import search
from sges.tools.metrics import shd
from sges.tools.penalty import choose_penalty
from studies.charts import BLUE, GREY, RED, axes_grid, label
from studies.frame import Row, Task, amount, experiment, natural, one_of, positive, seed_of
from studies.peers.problems import NETWORKS, Source, Spec, make_problem, random_edges
from studies.summary import grid, number, pick

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The candidates, by the kind of the table.

CHOSEN = "chosen"
Make = Callable[[Dataset], Score]


def _with_prior(make: Make, power: int = 1) -> Make:
    """Return a function that makes the score with prior odds of 1/p, or a power of it, per edge."""
    return lambda data: EdgePrior(make(data), cost=power * log(len(data.names)))


CANDIDATES: dict[str, dict[str, Make]] = {
    "continuous": {
        "bic": GaussianBIC,
        "bic-2": lambda data: GaussianBIC(data, 2.0),
        "bic-prior": _with_prior(GaussianBIC),
        "bic-prior-2": _with_prior(GaussianBIC, 2),
        "bge": BGe,
        "bge-prior": _with_prior(BGe),
    },
    "discrete": {
        "bic": DiscreteBIC,
        "bic-2": lambda data: DiscreteBIC(data, 2.0),
        "bic-prior": _with_prior(DiscreteBIC),
        "half-prior": _with_prior(lambda data: DiscreteBIC(data, 0.5)),
        "bdeu": BDeu,
        "bdeu-prior": _with_prior(BDeu),
        "bdeu-10": lambda data: BDeu(data, 10.0),
        "bdeu-10-prior": _with_prior(lambda data: BDeu(data, 10.0)),
        "qnml": QNML,
        "qnml-prior": _with_prior(QNML),
    },
    "mixed": {
        "bic": DegenerateGaussian,
        "bic-2": lambda data: DegenerateGaussian(data, 2.0),
        "bic-prior": _with_prior(DegenerateGaussian),
        "bic-prior-2": _with_prior(DegenerateGaussian, 2),
        "half-prior": _with_prior(lambda data: DegenerateGaussian(data, 0.5)),
    },
}
NAMES = {
    "bic": "BIC",
    "bic-2": "BIC, penalty 2",
    "bic-prior": "BIC, prior 1/p",
    "bic-prior-2": "BIC, prior 1/p²",
    "half-prior": "½ BIC, prior 1/p",
    "bge": "BGe",
    "bge-prior": "BGe, prior 1/p",
    "bdeu": "BDeu(1)",
    "bdeu-prior": "BDeu(1), prior 1/p",
    "bdeu-10": "BDeu(10)",
    "bdeu-10-prior": "BDeu(10), prior 1/p",
    "qnml": "qNML",
    "qnml-prior": "qNML, prior 1/p",
    CHOSEN: "BIC, chosen penalty",
}
BICS: dict[str, Callable[[Dataset, float], Score]] = {
    "continuous": GaussianBIC,
    "discrete": DiscreteBIC,
    "mixed": DegenerateGaussian,
}

# The settings.

WEIGHTS = {"strong": (0.5, 2.0), "weak": (0.1, 0.5)}
MANY = 2000
"""From this number of variables on, the search is "interleaved": "auto" takes too long."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One kind of table: its truth, its size, and whether the rule is checked on it."""

    kind: str
    model: str
    signal: str
    variables: int
    records: int
    checked: bool

    @property
    def key(self) -> tuple[object, ...]:
        """The values that name the setting."""
        return (self.kind, self.model, self.signal, self.variables, self.records)

    @property
    def methods(self) -> list[str]:
        """The candidates.

        The penalty is chosen from the data on small tables only, as that takes dozens of searches.
        """
        small = self.variables <= 20 or self.records == 1000
        small &= self.variables <= 30 and self.records <= 10_000
        chooses = small and self.model in ("er2", "tables", "binary", "asia", "child")
        return [*CANDIDATES[self.kind], *[CHOSEN] * chooses]

    def __str__(self) -> str:
        signal = "" if self.signal == "none" else f" {self.signal}"
        return f"{MODELS.get(self.model, self.model)}{signal}, {self.variables} × {self.records:,}"


MODELS = {
    "er1": "p edges",
    "er2": "2p edges",
    "er4": "4p edges",
    "sf2": "scale-free",
    "tables": "2 to 4 levels",
    "binary": "binary",
}


def _crossed(
    kind: str,
    models: Sequence[str],
    signals: Sequence[str],
    variables: Sequence[int],
    records: Sequence[int],
    first: int = 0,
) -> list[Setting]:
    """Return all combinations; the rule is checked on every second one, as on a checkerboard."""
    return [
        Setting(kind, model, signal, d, m, checked=(first + a + b + c + e) % 2 == 1)
        for (a, model), (b, signal), (c, d), (e, m) in product(
            enumerate(models), enumerate(signals), enumerate(variables), enumerate(records)
        )
    ]


BOTH, NO_SIGNAL = tuple(WEIGHTS), ("none",)
FOUR_SIZES, THREE_SIZES, TWO_SIZES = (100, 1000, 10_000, 100_000), (500, 5000, 50_000), (500, 5000)
NETWORK_SIZES = {
    "asia": THREE_SIZES,
    "sachs": TWO_SIZES,
    "child": THREE_SIZES,
    "insurance": TWO_SIZES,
    "alarm": THREE_SIZES,
    "hailfinder": THREE_SIZES,
    "hepar2": TWO_SIZES,
    "win95pts": TWO_SIZES,
}
SETTINGS = [
    *_crossed("continuous", ("er1", "er2", "er4", "sf2"), BOTH, (10, 30), FOUR_SIZES),
    *_crossed("continuous", ("er2",), BOTH, (100,), (100, 1000, 10_000)),
    *_crossed("continuous", ("sf2",), BOTH, (100,), (1000,)),
    *_crossed("continuous", ("er1",), BOTH, (500, MANY), (1000,)),
    *_crossed("discrete", ("tables",), NO_SIGNAL, (10, 20, 50), THREE_SIZES),
    *_crossed("discrete", ("binary",), NO_SIGNAL, (20, 50), TWO_SIZES),
    *(
        setting
        for place, (name, sizes) in enumerate(NETWORK_SIZES.items())
        for setting in _crossed("discrete", (name,), NO_SIGNAL, (NETWORKS[name],), sizes, place)
    ),
    *_crossed("mixed", ("er1", "er2", "sf2"), BOTH, (10, 30), TWO_SIZES),
]
QUICK = [
    *_crossed("continuous", ("er2",), BOTH, (6,), (100, 1000)),
    *_crossed("discrete", ("tables",), NO_SIGNAL, (5,), (100, 1000)),
    *_crossed("mixed", ("er1",), BOTH, (6,), (500,)),
]


TRIALS = {"continuous": 20, "discrete": 40, "mixed": 20}
"""The number of tables of a setting, by kind."""

SETTING_KEYS = ("kind", "model", "signal", "variables", "records")


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the tasks: one trial of all settings before the next trial."""
    settings = QUICK if quick else SETTINGS
    for trial in range(2 if quick else max(TRIALS.values())):
        for setting in settings:
            if trial >= TRIALS[setting.kind]:
                continue
            key = dict(zip(SETTING_KEYS, setting.key, strict=True))
            for method in setting.methods:
                yield {**key, "method": method, "trial": trial}


# The tables.


@lru_cache(maxsize=1)  # all candidates are measured on the same table, one after the other
def sample(
    kind: str, model: str, signal: str, variables: int, records: int, seed: int
) -> tuple[PDAG, Dataset]:
    """Return the true class and the table of one trial."""
    if kind == "discrete":
        source: Source = "network" if model in NETWORKS else "cpt"
        name = model if model in NETWORKS else ""
        arity = 2 if model == "binary" else 0
        spec = Spec(source, variables, records, arity=arity, network=name)
        problem = make_problem(spec, seed)
        return dag_to_cpdag(problem.truth), Dataset.of(problem.table.values, kinds="discrete")
    rng = np.random.default_rng(seed)
    edges = random_edges(cast(Source, model[:2]), variables, int(model[2]), rng)
    dag = PDAG.from_edges(variables, edges)
    if kind == "mixed":
        return dag_to_cpdag(dag), mixed_table(dag, WEIGHTS[signal], records, rng)
    linear = LinearGaussian.random(dag, WEIGHTS[signal], variances=(1.0, 1.0), seed=seed)
    return dag_to_cpdag(dag), linear.sample(records, seed=rng)


def mixed_table(
    dag: PDAG, weights: tuple[float, float], records: int, rng: np.random.Generator
) -> Dataset:
    """Return records of a linear model with half of its variables cut into two to four levels.

    A variable is a linear function of its parents plus noise; a discrete one is cut at quantiles.
    A discrete parent has a random effect for each level, standardized to variance one.
    """
    discrete = set(rng.permutation(dag.n)[: dag.n // 2].tolist())
    columns: dict[str, Any] = {}
    acts = np.empty((records, dag.n))
    for y in topological_order(dag):
        parents = list(nodes(dag.parents(y)))
        signs = rng.choice([-1.0, 1.0], len(parents))
        value = acts[:, parents] @ (rng.uniform(*weights, len(parents)) * signs)
        value += rng.normal(size=records)
        columns[f"x{y}"] = value
        if y in discrete:
            levels = int(rng.integers(2, 5))
            codes = np.searchsorted(np.quantile(value, np.arange(1, levels) / levels), value)
            columns[f"x{y}"] = np.char.add("l", codes.astype(str))
            value = rng.permutation(np.arange(levels) + rng.uniform(0, 0.5, levels))[codes]
        acts[:, y] = (value - value.mean()) / value.std()
    return Dataset.of({name: columns[name] for name in sorted(columns, key=lambda x: int(x[1:]))})


def measure(task: Task, seed: int) -> Row:
    """Search once with one candidate."""
    key = [task[name] for name in SETTING_KEYS]
    kind, variables, method = str(task["kind"]), int(task["variables"]), str(task["method"])
    own = seed_of(seed, variables, int(task["records"]), int(task["trial"]))
    truth, data = sample(*key, own)
    strategy = "interleaved" if variables >= MANY else "auto"
    begun = process_time()
    with catch_warnings():
        simplefilter("ignore", DataWarning)  # as many columns as records, in some settings
        if method == CHOSEN:
            choice = choose_penalty(data, search=lambda score: search(score, strategy=strategy))
            score = BICS[kind](data, choice.penalty)
        else:
            score = CANDIDATES[kind][method](data)
    found = search(score, strategy=strategy).cpdag
    return {
        "shd": shd(truth, found),
        "edges": found.edge_count(),
        "true_edges": truth.edge_count(),
        "seconds": process_time() - begun,
    }


# The page.

DEFAULTS = {"continuous": "bic-prior", "discrete": "qnml-prior", "mixed": "bic-prior"}
"""The candidates that are the defaults of ``learn``."""


def facts(rows: list[Row]) -> dict[str, object]:
    """Return the verdict, the distances and the losses of the default for each kind of table."""
    told: dict[str, object] = {
        "seeds": _seeds(rows),
        "reached": _reached(rows),
        "repeated": _said_of_repetition(rows),
    }
    for kind in CANDIDATES:
        here = _results(pick(rows, kind=kind))
        told[f"{kind}_verdict"] = _verdict(here)
        told[f"{kind}_distances"] = _distances(kind, here)
        told[f"{kind}_default"] = _said_of_default(kind, here)
    return told


@dataclass(frozen=True, slots=True)
class Results:
    """The distances of all candidates on the tables of one setting, trial by trial."""

    setting: Setting
    distances: dict[str, list[float]]
    true_edges: float

    def mid(self, method: str) -> float:
        """Return the median distance of a candidate."""
        return median(self.distances[method])

    @property
    def best(self) -> float:
        """The lowest median distance."""
        return min(map(self.mid, self.distances))

    def beyond(self, method: str) -> float:
        """Return the excess of the median over the lowest median, per true edge."""
        return (self.mid(method) - self.best) / self.true_edges

    @property
    def tables(self) -> int:
        """The number of tables."""
        return len(next(iter(self.distances.values())))

    @property
    def winner(self) -> str:
        """The candidate with the lowest median; ties go to the lowest mean."""
        return min(self.distances, key=lambda m: (self.mid(m), fmean(self.distances[m])))

    def half(self, first: int) -> "Results":
        """Return the results on every second table."""
        return replace(self, distances={m: d[first::2] for m, d in self.distances.items()})

    def is_best(self, method: str) -> bool:
        """Return whether a candidate has the lowest median, possibly tied with others."""
        return self.mid(method) == self.best

    def is_equal(self, method: str) -> bool:
        """Return whether no candidate has a median that is lower by more than sampling error.

        A difference of two medians is within sampling error if its 95% interval, from a bootstrap
        of the tables, includes zero.
        """
        own = _resampled_medians(tuple(self.distances[method]))
        return all(
            np.quantile(own - _resampled_medians(tuple(other)), (1 - CONFIDENCE) / 2) <= 0
            for name, other in self.distances.items()
            if self.mid(name) < self.mid(method)
        )

    def is_unbeaten(self, method: str) -> bool:
        """Return whether no candidate is closer on significantly more tables, by a sign test.

        The level is divided by the number of comparisons.
        """
        own = self.distances[method]
        for other in self.distances.values():
            pairs = list(zip(own, other, strict=True))
            wins, losses = sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
            level = (1 - CONFIDENCE) / (len(self.distances) - 1)
            if losses > wins and _sign_test(losses, wins) < level:
                return False
        return True


CONFIDENCE = 0.95
"""The level of the intervals of differences, and of all sign tests of a setting together."""

RESAMPLES = 2000


@cache
def _resampled_medians(distances: tuple[float, ...]) -> NDArray[np.float64]:
    """Return the medians of bootstrap samples; the same tables are drawn for every candidate."""
    drawn = np.random.default_rng(0).integers(len(distances), size=(RESAMPLES, len(distances)))
    return np.median(np.array(distances)[drawn], axis=1)  # type: ignore[no-any-return]


def _sign_test(more: int, fewer: int) -> float:
    """Return the one-sided p-value of the sign test for ``more`` against ``fewer`` signs."""
    total = more + fewer
    return sum(comb(total, k) for k in range(more, total + 1)) / 2.0**total


def _results(rows: list[Row]) -> list[Results]:
    """Return the results of each setting, on the tables on which all its candidates have rows."""
    by_key: dict[tuple[object, ...], dict[int, dict[str, Row]]] = {}
    for row in rows:
        trials = by_key.setdefault(tuple(row[key] for key in SETTING_KEYS), {})
        trials.setdefault(row["trial"], {})[row["method"]] = row
    found = []
    for setting in (*SETTINGS, *QUICK):
        methods = setting.methods
        trials = by_key.get(setting.key, {})
        whole = [trial for trial in trials.values() if set(methods) <= set(trial)]
        if whole:
            distances = {m: [float(trial[m]["shd"]) for trial in whole] for m in methods}
            edges = fmean(trial[methods[0]]["true_edges"] for trial in whole)
            found.append(Results(setting, distances, edges))
    return found


def _verdict(results: list[Results]) -> str:
    """Tabulate the results of each candidate on the settings for deriving and for checking."""
    methods = list(dict.fromkeys(m for one in results for m in one.distances))
    lines = []
    for method in methods:
        cells: list[object] = [NAMES[method]]
        for checked in (False, True):
            here = [
                one for one in results if one.setting.checked is checked and method in one.distances
            ]
            if not here:
                cells += ["–"] * 3
                continue
            best = sum(one.is_best(method) for one in here)
            equal = sum(one.is_equal(method) for one in here)
            cells.append(f"{fmean(one.beyond(method) for one in here):.3f}")
            cells += [f"{best} of {len(here)}", f"{equal} of {len(here)}"]
        lines.append(cells)
    halves = [f"{half}: {what}" for half in ("derived", "checked") for what in VERDICT]
    return grid(("candidate", *halves), lines)


VERDICT = ("beyond the best", "best", "best or equal")


def _distances(kind: str, results: list[Results]) -> str:
    """Tabulate the median distances, the lowest in bold; ✓ marks the settings for checking."""
    methods = [*CANDIDATES[kind], CHOSEN]
    lines = []
    for one in results:
        cells = [
            "" if m not in one.distances else _bold(one.mid(m), bold=one.is_best(m))
            for m in methods
        ]
        name = f"{one.setting}{' ✓' if one.setting.checked else ''}"
        lines.append((name, number(one.true_edges), *cells))
    return grid(("truth, variables × records", "edges", *(NAMES[m] for m in methods)), lines)


def _bold(value: float, *, bold: bool) -> str:
    mark = "**" if bold else ""
    return f"{mark}{number(value)}{mark}"


def _said_of_default(kind: str, results: list[Results]) -> str:
    """Describe the settings in which the default loses most."""
    method = DEFAULTS[kind]
    losses = sorted(results, key=lambda one: one.best - one.mid(method))[:3]
    told = "; ".join(
        f"{one.setting}: {number(one.mid(method))} against {number(one.best)} with "
        f"{NAMES[min(one.distances, key=one.mid)]}"
        for one in losses
        if not one.is_best(method)
    )
    return f"{NAMES[method]}, the default, loses most here: {told or 'nowhere'}."


def _reached(rows: list[Row]) -> str:
    """Tabulate on how many settings for checking the defaults are best, equal or unbeaten."""
    lines: list[list[object]] = []
    sums = np.zeros(4, dtype=int)
    for kind, method in DEFAULTS.items():
        here = [one for one in _results(pick(rows, kind=kind)) if one.setting.checked]
        counts = [
            len(here),
            sum(one.is_best(method) for one in here),
            sum(one.is_equal(method) for one in here),
            sum(one.is_unbeaten(method) for one in here),
        ]
        lines.append([f"{kind}: {NAMES[method]}", *_with_shares(counts)])
        sums += counts
    lines.append(["all", *_with_shares(sums.tolist())])
    return grid(REACHED, lines)


REACHED = ("the default", "checked settings", "best", "best or equal", "unbeaten by the sign test")


def _said_of_repetition(rows: list[Row]) -> str:
    """Describe how often the best candidate on half of the tables is best on the other half."""
    checked = [one for one in _results(rows) if one.setting.checked and one.tables > 1]
    again = sum(one.half(1).is_best(one.half(0).winner) for one in checked)
    return f"{again} of the {len(checked)} ({again / len(checked):.0%})" if checked else "none"


def _with_shares(counts: list[int]) -> list[object]:
    total, *parts = counts
    return [total, *(f"{part} ({part / total:.0%})" if total else "–" for part in parts)]


def _seeds(rows: list[Row]) -> str:
    """Return the number of tables per setting, or its range."""
    counts = [one.tables for one in _results(rows)]
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"


def draw(rows: list[Row], figure: "Figure") -> None:
    """Draw the distance of each candidate beyond the best one, a dot per setting."""
    kinds = [kind for kind in CANDIDATES if pick(rows, kind=kind)]
    for axes, kind in zip(axes_grid(figure, len(kinds), columns=3), kinds, strict=True):
        results = _results(pick(rows, kind=kind))
        methods = [m for m in (*CANDIDATES[kind], CHOSEN) if any(m in r.distances for r in results)]
        for place, method in enumerate(methods):
            here = [one for one in results if method in one.distances]
            color = BLUE if method == DEFAULTS[kind] else GREY
            for checked, fill in ((False, "white"), (True, color)):
                own = [one.beyond(method) for one in here if one.setting.checked is checked]
                spots = [place + (0.13 if checked else -0.13)] * len(own)
                axes.plot(
                    own, spots, "o", color=color, markerfacecolor=fill, markersize=4, alpha=0.6
                )
            mean_of = fmean(one.beyond(method) for one in here)
            axes.plot([mean_of] * 2, [place - 0.35, place + 0.35], color=RED, linewidth=1.8)
        axes.set_xscale("symlog", linthresh=0.1)
        axes.set_xlim(left=-0.01)
        axes.set_yticks(range(len(methods)), [NAMES[m] for m in methods])
        axes.set_ylim(len(methods) - 0.5, -0.5)
        axes.grid(axis="x")
        label(axes, "distance beyond the best, per true edge", "", kind)


STUDY = experiment(
    "defaults",
    "Defaults: score and penalty",
    keys={
        "kind": one_of(*CANDIDATES),
        "model": one_of(*MODELS, *NETWORKS),
        "signal": one_of(*WEIGHTS, "none"),
        "variables": positive,
        "records": positive,
        "method": one_of(*NAMES),
        "trial": natural,
    },
    columns={"shd": natural, "edges": natural, "true_edges": natural, "seconds": amount},
    tasks=tasks,
    measure=measure,
    facts=facts,
    draw=draw,
)
