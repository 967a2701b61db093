"""GES on linear Gaussian data, side by side with the programs users have today.

Data: random DAGs with 2d edges, weights ±[0.5, 2], 10,000 rows, standardised; every program in
its own process, one thread each, on the same file, one after the other in one run.

Run: python benchmarks/gaussian.py --sizes 50 100 200 \
         --peer xges=PYTHON --peer ges=PYTHON --peer causal-learn=PYTHON

where PYTHON is the interpreter of an environment that has that package (their pins conflict).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

WORKER = Path(__file__).with_name("gaussian_worker.py")


def make_data(d: int, rows: int, seed: int, path: Path) -> None:
    """Write a table sampled from a random linear model with 2d edges."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(d)
    edges: set[tuple[int, int]] = set()
    while len(edges) < 2 * d:
        i, j = sorted(rng.choice(d, 2, replace=False))
        edges.add((int(order[i]), int(order[j])))
    weights = np.zeros((d, d))
    for x, y in sorted(edges):
        weights[x, y] = rng.uniform(0.5, 2.0) * rng.choice([-1.0, 1.0])
    data = np.zeros((rows, d))
    for v in order:
        data[:, v] = data @ weights[:, v] + rng.normal(size=rows)
    np.save(path, (data - data.mean(axis=0)) / data.std(axis=0))


def run(program: str, python: str, path: Path, limit: float) -> dict[str, float | str]:
    """Run one program on one file in its own process; a failure is a row, with its reason."""
    env = {**os.environ, **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")}
    try:
        done = subprocess.run(
            [python, str(WORKER), program, str(path)],
            env=env,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"more than {limit:.0f} s"}
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1][:60]}
    found: dict[str, float | str] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print one table per size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 100, 200, 500, 1000])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=300.0)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    asked = parser.parse_args()
    ours_too = dict.fromkeys(("sges", "interleaved"), sys.executable)
    programs = {**ours_too, **dict(p.split("=", 1) for p in asked.peer)}
    print("variables  seed  program        seconds   ratio     MB   edges       BIC")
    for d in asked.sizes:
        for seed in range(asked.seeds):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "data.npy"
                make_data(d, 10_000, seed, path)
                ours = 0.0
                for program, python in programs.items():
                    row = run(program, python, path, asked.limit)
                    head = f"{d:9d}  {seed:4d}  {program:12s}"
                    if "failed" in row:
                        print(f"{head}  {row['failed']}", flush=True)
                        continue
                    seconds = float(row["seconds"])
                    ours = ours or seconds
                    print(
                        f"{head}  {seconds:8.3f}  {seconds / ours:6.1f}  {row['megabytes']:5.0f}"
                        f"  {row['edges']:6.0f}  {row['bic']:12.1f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
