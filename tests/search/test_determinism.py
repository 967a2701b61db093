"""The same data give the same graph for any hash seed, column order or number of threads."""

import os
import subprocess
import sys
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from sges import learn
from sges.score import GaussianBIC
from sges.search import search
from worlds import linear_data

Values: TypeAlias = NDArray[Any]

SCRIPT = """
import numpy as np
from sges.score import GaussianBIC, DiscreteBIC
from sges.search import ges
rng = np.random.default_rng(7)
data = rng.normal(size=(400, 14)) @ rng.normal(size=(14, 14))
print(ges(GaussianBIC(data)).cpdag)
codes = (data[:, :8] > 0).astype(int)
print(ges(DiscreteBIC({f"c{i}": codes[:, i].astype(str) for i in range(8)})).cpdag)
"""


def graphs_under(**environment: str) -> str:
    env = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_graph_does_not_depend_on_the_hash_seed_or_the_number_of_threads() -> None:
    wanted = graphs_under(PYTHONHASHSEED="0")
    assert wanted.count("PDAG") == 2
    for seed in "1234":
        assert graphs_under(PYTHONHASHSEED=seed) == wanted
    assert graphs_under(OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2") == wanted


def edges_found(table: dict[str, Values], order: list[str], **options: Any) -> set[object]:  # noqa: ANN401
    """Return the edges that the default finds with the columns in this order, by name."""
    graph = learn({name: table[name] for name in order}, **options).cpdag
    arrows = {(graph.name(x), graph.name(y)) for x, y in graph.directed_edges()}
    lines = {frozenset({graph.name(x), graph.name(y)}) for x, y in graph.undirected_edges()}
    return {*arrows, *lines}


TIERS = {"tiers": [["a", "b", "c"], ["d", "e", "f"], ["g", "h", "i"]]}
RULES = {"required": [["a", "b"]], "forbidden": [["a", "c"], ["d", "a"], ["b", "e"], ["f", "g"]]}
TABLES: dict[str, tuple[int, int, dict[str, Any]]] = {
    "dense": (27, 300, {}),
    "few rows": (12, 40, {}),
    "discrete": (12, 1_000, {"kinds": "discrete"}),
    "tiers": (18, 300, {"knowledge": TIERS}),
    "required and forbidden edges": (18, 300, {"knowledge": RULES}),
    "too many cliques": (36, 100, {"penalty": 0.0}),
    "a bound from the data": (24, 300, {"assume": "auto"}),
}
"""By name: the number of edges of the truth, the number of rows, and the search options."""


@pytest.mark.parametrize("kind", TABLES)
def test_the_default_does_not_depend_on_the_order_of_the_columns(kind: str, seed: int) -> None:
    edges, rows, options = TABLES[kind]
    _, data = linear_data(9, edges, rows, seed)
    values: Values = np.digitize(data, [-0.5, 0.5]) if kind == "discrete" else data
    table = dict(zip("abcdefghi", values.T, strict=True))
    wanted = edges_found(table, list(table), **options)
    for k in range(3):
        order = np.random.default_rng([seed, k]).permutation(list(table)).tolist()
        assert edges_found(table, order, **options) == wanted


def test_the_default_finds_one_graph_in_every_column_order_of_a_larger_table() -> None:
    """If nodes are moved in the order of their numbers, the result depends on the columns."""
    _, data = linear_data(15, 45, 500, 7)
    found = set()
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(15)
        cpdag = search(GaussianBIC(data[:, order]), strategy="auto").cpdag
        found.add(cpdag.relabel(order.tolist()))
    assert len(found) == 1
