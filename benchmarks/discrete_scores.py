"""Discrete scores: gains of every candidate at once, against the ways to count them singly.

Prints ratios of times measured in one run, each the best of several:

    bincount    one np.bincount per candidate, on codes of (base, y) made once
    group-by    one pandas group-by per candidate
    local       one call of ``local`` per candidate

and what the bound on gains saves, in a greedy search of parents and by the size of the base.

Run with ``OMP_NUM_THREADS=1 python benchmarks/discrete_scores.py``; takes less than a minute.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from numpy.typing import NDArray

from sges.data.dataset import Dataset
from sges.data.reading import Kind
from sges.nodeset import nodeset
from sges.score.discrete import BDeu, DiscreteBIC
from sges.score.tabular import DiscreteScore

COLUMNS, ARITY, PARENTS = 100, 3, 3

Codes = NDArray[np.uint8]


def best_of(times: int, work: Callable[[], object]) -> float:
    """Return the shortest of so many times, in CPU seconds, after one run to warm up."""
    work()
    found = []
    for _ in range(times):
        start = process_time()
        work()
        found.append(process_time() - start)
    return min(found)


def chain(rows: int, columns: int = COLUMNS, arity: int = ARITY, seed: int = 0) -> Codes:
    """Return columns that each follow one earlier column, with noise."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, arity, (columns, rows), dtype=np.uint8)
    for c in range(1, columns):
        follows = rng.random(rows) < 0.5
        codes[c, follows] = codes[rng.integers(max(0, c - 5), c), follows]
    return codes


def dataset(codes: Codes, arity: int = ARITY) -> Dataset:
    """Return the codes as a table whose columns all have the same levels."""
    n, rows = codes.shape
    return Dataset(
        names=tuple(f"v{i}" for i in range(n)),
        kinds=(Kind.DISCRETE,) * n,
        levels=(tuple(range(arity)),) * n,
        values=np.empty((0, rows)),
        codes=codes,
    )


@dataclass(frozen=True)
class Family:
    """The question asked of every method: the gains of all others for y, given base."""

    codes: Codes
    y: int
    base: tuple[int, ...]

    @property
    def candidates(self) -> NDArray[np.intp]:
        """Everything but y and base."""
        return np.setdiff1d(np.arange(len(self.codes)), [self.y, *self.base])


def by_bincount(family: Family) -> list[NDArray[np.intp]]:
    """Return the table of each candidate: one addition and one np.bincount each."""
    cell = np.zeros(family.codes.shape[1], dtype=np.intp)
    for v in (*family.base, family.y):
        cell *= ARITY
        cell += family.codes[v]
    cell *= ARITY
    size = ARITY ** (len(family.base) + 2)
    keys = np.empty_like(cell)
    found = []
    for x in family.candidates:
        np.add(cell, family.codes[x], out=keys)
        found.append(np.bincount(keys, minlength=size))
    return found


def gains_by_bincount(family: Family) -> NDArray[np.float64]:
    """Return the likelihood gains from those tables, the terms looked up as ours are."""
    rows = family.codes.shape[1]
    n = np.arange(rows + 1)
    term = n * np.log(np.maximum(n, 1))
    tables = np.array(by_bincount(family)).reshape(-1, ARITY ** len(family.base), ARITY, ARITY)
    with_x = term[tables].sum(axis=(1, 2, 3)) - term[tables.sum(axis=2)].sum(axis=(1, 2))
    before = tables[0].sum(axis=2)
    return np.asarray(with_x - term[before].sum() + term[before.sum(axis=1)].sum())


def by_group(frame: pd.DataFrame, family: Family) -> list[pd.Series]:
    """Return the table of each candidate by a pandas group-by."""
    given = [frame.columns[v] for v in (*family.base, family.y)]
    return [frame.groupby([*given, frame.columns[x]]).size() for x in family.candidates]


def compare(rows: int) -> None:
    """Print how our gains compare with counting candidate by candidate."""
    family = Family(chain(rows), COLUMNS - 1, tuple(range(PARENTS)))
    bic, bdeu = (kind(dataset(family.codes)) for kind in (DiscreteBIC, BDeu))
    base, candidates = nodeset(family.base), family.candidates
    free = DiscreteBIC(bic.data, penalty=0.0).insert_gains(family.y, base, candidates)
    assert np.allclose(free, gains_by_bincount(family)), "the methods must agree"
    frame = pd.DataFrame(family.codes.T)
    repeat = 100_000 // rows + 10
    ours = best_of(repeat, lambda: bic.insert_gains(family.y, base, candidates))
    also = best_of(repeat, lambda: bdeu.insert_gains(family.y, base, candidates))
    count = best_of(repeat, lambda: by_bincount(family))
    score = best_of(repeat, lambda: gains_by_bincount(family))
    group = best_of(1, lambda: by_group(frame, family))
    single = best_of(3, lambda: [bic.local(family.y, base | 1 << int(x)) for x in candidates])
    rate = rows * len(candidates) / ours
    print(f"{rows:>7,} rows: all {len(candidates)} gains in {ours * 1e3:.2f} ms", end="")
    print(f" (BDeu {also * 1e3:.2f}), {rate / 1e9:.2f} · 10⁹ cells per second")
    for name, other in (
        ("bincount, tables only", count),
        ("bincount, with scores", score),
        ("local", single),
        ("group-by, tables only", group),
    ):
        print(f"    {other / ours:8.1f} × faster than one {name:24s} per candidate", end="")
        print(f" ({other * 1e3:.1f} ms)")


def many_columns(rows: int) -> None:
    """Print the gains of 1,000 candidates, given five parents, against calls of ``local``."""
    score, base, sample = DiscreteBIC(dataset(chain(rows, 1_006))), 0b11111, range(5, 105)
    candidates = np.arange(5, 1_005)
    ours = best_of(5, lambda: score.insert_gains(1_005, base, candidates))
    single = 10 * best_of(2, lambda: [score.local(1_005, base | 1 << x) for x in sample])
    print(f"{rows:>7,} rows: 1,000 gains, |base| = 5, in {ours * 1e3:.1f} ms,", end="")
    print(f" {single / ours:.1f} × faster than 1,000 calls of local (100 timed)")


def greedy_parents(score: DiscreteScore, y: int, floor: float) -> tuple[int, int, int]:
    """Add the best parent while it helps; return the set, gains asked for, and gains skipped."""
    base, asked, skipped = 0, 0, 0
    while True:
        outside = np.array([x for x in range(score.n) if x != y and not base >> x & 1])
        gains = score.insert_gains(y, base, outside, floor=floor)
        asked += len(gains)
        skipped += int(np.isneginf(gains).sum())
        if gains.max() <= 0:
            return base, asked, skipped
        base |= 1 << int(outside[gains.argmax()])


def savings_of_a_search(rows: int, arity: int) -> None:
    """Print what a floor of zero saves when every node looks for its parents."""
    score = DiscreteBIC(dataset(chain(rows, 60, arity), arity))
    runs: dict[float, list[tuple[int, int, int]]] = {}

    def run(floor: float) -> None:
        runs[floor] = [greedy_parents(score, y, floor) for y in range(score.n)]

    exact, bounded = best_of(7, lambda: run(-np.inf)), best_of(7, lambda: run(0.0))
    assert [r[0] for r in runs[-np.inf]] == [r[0] for r in runs[0.0]], "the same parents"
    asked = sum(r[1] for r in runs[0.0])
    skipped = sum(r[2] for r in runs[0.0])
    most = max(r[0].bit_count() for r in runs[0.0])
    print(f"{rows:>7,} rows, arity {arity:2}: {skipped / asked:6.1%} of {asked:,} gains", end="")
    print(f" never counted, {exact / bounded:.2f} × faster (parents: at most {most})")


def savings_by_depth(rows: int) -> None:
    """Print what a floor of zero saves for bases of each size, as dense graphs ask for them."""
    rng = np.random.default_rng(0)
    score = DiscreteBIC(dataset(chain(rows)))
    shares, ratios = [], []
    for size in range(8):
        asked = [rng.permutation(COLUMNS).tolist() for _ in range(10)]

        def run(floor: float, size: int = size, asked: list[list[int]] = asked) -> float:
            gains = [
                score.insert_gains(y, nodeset(rest[:size]), np.array(rest[size:]), floor=floor)
                for y, *rest in asked
            ]
            return float(np.mean(np.isneginf(gains)))

        shares.append(run(0.0))
        ratios.append(best_of(5, lambda: run(-np.inf)) / best_of(5, lambda: run(0.0)))
    print(f"{rows:>7,} rows, |base|       " + "".join(f"{size:8}" for size in range(8)))
    print("        never counted       " + "".join(f"{share:8.0%}" for share in shares))
    print("        times faster        " + "".join(f"{ratio:8.1f}" for ratio in ratios))


def main() -> None:
    """Print both tables."""
    print(f"Gains of every candidate: {COLUMNS} columns of arity {ARITY}, |base| = {PARENTS}")
    for rows in (5_000, 50_000):
        compare(rows)
    for rows in (5_000, 50_000):
        many_columns(rows)
    print("\nBIC with a floor of zero against none: greedy parents of 60 nodes")
    for rows, arity in ((1_000, 3), (1_000, 5), (1_000, 10), (5_000, 3)):
        savings_of_a_search(rows, arity)
    print(f"\nBIC with a floor of zero against none: {COLUMNS} columns of arity {ARITY}")
    for rows in (1_000, 5_000):
        savings_by_depth(rows)


if __name__ == "__main__":
    main()
