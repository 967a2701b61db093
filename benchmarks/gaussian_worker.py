"""Run one program on one table and print a line of JSON: used by benchmarks/gaussian.py.

Runs under the interpreter of the program's own environment, so it imports nothing else of ours.
The score of every result is computed here by one function, from least squares.
"""

import contextlib
import io
import json
import resource
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Found = tuple[list[tuple[int, int]], list[tuple[int, int]]]


def ours(data: Floats) -> Found:
    """Run GES of this project."""
    from sges.score import GaussianBIC
    from sges.search import ges

    graph = ges(GaussianBIC(data)).cpdag
    return graph.directed_edges(), graph.undirected_edges()


def ours_interleaved(data: Floats) -> Found:
    """Run the interleaved search of this project, which is what XGES-0 does too."""
    from sges.score import GaussianBIC
    from sges.search import interleaved

    graph = interleaved(GaussianBIC(data)).cpdag
    return graph.directed_edges(), graph.undirected_edges()


def peer_ges(data: Floats) -> Found:
    """Run the package ges, forward and backward."""
    import ges

    return from_matrix(ges.fit_bic(data, phases=["forward", "backward"])[0] != 0)


def peer_xges(data: Floats) -> Found:
    """Run XGES without its extended search, at the penalty of BIC."""
    from xges import XGES

    graph = XGES(alpha=1.0).fit(data, extended_search=False)
    return from_matrix(np.asarray(graph.to_adjacency_matrix()) != 0)


def peer_causal_learn(data: Floats) -> Found:
    """Run GES of causal-learn with its BIC; lambda 0.5 is the textbook penalty there."""
    from causallearn.search.ScoreBased.GES import ges

    found = ges(data, score_func="local_score_BIC", parameters={"lambda_value": 0.5})["G"].graph
    return from_matrix(found.T == 1, found == -1)


def from_matrix(row_to_column: NDArray[np.bool_], tails: NDArray[np.bool_] | None = None) -> Found:
    """Return directed and undirected edges; ``tails`` is causal-learn's endpoint coding."""
    d = len(row_to_column)
    pairs = [(x, y) for x in range(d) for y in range(d) if x != y]
    if tails is None:
        there = row_to_column
        directed = [(x, y) for x, y in pairs if there[x, y] and not there[y, x]]
        return directed, [(x, y) for x, y in pairs if x < y and there[x, y] and there[y, x]]
    directed = [(x, y) for x, y in pairs if row_to_column[x, y] and tails[x, y]]
    return directed, [(x, y) for x, y in pairs if x < y and tails[x, y] and tails[y, x]]


PROGRAMS: dict[str, Callable[[Floats], Found]] = {
    "sges": ours,
    "interleaved": ours_interleaved,
    "ges": peer_ges,
    "xges": peer_xges,
    "causal-learn": peer_causal_learn,
}


def bic(data: Floats, found: Found) -> float:
    """Score a CPDAG by least squares on the raw table, through a DAG that extends it."""
    m, d = data.shape
    parents = extension(d, *found)
    total = 0.0
    for y in range(d):
        design = np.column_stack([data[:, sorted(parents[y])], np.ones(m)])
        residual = data[:, y] - design @ np.linalg.lstsq(design, data[:, y], rcond=None)[0]
        variance = float(residual @ residual) / m
        total -= m / 2 * (np.log(2 * np.pi * variance) + 1)
        total -= np.log(m) / 2 * (len(parents[y]) + 2)
    return total


def extension(
    d: int, directed: list[tuple[int, int]], undirected: list[tuple[int, int]]
) -> list[set[int]]:
    """Return the parents of each node in a consistent extension (Dor & Tarsi 1992)."""
    into: list[set[int]] = [{x for x, y in directed if y == v} for v in range(d)]
    out: list[set[int]] = [{y for x, y in directed if x == v} for v in range(d)]
    near: list[set[int]] = [set() for _ in range(d)]
    for x, y in undirected:
        near[x].add(y)
        near[y].add(x)
    parents = [set(s) for s in into]
    left = set(range(d))
    while left:
        sink = next(
            v
            for v in left
            if not out[v] & left
            and all(
                (into[v] | near[v]) & left - {u} <= into[u] | out[u] | near[u]
                for u in near[v] & left
            )
        )
        parents[sink] |= near[sink] & left
        left.remove(sink)
    return parents


def main() -> None:
    """Warm up, run, and print what was found."""
    program, path = sys.argv[1], sys.argv[2]
    data = np.load(path)
    quiet = io.StringIO()
    with contextlib.redirect_stdout(quiet):
        PROGRAMS[program](np.random.default_rng(0).normal(size=(200, 5)))  # imports and JIT
        begun = time.perf_counter()
        found = PROGRAMS[program](data)
        seconds = time.perf_counter() - begun
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    edges = len(found[0]) + len(found[1])
    row = {"seconds": seconds, "megabytes": memory, "edges": edges, "bic": bic(data, found)}
    print(json.dumps(row))


if __name__ == "__main__":
    main()
