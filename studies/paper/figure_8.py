"""Fig. 8: score evaluations of BES and SBES from the complete graph.

Ten random models for each n; SBES assumes at most two parents, which is true.  From the complete
graph, BES asks for all n·2ⁿ⁻¹ families in its first round.

SBES asks for fewer.  Their number depends on its path, and so on how ties between operators are
broken.  Ties go to the lowest (x, y, H), so a random renumbering of the variables gives another
tie order.

Paper: Fig. 8.
"""

from collections.abc import Callable, Iterable, Iterator
from statistics import median
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, nodes
from sges.operators import Delete, deletes
from sges.properties import MaxParents
from sges.result import Result
from sges.score import OracleMDL
from sges.search import bes, sbes
from sges.selective import bounds_of, proposed_sets
from studies.charts import BLUE, GREY, RED, dots, label, line, panels, whole_numbers
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
from studies.paper.models import against_truth, paper_model, relabeled, weakest_edge
from studies.summary import curve, distinct, exponent, grid, mean, number, pick, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ASSUMED = MaxParents(2)
SMALL = 9
"""Up to this n, both ways of counting are compared and random tie orders are tried."""
ORDERS = 20


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the trials: BES while feasible, SBES further, and for small n in more tie orders.

    Order 0 is the numbering of the variables in the model.
    """
    last, trials = ({"bes": 8, "sbes": 8}, 3) if quick else ({"bes": 14, "sbes": 18}, 10)
    for n in range(3, max(last.values()) + 1):
        for method in ("bes", "sbes"):
            for trial in range(trials) if n <= last[method] else ():
                yield {"n": n, "method": method, "trial": trial, "order": 0}
    for n in range(3, (6 if quick else SMALL) + 1):
        for trial in range(trials):
            for order in range(1, (3 if quick else ORDERS) + 1):
                yield {"n": n, "method": "sbes", "trial": trial, "order": order}


def measure(task: Task, seed: int) -> Row:
    """Run one search from the complete graph with the oracle."""
    n, method, trial, order = (task[key] for key in ("n", "method", "trial", "order"))
    network = paper_model(n, seed, trial)
    if order:
        rng = np.random.default_rng(seed_of(seed, n, trial, order))
        network = relabeled(network, rng.permutation(n).tolist())
    score, start = OracleMDL(network), PDAG.complete(n)
    begun = process_time()
    result = bes(score, start) if method == "bes" else sbes(score, start, ASSUMED)
    seconds = process_time() - begun
    generate = deletes if method == "bes" else selected
    counted = n <= SMALL and not order
    return {
        "evaluations": result.score_evaluations,
        "one_order": families(result, start, generate, both_orders=False) if counted else None,
        **against_truth(score, network.dag, result.cpdag),
        "weakest_edge": weakest_edge(score, network.dag),
        "seconds": seconds,
    }


# Counting families for the two ways to score an undirected edge.

Deletes = Callable[[PDAG, int, int], Iterable[Delete]]
"""The deletes that a search considers for one edge of a state."""


def selected(cpdag: PDAG, x: int, y: int) -> Iterator[Delete]:
    """Return the deletes that SBES considers for the edge between x and y."""
    return (Delete(x, y, h) for h in proposed_sets(cpdag, x, y, *bounds_of(ASSUMED)))


class Asked:
    """A score that records the evaluated families; its value is always zero."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.families: set[tuple[int, NodeSet]] = set()

    def local(self, y: int, parents: NodeSet, /) -> float:
        """Record the family and return zero."""
        self.families.add((y, parents))
        return 0.0


def families(result: Result, start: PDAG, deletes: Deletes, *, both_orders: bool) -> int:
    """Return the number of families that a backward search asks for, by replaying its steps.

    Delete(x, y, H) and Delete(y, x, H) on x — y have the same effect and gain but ask for families
    of y and of x.  The searches score and count both; a program could score only x < y.  It would
    visit the same states, as ties go to the smaller x.  With ``both_orders``, the result is an
    independent check of the counter of the searches.
    """
    asked, state = Asked(start.n), start
    for operator in [None, *(step.operator for step in result.steps)]:
        state = state if operator is None else operator.apply(state)
        for x in range(state.n):
            for y in nodes(state.out[x]):
                if both_orders or x < y or not state.out[y] >> x & 1:
                    for delete in deletes(state, x, y):
                        delete.gain(asked, state)
    return len(asked.families)


# The page.


def draw(rows: list[Row], figure: "Figure") -> None:
    """Draw evaluations over n on a logarithmic axis, as in the paper."""
    rows = pick(rows, order=0)
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


def facts(rows: list[Row]) -> dict[str, object]:
    """Return the counts by n, both ways of counting, the spread over tie orders, and recovery."""
    main = pick(rows, order=0)
    bes_rows, sbes_rows = pick(main, method="bes"), pick(main, method="sbes")
    ns, evaluations = curve(sbes_rows, "n", "evaluations")
    half = len(ns) // 2
    return {
        "models": len(distinct(main, "trial")),
        "counts": _counts(main),
        "bes_exact": sum(r["evaluations"] == r["n"] * 2 ** (r["n"] - 1) for r in bes_rows),
        "bes_runs": len(bes_rows),
        "exponent": f"{exponent(ns[half:], evaluations[half:]):.1f}",
        "readings": _readings([row for row in main if row["one_order"] is not None]),
        **_orders(rows),
        "bes_recovered": int(sum(values(bes_rows, "recovered"))),
        "sbes_recovered": int(sum(values(sbes_rows, "recovered"))),
        "sbes_runs": len(sbes_rows),
        "missed": _missed(pick(main, recovered=0)),
    }


def _counts(rows: list[Row]) -> str:
    lines = []
    for n in distinct(rows, "n"):
        both = [pick(rows, n=n, method=method) for method in ("bes", "sbes")]
        full, selective = (mean(each, "evaluations") for each in both)
        lines.append((n, full, selective, full / selective, *(mean(e, "seconds") for e in both)))
    return grid(("n", "BES", "SBES", "BES / SBES", "BES, s", "SBES, s"), lines)


def _readings(rows: list[Row]) -> str:
    lines = []
    for n in distinct(rows, "n"):
        both = [pick(rows, n=n, method=method) for method in ("bes", "sbes")]
        counts = [mean(each, column) for each in both for column in ("evaluations", "one_order")]
        lines.append((n, *counts))
    return grid(("n", "BES, both", "BES, one", "SBES, both", "SBES, one"), lines)


def _orders(rows: list[Row]) -> dict[str, object]:
    """Return the spread of the count of SBES over tie orders, and where recovery depends on it."""
    rows = pick(rows, method="sbes")
    by_model: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        by_model.setdefault((row["n"], row["trial"]), []).append(row)
    groups = {key: group for key, group in by_model.items() if len(group) > 1}
    lines = []
    for n in sorted({n for n, _ in groups}):
        every = [group for (size, _), group in groups.items() if size == n]
        counts = [sorted(values(group, "evaluations")) for group in every]
        spreads = [(c[-1] - c[0]) / median(c) for c in counts]
        means = [mean([row for group in every for row in pick(group, order=order)], "evaluations")
                 for order in distinct(every[0], "order")]  # fmt: skip
        lines.append(
            (n, means[0], f"{number(min(means))} to {number(max(means))}",
             f"{100 * median(spreads):.1f}%", f"{100 * max(spreads):.1f}%")
        )  # fmt: skip
    header = ("n", "as numbered", "mean of the models, by order", "median spread", "largest")
    differ = [group for group in groups.values() if len(set(values(group, "recovered"))) > 1]
    return {
        "orders": grid(header, lines),
        "order_count": max((len(group) - 1 for group in groups.values()), default=0),
        "order_models": len(groups),
        "order_differ": len(differ),
    }


def _missed(rows: list[Row]) -> str:
    lines = [
        (f"{row['method']}, n = {row['n']}, trial {row['trial']}", row["gain"], row["weakest_edge"])
        for row in rows
    ]
    header = ("missed", "score minus that of the true class, nats", "weakest true edge, nats")
    return grid(header, lines) if lines else "None was missed."


STUDY = experiment(
    "figure-8",
    "Score evaluations of BES and SBES from the complete graph (Fig. 8)",
    keys={"n": positive, "method": one_of("bes", "sbes"), "trial": natural, "order": natural},
    columns={
        "evaluations": positive,
        "one_order": optional(positive),
        "recovered": natural,
        "gain": real,
        "weakest_edge": real,
        "seconds": amount,
    },
    tasks=tasks,
    measure=measure,
    facts=facts,
    draw=draw,
)
