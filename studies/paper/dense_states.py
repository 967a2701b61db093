"""Distributions that drive FES into large undirected cliques, which BES must thin.

The paper says that such distributions can be constructed, and that it is not clear how realistic
they are.  Two families (``models``), by the number of children k:

    xor-star   noisy parities of two coins, discrete: constructed for this purpose
    sum-star   noisy measurements of the sum of four causes, linear Gaussian: for example, several
               sensors of one quantity that has several independent causes

In the true graph of both families, the children are not adjacent to each other, so the v-width is 1
for any number of parents.  From a state with all k children in a clique, BES asks for
(c + 1)·k·2ᵏ⁻¹ families, where c is the number of parents.
"""

from collections.abc import Iterator
from time import process_time
from typing import TYPE_CHECKING

from sges.graph import PDAG
from sges.properties import MaxParents, MaxVWidth
from sges.score import GaussianOracle, OracleMDL, Score
from sges.search import bes, fes, poly_fes, sbes
from studies.charts import BLUE, GREEN, GREY, RED, label, line, panels, whole_numbers
from studies.frame import Row, Task, amount, experiment, natural, one_of, positive, real, seed_of
from studies.paper.models import against_truth, sum_star, undirected_clique, xor_star
from studies.summary import curve, distinct, exponent, grid, mean, pick, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARENTS = {"xor-star": 2, "sum-star": 4}
NAMES = {
    "xor-star": "xor star: parities of two coins",
    "sum-star": "sum star: readings of a sum of four",
}


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the trials: both families, with an increasing number of children."""
    largest, trials = (6, 2) if quick else (13, 5)
    for family in PARENTS:
        for k in range(2, largest + 1):
            for t in range(trials):
                yield {"family": family, "children": k, "trial": t}


def measure(task: Task, seed: int) -> Row:
    """Run FES and poly-FES, then BES and SBES with two properties from their results."""
    family, k = str(task["family"]), int(task["children"])
    c = PARENTS[family]
    dag, score = model(family, k, seed_of(seed, c, k, int(task["trial"])))
    begun = process_time()
    forward, cheap = fes(score), poly_fes(score)
    found = [
        bes(score, forward.cpdag),
        sbes(score, forward.cpdag, MaxParents(c)),
        sbes(score, forward.cpdag, MaxVWidth(1)),
        sbes(score, cheap.cpdag, MaxVWidth(1)),
    ]
    counts = [r.score_evaluations or 0 for r in (forward, cheap, *found)]
    columns = ("fes", "poly_fes", "bes", "sbes_ps", "sbes_vw", "sbes_vw_after_poly")
    return {
        **dict(zip(columns, counts, strict=True)),
        "clique": undirected_clique(forward.cpdag),
        **against_truth(score, dag, found[2].cpdag),
        "all_recovered": int(all(against_truth(score, dag, r.cpdag)["recovered"] for r in found)),
        "seconds": process_time() - begun,
    }


def model(family: str, children: int, seed: int) -> tuple[PDAG, Score]:
    """Return the truth of a family and its oracle."""
    if family == "xor-star":
        network = xor_star(PARENTS[family], children, seed)
        return network.dag, OracleMDL(network)
    linear = sum_star(PARENTS[family], children, seed)
    return linear.dag, GaussianOracle(linear)


def draw(rows: list[Row], figure: "Figure") -> None:
    """Draw evaluations over the number of children, one panel per family."""
    for axes, family in zip(panels(figure, 2, sharey=True), PARENTS, strict=True):
        chosen = pick(rows, family=family)
        axes.set_yscale("log")
        c = PARENTS[family]
        line(axes, curve(chosen, "children", "bes"), "BES", RED)
        line(axes, curve(chosen, "children", "sbes_ps"), f"SBES, $\\Pi_{{PS}}^{{{c}}}$", BLUE)
        line(axes, curve(chosen, "children", "sbes_vw"), r"SBES, $\Pi_{VW}^{1}$", GREEN)
        line(axes, curve(chosen, "children", "fes"), "FES", GREY, linestyle=":")
        line(axes, curve(chosen, "children", "poly_fes"), "poly-FES", GREY, linestyle="--")
        whole_numbers(axes)
        label(axes, "k, children", "score evaluations", NAMES[family])


def facts(rows: list[Row]) -> dict[str, object]:
    """Return for each family its table, the cliques after FES, and the growth of SBES."""
    told: dict[str, object] = {}
    for family, parents in PARENTS.items():
        prefix = family.partition("-")[0]
        found = _family(pick(rows, family=family), parents)
        told |= {f"{prefix}_{name}": value for name, value in found.items()}
    return told


def _family(rows: list[Row], c: int) -> dict[str, object]:
    columns = ("clique", "fes", "poly_fes", "bes", "sbes_ps", "sbes_vw", "sbes_vw_after_poly")
    lines = [
        (k, *(mean(pick(rows, children=k), column) for column in columns))
        for k in distinct(rows, "children")
    ]
    header = ("k", "clique after FES", "FES", "poly-FES", "BES", f"SBES, PS {c}", "SBES, VW 1")
    full = [row for row in rows if row["clique"] == row["children"]]
    ks, counts = curve(full, "children", "sbes_vw")
    half = len(ks) // 2
    return {
        "counts": grid((*header, "SBES, VW 1, after poly-FES"), lines),
        "full": len(full),
        "exact": sum(r["bes"] == (c + 1) * r["children"] * 2 ** (r["children"] - 1) for r in full),
        "exponent": f"{exponent(ks[half:], counts[half:]):.1f}",
        "recovered": int(sum(values(rows, "all_recovered"))),
        "runs": len(rows),
    }


STUDY = experiment(
    "dense-states",
    "Sparse true graphs for which FES ends in dense states",
    keys={"family": one_of(*PARENTS), "children": positive, "trial": natural},
    columns={
        "fes": positive,
        "poly_fes": positive,
        "bes": positive,
        "sbes_ps": positive,
        "sbes_vw": positive,
        "sbes_vw_after_poly": positive,
        "clique": natural,
        "recovered": natural,
        "gain": real,
        "all_recovered": natural,
        "seconds": amount,
    },
    tasks=tasks,
    measure=measure,
    facts=facts,
    draw=draw,
)
