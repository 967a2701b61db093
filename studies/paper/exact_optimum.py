"""How far greedy search is from the global optimum, in score.

The optimum is found by dynamic programming (``sges.tools.baselines.exact``), on samples of the
models of Fig. 8.  GES and SGES are compared with it, as are the truth and the best forest (Chow &
Liu 1968).
"""

from collections.abc import Iterator
from time import process_time
from typing import TYPE_CHECKING

from sges.properties import MaxParents
from sges.score import DiscreteBIC, total_score
from sges.search import ges, sges
from sges.tools.baselines import chow_liu, exact
from studies.charts import BLUE, GOLD, GREEN, GREY, RED, label, line, panels, whole_numbers
from studies.frame import Row, Task, amount, experiment, natural, positive, real, seed_of
from studies.paper.models import paper_model
from studies.summary import curve, distinct, grid, mean, number, pick

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ASSUMED = MaxParents(2)
NAMES = {
    "ges": "GES",
    "sges": "SGES after FES",
    "sges_poly": "SGES after poly-FES",
    "truth": "the truth",
    "tree": "best forest",
}
COLORS = {"ges": RED, "sges": BLUE, "sges_poly": GREEN, "truth": GREY, "tree": GOLD}


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the trials."""
    sizes, records, trials = (
        ((4, 6), (1_000,), 3) if quick else ((4, 6, 8, 10, 12, 14), (500, 5_000, 50_000), 10)
    )
    for n in sizes:
        for m in records:
            yield from ({"n": n, "records": m, "trial": t} for t in range(trials))


def measure(task: Task, seed: int) -> Row:
    """Learn from one sample with each method, and find the optimum."""
    n, records, trial = int(task["n"]), int(task["records"]), int(task["trial"])
    network = paper_model(n, seed, trial)
    sample = network.sample(records, seed=seed_of(seed, n, records, trial))
    score = DiscreteBIC(sample.merged())  # merging equal records does not change the score
    begun = process_time()
    best = exact(score)
    exact_seconds = process_time() - begun
    found = {
        "ges": ges(score),
        "sges": sges(score, ASSUMED),
        "sges_poly": sges(score, ASSUMED, forward="poly"),
        "tree": chow_liu(score, forest=True),
    }
    gaps = {name: best.score - result.score for name, result in found.items()}
    gaps["truth"] = best.score - total_score(score, network.dag)
    return {
        **gaps,
        "evaluations_exact": best.score_evaluations or 0,
        "evaluations_ges": found["ges"].score_evaluations or 0,
        "evaluations_sges_poly": found["sges_poly"].score_evaluations or 0,
        "exact_seconds": exact_seconds,
        "seconds": process_time() - begun,
    }


def draw(rows: list[Row], figure: "Figure") -> None:
    """Draw the distance to the optimum over n, one panel per number of records."""
    every = distinct(rows, "records")
    for axes, records in zip(panels(figure, len(every)), every, strict=True):
        axes.set_yscale("symlog", linthresh=1.0)
        chosen = pick(rows, records=records)
        for name, color in COLORS.items():
            line(axes, curve(chosen, "n", name), NAMES[name], color)
        axes.set_ylim(bottom=0)
        whole_numbers(axes)
        label(axes, "n", "nats below the optimum", f"{int(records):,} records")


def facts(rows: list[Row]) -> dict[str, object]:
    """Return the mean distances, how often each method reaches the optimum, and the cost."""
    parts = []
    for records in distinct(rows, "records"):
        here = pick(rows, records=records)
        lines = [
            (n, *(_cell(pick(here, n=n), name) for name in NAMES)) for n in distinct(here, "n")
        ]
        parts.append(f"**{records:,} records**\n\n" + grid(("n", *NAMES.values()), lines))
    columns = ("evaluations_exact", "evaluations_ges", "evaluations_sges_poly", "exact_seconds")
    lines = [
        (n, *(mean(pick(rows, n=n), column) for column in columns)) for n in distinct(rows, "n")
    ]
    return {
        "models": len(distinct(rows, "trial")),
        "distances": "\n\n".join(parts),
        "costs": grid(("n", "exact", "GES", "SGES after poly-FES", "exact, s"), lines),
    }


def _cell(rows: list[Row], name: str) -> str:
    reached = sum(row[name] < 1e-6 for row in rows)
    gap = mean(rows, name)
    return f"{number(gap if gap > 1e-6 else 0.0)} ({reached} of {len(rows)})"


STUDY = experiment(
    "exact-optimum",
    "Greedy search compared with the global optimum",
    keys={"n": positive, "records": positive, "trial": natural},
    columns={
        "ges": real,
        "sges": real,
        "sges_poly": real,
        "tree": real,
        "truth": real,
        "evaluations_exact": positive,
        "evaluations_ges": positive,
        "evaluations_sges_poly": positive,
        "exact_seconds": amount,
        "seconds": amount,
    },
    tasks=tasks,
    measure=measure,
    facts=facts,
    draw=draw,
)
