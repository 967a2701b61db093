"""Complete searches: SGES after poly-FES compared with GES, up to 100 variables.

Structures as in Section 5, with up to two parents each and about 2n edges.  The models are linear
Gaussian, as exact inference in a discrete model of that density is not feasible.  Weak weights are
0.2 to 0.6, strong ones 0.5 to 1.5.

Paper: Theorem 3.
"""

from collections.abc import Iterator
from time import process_time
from typing import TYPE_CHECKING

from sges.network import LinearGaussian, random_structure
from sges.properties import MaxParents
from sges.result import Result
from sges.score import GaussianOracle, Score
from sges.search import ges, sges
from studies.charts import BLUE, GREEN, GREY, RED, label, line, panels, plain_ticks
from studies.frame import (
    Row,
    Task,
    amount,
    experiment,
    natural,
    one_of,
    optional,
    positive,
    real,
    seed_of,
)
from studies.paper.models import against_truth
from studies.summary import curve, distinct, exponent, grid, mean, number, pick, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ASSUMED = MaxParents(2)
WEIGHTS = {"weak": (0.2, 0.6), "strong": (0.5, 1.5)}
METHODS = {"ges": "GES", "sges-fes": "SGES after FES", "sges-poly": "SGES after poly-FES"}
COLORS = {"ges": RED, "sges-fes": GREEN, "sges-poly": BLUE}
SIZES = (5, 10, 15, 20, 30, 40, 50, 70, 100)
TIME_LIMIT = 30.0


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the trials."""
    sizes, trials = ((5, 10, 15), 2) if quick else (SIZES, 5)
    for n in sizes:
        for weights in WEIGHTS:
            for method in METHODS:
                for t in range(trials):
                    yield {"n": n, "weights": weights, "method": method, "trial": t}


def measure(task: Task, seed: int) -> Row:
    """Run one complete search."""
    n = int(task["n"])
    own = seed_of(seed, n, int(task["trial"]))
    dag = random_structure(n, seed=own)
    model = LinearGaussian.random(dag, weights=WEIGHTS[str(task["weights"])], seed=own)
    score = GaussianOracle(model)
    begun = process_time()
    found = search(score, str(task["method"]))
    seconds = process_time() - begun
    return {
        "evaluations": found.score_evaluations or 0,
        "bound": found.evaluation_bound,
        "complete": int(found.complete),
        **against_truth(score, dag, found.cpdag),
        "seconds": seconds,
    }


def search(score: Score, method: str) -> Result:
    """Run one of the methods, for half a minute at most."""
    if method == "ges":
        return ges(score, time_limit=TIME_LIMIT)
    forward = "poly" if method == "sges-poly" else "fes"
    return sges(score, ASSUMED, forward=forward, time_limit=TIME_LIMIT)  # type: ignore[arg-type]


def draw(rows: list[Row], figure: "Figure") -> None:
    """Draw evaluations over n, one panel per strength of the weights."""
    for axes, weights in zip(panels(figure, 2, sharey=True), WEIGHTS, strict=True):
        axes.set_xscale("log")
        axes.set_yscale("log")
        for method, color in COLORS.items():
            chosen = pick(rows, weights=weights, method=method)
            line(axes, curve(chosen, "n", "evaluations"), METHODS[method], color)
        polynomial = pick(rows, weights=weights, method="sges-poly")
        line(axes, curve(polynomial, "n", "bound"), "bound", GREY, marker="", linestyle=":")
        plain_ticks(axes, sorted(set(values(rows, "n"))))
        low, high = WEIGHTS[weights]
        label(axes, "n", "score evaluations", f"{weights} weights, {low} to {high}")


def facts(rows: list[Row]) -> dict[str, object]:
    """Return evaluations, seconds, exponents and the bound, for each strength of weights."""
    told: dict[str, object] = {"models": len(distinct(rows, "trial")), "limit": f"{TIME_LIMIT:g}"}
    for weights in WEIGHTS:
        chosen = pick(rows, weights=weights)
        told[f"{weights}_counts"] = _counts(chosen)
        growth = [_growth(pick(chosen, method=m), name) for m, name in METHODS.items()]
        header = ("search", "evaluations", "at worst", "true class", "stopped")
        told[f"{weights}_growth"] = grid(header, growth)
        told[f"{weights}_fewer"] = _fewer(chosen)
        told[f"{weights}_models"] = len(pick(chosen, method="ges"))
    return told


def _counts(rows: list[Row]) -> str:
    lines = []
    for n in distinct(rows, "n"):
        here = pick(rows, n=n)
        counts = [_count(pick(here, method=m)) for m in METHODS]
        seconds = [mean(pick(here, method=m), "seconds") for m in METHODS]
        lines.append((n, *counts, mean(pick(here, method="sges-poly"), "bound"), *seconds))
    return grid(("n", *METHODS.values(), "bound", *(f"{m}, s" for m in METHODS.values())), lines)


def _fewer(rows: list[Row]) -> int:
    """Return the number of models on which SGES after poly-FES asks for fewer families than GES."""
    counts = [
        {(row["n"], row["trial"]): row["evaluations"] for row in pick(rows, method=method)}
        for method in ("ges", "sges-poly")
    ]
    return sum(counts[1][key] < counts[0][key] for key in counts[0].keys() & counts[1].keys())


def _count(rows: list[Row]) -> str:
    """Return the mean number of evaluations, marked if some runs were stopped."""
    return "≥ " * (not all(values(rows, "complete"))) + number(mean(rows, "evaluations"))


def _growth(rows: list[Row], name: str) -> tuple[str, ...]:
    slope = exponent(*curve(rows, "n", "evaluations"))
    stopped = len(rows) - int(sum(values(rows, "complete")))
    hits = int(sum(values(rows, "recovered")))
    worst = f"{max(values(rows, 'evaluations')):,.0f}"
    mark = "≥ " * bool(stopped)
    return name, f"{mark}n^{slope:.2f}", worst, f"{hits} of {len(rows)}", str(stopped)


STUDY = experiment(
    "scaling",
    "The whole search: SGES after poly-FES compared with GES",
    keys={
        "n": positive,
        "weights": one_of(*WEIGHTS),
        "method": one_of(*METHODS),
        "trial": natural,
    },
    columns={
        "evaluations": positive,
        "bound": optional(positive),
        "complete": natural,
        "recovered": natural,
        "gain": real,
        "seconds": amount,
    },
    tasks=tasks,
    measure=measure,
    facts=facts,
    draw=draw,
)
