"""Gaussian scores: what one batched call saves over one call of ``local`` per candidate.

    python benchmarks/gaussian_scores.py

Every figure is a ratio of two timings of the same run, each the best of several repeats, so
that they compare on any machine.  Wanted: at least 20 for GaussianBIC with |base| = 5.
"""

from collections.abc import Callable
from timeit import repeat

import numpy as np

from sges.data.moments import Moments
from sges.nodeset import NodeSet, nodes, nodeset
from sges.score.base import BatchScore, Candidates
from sges.score.bge import BGe
from sges.score.cache import CountingScore
from sges.score.gaussian import GaussianBIC

COLUMNS, RECORDS = 1000, 2000


def moments() -> Moments:
    """Return the moments of random, mildly correlated columns."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(COLUMNS, RECORDS))
    table[1:] += 0.5 * table[:-1]
    names = tuple(f"x{v}" for v in range(COLUMNS))
    return Moments(names, RECORDS, table.mean(axis=1), np.cov(table, ddof=0))


def microseconds(call: Callable[[], object], number: int) -> float:
    """Return the time of one call: the best of seven rounds."""
    return min(repeat(call, number=number, repeat=7)) / number * 1e6


def candidates_outside(base: NodeSet, y: int) -> Candidates:
    """Return every node that may be added to base."""
    return np.array([x for x in range(COLUMNS) if x != y and not base >> x & 1], dtype=np.intp)


def compare(score: BatchScore, size: int) -> tuple[float, float, float]:
    """Return the time of a batch of inserts, of the same by ``local``, and of one of deletes."""
    y, base = 0, nodeset(range(500, 500 + size))
    outside = candidates_outside(base, y)
    inside = np.array([*nodes(base)], dtype=np.intp)

    def one_by_one() -> None:
        before = score.local(y, base)
        for x in outside.tolist():
            _ = score.local(y, base | 1 << x) - before

    batch = microseconds(lambda: score.insert_gains(y, base, outside), 50)
    return (
        batch,
        microseconds(one_by_one, 1),
        microseconds(lambda: score.delete_gains(y, base, inside), 50) if size else 0.0,
    )


def main() -> None:
    """Print one line per score and size of the base."""
    known = moments()
    scores: dict[str, BatchScore] = {"GaussianBIC": GaussianBIC(known), "BGe": BGe(known)}
    print(f"{COLUMNS} columns; insert gains of all candidates at once against one by one\n")
    print("score        |base|  batch µs  local µs  ratio  deletes µs")
    for name, score in scores.items():
        for size in (0, 1, 2, 5, 10):
            batch, single, deletes = compare(score, size)
            print(
                f"{name:<12} {size:>6} {batch:>9.1f} {single:>9.0f} {single / batch:>5.0f}x "
                f"{deletes:>11.1f}"
            )
    print(f"\ncounting unique families costs {counting_share():.0%} of a batch with |base| = 5")


def counting_share() -> float:
    """Return how much longer batches take when their families are counted, all of them new.

    20 bases of one size for each of 25 nodes, each next to two others: a search has fewer.
    """
    score = GaussianBIC(moments())
    bases = [(y, nodeset(range(v, v + 5))) for y in range(25) for v in range(500, 520)]
    work = [(y, base, candidates_outside(base, y)) for y, base in bases]

    def run(asked: BatchScore) -> None:
        for y, base, outside in work:
            asked.insert_gains(y, base, outside)

    plain = microseconds(lambda: run(score), 1)
    return microseconds(lambda: run(CountingScore(score)), 1) / plain - 1


if __name__ == "__main__":
    main()
