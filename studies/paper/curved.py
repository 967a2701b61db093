"""Curved relations: the distance to the truth of the linear and of the basis score.

Each variable is the sum of one function of each of its standardized parents, plus Gaussian noise:
a line, a parabola, a cosine, or a jump.  "Shallow" graphs have edges only from half of the
variables to the other half; in "any" graphs, curved functions of curved functions occur.
"""

from collections.abc import Callable, Iterator
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sges.graph import PDAG, dag_to_cpdag
from sges.graph.equivalence import topological_order
from sges.network import random_dag
from sges.nodeset import nodes
from sges.score import BasisBIC, GaussianBIC
from sges.score.protocol import Score
from sges.search import search
from sges.tools.metrics import shd
from studies.charts import STYLE, label
from studies.frame import Row, Task, experiment, natural, one_of, positive, seed_of
from studies.summary import distinct, grid, pick, spread_of, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

VARIABLES, EDGES = 8, 8

TRUTHS: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda x: x,
    "quadratic": lambda x: x**2,
    "sine": lambda x: np.sin(1.5 * x + np.pi / 2),
    "threshold": lambda x: (np.abs(x) > 0.7).astype(np.float64),
}

SCORES = {"linear": "linear score", "basis": "basis score", "all": "basis score, all records"}

COLORS = {"linear": "#c23b22", "basis": "#08306b", "all": "#9ecae1"}


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the trials."""
    trials, sizes = (1, (1000,)) if quick else (30, (1000, 100_000))
    for trial in range(trials):
        for graph in ("any", "shallow"):
            for truth in TRUTHS:
                for records in sizes:
                    yield {"graph": graph, "truth": truth, "records": records, "trial": trial}


def measure(task: Task, seed: int) -> Row:
    """Draw a table, and learn from it with each score."""
    start = seed_of(seed, VARIABLES, int(task["trial"]))
    dag = random_dag(VARIABLES, EDGES, seed=start)
    if task["graph"] == "shallow":
        rng = np.random.default_rng(start)
        half = VARIABLES // 2
        pairs = rng.choice(half * half, EDGES, replace=False).tolist()
        dag = PDAG.from_edges(VARIABLES, [(p // half, half + p % half) for p in pairs])
    table = sample(dag, TRUTHS[str(task["truth"])], int(task["records"]), start + 1)
    basis = BasisBIC(table)
    scores: dict[str, Score] = {
        "linear": GaussianBIC(table),
        "basis": basis,
        "all": BasisBIC(table, limit=np.inf),
    }
    truth = dag_to_cpdag(dag)
    distances = {name: shd(truth, search(score).cpdag) for name, score in scores.items()}
    return {"degree": basis.degree, "width": sum(basis.widths), **distances}


def sample(dag: PDAG, bend: Callable[[Floats], Floats], records: int, seed: int) -> Floats:
    """Return standardized columns; about a third of the variance of a child is noise."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(dag.n, records))
    for v in topological_order(dag):
        if dag.parents(v):
            signal = np.sum([bend(table[u]) for u in nodes(dag.parents(v))], axis=0)
            table[v] = 0.7 * table[v] + (signal - signal.mean()) / signal.std()
        table[v] = (table[v] - table[v].mean()) / table[v].std()
    return table.T.copy()


def draw(rows: list[Row], figure: "Figure") -> None:
    """Draw the median distances over the number of records."""
    import matplotlib as mpl

    graphs, truths = distinct(rows, "graph"), distinct(rows, "truth")
    figure.set_size_inches(10.8, 3.0 * len(graphs))
    with mpl.rc_context(STYLE):
        found = figure.subplots(len(graphs), len(truths), squeeze=False, sharey=True)
    for line, graph in zip(found, graphs, strict=True):
        for axes, truth in zip(line, truths, strict=True):
            here = pick(rows, graph=graph, truth=truth)
            sizes = distinct(here, "records")
            for score, color in COLORS.items():
                mids = [median(values(pick(here, records=size), score)) for size in sizes]
                axes.plot(sizes, mids, "-o", color=color, label=SCORES[score], markersize=4)
            axes.set_xscale("log")
            label(axes, "records", "wrong edges (SHD)", f"{truth}, {graph} graph")
    for axes in found.flat:
        axes.set_ylim(bottom=0)
    handles, names = found[0][0].get_legend_handles_labels()
    figure.set_layout_engine("constrained", h_pad=0.1, w_pad=0.08)
    figure.legend(
        handles, names, loc="outside lower center", ncols=len(names), frameon=False, fontsize=9
    )


def facts(rows: list[Row]) -> dict[str, object]:
    """Return the distances by graph, truth and number of records."""
    lines = []
    for graph in distinct(rows, "graph"):
        for truth in distinct(rows, "truth"):
            for records in distinct(rows, "records"):
                here = pick(rows, graph=graph, truth=truth, records=records)
                chosen = [f"{median(values(here, key)):g}" for key in ("degree", "width")]
                cells = [_cell(values(here, score)) for score in SCORES]
                lines.append((f"{truth}, {graph} graph, {records:,}", *cells, *chosen))
    header = ("function, graph, records", *SCORES.values(), "degree", "functions")
    return {"variables": VARIABLES, "edges": EDGES, "distances": grid(header, lines)}


def _cell(found: list[float]) -> str:
    spread = spread_of(found)
    return "–" if spread is None else f"{spread.mid:g} ({spread.low:g}–{spread.high:g})"


STUDY = experiment(
    "curved",
    "Curved relations: the linear score and the basis score",
    keys={
        "graph": one_of("any", "shallow"),
        "truth": one_of(*TRUTHS),
        "records": positive,
        "trial": natural,
    },
    columns={
        "degree": positive,
        "width": positive,
        "linear": natural,
        "basis": natural,
        "all": natural,
    },
    tasks=tasks,
    measure=measure,
    facts=facts,
    draw=draw,
)
