"""How score evaluations grow from the complete graph: SBES as a power of n, BES as 2^n.

Run: python -m studies.peers.complexity [--largest 24] [--out studies/results]
Writes complexity.csv and complexity.svg, and prints the fitted exponent.
"""

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import numpy as np

from sges.graph import PDAG, dag_to_cpdag
from sges.network import LinearGaussian, random_structure
from sges.properties import MaxParents
from sges.score import GaussianOracle
from sges.search import bes, sbes

SEEDS = range(5)


def measure(n: int, seed: int, largest_bes: int) -> dict[str, Any]:
    """Run both searches on one random truth of at most two parents."""
    dag = random_structure(n, seed=seed)
    score = GaussianOracle(LinearGaussian.random(dag, seed=seed))
    start = PDAG.complete(n)
    begun = time.perf_counter()
    selective = sbes(score, start, MaxParents(2))
    seconds = time.perf_counter() - begun
    plain = bes(score, start).score_evaluations if n <= largest_bes else None
    return {
        "n": n,
        "seed": seed,
        "sbes": selective.score_evaluations,
        "bes": plain,
        "recovered": selective.cpdag == dag_to_cpdag(dag),
        "seconds": round(seconds, 3),
    }


def exponent_of(rows: list[dict[str, Any]]) -> float:
    """Return the slope of log evaluations against log n."""
    slope, _ = np.polyfit([np.log(r["n"]) for r in rows], [np.log(r["sbes"]) for r in rows], 1)
    return float(slope)


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw the mean counts on a log axis."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    for key, colour, label in (
        ("bes", "#b5472f", "BES"),
        ("sbes", "#2f6db5", "SBES, at most 2 parents"),
    ):
        sizes = sorted({r["n"] for r in rows if r[key] is not None})
        means = [np.mean([r[key] for r in rows if r["n"] == n]) for n in sizes]
        axes.semilogy(sizes, means, "o-", color=colour, markersize=4)
        axes.annotate(f" {label}", (sizes[-1], means[-1]), color=colour, va="center")
    axes.set_xlabel("variables")
    axes.set_ylabel("unique score evaluations")
    axes.set_title("From the complete graph, Gaussian oracle", loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlim(right=max(r["n"] for r in rows) + 7)
    figure.savefig(path)


def main() -> None:
    """Measure, write, and print the exponent."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=24)
    parser.add_argument("--largest-bes", type=int, default=13)
    parser.add_argument("--out", type=Path, default=Path("studies/results"))
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for n in range(8, asked.largest + 1, 2):
        rows += [measure(n, seed, asked.largest_bes) for seed in SEEDS]
        last = rows[-len(SEEDS) :]
        print(
            n,
            "mean SBES",
            np.mean([r["sbes"] for r in last]),
            "recovered",
            sum(r["recovered"] for r in last),
            "of",
            len(last),
        )
    with (asked.out / "complexity.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    plot(rows, asked.out / "complexity.svg")
    print(f"SBES evaluations grow as n^{exponent_of(rows):.2f} for n = 8..{asked.largest}")


if __name__ == "__main__":
    main()
