"""Polytrees: v-width one, so that a polynomial number of evaluations recovers them.

Linear Gaussian models on random polytrees; SGES assumes ``MaxVWidth(1)``, after poly-FES or from
the complete graph, with the score of the population or of a sample.

Paper: Section 6, polytrees.
"""

from collections.abc import Iterator
from time import process_time
from typing import TYPE_CHECKING

from sges.graph import dag_to_cpdag
from sges.network import LinearGaussian, random_polytree
from sges.properties import MaxVWidth
from sges.result import Result
from sges.score import GaussianBIC, GaussianOracle, Score
from sges.search import ges, sges
from sges.search.strategy import Forward
from sges.tools.metrics import shd
from studies.charts import BLUE, GOLD, GREEN, GREY, RED, label, line, panels, plain_ticks
from studies.frame import Row, Task, amount, experiment, natural, one_of, positive, seed_of
from studies.summary import curve, distinct, exponent, grid, mean, pick, values

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
    """Yield the trials; from the complete graph only up to 20 nodes, and with the oracle."""
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
    """Draw evaluations with the oracle, and wrong edges of SGES after poly-FES by data."""
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
    label(right, "n", "Wrong edges, SGES after poly-FES")


def facts(rows: list[Row]) -> dict[str, object]:
    """Return counts and exponents with the oracle, and recovery and wrong edges from samples."""
    oracle, samples = pick(rows, data="oracle"), [r for r in rows if r["data"] != "oracle"]
    counts = [
        (n, *(mean(pick(oracle, n=n, method=m), "evaluations") for m in METHODS))
        for n in distinct(oracle, "n")
    ]
    growth = []
    for method, name in METHODS.items():
        chosen = pick(oracle, method=method)
        hits = int(sum(values(chosen, "recovered")))
        slope = exponent(*curve(chosen, "n", "evaluations"))
        growth.append((name, f"n^{slope:.2f}", f"{hits} of {len(chosen)}"))
    kinds = distinct(rows, "data")
    recovery = [
        (n, *(_cell(pick(rows, n=n, data=kind, method="sges-poly")) for kind in kinds))
        for n in distinct(rows, "n")
    ]
    names = ["oracle" if kind == "oracle" else f"{int(kind):,} records" for kind in kinds]
    return {
        "models": len(distinct(oracle, "trial")),
        "counts": grid(("n", *METHODS.values()), counts),
        "growth": grid(("search", "evaluations", "true class"), growth),
        "recovery": grid(("n", *names), recovery),
        **{
            f"wrong_{method.replace('-', '_')}": f"{mean(pick(samples, method=method), 'shd'):.2f}"
            for method in ("ges", "sges-fes", "sges-poly")
        },
    }


def _cell(rows: list[Row]) -> str:
    return f"{mean(rows, 'recovered'):.0%} ({mean(rows, 'shd'):.3g})"


STUDY = experiment(
    "polytrees",
    "Polytrees with a polynomial number of evaluations",
    keys={
        "n": positive,
        "data": one_of(*DATA),
        "method": one_of(*METHODS),
        "trial": natural,
    },
    columns={"evaluations": positive, "recovered": natural, "shd": natural, "seconds": amount},
    tasks=tasks,
    measure=measure,
    facts=facts,
    draw=draw,
)
