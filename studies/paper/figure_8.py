"""Fig. 8: score evaluations of BES and SBES from the complete graph.

Ten random models for each n; SBES assumes at most two parents, which holds.  From the complete
graph BES asks for every family there is, n·2ⁿ⁻¹ of them: its first round alone does.

Paper: Fig. 8.
"""

from collections.abc import Iterator
from time import process_time
from typing import TYPE_CHECKING

from sges.graph.pdag import PDAG
from sges.operators.delete import Delete, deletes
from sges.properties import MaxParents
from sges.score import OracleMDL
from sges.search import bes, sbes
from sges.selective import selective_deletes
from studies.charts import BLUE, GREY, RED, dots, label, line, panels, whole_numbers
from studies.frame import Experiment, Row, Task
from studies.pages import curve, distinct, exponent, grid, mean, number, pick, values
from studies.paper.counting import families
from studies.paper.models import against_truth, paper_model, weakest_edge

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ASSUMED = MaxParents(2)
BOTH_READINGS_UP_TO = 9


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the trials: BES as far as it is feasible, SBES further."""
    last, trials = ({"bes": 8, "sbes": 8}, 3) if quick else ({"bes": 14, "sbes": 18}, 10)
    for n in range(3, max(last.values()) + 1):
        for method in ("bes", "sbes"):
            if n <= last[method]:
                yield from ({"n": n, "method": method, "trial": t} for t in range(trials))


def measure(task: Task, seed: int) -> Row:
    """Run one search from the complete graph, on the oracle."""
    n, method = int(task["n"]), task["method"]
    network = paper_model(n, seed, int(task["trial"]))
    score, start = OracleMDL(network), PDAG.complete(n)
    begun = process_time()
    found = bes(score, start) if method == "bes" else sbes(score, start, ASSUMED)
    seconds = process_time() - begun
    one_order: int | str = ""
    if n <= BOTH_READINGS_UP_TO:
        generate = deletes if method == "bes" else _selected
        one_order = families(found, start, generate, both_orders=False)
    return {
        "evaluations": found.score_evaluations or 0,
        "one_order": one_order,
        **against_truth(score, network.dag, found.cpdag),
        "weakest_edge": weakest_edge(score, network.dag),
        "seconds": seconds,
    }


def draw(rows: list[Row], figure: "Figure") -> None:
    """Draw evaluations over n on a logarithmic axis, as in the paper."""
    (axes,) = panels(figure)
    axes.set_yscale("log")
    for method, name, color in (("bes", "BES", RED), ("sbes", "SBES", BLUE)):
        chosen = pick(rows, method=method)
        dots(axes, {"x": values(chosen, "n"), "y": values(chosen, "evaluations")}, color)
        line(axes, curve(chosen, "n", "evaluations"), name, color)
    ns = sorted(set(values(rows, "n")))
    line(axes, (ns, [n * 2 ** (n - 1) for n in ns]), "n·2ⁿ⁻¹", GREY, marker="", linestyle=":")
    whole_numbers(axes)
    label(axes, "n, binary variables", "Score evaluations from the complete graph")


def summary(rows: list[Row]) -> str:
    """Return counts by n, the two readings, and what was recovered."""
    return "\n\n".join((_counts(rows), _readings(rows), _recovery(rows)))


def _counts(rows: list[Row]) -> str:
    lines = []
    for n in distinct(rows, "n"):
        full, selected = (mean(pick(rows, n=n, method=m), "evaluations") for m in ("bes", "sbes"))
        seconds = [mean(pick(rows, n=n, method=m), "seconds") for m in ("bes", "sbes")]
        lines.append((n, full, selected, full / selected, *seconds))
    ns, evaluations = curve(pick(rows, method="sbes"), "n", "evaluations")
    half = len(ns) // 2
    exact = all(
        r["evaluations"] == r["n"] * 2 ** (int(r["n"]) - 1) for r in pick(rows, method="bes")
    )
    return (
        "Mean number of unique (node, parent set) pairs scored, over "
        f"{len(distinct(rows, 'trial'))} random models per n; SBES assumes Π_PS².\n\n"
        + grid(("n", "BES", "SBES", "BES / SBES", "BES, s", "SBES, s"), lines)
        + f"\n\nBES asks for exactly n·2ⁿ⁻¹ families in {'every' if exact else 'not every'} trial. "
        f"SBES grows as n^{exponent(ns[half:], evaluations[half:]):.1f} over the larger half of n."
    )


def _readings(rows: list[Row]) -> str:
    counted = [row for row in rows if row["one_order"] != ""]
    lines = []
    for n in distinct(counted, "n"):
        cells: list[float] = []
        for method in ("bes", "sbes"):
            chosen = pick(counted, n=n, method=method)
            cells += [mean(chosen, "evaluations"), mean(chosen, "one_order")]
        lines.append((n, *cells))
    return (
        "**What is counted on x — y.** Delete(x, y, H) and Delete(y, x, H) do the same, and ask "
        "for families of y and of x. Above, as everywhere, both are counted; scoring only the "
        "order x < y leaves the path as it is, and needs:\n\n"
        + grid(("n", "BES, both", "BES, one", "SBES, both", "SBES, one"), lines)
    )


def _recovery(rows: list[Row]) -> str:
    parts = []
    for method in distinct(rows, "method"):
        chosen = pick(rows, method=method)
        hits = sum(values(chosen, "recovered"))
        parts.append(f"{str(method).upper()} in {hits:.0f} of {len(chosen)} runs")
    text = f"**Recovery.** The true class is found by {' and by '.join(parts)}."
    missed = pick(rows, recovered=0)
    if not missed:
        return text
    lines = [
        (f"{r['method']}, n = {r['n']}, trial {r['trial']}", r["gain"], r["weakest_edge"], _why(r))
        for r in missed
    ]
    header = ("missed", "score above the truth's", "weakest true edge, nats", "why")
    return text + " The others:\n\n" + grid(header, lines)


def _why(row: Row) -> str:
    gain, weakest = float(row["gain"]), float(row["weakest_edge"])
    if weakest < 0:
        return f"an edge of the truth is worth less than its parameters, by {number(-weakest)} nats"
    if gain > 0:
        return "another class scores higher: the model is nearly unfaithful"
    return "nearly unfaithful: the search stops at a local optimum below the truth"


def _selected(cpdag: PDAG, x: int, y: int) -> Iterator[Delete]:
    return selective_deletes(cpdag, x, y, ASSUMED)


EXPERIMENT = Experiment(
    name="figure-8",
    title="Score evaluations of BES and SBES from the complete graph (Fig. 8)",
    keys=("n", "method", "trial"),
    columns=("evaluations", "one_order", "recovered", "gain", "weakest_edge", "seconds"),
    tasks=tasks,
    measure=measure,
    draw=draw,
    summary=summary,
)
