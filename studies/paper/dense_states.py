"""Distributions that drive FES into large undirected cliques, which BES must thin.

The paper says that such distributions can be made, and that it is not clear how realistic they
are.  Two families (``models``), by the number of children k:

    xor-star   noisy parities of two coins, discrete: built for the purpose
    sum-star   noisy readings of the sum of four causes, linear Gaussian: any set of sensors of
               one quantity that has several independent causes

In both the children are not adjacent in truth, so that the v-width is 1 however many parents
they have; from a state with all k children in a clique BES asks for (c + 1)·k·2ᵏ⁻¹ families, with
c the number of parents.
"""

from collections.abc import Iterator
from time import process_time
from typing import TYPE_CHECKING

from sges.graph.pdag import PDAG
from sges.properties import MaxParents, MaxVWidth
from sges.score import GaussianOracle, OracleMDL, Score
from sges.search import bes, fes, poly_fes, sbes
from studies.charts import BLUE, GREEN, GREY, RED, label, line, panels, whole_numbers
from studies.frame import Experiment, Row, Task, seed_of
from studies.pages import curve, distinct, exponent, grid, mean, pick, values
from studies.paper.models import against_truth, sum_star, undirected_clique, xor_star

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARENTS = {"xor-star": 2, "sum-star": 4}
NAMES = {
    "xor-star": "xor star: parities of two coins",
    "sum-star": "sum star: readings of a sum of four",
}


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the trials: both families, the number of children growing."""
    largest, trials = (6, 2) if quick else (13, 5)
    for family in PARENTS:
        for k in range(2, largest + 1):
            for t in range(trials):
                yield {"family": family, "children": k, "trial": t}


def measure(task: Task, seed: int) -> Row:
    """Search forward, then backward from there: BES, and SBES with two properties."""
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


def summary(rows: list[Row]) -> str:
    """Return one table per family."""
    return INTRODUCTION + "\n\n" + "\n\n".join(_family(rows, family) for family in PARENTS)


INTRODUCTION = """Every child depends on all parents, and no two children are adjacent. A child \
tells much about the other children, and almost nothing (xor) or a small share (sum) about any \
one parent, so FES joins the children to each other first. Once the parents are joined too, all \
edges between children are superfluous, and the backward phase starts from an undirected clique \
of them. The weights of the sum star differ by up to 3%: the more they differ, the more often FES \
joins a child to the parents before its clique is complete. BES and SBES start where FES ended and \
are counted alone."""


def _family(rows: list[Row], family: str) -> str:
    chosen, c = pick(rows, family=family), PARENTS[family]
    columns = ("clique", "fes", "poly_fes", "bes", "sbes_ps", "sbes_vw", "sbes_vw_after_poly")
    lines = [
        (k, *(mean(pick(chosen, children=k), column) for column in columns))
        for k in distinct(chosen, "children")
    ]
    header = ("k", "clique after FES", "FES", "poly-FES", "BES", f"SBES, PS {c}", "SBES, VW 1")
    full = [r for r in chosen if r["clique"] == r["children"]]
    exact = sum(
        r["bes"] == (c + 1) * int(r["children"]) * 2 ** (int(r["children"]) - 1) for r in full
    )
    ks, vw = curve(full, "children", "sbes_vw")
    half = len(ks) // 2
    hits = sum(values(chosen, "all_recovered"))
    return (
        f"**{NAMES[family]}**\n\n"
        + grid((*header, "SBES, VW 1, after poly-FES"), lines)
        + f"\n\nAll k children are one undirected clique after FES in {len(full)} of "
        f"{len(chosen)} runs; in {exact} of these BES asks for exactly {c + 1}·k·2ᵏ⁻¹ families. "
        f"With Π_VW¹ SBES grows as k^{exponent(ks[half:], vw[half:]):.1f} over the larger half "
        f"of k. The true class is found by all of them in {hits:.0f} of {len(chosen)} runs."
    )


EXPERIMENT = Experiment(
    name="dense-states",
    title="Sparse truths that lead FES into dense states",
    keys=("family", "children", "trial"),
    columns=(
        "fes",
        "poly_fes",
        "bes",
        "sbes_ps",
        "sbes_vw",
        "sbes_vw_after_poly",
        "clique",
        "recovered",
        "gain",
        "all_recovered",
        "seconds",
    ),
    tasks=tasks,
    measure=measure,
    draw=draw,
    summary=summary,
)
