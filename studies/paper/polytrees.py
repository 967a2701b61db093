"""Polytrees: v-width one, so that a polynomial number of evaluations recovers them.

Linear Gaussian models on random polytrees; SGES assumes ``MaxVWidth(1)``, after poly-FES or from
the complete graph, and sees the population or a sample.

Paper: Section 6, polytrees.
"""

from collections.abc import Iterator
from time import process_time
from typing import TYPE_CHECKING

from sges.graph.equivalence import dag_to_cpdag
from sges.metrics import shd
from sges.network import LinearGaussian, random_polytree
from sges.properties import MaxVWidth
from sges.result import Result
from sges.score import GaussianBIC, GaussianOracle, Score
from sges.search import ges, sges
from sges.search.algorithms import Forward
from studies.charts import BLUE, GOLD, GREEN, GREY, RED, label, line, panels, plain_ticks
from studies.frame import Experiment, Row, Task, seed_of
from studies.pages import curve, distinct, exponent, grid, mean, pick, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ASSUMED = MaxVWidth(1)
METHODS = {
    "ges": "GES",
    "sges-fes": "SGES after FES",
    "sges-poly": "SGES after poly-FES",
    "sges-complete": "SGES from the complete graph",
}
DATA = {"oracle": None, "1000": 1_000, "10000": 10_000, "100000": 100_000}
SIZES = (5, 10, 15, 20, 30, 40, 50, 60)
COMPLETE_UP_TO = 20
STARTS: dict[str, Forward] = {"sges-fes": "fes", "sges-poly": "poly", "sges-complete": "complete"}


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the trials; the complete graph only up to 20 nodes, and on the oracle."""
    sizes, data, trials = ((5, 8, 12), ("oracle", "10000"), 2) if quick else (SIZES, DATA, 10)
    for n in sizes:
        for seen in data:
            for method in METHODS:
                if method != "sges-complete" or (n <= COMPLETE_UP_TO and seen == "oracle"):
                    for t in range(trials):
                        yield {"n": n, "data": seen, "method": method, "trial": t}


def measure(task: Task, seed: int) -> Row:
    """Learn one polytree."""
    n, seen = int(task["n"]), str(task["data"])
    own = seed_of(seed, n, int(task["trial"]))
    dag = random_polytree(n, seed=own)
    model = LinearGaussian.random(dag, seed=own)
    records = DATA[seen]
    score: Score
    if records is None:
        score = GaussianOracle(model)
    else:
        score = GaussianBIC(model.sample(records, seed=own))
    begun = process_time()
    found = search(score, str(task["method"]))
    truth = dag_to_cpdag(dag)
    return {
        "evaluations": found.score_evaluations or 0,
        "recovered": int(found.cpdag == truth),
        "shd": shd(truth, found.cpdag),
        "seconds": process_time() - begun,
    }


def search(score: Score, method: str) -> Result:
    """Run one of the methods."""
    if method == "ges":
        return ges(score)
    return sges(score, ASSUMED, forward=STARTS[method])


def draw(rows: list[Row], figure: "Figure") -> None:
    """Draw evaluations on the oracle, and how often samples give the true class."""
    left, right = panels(figure, 2)
    left.set_xscale("log")
    left.set_yscale("log")
    oracle = pick(rows, data="oracle")
    colors = {"ges": RED, "sges-poly": BLUE, "sges-complete": GREEN}
    short = {"ges": "GES", "sges-poly": "SGES, poly-FES", "sges-complete": "SGES, complete"}
    for method, color in colors.items():
        line(left, curve(pick(oracle, method=method), "n", "evaluations"), short[method], color)
    plain_ticks(left, sorted(set(values(rows, "n"))))
    label(left, "n", "Score evaluations on the oracle")
    shades = (GREY, GOLD, GREEN, BLUE)
    for seen, shade in zip(distinct(rows, "data"), shades, strict=False):
        name = "oracle" if seen == "oracle" else f"{int(seen):,} records"
        points = curve(pick(rows, data=seen, method="sges-poly"), "n", "shd")
        line(right, points, name, shade)
    right.set_ylim(bottom=0)
    label(right, "n", "Edges wrong, SGES after poly-FES")


def summary(rows: list[Row]) -> str:
    """Return counts and exponents on the oracle, and recovery from samples."""
    return _oracle(pick(rows, data="oracle")) + "\n\n" + _samples(rows)


def _oracle(rows: list[Row]) -> str:
    lines = []
    for n in distinct(rows, "n"):
        cells = [mean(pick(rows, n=n, method=m), "evaluations") for m in METHODS]
        lines.append((n, *cells))
    found = []
    for method, name in METHODS.items():
        chosen = pick(rows, method=method)
        slope = exponent(*curve(chosen, "n", "evaluations"))
        hits = sum(values(chosen, "recovered"))
        found.append(f"{name}: n^{slope:.2f}, true class in {hits:.0f} of {len(chosen)} runs")
    return (
        "**Oracle** (population covariance, five billion records). Mean evaluations over "
        f"{len(distinct(rows, 'trial'))} random polytrees per n:\n\n"
        + grid(("n", *METHODS.values()), lines)
        + "\n\nFitted growth over all n. "
        + "; ".join(found)
        + "."
    )


def _samples(rows: list[Row]) -> str:
    lines = []
    for n in distinct(rows, "n"):
        cells: list[str] = []
        for seen in distinct(rows, "data"):
            chosen = pick(rows, n=n, data=seen, method="sges-poly")
            cells.append(f"{mean(chosen, 'recovered'):.0%} ({mean(chosen, 'shd'):.3g})")
        lines.append((n, *cells))
    header = ["oracle" if s == "oracle" else f"{int(s):,} records" for s in distinct(rows, "data")]
    samples = [row for row in rows if row["data"] != "oracle"]
    wrong = [mean(pick(samples, method=m), "shd") for m in ("ges", "sges-fes", "sges-poly")]
    return (
        "**Samples.** How often SGES after poly-FES finds the true class, and in brackets the "
        "mean number of pairs of nodes whose edge is wrong:\n\n"
        + grid(("n", *header), lines)
        + f"\n\nOver all samples GES has {wrong[0]:.2f} edges wrong on average, SGES after FES "
        f"{wrong[1]:.2f} and SGES after poly-FES {wrong[2]:.2f}: what the polynomial forward phase "
        "costs on finite data."
    )


EXPERIMENT = Experiment(
    name="polytrees",
    title="Polytrees with a polynomial number of evaluations",
    keys=("n", "data", "method", "trial"),
    columns=("evaluations", "recovered", "shd", "seconds"),
    tasks=tasks,
    measure=measure,
    draw=draw,
    summary=summary,
)
