"""Score evaluations from the complete graph: SBES grows as a power of n, BES as n·2ⁿ⁻¹.

Linear Gaussian oracles on random truths with at most two parents, as in Section 5.
"""

from collections.abc import Iterator
from time import process_time
from typing import TYPE_CHECKING

from sges.graph import PDAG, dag_to_cpdag
from sges.network import LinearGaussian, random_structure
from sges.properties import MaxParents
from sges.score import GaussianOracle
from sges.search import bes, sbes
from studies.charts import BLUE, RED, label, line, panels, whole_numbers
from studies.frame import Row, Task, amount, experiment, natural, optional, positive
from studies.summary import curve, distinct, exponent, grid, mean, pick, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGEST_BES = 13
"""BES scores all n·2ⁿ⁻¹ families: beyond this it takes minutes."""


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the trials."""
    for n in range(8, (10 if quick else 24) + 1, 2):
        yield from ({"n": n, "trial": trial} for trial in range(2 if quick else 5))


def measure(task: Task, seed: int) -> Row:
    """Run both searches on one random truth."""
    n, own = task["n"], seed + task["trial"]
    dag = random_structure(n, seed=own)
    score, start = GaussianOracle(LinearGaussian.random(dag, seed=own)), PDAG.complete(n)
    begun = process_time()
    selective = sbes(score, start, MaxParents(2))
    return {
        "sbes": selective.score_evaluations,
        "seconds": process_time() - begun,
        "bes": bes(score, start).score_evaluations if n <= LARGEST_BES else None,
        "recovered": int(selective.cpdag == dag_to_cpdag(dag)),
    }


def draw(rows: list[Row], figure: "Figure") -> None:
    """Draw the mean counts over n."""
    (axes,) = panels(figure)
    axes.set_yscale("log")
    line(axes, curve(rows, "n", "bes"), "BES", RED)
    line(axes, curve(rows, "n", "sbes"), "SBES, at most two parents", BLUE)
    whole_numbers(axes)
    label(axes, "n", "Score evaluations from the complete graph, Gaussian oracle")


def facts(rows: list[Row]) -> dict[str, object]:
    """Return the counts and the exponent of SBES."""
    lines = [
        (n, *(mean(pick(rows, n=n), column) for column in ("bes", "sbes", "seconds")))
        for n in distinct(rows, "n")
    ]
    return {
        "models": len(distinct(rows, "trial")),
        "counts": grid(("n", "BES", "SBES", "SBES, s"), lines),
        "exponent": f"{exponent(*curve(rows, 'n', 'sbes')):.2f}",
        "recovered": int(sum(values(rows, "recovered"))),
        "runs": len(rows),
    }


STUDY = experiment(
    "complexity",
    "How score evaluations grow from the complete graph",
    keys={"n": positive, "trial": natural},
    columns={
        "sbes": positive,
        "bes": optional(positive),
        "recovered": natural,
        "seconds": amount,
    },
    tasks=tasks,
    measure=measure,
    facts=facts,
    draw=draw,
)
