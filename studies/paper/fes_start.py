"""Fig. 8 with a start from the result of FES: the "small savings" of the paper, in numbers.

Evaluations are counted for both phases together (GES and SGES, with one cache), and for the
backward phase alone (with its own cache).

Paper: Section 5, the start from FES.
"""

from collections.abc import Iterator
from statistics import fmean
from time import process_time
from typing import TYPE_CHECKING

from sges.properties import MaxParents
from sges.score import OracleMDL
from sges.search import bes, fes, ges, poly_fes, sbes, sges
from studies.charts import BLUE, GREEN, GREY, RED, label, line, panels, whole_numbers
from studies.frame import Row, Task, amount, experiment, natural, positive, real
from studies.paper.models import against_truth, paper_model, undirected_clique
from studies.summary import curve, distinct, grid, mean, pick, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ASSUMED = MaxParents(2)


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the trials."""
    largest, trials = (8, 3) if quick else (16, 10)
    for n in range(3, largest + 1):
        yield from ({"n": n, "trial": t} for t in range(trials))


def measure(task: Task, seed: int) -> Row:
    """Run each phase alone, and the complete GES and SGES, on one model."""
    network = paper_model(int(task["n"]), seed, int(task["trial"]))
    score = OracleMDL(network)
    begun = process_time()
    forward, cheap = fes(score), poly_fes(score)
    alone = [bes(score, forward.cpdag), sbes(score, forward.cpdag, ASSUMED)]
    whole = [ges(score), sges(score, ASSUMED), sges(score, ASSUMED, forward="poly")]
    counts = [r.score_evaluations or 0 for r in (forward, cheap, *alone, *whole)]
    columns = ("fes", "poly_fes", "bes", "sbes", "ges", "sges", "sges_poly")
    return {
        **dict(zip(columns, counts, strict=True)),
        "clique": undirected_clique(forward.cpdag),
        "edges_after_fes": forward.cpdag.edge_count(),
        **against_truth(score, network.dag, whole[1].cpdag),
        "same": int(whole[0].cpdag == whole[1].cpdag),
        "seconds": process_time() - begun,
    }


def draw(rows: list[Row], figure: "Figure") -> None:
    """Draw the evaluations of both phases, and of the backward phase alone."""
    left, right = panels(figure, 2)
    for axes in (left, right):
        axes.set_yscale("log")
        whole_numbers(axes)
    for column, name, color in (
        ("ges", "GES", RED),
        ("sges", "SGES", BLUE),
        ("sges_poly", "SGES, poly-FES", GREEN),
    ):
        line(left, curve(rows, "n", column), name, color)
    line(right, curve(rows, "n", "bes"), "BES", RED)
    line(right, curve(rows, "n", "sbes"), "SBES", BLUE)
    line(right, curve(rows, "n", "clique"), "largest undirected clique", GREY, linestyle=":")
    label(left, "n, binary variables", "Score evaluations, both phases")
    label(right, "n, binary variables", "Score evaluations after FES")


def facts(rows: list[Row]) -> dict[str, object]:
    """Return the counts by n, and the share of evaluations that SGES saves."""
    columns = ("fes", "bes", "sbes", "ges", "sges", "poly_fes", "sges_poly", "clique")
    lines = [
        (n, *(mean(pick(rows, n=n), column) for column in columns)) for n in distinct(rows, "n")
    ]
    header = ("n", "FES", "BES", "SBES", "GES", "SGES", "poly-FES", "SGES, poly", "clique")
    saved = [1 - row["sges"] / row["ges"] for row in rows]
    backward = [1 - row["sbes"] / row["bes"] for row in rows if row["bes"]]
    return {
        "models": len(distinct(rows, "trial")),
        "counts": grid(header, lines),
        "saved_most": f"{100 * max(saved):.2f}%",
        "saved_mean": f"{100 * fmean(saved):.2f}%",
        "saved_backward": f"{100 * fmean(backward):.2f}%",
        "same": int(sum(values(rows, "same"))),
        "recovered": int(sum(values(rows, "recovered"))),
        "runs": len(rows),
    }


STUDY = experiment(
    "fes-start",
    "The same models, starting from the result of FES",
    keys={"n": positive, "trial": natural},
    columns={
        "fes": positive,
        "poly_fes": positive,
        "bes": natural,
        "sbes": natural,
        "ges": positive,
        "sges": positive,
        "sges_poly": positive,
        "clique": natural,
        "edges_after_fes": natural,
        "recovered": natural,
        "gain": real,
        "same": natural,
        "seconds": amount,
    },
    tasks=tasks,
    measure=measure,
    facts=facts,
    draw=draw,
)
