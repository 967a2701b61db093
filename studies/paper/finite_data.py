"""Finite data: wrong edges by number of records, and the cost of a wrong assumption.

Binary networks on ten variables with up to three parents each.  SGES assumes a bound that is
right (3), too small (1, 2), too large (5) or chosen by the score.  It starts from the result of FES
or from the complete graph, where the assumption matters most.
"""

from collections.abc import Iterator
from time import process_time
from typing import TYPE_CHECKING

from sges.graph import PDAG, dag_to_cpdag
from sges.properties import MaxParents
from sges.score import DiscreteBIC, Score
from sges.search import bes, ges, sges
from sges.search.auto import auto_bound
from sges.search.strategy import Forward
from sges.tools.metrics import shd
from studies.charts import BLUE, GOLD, GREEN, GREY, RED, VIOLET, label, line, panels
from studies.frame import (
    Row,
    Task,
    amount,
    experiment,
    natural,
    one_of,
    optional,
    positive,
    seed_of,
)
from studies.paper.models import paper_model
from studies.summary import curve, distinct, grid, mean, pick

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRUE_K = 3
STARTS: dict[str, Forward] = {"fes": "fes", "complete": "complete"}
BOUNDS = {"k=1": 1, "k=2": 2, "k=3": TRUE_K, "k=5": 5}
METHODS = {
    "none": "none",
    "k=1": "k = 1",
    "k=2": "k = 2",
    "k=3": "k = 3, right",
    "k=5": "k = 5",
    "auto": "k chosen",
}
COLORS = {"none": RED, "k=1": GREY, "k=2": GOLD, "k=3": BLUE, "k=5": GREEN, "auto": VIOLET}


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the trials."""
    n, powers, trials = (6, (2, 4), 2) if quick else (10, (2, 3, 4, 5, 6), 10)
    for power in powers:
        for start in STARTS:
            for method in METHODS:
                for t in range(trials):
                    place = {"n": n, "records": 10**power}
                    yield {**place, "start": start, "assume": method, "trial": t}


def measure(task: Task, seed: int) -> Row:
    """Learn from one sample."""
    n, trial, records = int(task["n"]), int(task["trial"]), int(task["records"])
    network = paper_model(n, seed, trial, TRUE_K)
    sample = network.sample(records, seed=seed_of(seed, records, trial))
    score = DiscreteBIC(sample.merged())  # the same score, but faster: few records are distinct
    begun = process_time()
    cpdag, evaluations, k = learned(score, str(task["start"]), str(task["assume"]))
    truth = dag_to_cpdag(network.dag)
    return {
        "k": k,
        "shd": shd(truth, cpdag),
        "edges": cpdag.edge_count(),
        "true_edges": truth.edge_count(),
        "evaluations": evaluations,
        "seconds": process_time() - begun,
    }


def learned(score: Score, start: str, assume: str) -> tuple[PDAG, int, int | None]:
    """Return the class that one method finds, its score evaluations, and the bound it used."""
    forward = STARTS[start]
    if assume == "auto":
        chosen = auto_bound(score, forward=forward)
        return chosen.result.cpdag, chosen.result.score_evaluations or 0, chosen.assume.k
    if assume != "none":
        found = sges(score, MaxParents(BOUNDS[assume]), forward=forward)
        return found.cpdag, found.score_evaluations or 0, BOUNDS[assume]
    found = ges(score) if start == "fes" else bes(score, PDAG.complete(score.n))
    return found.cpdag, found.score_evaluations or 0, None


def draw(rows: list[Row], figure: "Figure") -> None:
    """Draw the number of wrong edges over the records, one panel per start."""
    titles = {"fes": "from FES", "complete": "from the complete graph"}
    both = panels(figure, 2, sharey=True)
    for axes, start in zip(both, STARTS, strict=True):
        axes.set_xscale("log")
        for method, color in COLORS.items():
            name = "GES, BES" if method == "none" else METHODS[method]
            points = curve(pick(rows, start=start, assume=method), "records", "shd")
            line(axes, points, name, color, linestyle="--" if method == "none" else "-")
        label(axes, "records", "wrong edges (SHD)", titles[start])
    both[0].set_ylim(bottom=0)
    lines, names = both[0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside lower center", ncols=len(names), frameon=False)


def facts(rows: list[Row]) -> dict[str, object]:
    """Return the wrong edges and the evaluations by records and assumption, and the k chosen."""
    chosen = []
    for records in distinct(rows, "records"):
        here = pick(rows, records=records, assume="auto")
        chosen.append((f"{records:,}", *(_tally(pick(here, start=start)) for start in STARTS)))
    return {
        "from_fes": _by_records(pick(rows, start="fes"), "GES"),
        "from_complete": _by_records(pick(rows, start="complete"), "BES"),
        "chosen": grid(("records", "from FES", "from the complete graph"), chosen),
    }


def _by_records(rows: list[Row], alone: str) -> str:
    lines = []
    for records in distinct(rows, "records"):
        here = pick(rows, records=records)
        lines.append((f"{records:,}", *(_cell(pick(here, assume=m)) for m in METHODS)))
    return grid(("records", alone, *list(METHODS.values())[1:]), lines)


def _cell(rows: list[Row]) -> str:
    return f"{mean(rows, 'shd'):.2f} ({mean(rows, 'evaluations'):,.0f})"


def _tally(rows: list[Row]) -> str:
    ks = [row["k"] for row in rows]
    return ", ".join(f"{k}: {ks.count(k)}" for k in sorted(set(ks)))


STUDY = experiment(
    "finite-data",
    "Finite data, and the cost of a wrong assumption",
    keys={
        "n": positive,
        "records": positive,
        "start": one_of(*STARTS),
        "assume": one_of(*METHODS),
        "trial": natural,
    },
    columns={
        "k": optional(natural),
        "shd": natural,
        "edges": natural,
        "true_edges": natural,
        "evaluations": positive,
        "seconds": amount,
    },
    tasks=tasks,
    measure=measure,
    facts=facts,
    draw=draw,
)
