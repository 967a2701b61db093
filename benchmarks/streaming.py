"""Peak memory of streaming a Parquet file that is larger than the memory allowed.

A child process streams the file and reports how far its peak resident memory rose above what
it was after imports.  Reading the same file whole, in another child, shows what is saved.

    python benchmarks/streaming.py [--budget MiB] [--columns N]

It exits with 1 if a stream exceeds the budget, or if streamed moments differ from those of
``np.cov`` by more than 1e-12 relative to the scale of the columns.  Needs Linux (/proc).
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

MIB = 1 << 20

CHILD = """
import json, sys, time
import numpy as np
import pyarrow.parquet, pyarrow.csv, pyarrow.compute
import sges.data.stream
from sges.data import Dataset, Moments, discrete_of_file, moments_of_file
what, path, out = sys.argv[1:]
np.ones((200, 200)) @ np.ones((200, 200))  # wakes the linear algebra
def peak():
    # Not ru_maxrss: on Linux it starts at what the parent held when it forked, so a large parent
    # hides whatever its child needs.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
before, start = peak(), time.perf_counter()
if what == "stream moments":
    found = moments_of_file(path)
elif what == "whole moments":
    found = Moments.of(Dataset.of(path))
elif what == "stream discrete":
    found = discrete_of_file(path)
else:
    found = Dataset.of(path, kinds="discrete").merged()
seconds, after = time.perf_counter() - start, peak()
if what == "whole moments":  # judged by other code than its own, and other blocks
    values = Dataset.of(path).values
    arrays = values.mean(axis=1), np.cov(values - values[:, :1], bias=True)
elif what == "stream moments":
    arrays = found.mean, found.covariance
else:
    arrays = found.codes, found.weights
np.savez(out, first=arrays[0], second=arrays[1])
print(json.dumps({"peak": after - before, "seconds": seconds}))
"""


def write_numbers(path: Path, size: int, columns: int, *, one_group: bool) -> None:
    """Write correlated columns around 1e9 until the file holds ``size`` bytes of floats."""
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(columns, columns))
    chunk = max(1, 4 * MIB // (8 * columns))
    chunks = -(-size // (8 * columns * chunk))
    names = [f"x{i}" for i in range(columns)]
    schema = pa.schema([(name, pa.float64()) for name in names])
    parts = (1e9 + rng.normal(size=(chunk, columns)) @ mixing for _ in range(chunks))
    _write(path, schema, (dict(zip(names, part.T, strict=True)) for part in parts), one_group)


def write_levels(path: Path, size: int, columns: int, *, one_group: bool) -> None:
    """Write text columns, a few thousand distinct rows, of ``size`` bytes as text."""
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 4, size=(3000, columns))
    words = np.array(["alpha", "beta", "gamma", "delta"])
    chunk = 65_536
    chunks = -(-size // (5 * columns * chunk))
    names = [f"c{i}" for i in range(columns)]
    schema = pa.schema([(name, pa.string()) for name in names])
    parts = (words[rows[rng.integers(len(rows), size=chunk)]] for _ in range(chunks))
    _write(path, schema, (dict(zip(names, part.T, strict=True)) for part in parts), one_group)


def _write(path: Path, schema: pa.Schema, parts: Any, one_group: bool) -> None:  # noqa: ANN401
    with pyarrow.parquet.ParquetWriter(
        path, schema, compression="none", use_dictionary=False
    ) as writer:
        if one_group:
            tables = [pa.table(part, schema=schema) for part in parts]
            whole = pa.concat_tables(tables)
            writer.write_table(whole, row_group_size=len(whole))
        else:
            for part in parts:
                writer.write_table(pa.table(part, schema=schema))


def run(what: str, path: Path, out: Path) -> dict[str, float]:
    """Return the peak above the baseline, and the seconds, of a child that reads the file."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, what, str(path), str(out)],
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def difference(a: Path, b: Path) -> float:
    """Return the largest difference of two covariances, relative to the scale of the columns."""
    first, second = np.load(a)["second"], np.load(b)["second"]
    scale = np.sqrt(np.diagonal(second))
    return float(np.abs((first - second) / np.outer(scale, scale)).max())


def main() -> int:
    """Print the table, and say whether the budget was kept."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--budget", type=int, default=128, help="MiB (default 128)")
    options.add_argument("--columns", type=int, default=50)
    asked = options.parse_args()
    budget, good = asked.budget * MIB, True
    print(f"{'what':<16} {'row groups':<10} {'file':>9} {'peak':>9} {'budget':>9} {'time':>7}")
    for kind, writer in (("moments", write_numbers), ("discrete", write_levels)):
        for groups in ("many", "one"):
            with tempfile.TemporaryDirectory() as folder:
                good &= _case(kind, writer, groups, budget, asked.columns, Path(folder))
    return 0 if good else 1


def _case(kind: str, writer: Any, groups: str, budget: int, columns: int, folder: Path) -> bool:  # noqa: ANN401
    path = folder / "table.parquet"
    writer(path, 3 * budget, columns, one_group=groups == "one")
    good = True
    for how in ("stream", "whole"):
        found = run(f"{how} {kind}", path, folder / f"{how}.npz")
        size, peak = path.stat().st_size / MIB, found["peak"] / MIB
        print(
            f"{how + ' ' + kind:<16} {groups:<10} {size:>5.0f} MiB {peak:>5.0f} MiB "
            f"{budget / MIB:>5.0f} MiB {found['seconds']:>5.1f} s"
        )
        good &= how == "whole" or found["peak"] < budget
    if kind == "moments":
        apart = difference(folder / "stream.npz", folder / "whole.npz")
        print(f"  streamed covariances differ from those of np.cov by {apart:.1e} (allowed 1e-12)")
        return good and apart < 1e-12
    a, b = (np.load(folder / f"{how}.npz") for how in ("stream", "whole"))
    same = all(np.array_equal(a[part], b[part]) for part in ("first", "second"))
    print(f"  streamed and whole rows are {'the same' if same else 'NOT THE SAME'}")
    return good and same


if __name__ == "__main__":
    sys.exit(main())
