"""The evaluation of all programs: the BIC of the graph found, and its distance to the truth.

The BIC is computed from the raw table, by least squares or by counting: slower than our scores
and independent of them.  A graph is replaced by its equivalence class, so that a DAG and its CPDAG
get the same score.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sges.errors import GraphError
from sges.graph import PDAG, dag_to_cpdag, pdag_to_dag
from sges.nodeset import nodes
from sges.tools.metrics import agreement, shd, skeleton
from studies.peers.contract import Found, Table
from studies.peers.problems import Problem


@dataclass(frozen=True, slots=True)
class Verdict:
    """The measures of a graph; ``bic`` is None if the graph has no consistent extension."""

    bic: float | None
    shd: int
    skeleton_f1: float
    arrow_f1: float
    edges: int


def judge(problem: Problem, found: Found) -> Verdict:
    """Return the measures of the graph found on this problem."""
    graph = PDAG.from_edges(problem.truth.n, found.directed, found.undirected)
    try:
        dag: PDAG | None = pdag_to_dag(graph)
    except GraphError:
        dag = None  # no consistent extension: the graph itself is compared
    truth = dag_to_cpdag(problem.truth)
    shown = graph if dag is None else dag_to_cpdag(dag)
    arrows = agreement(set(truth.directed_edges()), set(shown.directed_edges()))
    return Verdict(
        bic=None if dag is None else bic(problem.table, dag),
        shd=shd(truth, shown),
        skeleton_f1=agreement(skeleton(truth), skeleton(shown)).f1,
        arrow_f1=arrows.f1,
        edges=graph.edge_count(),
    )


def bic(table: Table, dag: PDAG) -> float:
    """Return the textbook BIC of a DAG: log-likelihood minus ½ log m per free parameter."""
    family: Callable[[Table, int, list[int]], float] = (
        gaussian_family if table.kind == "gaussian" else discrete_family
    )
    return sum(family(table, y, list(nodes(dag.parents(y)))) for y in range(dag.n))


def gaussian_family(table: Table, y: int, parents: list[int]) -> float:
    """Score a regression with an intercept by least squares."""
    values = table.values.astype(np.float64, copy=False)
    target, m = values[:, y], len(values)
    design = np.column_stack([values[:, parents], np.ones(m)])
    residual = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
    variance = float(residual @ residual) / m
    likelihood = -m / 2 * (np.log(2 * np.pi * variance) + 1)
    return float(likelihood - np.log(m) / 2 * (len(parents) + 2))


def discrete_family(table: Table, y: int, parents: list[int]) -> float:
    """Score a conditional probability table by counting the configurations that occur."""
    m = len(table.values)
    levels = table.values.astype(np.int64, copy=False)
    cells = _counts(levels[:, [*parents, y]])
    configurations = _counts(levels[:, parents])
    likelihood = float(cells @ np.log(cells) - configurations @ np.log(configurations))
    possible = float(np.prod([float(table.arities[p]) for p in parents]))
    return float(likelihood - np.log(m) / 2 * possible * (table.arities[y] - 1))


def _counts(columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the count of each configuration of level numbers that occurs."""
    numbers = np.zeros(len(columns), dtype=np.int64)
    for column in columns.T:  # renumbered after each column, so that nothing overflows
        numbers = np.unique(numbers * (column.max() + 1) + column, return_inverse=True)[1]
    return np.bincount(numbers).astype(np.float64)
