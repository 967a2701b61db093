"""Comparison of five properties: from the complete graph, each at its true value.

    random      the models of Fig. 8
    tailed      a clique of all but three nodes, like Fig. 5(a), and a path of these three attached
                to it: many parents, large cliques, and a v-width of zero

Paper: Fig. 5.
"""

from collections.abc import Iterator
from itertools import pairwise
from time import process_time
from typing import TYPE_CHECKING

from sges.graph import PDAG
from sges.network import LinearGaussian
from sges.properties import (
    AtMost,
    MaxClique,
    MaxParents,
    MaxTreewidth,
    MaxVStructures,
    MaxVWidth,
)
from sges.score import GaussianOracle, OracleMDL, Score
from sges.search import bes, sbes
from studies.charts import (
    BLUE,
    GOLD,
    GREEN,
    GREY,
    RED,
    VIOLET,
    label,
    line,
    panels,
    whole_numbers,
)
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
from studies.paper.models import against_truth, paper_model
from studies.summary import curve, distinct, grid, mean, pick, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TAIL = 3
FAMILIES = {"random": "random models of Fig. 8", "tailed": "a clique with a tail, like Fig. 5(a)"}
KINDS: dict[str, type[AtMost]] = {
    "PS": MaxParents,
    "CL": MaxClique,
    "CL tight": MaxClique,
    "VW": MaxVWidth,
    "TW": MaxTreewidth,
    "VS": MaxVStructures,
}
COLORS = {
    "none": RED,
    "PS": BLUE,
    "CL": GOLD,
    "CL tight": GOLD,
    "VW": GREEN,
    "TW": VIOLET,
    "VS": GREY,
}


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the trials: every property on the same models."""
    largest, trials = (7, 2) if quick else (13, 5)
    for family in FAMILIES:
        for n in range(5, largest + 1):
            for method in ("none", *KINDS):
                for t in range(trials):
                    yield {"family": family, "n": n, "assume": method, "trial": t}


def measure(task: Task, seed: int) -> Row:
    """Run BES, or SBES with one property, from the complete graph."""
    n, name = int(task["n"]), str(task["assume"])
    dag, score = model(str(task["family"]), n, seed, int(task["trial"]))
    assume = assumption(name, dag)
    start, begun = PDAG.complete(n), process_time()
    found = bes(score, start) if assume is None else sbes(score, start, assume)
    return {
        "k": None if assume is None else assume.k,
        "evaluations": found.score_evaluations or 0,
        **against_truth(score, dag, found.cpdag),
        "seconds": process_time() - begun,
    }


def model(family: str, n: int, seed: int, trial: int) -> tuple[PDAG, Score]:
    """Return the truth of one trial and its oracle."""
    if family == "random":
        network = paper_model(n, seed, trial)
        return network.dag, OracleMDL(network)
    dag = tailed_clique(n - TAIL)
    linear = LinearGaussian.random(dag, weights=(0.2, 0.6), seed=seed_of(seed, n, trial))
    return dag, GaussianOracle(linear)


def tailed_clique(k: int) -> PDAG:
    """Return a clique of k nodes with a path of three nodes from its last node: v-width zero.

    Paper: Fig. 5.
    """
    clique = [(x, y) for x in range(k) for y in range(x + 1, k)]
    return PDAG.from_edges(k + TAIL, clique + list(pairwise(range(k - 1, k + TAIL))))


def assumption(name: str, dag: PDAG) -> AtMost | None:
    """Return the tightest property of this kind that holds for the truth."""
    if name == "none":
        return None
    tightest = KINDS[name].of(dag)
    return MaxClique(tightest.k, tight=True) if name == "CL tight" else tightest


def draw(rows: list[Row], figure: "Figure") -> None:
    """Draw evaluations over n, one panel per family."""
    for axes, (family, title) in zip(panels(figure, 2, sharey=True), FAMILIES.items(), strict=True):
        axes.set_yscale("log")
        for name, color in COLORS.items():
            style = "--" if name == "CL tight" else "-"
            points = curve(pick(rows, family=family, assume=name), "n", "evaluations")
            line(axes, points, "BES" if name == "none" else name, color, linestyle=style)
        whole_numbers(axes)
        label(axes, "n", "score evaluations", title)


def facts(rows: list[Row]) -> dict[str, object]:
    """Return for each family its table, the savings at the largest n, and recovery."""
    told: dict[str, object] = {}
    for family in FAMILIES:
        found = _family(pick(rows, family=family))
        told |= {f"{family}_{name}": value for name, value in found.items()}
    return told


def _family(rows: list[Row]) -> dict[str, object]:
    lines = [
        (n, *(_cell(pick(rows, n=n, assume=name)) for name in ("none", *KINDS)))
        for n in distinct(rows, "n")
    ]
    largest = pick(rows, n=max(values(rows, "n")))
    full = mean(pick(largest, assume="none"), "evaluations")
    factors = [full / mean(pick(largest, assume=name), "evaluations") for name in KINDS]
    lines.append(("BES / SBES", "", *(f"{factor:.3g}" for factor in factors)))
    missed = pick(rows, recovered=0)
    return {
        "counts": grid(("n", "BES", *KINDS), lines),
        "largest": largest[0]["n"],
        "runs": len(rows),
        "recovered": len(rows) - len(missed),
        "missed_models": len({(row["n"], row["trial"]) for row in missed}),
        "missed_higher": sum(row["gain"] > 0 for row in missed),
        "missed": len(missed),
    }


def _cell(rows: list[Row]) -> str:
    k = mean(rows, "k")
    return f"{mean(rows, 'evaluations'):,.0f}" + (f" ({k:.3g})" if k == k else "")


STUDY = experiment(
    "properties",
    "Comparison of five properties",
    keys={
        "family": one_of(*FAMILIES),
        "n": positive,
        "assume": one_of("none", *KINDS),
        "trial": natural,
    },
    columns={
        "k": optional(natural),
        "evaluations": positive,
        "recovered": natural,
        "gain": real,
        "seconds": amount,
    },
    tasks=tasks,
    measure=measure,
    facts=facts,
    draw=draw,
)
