"""From rows to what tables and plots show: medians over seeds, and comparisons seed by seed."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from typing import TypeAlias

from studies.peers.rows import Row, latest

REFERENCE = "sges-ges"
"""The program of ours that others are compared with, unless another is named."""

BIC_TOLERANCE = 1e-3
"""Scores that differ by no more than this, on the scale of log-likelihood, are equal."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One program on one data set: medians over the seeds on which it came to an end."""

    d: int
    runs: int
    done: int
    failed: str | None
    seconds: float | None = None
    start_seconds: float | None = None
    prepare_seconds: float | None = None
    megabytes: float | None = None
    shd: float | None = None
    skeleton_f1: float | None = None
    arrow_f1: float | None = None
    ratio: float | None = None
    """Its seconds divided by those of the reference, on the same seeds: above 1 it is slower."""
    bic_gain: float | None = None
    """Its BIC minus that of the reference, on the same seeds: above 0 it is better."""


Cells: TypeAlias = dict[tuple[str, str], Cell]


@dataclass(frozen=True, slots=True)
class Family:
    """Data sets that differ only in their number of variables, or all reference networks."""

    name: str
    title: str
    columns: tuple[str, ...]
    """How each data set is headed in a table: by its size or its name."""
    datasets: tuple[str, ...]


def cells_of(rows: Iterable[Row], reference: str = REFERENCE) -> Cells:
    """Return the medians of every program on every data set."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in latest(rows):
        groups[row["peer"], row["dataset"]].append(row)
    return {
        (peer, dataset): _cell(group, groups.get((reference, dataset), []))
        for (peer, dataset), group in groups.items()
    }


def _cell(group: list[Row], ours: list[Row]) -> Cell:
    done = [row for row in group if row["failed"] is None]
    reasons = [row["failed"] for row in group if row["failed"] is not None]
    return Cell(
        d=group[0]["d"],
        runs=len(group),
        done=len(done),
        failed=reasons[0] if reasons else None,
        seconds=_median(done, lambda row: row["seconds"]),
        start_seconds=_median(done, lambda row: row["import_seconds"] + row["warmup_seconds"]),
        prepare_seconds=_median(done, lambda row: row["prepare_seconds"]),
        megabytes=_median(done, lambda row: row["megabytes"]),
        shd=_median(done, lambda row: row["shd"]),
        skeleton_f1=_median(done, lambda row: row["skeleton_f1"]),
        arrow_f1=_median(done, lambda row: row["arrow_f1"]),
        ratio=_paired(done, ours, lambda row, our: row["seconds"] / our["seconds"]),
        bic_gain=_paired(done, ours, _bic_gain),
    )


def _median(rows: list[Row], value: Callable[[Row], float]) -> float | None:
    return median(map(value, rows)) if rows else None


def _paired(
    rows: list[Row], ours: list[Row], compare: Callable[[Row, Row], float | None]
) -> float | None:
    """Return the median of a comparison on the seeds that both came to an end on."""
    by_seed = {row["seed"]: row for row in ours if row["failed"] is None}
    found = [compare(row, by_seed[row["seed"]]) for row in rows if row["seed"] in by_seed]
    known = [value for value in found if value is not None]
    return median(known) if known else None


def _bic_gain(row: Row, our: Row) -> float | None:
    if row["bic"] is None or our["bic"] is None:
        return None
    gain = float(row["bic"] - our["bic"])
    return 0.0 if abs(gain) <= BIC_TOLERANCE else gain


_RANDOM = re.compile(
    r"(?P<family>gaussian-(?P<graph>er|sf)(?P<edges>\d+)|discrete)-d(?P<d>\d+)-m(?P<m>\d+)"
)


def families_of(rows: Iterable[Row]) -> list[Family]:
    """Return the families of all data sets in the rows, each ordered by size."""
    sizes = {row["dataset"]: (row["d"], row["rows"]) for row in rows}
    groups: dict[str, list[str]] = defaultdict(list)
    for dataset in sorted(sizes, key=lambda name: (sizes[name], name)):
        match = _RANDOM.fullmatch(dataset)
        groups[f"{match['family']}-m{match['m']}" if match else "networks"].append(dataset)
    return [_family(name, groups[name]) for name in sorted(groups, key=_family_order)]


def _family_order(name: str) -> tuple[int, str]:
    return ("gaussian", "discrete", "networks").index(re.split(r"-", name)[0]), name


def _family(name: str, datasets: list[str]) -> Family:
    matches = [_RANDOM.fullmatch(dataset) for dataset in datasets]
    heads = [
        f"d = {match['d']}" if match else dataset.rpartition("-m")[0]
        for match, dataset in zip(matches, datasets, strict=True)
    ]
    return Family(name, _title(matches[0]), tuple(heads), tuple(datasets))


def _title(match: re.Match[str] | None) -> str:
    if match is None:
        return "Reference networks, 5,000 rows"
    rows = f"{int(match['m']):,} rows"
    if match["graph"] is None:
        return f"Discrete, random tables, {rows}"
    graph = {"er": "Erdős–Rényi", "sf": "scale-free"}[match["graph"]]
    return f"Linear Gaussian, {graph}, {match['edges']} edges per variable, {rows}"
