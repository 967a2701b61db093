"""What a statistician points out in the columns and rows of a table.

Each check takes a dataset and yields findings.  Thresholds are such that tables of independent
records with ordinary columns give no serious finding.  Statistics of columns with missing values
are those of the values observed; relations between columns are those of complete rows if these
are at least half, otherwise missing numbers are replaced by means, which can hide a relation but
hardly make one up.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.data.columns import MAX_NAMES_SHOWN, are_whole, few_distinct_values, listed
from sges.data.dataset import Dataset
from sges.data.decisions import COUNT_NAMES, MAX_COUNT_ROWS, rises_by_one
from sges.data.description import Finding
from sges.data.reading import Kind
from sges.errors import Argument, Message, Spelling

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]

MAX_SKEWNESS, MAX_KURTOSIS = 2.0, 7.0
"""Beyond these, tests that assume Gaussian data go wrong (West, Finch & Curran 1995)."""

HEAVY_SKEWNESS, HEAVY_KURTOSIS = 4.0, 25.0
"""Beyond these, a few records decide on correlations."""

FEW_VALUES = 10
"""Columns with no more distinct values than this have no tails to look at."""

MAX_AT_ONCE = 1 << 18
"""Tables of up to this many values are screened column beside column, larger ones one by one."""

MAX_CHECKED_COLUMNS = 200
"""Neighboring rows are compared in the first columns."""

MAX_COMPARED_ROWS = 200_000
"""Repeated rows are looked for in tables of at most this many."""


# Parts of a dataset


def take_rows(data: Dataset, rows: Any) -> Dataset:  # noqa: ANN401 (whatever indexes an array)
    """Return some rows of a dataset."""
    weights = None if data.weights is None else data.weights[rows]
    holes = None if data.holes is None else data.holes[:, rows]
    values, codes = data.values[:, rows], data.codes[:, rows]
    return replace(data, values=values, codes=codes, weights=weights, holes=holes)


def every(data: Dataset, step: int) -> Dataset:
    """Return every ``step``-th row."""
    return data if step <= 1 else take_rows(data, slice(None, None, step))


def without_holes(data: Dataset) -> Dataset:
    """Return the complete rows if they are at least half; else all, with means in the holes."""
    holes = data.holes
    if holes is None:
        return data
    complete = ~holes.any(axis=0)
    if 2 * complete.sum() >= data.rows:
        return replace(take_rows(data, complete), holes=None)
    mean = np.nanmean(data.values, axis=1, keepdims=True) if len(data.values) else data.values
    return replace(data, values=np.where(np.isnan(data.values), mean, data.values), holes=None)


def observed_values(data: Dataset, v: int) -> tuple[Floats, Floats | None]:
    """Return the observed values of a continuous column, and their weights."""
    row = data.values[data.continuous.index(v)]
    weights = None if data.weights is None else data.weights.astype(np.float64)
    holes = data.holes
    if holes is None or not holes[v].any():
        return row, weights
    return row[~holes[v]], None if weights is None else weights[~holes[v]]


def level_counts(data: Dataset, v: int) -> Floats:
    """Return how many records have each level of a discrete column."""
    codes = data.codes[data.discrete.index(v)]
    weights = data.weights
    holes = data.holes
    if holes is not None and holes[v].any():
        codes = codes[~holes[v]]
        weights = None if weights is None else weights[~holes[v]]
    levels = data.levels[v] or ()
    counts = np.bincount(codes, weights, minlength=len(levels)).astype(np.float64)
    counts *= data.unit
    return counts


def exclude_option(names: Sequence[str]) -> Message:
    """Return the option that leaves columns out, with the first few of them."""
    shown = list(names[:MAX_NAMES_SHOWN])
    more = len(names) - len(shown)
    return Message(Argument("exclude", shown), f" and {more} more" if more > 0 else "")


def shape(values: Floats, weights: Floats | None) -> tuple[float, float, float, float]:
    """Return mean, standard deviation, skewness and excess kurtosis."""
    mean = float(np.average(values, weights=weights))
    with np.errstate(over="ignore", invalid="ignore"):
        deviations = values - mean
        scale = float(np.abs(deviations).max())
        if scale == 0.0 or not math.isfinite(scale):
            return mean, 0.0, 0.0, 0.0
        deviations = deviations / scale
        squares = deviations * deviations
        second = float(np.average(squares, weights=weights))
        third = float(np.average(squares * deviations, weights=weights))
        fourth = float(np.average(squares * squares, weights=weights))
    return mean, scale * math.sqrt(second), third / second**1.5, fourth / second**2 - 3.0


# Missing values


def missing_values(data: Dataset) -> Iterator[Finding]:
    """Find missing values, their pattern, and whether they depend on other columns."""
    holes = data.holes
    if holes is None or not holes.any():
        return
    rows = data.rows
    incomplete = int(holes.any(axis=0).sum())
    some = np.flatnonzero(holes.any(axis=1)).tolist()
    shares = [f"{data.names[v]!r} {holes[v].mean():.1%}" for v in some]
    one = len(some) == 1
    what = (
        f"Values are missing in {len(some)} column{'' if one else 's'} "
        f"({listed(shares, quote=False)}); {rows - incomplete:,} of {rows:,} rows are complete."
    )
    if len(some) > 1:
        what += _pattern(data, holes)
    related = _related_holes(data, holes, some)
    if related:
        what += f" Whether a value is missing depends on other columns: {'; '.join(related[:3])}."
    continuous = any(data.kinds[v] is Kind.CONTINUOUS for v in some)
    advice: list[str | Argument] = ["Use ", Argument("missing", "em")]
    advice += [", which assumes that values are missing at random given those observed"]
    if not continuous:
        advice += [", or ", Argument("missing", "level"), " if a missing value says something"]
    advice += ["; ", Argument("missing", "drop")]
    advice += [
        " would bias the result." if related
        else f" would lose {incomplete / rows:.0%} of the rows."
    ]  # fmt: skip
    serious = bool(related) or incomplete > rows / 20
    yield Finding("missing values", serious, named(data, some), what, Message(*advice))


def _pattern(data: Dataset, holes: NDArray[np.bool_]) -> str:
    """Say which columns are missing together most often."""
    packed = np.packbits(holes[:, holes.any(axis=0)], axis=0).T
    patterns, counts = np.unique(packed, axis=0, return_counts=True)
    top = int(counts.argmax())
    bits = np.unpackbits(patterns[top])[: data.n].astype(bool)
    names = named(data, np.flatnonzero(bits).tolist())
    together = f"{listed(names)}" + (" together" if len(names) > 1 else " alone")
    return f" The most frequent of {len(counts)} patterns is {together} ({counts[top]:,} rows)."


def _related_holes(data: Dataset, holes: NDArray[np.bool_], some: list[int]) -> list[str]:
    """Say which columns differ between the rows where a value is missing and the others."""
    from scipy.special import chdtrc  # slow to import

    found: list[tuple[float, str]] = []
    pairs = [(h, v) for h in some for v in range(data.n) if v != h][:10_000]
    for h, v in pairs:
        seen = ~holes[v]
        gone = holes[h][seen]
        if gone.sum() < 5 or (~gone).sum() < 5:
            continue
        if data.kinds[v] is Kind.CONTINUOUS:
            values = data.values[data.continuous.index(v)][seen]
            r = _correlation(values, gone.astype(np.float64))
            statistic, freedom, way = len(gone) * r * r, 1, "high" if r > 0 else "low"
        else:
            codes = data.codes[data.discrete.index(v)][seen].astype(np.int64)
            statistic, freedom, level = _association(codes, gone, data.levels[v] or ())
            way = str(level)
        probability = float(chdtrc(max(freedom, 1), statistic))
        if probability * len(pairs) < 1e-3:
            text = f"{data.names[h]!r} is missing more often where {data.names[v]!r} is {way}"
            found.append((probability, text))
    return [text for _, text in sorted(found)]


def _association(
    codes: Codes, gone: NDArray[np.bool_], levels: Sequence[Any]
) -> tuple[float, int, object]:
    """Return chi-squared, its degrees of freedom, and the level where most is missing."""
    table = np.array([np.bincount(codes[gone == g], minlength=len(levels)) for g in (False, True)])
    table = table.astype(np.float64)
    kept = table.sum(axis=0) > 0
    table = table[:, kept]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    statistic = float(((table - expected) ** 2 / expected).sum())
    share = table[1] / table.sum(axis=0)
    level = [level for level, is_kept in zip(levels, kept, strict=True) if is_kept]
    return statistic, table.shape[1] - 1, level[int(share.argmax())]


def _correlation(x: Floats, y: Floats) -> float:
    x, y = x - x.mean(), y - y.mean()
    size = math.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / size if size > 0 else 0.0


def named(data: Dataset, columns: Sequence[int]) -> tuple[str, ...]:
    """Return the names of columns."""
    return tuple(data.names[v] for v in columns)


STAND_INS = frozenset(s * float(v) for v in (99, 999, 9999, 99999, 888, 8888) for s in (1, -1))


def stand_ins(data: Dataset) -> Iterator[Finding]:
    """Find numbers such as -999 that often stand for a missing value."""
    found: dict[str, float] = {}
    if not data.rows:
        return
    lowest, highest = data.values.min(axis=1).tolist(), data.values.max(axis=1).tolist()
    for v, ends in zip(data.continuous, zip(lowest, highest, strict=True), strict=True):
        if data.holes is None and STAND_INS.isdisjoint(ends):
            continue
        values, _ = observed_values(data, v)
        if not len(values):
            continue
        for extreme, sign in ((float(values.min()), 1.0), (float(values.max()), -1.0)):
            if extreme not in STAND_INS or (count := int((values == extreme).sum())) < 2:
                continue
            rest = values[values != extreme]
            if count < len(values) / 2 and len(rest) and _stands_apart(extreme, rest, sign):
                found[data.names[v]] = extreme
    if found:
        shown = listed([f"{name!r} ({value:g})" for name, value in found.items()], quote=False)
        yield Finding(
            "codes for missing values",
            True,
            tuple(found),
            f"The same extreme number occurs repeatedly, far from all other values: {shown}.",
            "If it stands for a missing value, it ruins every mean and correlation of the column: "
            "replace it by an empty field or NaN before reading the table.",
        )


def _stands_apart(extreme: float, rest: Floats, sign: float) -> bool:
    gap = sign * (float(rest.min() if sign > 0 else rest.max()) - extreme)
    return gap > 0.5 * float(rest.max() - rest.min())


def matrices(data: Dataset) -> Iterator[Finding]:
    """Find a matrix of correlations, covariances or distances in place of records."""
    n, rows = data.values.shape
    if data.discrete or n != rows or n < 3 or data.holes is not None:
        return
    if np.allclose(data.values, data.values.T, rtol=1e-6, atol=1e-9):
        yield Finding(
            "matrix",
            True,
            (),
            f"The table is a symmetric matrix of {n} rows and columns, not records.",
            "If it holds covariances or correlations, give learn (in Python) sges.data.Moments of "
            "it, with the number of records.",
        )


def cross_table(data: Dataset) -> Iterator[Finding]:
    """Find the column of a cross-table that says how often each combination of levels occurs."""
    rows = data.rows
    if data.weights is not None or len(data.continuous) != 1 or rows > MAX_COUNT_ROWS:
        return
    name = data.names[data.continuous[0]]
    values = data.values[0]
    if data.holes is not None or not len(data.codes) or not are_whole(values):
        return
    is_complete = math.prod(data.arities.tolist()) == rows
    is_called_so = name.strip().lower() in COUNT_NAMES
    if values.min() < 0 or values.max() <= 1 or not (is_complete or is_called_so):
        return
    if len(np.unique(data.codes, axis=1).T) == rows:
        yield Finding(
            "counts",
            is_called_so,
            (name,),
            f"The table looks like a cross-table: {name!r} counts, and no two rows agree in the "
            "other columns.",
            Message(
                "Each row is now one record. If the column says how often each occurs, pass ",
                Argument("weights", name),
                ".",
            ),
        )


# The shape of columns


def tails(data: Dataset) -> Iterator[Finding]:
    """Find skewed columns, and those with heavy tails."""
    skewed: dict[str, str] = {}
    heavy = False
    for v in _far_from_gaussian(data):
        values, weights = observed_values(data, v)
        if len(values) < 20 or few_distinct_values(values, FEW_VALUES) is not None:
            continue
        _, _, skewness, kurtosis = shape(values, weights)
        if abs(skewness) >= MAX_SKEWNESS:
            skewed[data.names[v]] = f"skewness {skewness:.1f}"
        elif kurtosis >= MAX_KURTOSIS:
            skewed[data.names[v]] = f"kurtosis {kurtosis:.1f}"
        else:
            continue
        heavy = heavy or abs(skewness) >= HEAVY_SKEWNESS or kurtosis >= HEAVY_KURTOSIS
    if not skewed:
        return
    one = len(skewed) == 1
    shown = listed([f"{name!r} ({text})" for name, text in skewed.items()], quote=False)
    if data.discrete:
        remedy = Message("take logarithms or ranks of such a column before the search.")
    else:
        remedy = Message("use ", Argument("score", "rank"), ", or take logarithms.")
    yield Finding(
        "skew and heavy tails",
        heavy,
        tuple(skewed),
        f"{len(skewed)} column{' is' if one else 's are'} far from Gaussian: {shown}.",
        Message("A few records then decide on the correlations; ", remedy),
    )


def _far_from_gaussian(data: Dataset) -> Sequence[int]:
    """Return the continuous columns that may be skewed; all, if looking at once is not cheaper."""
    values = data.values
    if data.holes is not None or data.weights is not None or not 0 < values.size <= MAX_AT_ONCE:
        return data.continuous
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        z = values - values.mean(axis=1, keepdims=True)
        z /= np.abs(z).max(axis=1, keepdims=True)
        squares = z * z
        second = squares.mean(axis=1)
        skewness = np.einsum("ij,ij->i", squares, z) / data.rows / second**1.5
        kurtosis = np.einsum("ij,ij->i", squares, squares) / data.rows / second**2 - 3.0
        far = ~((np.abs(skewness) < 0.999 * MAX_SKEWNESS) & (kurtosis < 0.999 * MAX_KURTOSIS))
    return [v for v, is_far in zip(data.continuous, far.tolist(), strict=True) if is_far]


def nearly_constant(data: Dataset) -> Iterator[Finding]:
    """Find columns in which nearly all records have the same value."""
    found: dict[str, int] = {}
    for v in range(data.n):
        if data.kinds[v] is Kind.DISCRETE:
            counts = level_counts(data, v)
            total, other = counts.sum(), counts.sum() - counts.max()
        else:
            values, weights = observed_values(data, v)
            if weights is not None or not len(values):
                continue
            middle = np.median(values)
            total, other = float(len(values)), float((values != middle).sum())
        if 0 < other < 20 and other <= total / 20:
            found[data.names[v]] = int(other)
    if found:
        one = len(found) == 1
        shown = listed([f"{name!r} ({count})" for name, count in found.items()], quote=False)
        yield Finding(
            "nearly constant columns",
            False,
            tuple(found),
            f"{len(found)} column{' is' if one else 's are'} nearly constant; the records with "
            f"another value: {shown}.",
            Message(
                "Few records say little about its edges: pass ", exclude_option(list(found)),
                ", or collect more.",
            ),
        )  # fmt: skip


def piled_up(data: Dataset) -> Iterator[Finding]:
    """Find continuous columns with one value that occurs far too often for a density."""
    found: dict[str, str] = {}
    for v in data.continuous:
        values, weights = observed_values(data, v)
        if weights is not None or len(values) < 50:
            continue
        distinct, counts = np.unique(values, return_counts=True)
        if len(distinct) <= FEW_VALUES:
            continue
        top = int(counts.argmax())
        share = counts[top] / len(values)
        usual = float(np.median(counts))
        if share >= 0.15 and counts[top] >= 10 * usual and share < 0.95:
            found[data.names[v]] = f"{distinct[top]:g} in {share:.0%}"
            continue
        for end, inside in ((0, 1), (-1, -2)):
            if counts[end] >= max(5, 0.03 * len(values), 5 * usual, 3 * counts[inside]):
                found[data.names[v]] = f"{distinct[end]:g} in {counts[end] / len(values):.0%}"
    if found:
        one = len(found) == 1
        shown = listed([f"{name!r} ({text})" for name, text in found.items()], quote=False)
        yield Finding(
            "piled-up values",
            False,
            tuple(found),
            f"One value fills many rows of {'a continuous column' if one else 'continuous columns'}"
            f": {shown}.",
            "No continuous distribution does that: the values may be cut off there, or stand for "
            '"none". Replace such a column by two, whether it has this value and how large it is '
            "otherwise, or make it discrete by cutting it into classes.",
        )


# Rows


def few_rows(data: Dataset) -> Iterator[Finding]:
    """Find tables with few records for their columns, or few at all."""
    records, p = data.records, data.n
    if records <= p:
        yield Finding(
            "fewer rows than columns",
            True,
            (),
            f"There are {p:,} columns and only {records:,} records.",
            Message(
                "Every column is then a linear function of others, and many edges are spurious. "
                "Read fewer columns, limit the graph with ", Argument("max_indegree", 2),
                ", or state what you know.",
            ),
        )  # fmt: skip
    elif records < 10 * p and p > 2:
        yield Finding(
            "few rows per column",
            False,
            (),
            f"There are {records / p:.1f} records per column; ten or more are better.",
            Message(
                "Weak relations are missed. See how sure each edge is with ", confidence(), "."
            ),
        )
    elif records < 50:
        cost = math.log(records) + 2 * math.log(max(p, 2))  # of an edge, by the default score
        weakest = math.sqrt(-math.expm1(-cost / records))
        yield Finding(
            "few rows",
            False,
            (),
            f"The table has only {records} {'rows' if data.weights is None else 'records'}.",
            Message(
                "An edge between two columns that are continuous needs a correlation of about "
                f"{weakest:.2f} to be found. See how sure each edge is with ", confidence(), ".",
            ),
        )  # fmt: skip


def confidence() -> Spelling:
    """Return the call or the command that tells how sure each edge is."""
    return Spelling("sges.confidence(table)", "sges confidence")


def few_rows_per_cell(data: Dataset) -> Iterator[Finding]:
    """Find discrete columns with too many levels, or with rare ones."""
    arity = {v: int((level_counts(data, v) > 0).sum()) for v in data.discrete}
    arity = {v: k for v, k in arity.items() if k > 1}
    records = data.records
    if len(arity) > 1:
        two = sorted(arity.values())
        smallest = {v: two[1] if k == two[0] else two[0] for v, k in arity.items()}
        many = [v for v, k in arity.items() if k > 2 and 5 * k * smallest[v] > records]
        if many:
            shown = listed([f"{data.names[v]!r} ({arity[v]} levels)" for v in many], quote=False)
            yield Finding(
                "few rows per cell",
                True,
                named(data, many),
                f"With any other discrete column, {shown} leave{'s' if len(many) == 1 else ''} "
                f"fewer than 5 of {records:,} records per cell.",
                Message(
                    "An edge then costs more parameters than the data can pay for and is missed. "
                    "Merge levels", _or_continuous(data, many), ".",
                ),
            )  # fmt: skip
    rare = {
        data.names[v]: int(counts[counts > 0].min())
        for v in arity
        if arity[v] > 2
        and records >= 50
        and 0 < (counts := level_counts(data, v))[counts > 0].min() < 5
    }
    if rare:
        one = len(rare) == 1
        shown = listed([f"{name!r} ({count})" for name, count in rare.items()], quote=False)
        yield Finding(
            "rare levels",
            False,
            tuple(rare),
            f"{len(rare)} discrete column{' has a level' if one else 's have levels'} with fewer "
            f"than 5 records: {shown}.",
            Message(
                "Rare levels cost as many parameters as frequent ones; merge them",
                _or_continuous(data, [data.names.index(name) for name in rare]), ".",
            ),
        )  # fmt: skip


def _or_continuous(data: Dataset, columns: Sequence[int]) -> Message:
    """Return the advice to take integers as continuous, if a column holds integers."""
    for v in columns:
        levels = [level for level in data.levels[v] or () if level is not None]
        if len(levels) > 2 and all(isinstance(level, int) for level in levels):
            kind = Argument("kinds", {data.names[v]: "continuous"})
            return Message(", or pass ", kind, " if its numbers are quantities")
    return Message("")


def dependent_rows(data: Dataset) -> Iterator[Finding]:
    """Find rows that resemble their neighbors: a time series, or repeated measurements."""
    rows = data.rows
    if rows < 10 or not data.continuous or data.weights is not None or data.holes is not None:
        return
    if not _may_follow_each_other(data.values[:MAX_CHECKED_COLUMNS]):
        return
    keys, is_time = _sort_keys(data)
    least = max(0.3, 3 / math.sqrt(rows)) if is_time else max(0.5, 4.5 / math.sqrt(rows))
    found: dict[str, float] = {}
    is_series = False  # not only columns in blocks of equal values, by which rows may be sorted
    for i, v in enumerate(data.continuous[:MAX_CHECKED_COLUMNS]):
        values = data.values[i]
        if v in keys or few_distinct_values(values, FEW_VALUES) is not None:
            continue
        rest = _residuals(values, data, () if is_time else keys)
        r = _next_correlation(rest)
        if r > least:
            found[data.names[v]] = r
            is_series = is_series or 2 * int(np.count_nonzero(np.diff(values))) > rows
    if found:
        best = max(found, key=lambda name: found[name])
        one = len(found) == 1
        yield Finding(
            "dependent rows",
            is_series,
            tuple(found),
            f"Neighboring rows are alike in {len(found)} column{'' if one else 's'} (most in "
            f"{best!r}, correlation {found[best]:.2f}): the rows look like a time series, or like "
            "repeated measurements.",
            "Scores take each row for an independent record, so too many edges are found. Use "
            "differences or one row per unit; if the table is merely sorted, ignore this.",
        )


def _may_follow_each_other(values: Floats) -> bool:
    """Tell whether neighbors are alike in any column, as they are in one that is sorted too."""
    if values.size > MAX_AT_ONCE:
        return True
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        rest = values - values.mean(axis=1, keepdims=True)
        rest /= np.abs(rest).max(axis=1, keepdims=True)
        products = np.einsum("ij,ij->i", rest[:, 1:], rest[:, :-1])
        return bool((products > 0.25 * np.einsum("ij,ij->i", rest, rest)).any())


def _sort_keys(data: Dataset) -> tuple[list[int], bool]:
    """Return the columns by which the rows are sorted, and whether one of them numbers the rows."""
    keys, is_time = [], False
    for i, v in enumerate(data.continuous):
        steps = np.diff(data.values[i])
        rising, falling = int((steps > 0).sum()), int((steps < 0).sum())
        if min(rising, falling) <= 0.05 * max(rising, falling):  # also sorted in a few blocks
            keys.append(v)
            is_time = is_time or rises_by_one(data.values[i]) or rises_by_one(-data.values[i])
    for row, v in enumerate(data.discrete):
        codes = data.codes[row]
        runs = int((codes[1:] != codes[:-1]).sum()) + 1
        if 1 < runs <= len(data.levels[v] or ()):
            keys.append(v)
    return keys, is_time


def _residuals(values: Floats, data: Dataset, keys: Sequence[int]) -> Floats:
    """Return what is left of a column after the columns by which the rows are sorted."""
    if not keys:
        return values  # whose mean is subtracted where neighbors are compared
    design = [np.ones(data.rows)]
    for v in keys[:MAX_NAMES_SHOWN]:
        if data.kinds[v] is Kind.CONTINUOUS:
            key = data.values[data.continuous.index(v)]
            design += [(key - key.mean()) ** power for power in (1, 2, 3)]
        else:
            codes = data.codes[data.discrete.index(v)]
            design += [(codes == level).astype(np.float64) for level in np.unique(codes)[1:20]]
    matrix = np.array(design).T
    matrix = matrix / np.maximum(np.abs(matrix).max(axis=0), 1e-300)
    rest: Floats = values - matrix @ np.linalg.lstsq(matrix, values, rcond=None)[0]
    return rest


def _next_correlation(values: Floats) -> float:
    """Return the correlation of each value with the next."""
    values = values - values.mean()
    return _correlation(values[:-1], values[1:])


def repeated_rows(data: Dataset) -> Iterator[Finding]:
    """Find records that occur twice although continuous columns can hardly agree by chance."""
    wide = [i for i in range(len(data.values)) if few_distinct_values(data.values[i], 50) is None]
    if len(wide) < 3 or data.weights is not None or data.rows > MAX_COMPARED_ROWS:
        return
    rows = np.ascontiguousarray(np.concatenate([data.values, data.codes.astype(np.float64)]).T)
    copies = len(rows) - len(np.unique(rows.view(f"V{rows.shape[1] * 8}")))
    if copies:
        one = copies == 1
        yield Finding(
            "repeated rows",
            False,
            (),
            f"{copies:,} row{' is an exact copy' if one else 's are exact copies'} of another.",
            "If these are the same records twice, remove them: each counts as new evidence.",
        )
