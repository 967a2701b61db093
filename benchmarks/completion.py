"""How long it takes to complete a CPDAG after one operator: local path against global path.

Run: python benchmarks/completion.py
"""

import random
import time

from sges.graph import PDAG, complete_locally, dag_to_cpdag, pdag_to_cpdag
from sges.operators import Operator, deletes, inserts
from sges.selective import selective_generate_ops


def random_sparse(n: int, edges: int, seed: int) -> PDAG:
    """Return the CPDAG of a random DAG with so many edges."""
    rng = random.Random(seed)
    order = rng.sample(range(n), n)
    pairs: set[tuple[int, int]] = set()
    while len(pairs) < edges:
        i, j = sorted(rng.sample(range(n), 2))
        pairs.add((order[i], order[j]))
    return dag_to_cpdag(PDAG.from_edges(n, sorted(pairs)))


def some_operators(g: PDAG, count: int, seed: int) -> list[Operator]:
    """Return random valid operators, half inserts and half deletes."""
    rng = random.Random(seed)
    found: list[Operator] = []
    while len(found) < count:
        x, y = rng.sample(range(g.n), 2)
        if len(found) % 2 and not g.adjacent(x) >> y & 1:
            found += list(inserts(g, x, y))[:1]
        else:
            x, y = rng.choice(g.directed_edges() + g.undirected_edges())
            found += list(deletes(g, x, y))[:1]
    return found[:count]


def main() -> None:
    """Print the times side by side."""
    print("nodes  edges   local ms  global ms  ratio")
    for n in (100, 300, 1000):
        g = random_sparse(n, 2 * n, seed=1)
        edits = [(op, op.edit(g)) for op in some_operators(g, 200, seed=2)]
        start = time.perf_counter()
        for op, edited in edits:
            complete_locally(g, edited, op.x, op.y)
        local = (time.perf_counter() - start) / len(edits) * 1e3
        start = time.perf_counter()
        for _, edited in edits:
            pdag_to_cpdag(edited)
        everywhere = (time.perf_counter() - start) / len(edits) * 1e3
        print(f"{n:5d}  {2 * n:5d}  {local:9.3f}  {everywhere:9.3f}  {everywhere / local:5.0f}")
    start = time.perf_counter()
    count = len(selective_generate_ops(PDAG.complete(60), 0, 1, s=1))
    seconds = time.perf_counter() - start
    print(f"complete graph on 60 nodes, one edge, s = 1: {count} deletes in {seconds * 1e3:.2f} ms")


if __name__ == "__main__":
    main()
