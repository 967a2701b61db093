"""The measures that can be assumed, on random graphs: how small each is where it would be assumed.

    er        Erdős–Rényi graphs
    causes    scale-free graphs whose hubs are common causes
    effects   the same graphs with every edge reversed: the hubs are common effects

The measures are those of ``sges.properties``.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from sges.graph import PDAG
from sges.graph.undirected import Between
from sges.properties import MaxClique, MaxParents, MaxTreewidth, MaxVStructures, MaxVWidth
from studies.charts import GOLD, GREEN, RED, VIOLET, label, line, panels
from studies.frame import Row, Task, experiment, natural, one_of, optional, positive
from studies.peers.problems import random_edges
from studies.summary import MISSING, distinct, grid, mean, pick, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAMILIES = {
    "er": "Erdős–Rényi graphs",
    "causes": "Scale-free graphs, hubs are common causes",
    "effects": "Scale-free graphs, hubs are common effects",
}
SHOWN = {"parents": RED, "clique": GOLD, "v_width": GREEN, "treewidth": VIOLET}
TREEWIDTH_UP_TO = 30
"""The most variables for which the treewidth is computed: with 50 it takes up to 20 seconds."""

WIDE = 3
"""The v-width that the page suggests to assume; it counts the graphs that exceed it."""


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the graphs: three sizes and three mean degrees in each family."""
    sizes, trials = ((12, 20), 2) if quick else ((30, 50, 100), 100)
    for family in FAMILIES:
        for n in sizes:
            for degree in (4, 6, 8):
                for t in range(trials):
                    yield {"family": family, "n": n, "degree": degree, "trial": t}


def measure(task: Task, seed: int) -> Row:
    """Draw one graph and measure it."""
    n = int(task["n"])
    graph = drawn(str(task["family"]), n, int(task["degree"]), seed, int(task["trial"]))
    width = MaxTreewidth.measure(graph) if n <= TREEWIDTH_UP_TO else None
    return {
        "parents": MaxParents.measure(graph),
        "clique": MaxClique.measure(graph),
        "v_width": MaxVWidth.measure(graph),
        "treewidth": width.low if isinstance(width, Between) else width,
        "v_structures": MaxVStructures.measure(graph),
    }


def drawn(family: str, n: int, degree: int, seed: int, trial: int) -> PDAG:
    """Return one graph with this mean degree: exactly so in "er", slightly below in the others."""
    rng = np.random.default_rng([seed, list(FAMILIES).index(family), n, degree, trial])
    edges = random_edges("er" if family == "er" else "sf", n, degree // 2, rng)
    return PDAG.from_edges(n, [(y, x) for x, y in edges] if family == "effects" else edges)


def draw(rows: list[Row], figure: "Figure") -> None:
    """Draw the mean of each measure over n at the largest degree, one panel per family."""
    for axes, (family, title) in zip(panels(figure, 3), FAMILIES.items(), strict=True):
        here = pick(rows, family=family, degree=max(values(rows, "degree")))
        for name, color in SHOWN.items():
            sizes = [n for n in distinct(here, "n") if values(pick(here, n=n), name)]
            means = [mean(pick(here, n=n), name) for n in sizes]
            line(axes, (sizes, means), name.replace("_", "-"), color, marker="o")
        axes.set_xticks(distinct(here, "n"))
        axes.set_ylim(bottom=0)
        label(axes, "n", "mean", title)


def facts(rows: list[Row]) -> dict[str, object]:
    """Return the table of each family, and the ranges that the page quotes."""
    told: dict[str, object] = {"graphs": f"{len(rows):,}"}
    for family in FAMILIES:
        here = pick(rows, family=family)
        groups = [
            pick(here, n=n, degree=degree)
            for n in distinct(here, "n")
            for degree in distinct(here, "degree")
        ]
        told[f"{family}_table"] = grid(
            ("n", "degree", "v-width", "parents", "clique", "treewidth", "v-structures"),
            [_line(group) for group in groups],
            left=2,
        )
        for name in ("v_width", "parents", "clique"):
            means = [mean(group, name) for group in groups]
            low, high = min(values(here, name)), max(values(here, name))
            told[f"{family}_{name}"] = f"{min(means):.1f} to {max(means):.1f}"
            told[f"{family}_{name}_range"] = f"{low:.0f} and {high:.0f}"
            told[f"{family}_{name}_most"] = f"{high:.0f}"
        told[f"{family}_wide"] = sum(width > WIDE for width in values(here, "v_width"))
        told[f"{family}_graphs"] = len(here)
    told["each"] = len(pick(rows, family="er", n=rows[0]["n"], degree=rows[0]["degree"]))
    told["wide"] = WIDE
    told["treewidth_up_to"] = TREEWIDTH_UP_TO
    return told


def _line(group: list[Row]) -> tuple[object, ...]:
    cells = []
    for name in ("v_width", "parents", "clique", "treewidth", "v_structures"):
        known = values(group, name)
        cells.append(f"{mean(group, name):.1f} ({max(known):.0f})" if known else MISSING)
    return (group[0]["n"], group[0]["degree"], *cells)


STUDY = experiment(
    "measures",
    "The measures that can be assumed, on random graphs",
    keys={"family": one_of(*FAMILIES), "n": positive, "degree": positive, "trial": natural},
    columns={
        "parents": natural,
        "clique": natural,
        "v_width": natural,
        "treewidth": optional(natural),
        "v_structures": natural,
    },
    tasks=tasks,
    measure=measure,
    facts=facts,
    draw=draw,
)
