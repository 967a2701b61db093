"""Checks of the columns and rows of a table, as a statistician would make them.

Each check takes a dataset and yields findings.  Thresholds are such that tables of independent
records with ordinary columns give no serious finding.  Statistics of columns with missing values
are computed from the observed values; relations between columns are computed from the complete rows
if these are at least half, otherwise missing numbers are replaced by means, which can hide a
relation but hardly produce one.
"""

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.data.columns import MAX_NAMES_SHOWN, are_whole, few_distinct_values, listed
from sges.data.dataset import MAX_ROWS_OF_LABELS, Dataset, nearly_empty
from sges.data.decisions import counted_columns, numbers_in_text
from sges.data.description import Finding
from sges.data.moments import Moments
from sges.data.reading import Kind
from sges.errors import Argument, Message, Spelling

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]

MAX_SKEWNESS, MAX_KURTOSIS = 2.0, 7.0
"""Beyond these, tests that assume Gaussian data are unreliable (West, Finch & Curran 1995)."""

HEAVY_SKEWNESS, HEAVY_KURTOSIS = 4.0, 25.0
"""Beyond these, correlations depend on a few records."""

HEAVY_SHARE = 0.02
"""The least share of such columns that is serious: fewer cannot change most of a graph."""

FEW_VALUES = 10
"""The tails of columns with no more distinct values than this are not examined."""

MAX_AT_ONCE = 1 << 18
"""Columns with up to this many values in all are examined together."""

MAX_CHECKED_COLUMNS = 200
"""Neighboring rows are compared in the first columns."""

MIN_PER_CELL = 5
"""Records per combination of levels that two discrete columns need."""

MAX_CHANCE = 0.01
"""The probability that a table seems to have dependent missing values by chance."""

SERIOUSLY_FEW = 25
"""With fewer records than this, and than twice the columns, a fifth of the edges or more is false.

So it was by default on random linear graphs with 5 to 500 columns.
"""

MAX_PAIR_ROWS = 20_000
"""Pairs of columns are compared on this many rows, chosen at random."""

MAX_COMPARED_ROWS = 200_000
"""Repeated rows are searched only in tables of at most this many rows."""

MIN_NUMBERED_ROWS = 10
"""From this many rows on, numbers that rise by one from row to row number the rows."""

MAX_COUNT_ROWS = 100_000
"""Up to this many rows, it is checked whether a column has the counts of all combinations."""

COUNT_NAMES = frozenset(
    {"freq", "frequency", "count", "counts", "n", "number", "times", "cases", "weight", "weights"}
)
"""Names, in lower case, of columns that often hold how many times a row occurs."""

ROW_NAMES = re.compile(
    r"(?i:id|index|row|rows|rownames?|row\.names|obs|unnamed: 0)|.*(_id|\.id| id|Id|ID)"
)
"""Names of columns that often number the rows, or name them."""


# Parts of a dataset


def take_rows(data: Dataset, rows: Any) -> Dataset:  # noqa: ANN401 (any index of an array)
    """Return some rows of a dataset."""
    weights = None if data.weights is None else data.weights[rows]
    holes = None if data.holes is None else data.holes[:, rows]
    # Copied, because checks go over the values many times, which takes longer with gaps.
    values, codes = (np.ascontiguousarray(part[:, rows]) for part in (data.values, data.codes))
    return replace(data, values=values, codes=codes, weights=weights, holes=holes)


def some_rows(data: Dataset, most: int) -> Dataset:
    """Return the rows of a dataset, or this many of them, chosen at random, in their order."""
    if data.rows <= most:
        return data
    chosen = np.random.default_rng(0).choice(data.rows, most, replace=False, shuffle=False)
    return take_rows(data, np.sort(chosen))


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


def observed_values(data: Dataset, v: int) -> tuple[NDArray[Any], Floats | None]:
    """Return the observed values of a column, or the codes of its levels, and their weights."""
    kind = data.kinds[v]
    place = data.kinds[:v].count(kind)
    row: NDArray[Any] = (data.values if kind is Kind.CONTINUOUS else data.codes)[place]
    weights = None if data.weights is None else data.weights.astype(np.float64)
    if data.holes is None or not data.holes[v].any():
        return row, weights
    seen = ~data.holes[v]
    return row[seen], None if weights is None else weights[seen]


def level_counts(data: Dataset, v: int) -> Floats:
    """Return how many records have each level of a discrete column."""
    codes, weights = observed_values(data, v)
    counts = np.bincount(codes, weights, minlength=len(data.levels[v] or ())).astype(np.float64)
    counts *= data.unit
    return counts


def exclude_option(names: Sequence[str]) -> Message:
    """Return the option that leaves columns out, with the first few of them."""
    shown = list(names[:MAX_NAMES_SHOWN])
    more = len(names) - len(shown)
    return Message(Argument("exclude", shown), f" and {more} more" if more > 0 else "")


def shape(values: Floats, weights: NDArray[Any] | None) -> tuple[Floats, Floats, Floats, Floats]:
    """Return mean, standard deviation, skewness and excess kurtosis along the last axis."""
    mean = np.average(values, axis=-1, weights=weights)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        z = values - mean[..., None]
        scale = np.maximum(z.max(axis=-1), -z.min(axis=-1))
        is_usable = np.isfinite(scale) & (scale > 0)
        z /= scale[..., None]
        squares = z * z
        weighted = squares if weights is None else squares * weights
        total = values.shape[-1] if weights is None else weights.sum()
        second = weighted.sum(axis=-1) / total
        third, fourth = (np.einsum("...i,...i", weighted, x) / total for x in (z, squares))
        statistics = scale * np.sqrt(second), third / second**1.5, fourth / second**2 - 3.0
    deviation, skewness, kurtosis = (np.where(is_usable, part, 0.0) for part in statistics)
    return mean, deviation, skewness, kurtosis


# Missing values


def missing_values(data: Dataset) -> Iterator[Finding]:
    """Find missing values, their pattern, and whether they depend on other columns."""
    holes = data.holes
    if holes is None or not holes.any():
        return
    rows = data.rows
    incomplete = int(holes.any(axis=0).sum())
    columns = np.flatnonzero(holes.any(axis=1)).tolist()
    shares = [f"{data.names[v]!r} {holes[v].mean():.1%}" for v in columns]
    what = (
        f"Values are missing in {len(columns)} column{'' if len(columns) == 1 else 's'} "
        f"({listed(shares, quote=False)}); {rows - incomplete:,} of {rows:,} rows are complete."
    )
    if len(columns) > 1:
        packed = np.packbits(holes[:, holes.any(axis=0)], axis=0).T
        patterns, counts = np.unique(packed, axis=0, return_counts=True)
        top = int(counts.argmax())
        bits = np.unpackbits(patterns[top])[: data.n].astype(bool)
        names = named(data, np.flatnonzero(bits).tolist())
        what += (
            f" The most frequent of {len(counts)} patterns is {listed(names)} "
            f"{'together' if len(names) > 1 else 'alone'} ({counts[top]:,} rows)."
        )
    related = _related_holes(some_rows(data, MAX_PAIR_ROWS), columns)
    if related:
        what += f" Whether a value is missing depends on other columns: {'; '.join(related[:3])}."
    advice: list[str | Argument] = ["Use ", Argument("missing", "em")]
    advice += [", which assumes that values are missing at random given those observed"]
    if all(data.kinds[v] is Kind.DISCRETE for v in columns):
        advice += [", or ", Argument("missing", "level"), " if a missing value is informative"]
    loss = "bias the result" if related else f"lose {incomplete / rows:.0%} of the rows"
    advice += ["; ", Argument("missing", "drop"), f" would {loss}."]
    if empty := named(data, nearly_empty(data)):
        what += f" Columns with next to no information: {listed(empty)}."
        advice += [" Leave out columns with next to no information: ", exclude_option(empty), "."]
    serious = bool(related) or incomplete > rows / 20
    yield Finding("missing values", serious, named(data, columns), what, Message(*advice))


def _related_holes(data: Dataset, some: list[int]) -> list[str]:
    """Say where values are missing more often than if they were missing completely at random.

    In rows chosen at random, the sum of the ranks of a column is nearly Gaussian (Wilcoxon), and
    the number of rows with a level is hypergeometric, with Chernoff's bound (Hoeffding 1963).
    """
    from scipy.special import ndtr, rel_entr  # slow to import

    assert data.holes is not None
    are_counts = data.weights is not None and data.unit == 1
    times = np.asarray(data.weights if are_counts else np.ones(data.rows), np.float64)
    tests = 0
    related: list[tuple[float, int, int, str]] = []
    for v in range(min(data.n, MAX_CHECKED_COLUMNS)):
        others = [h for h in some[:MAX_CHECKED_COLUMNS] if h != v]
        seen, (values, _) = ~data.holes[v], observed_values(data, v)
        distinct, place = np.unique(values, return_inverse=True)
        if not others or len(distinct) < 2:
            continue
        gone = data.holes[others][:, seen] * times[seen]
        size, missing = np.bincount(place, times[seen]), gone.sum(axis=1)[:, None]
        total = size.sum()
        if data.kinds[v] is Kind.CONTINUOUS:
            ranks = size.cumsum() - size / 2 - total / 2
            spread = missing * (total - missing) / (total - 1) * (size @ ranks**2 / total)
            z = (gone @ ranks[place])[:, None] / np.sqrt(np.maximum(spread, 1e-300))
            is_usable = np.minimum(missing, total - missing) >= 5
            chance = np.where(is_usable, 2 * ndtr(np.hstack([z, -z])), 1.0)
            ways = ["low", "high"]
        else:
            kept = np.flatnonzero(size >= MIN_PER_CELL)
            if not len(kept):
                continue
            order = np.argsort(place, kind="stable")
            starts = np.searchsorted(place[order], np.arange(len(distinct)))
            both = np.add.reduceat(gone[:, order], starts, axis=1)  # missing, and with the level
            both, size = both[:, kept], size[kept]
            bounds = [
                m * (rel_entr(both / m, share) + rel_entr(1 - both / m, 1 - share))
                for m, share in ((np.maximum(missing, 1), size / total), (size, missing / total))
            ]
            is_more = both * total > missing * size
            chance = np.where(is_more, np.exp(-np.maximum(*bounds)), 1.0)
            ways = [str((data.levels[v] or ())[code]) for code in distinct[kept]]
        tests += chance.size
        for i, k in enumerate(chance.argmin(axis=1).tolist()):
            h, y = data.names[others[i]], data.names[v]
            text = f"{h!r} is missing more often where {y!r} is {ways[k]}"
            related.append((float(chance[i, k]), others[i], v, text))
    return [text for chance, *_, text in sorted(related) if chance * tests < MAX_CHANCE]


def _correlation(x: Floats, y: Floats) -> Floats:
    """Return correlations along the last axis; zero for constants."""
    x, y = (values - values.mean(axis=-1, keepdims=True) for values in (x, y))
    xx, xy, yy = (np.einsum("...i,...i", *pair) for pair in ((x, x), (x, y), (y, y)))
    size = np.sqrt(xx * yy)
    correlations: Floats = np.divide(xy, size, out=np.zeros_like(size), where=size > 0)
    return correlations


def named(data: Dataset, columns: Sequence[int]) -> tuple[str, ...]:
    """Return the names of columns."""
    return tuple(data.names[v] for v in columns)


STAND_INS = (
    *(-8.0, -9.0, -88.0, -98.0, -99.0, -888.0, -998.0, -999.0, -8888.0, -9999.0, -99999.0),
    *(88.0, 98.0, 99.0, 888.0, 998.0, 999.0, 8888.0, 9998.0, 9999.0, 99999.0),
)
"""Numbers that often stand for a missing value."""


def stand_ins(data: Dataset) -> Iterator[Finding]:
    """Find numbers such as -999 that often stand for a missing value."""
    found: dict[str, str] = {}
    if not data.rows:
        return

    def add(v: int, distinct: Floats, counts: NDArray[Any]) -> None:
        are_known = np.isin(distinct, STAND_INS)
        rest = distinct[~are_known]
        if len(rest) < 2:
            return
        distance = np.maximum(rest[0] - distinct, distinct - rest[-1])
        codes = are_known & (counts >= 2) & (distance > 0.5 * (rest[-1] - rest[0]))
        if 0 < 2 * counts[codes].sum() < counts.sum():
            found[data.names[v]] = " and ".join(f"{value:g}" for value in distinct[codes])

    for v, low, high in zip(
        data.continuous, np.fmin.reduce(data.values, 1), np.fmax.reduce(data.values, 1), strict=True
    ):
        if low in STAND_INS or high in STAND_INS:
            add(v, *np.unique(observed_values(data, v)[0], return_counts=True))
    for v in data.discrete:
        levels, counts = data.levels[v] or (), level_counts(data, v)
        kept = [i for i in np.flatnonzero(counts) if levels[i] is not None]
        if all(isinstance(levels[i], int | float) for i in kept):
            numbers = np.array([levels[i] for i in kept], np.float64)
            order = np.argsort(numbers)
            add(v, numbers[order], counts[kept][order])
    if found:
        what = "The same extreme number occurs repeatedly, far from all other values: "
        advice = "If it stands for a missing value, it distorts what depends on the column: "
        advice += "replace it by an empty field or NaN before reading the table."
        topic = "codes for missing values"
        yield Finding(topic, True, tuple(found), f"{what}{listed(found)}.", advice)


def look_alikes(data: Dataset) -> Iterator[Finding]:
    """Find levels that differ only in case or blanks."""
    alike: dict[str, str] = {}
    for v in data.discrete:
        groups: dict[str, list[str]] = {}
        for level, count in zip(data.levels[v] or (), level_counts(data, v), strict=True):
            if isinstance(level, str) and count:
                groups.setdefault("".join(level.split()).casefold(), []).append(level)
        if same := [group for group in groups.values() if len(group) > 1]:
            alike[data.names[v]] = listed(same[0])
    if alike:
        what = f"{counted_columns(alike, 'has', 'have')} levels that differ only in case or blanks"
        advice = "Each is a level of its own: if they mean the same, give them one name before "
        advice += "reading the table."
        topic = "levels that look alike"
        yield Finding(topic, False, tuple(alike), f"{what}: {listed(alike)}.", advice)


def matrices(data: Dataset) -> Iterator[Finding]:
    """Find a matrix of correlations, covariances or distances in place of records."""
    n, rows = data.values.shape
    if data.discrete or n != rows or n < 3 or data.holes is not None:
        return
    if np.allclose(data.values, data.values.T, rtol=1e-6, atol=1e-9):
        what = f"The table is a symmetric matrix of {n} rows and columns, not records."
        advice = "If it contains covariances or correlations, pass it to learn (in Python) as "
        advice += "sges.data.Moments, with the number of records."
        yield Finding("matrix", True, (), what, advice)


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
        what = f"The table looks like a cross-table: {name!r} contains counts, and no two rows "
        what += "agree in the other columns."
        advice = "Each row is treated as one record. If the column is the number of records of "
        advice += "each row, pass "
        how = Message(advice, Argument("weights", name), ".")
        yield Finding("counts", is_called_so, (name,), what, how)


# The shape of columns


def tails(data: Dataset) -> Iterator[Finding]:
    """Find skewed columns, and those with heavy tails."""
    skewed: dict[str, str] = {}
    heavy = 0
    for v, skewness, kurtosis in _skewness_and_kurtosis(data):
        is_skewed = abs(skewness) >= MAX_SKEWNESS
        if not (is_skewed or kurtosis >= MAX_KURTOSIS):
            continue
        values, _ = observed_values(data, v)
        if len(values) < 20 or few_distinct_values(values, FEW_VALUES) is not None:
            continue
        text = f"skewness {skewness:.1f}" if is_skewed else f"kurtosis {kurtosis:.1f}"
        skewed[data.names[v]] = text
        heavy += abs(skewness) >= HEAVY_SKEWNESS or kurtosis >= HEAVY_KURTOSIS
    if skewed:
        what = f"{counted_columns(skewed, 'is', 'are')} far from Gaussian: {listed(skewed)}."
        if data.discrete:
            remedy = Message("take logarithms or ranks of such a column before the search.")
        else:
            remedy = Message("use ", Argument("score", "rank"), ", or take logarithms.")
        advice = Message("The correlations then depend on a few records; ", remedy)
        is_serious = heavy > 0 and heavy >= HEAVY_SHARE * data.n
        yield Finding("skew and heavy tails", is_serious, tuple(skewed), what, advice)


def _skewness_and_kurtosis(data: Dataset) -> Iterator[tuple[int, float, float]]:
    """Yield the skewness and the kurtosis of each continuous column that has values."""
    if data.holes is None and data.continuous:
        parts = [shape(part, data.weights)[2:] for part in _some_at_a_time(data.values)]
        yield from zip(data.continuous, *np.concatenate(parts, axis=1).tolist(), strict=True)
        return
    for v in data.continuous:
        values, weights = observed_values(data, v)
        if len(values):
            _, _, skewness, kurtosis = shape(values, weights)
            yield v, float(skewness), float(kurtosis)


def _some_at_a_time(values: Floats) -> list[Floats]:
    """Return the rows of an array in parts of about ``MAX_AT_ONCE`` values."""
    return np.array_split(values, 1 + values.size // MAX_AT_ONCE)


def nearly_constant(data: Dataset) -> Iterator[Finding]:
    """Find columns in which nearly all records have the same value."""
    exceptions: dict[str, int] = {}
    for v in range(data.n):
        if data.kinds[v] is Kind.DISCRETE:
            counts = level_counts(data, v)
            total, others = counts.sum(), counts.sum() - counts.max()
        else:
            values, weights = observed_values(data, v)
            if weights is not None or not len(values):
                continue
            middle = np.median(values)
            total, others = float(len(values)), float((values != middle).sum())
        if 0 < others < 20 and others <= total / 20:
            exceptions[data.names[v]] = int(others)
    if exceptions:
        what = f"{counted_columns(exceptions, 'is', 'are')} nearly constant; number of records "
        what += f"with another value: {listed(exceptions)}."
        advice = "There is little evidence about the edges of such a column: pass "
        how = Message(advice, exclude_option(list(exceptions)), ", or collect more records.")
        yield Finding("nearly constant columns", False, tuple(exceptions), what, how)


def piled_up(data: Dataset) -> Iterator[Finding]:
    """Find continuous columns with one value that occurs far too often for a density."""
    piles: dict[str, str] = {}
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
        is_pile = counts[top] >= max(10 * usual, 3 * np.partition(counts, -2)[-2])
        if 0.15 <= share < 0.95 and is_pile:
            piles[data.names[v]] = f"{distinct[top]:g} in {share:.0%}"
            continue
        for end, inside in ((0, 1), (-1, -2)):
            if counts[end] >= max(5, 0.03 * len(values), 5 * usual, 3 * counts[inside]):
                piles[data.names[v]] = f"{distinct[end]:g} in {counts[end] / len(values):.0%}"
    if piles:
        where = "a continuous column" if len(piles) == 1 else "continuous columns"
        what = f"One value occurs in many rows of {where}: {listed(piles)}."
        advice = (
            "This is impossible for a continuous distribution: the values may be cut off there, or "
            'stand for "none". Replace such a column by two, whether it has this value and how '
            "large it is otherwise, or make it discrete by dividing it into classes."
        )
        yield Finding("piled-up values", False, tuple(piles), what, advice)


def numbers_as_levels(data: Dataset, asked: Collection[str], decimal: str) -> Iterator[Finding]:
    """Find discrete columns of text in which most values are numbers, except ``asked``."""
    for v in data.discrete:
        name = data.names[v]
        if name in asked:
            continue
        numbers = numbers_in_text(data.levels[v] or (), level_counts(data, v), decimal)
        if numbers is not None:
            what = f"Column {name!r} is read as discrete, although {numbers[0]}."
            advice = Message("Each number is then a level of its own: ", numbers[1], ".")
            yield Finding("numbers read as levels", True, (name,), what, advice)


# Rows

CONFIDENCE = Spelling("sges.confidence(table)", "sges confidence")
"""The call or the command that estimates how certain each edge is."""

HOW_SURE = Message("Estimate the confidence in each edge with ", CONFIDENCE, ".")


def few_rows(data: Dataset | Moments) -> Iterator[Finding]:
    """Find tables with few records for their columns, or few at all."""
    records, p = data.records, len(data.names)
    is_serious = records < SERIOUSLY_FEW and records < 2 * p
    if records <= p:
        topic = "fewer rows than columns"
        what = f"There are {p:,} columns and only {records:,} records."
        advice = Message(
            "Weak relations are missed. Keep the default penalty: with ", Argument("penalty", 1),
            " many edges are found by chance. ", HOW_SURE,
        )  # fmt: skip
    elif records < 10 * p and p > 2:
        topic = "few rows per column"
        what = f"There are {records / p:.1f} records per column; ten or more are better."
        advice = Message("Weak relations are missed. ", HOW_SURE)
    elif records < 50:
        topic = "few rows"
        is_row = isinstance(data, Dataset) and data.rows == records
        what = f"The table has only {records} {'rows' if is_row else 'records'}."
        advice = Message("Weak relations are missed. ", HOW_SURE)
        if (len(data.continuous) if isinstance(data, Dataset) else p) > 1:
            cost = math.log(records) + 2 * math.log(p)  # of an edge, by the default score
            weakest = math.sqrt(-math.expm1(-cost / records))
            advice = Message(
                "An edge between two continuous columns needs a correlation of about "
                f"{weakest:.2f} to be found. ", HOW_SURE,
            )  # fmt: skip
    else:
        return
    if is_serious:
        advice = Message(
            "Many edges are then found by chance: read fewer columns, or collect more records. ",
            HOW_SURE,
        )
    yield Finding(topic, is_serious, (), what, advice)


def few_rows_per_cell(data: Dataset) -> Iterator[Finding]:
    """Find discrete columns with too many levels for the records, or with rare ones."""
    counts = {v: level_counts(data, v) for v in data.discrete}
    arity = {v: int((sizes > 0).sum()) for v, sizes in counts.items() if (sizes > 0).sum() > 1}
    records = data.records
    crowded = [v for v, k in arity.items() if records > MAX_ROWS_OF_LABELS and 2 * k > records]
    if crowded:
        shown = listed({data.names[v]: f"{arity[v]} levels" for v in crowded})
        what = f"There are fewer than two of {records:,} records per level of {shown}."
        how = Message(
            "Nothing can be learned about such a column: pass ",
            exclude_option(named(data, crowded)), _or_continuous(data, crowded),
            ", or merge levels.",
        )  # fmt: skip
        yield Finding("nearly a level per row", True, named(data, crowded), what, how)
    if len(arity) > 1:
        two = sorted(arity.values())
        smallest = {v: two[1] if k == two[0] else two[0] for v, k in arity.items()}
        many = [
            v for v, k in arity.items()
            if k > 2 and MIN_PER_CELL * k * smallest[v] > records and v not in crowded
        ]  # fmt: skip
        if many:
            shown = listed({data.names[v]: f"{arity[v]} levels" for v in many})
            leave = "leaves" if len(many) == 1 else "leave"
            what = f"Combined with any other discrete column, {shown} {leave} "
            what += f"fewer than {MIN_PER_CELL} of {records:,} records per cell."
            advice = (
                "Most scores then miss edges, and qNML may find some between independent columns. "
            )
            how = Message(f"{advice}Merge levels", _or_continuous(data, many), ".")
            yield Finding("few rows per cell", True, named(data, many), what, how)
    least = {v: int(counts[v][counts[v] > 0].min()) for v, k in arity.items() if k > 2}
    rare = [v for v, n in least.items() if records >= 50 and n < 5 and v not in crowded]
    if rare:
        shown = listed({data.names[v]: least[v] for v in rare})
        has = "column has a level" if len(rare) == 1 else "columns have levels"
        advice = "Rare levels need as many parameters as frequent ones; merge them"
        what = f"{len(rare)} discrete {has} with fewer than 5 records: {shown}."
        how = Message(advice, _or_continuous(data, rare), ".")
        yield Finding("rare levels", False, named(data, rare), what, how)


def _or_continuous(data: Dataset, columns: Sequence[int]) -> Message:
    """Return the advice to take integers as continuous, if a column holds integers."""
    for v in columns:
        levels = [level for level in data.levels[v] or () if level is not None]
        if len(levels) > 2 and all(isinstance(level, int | float) for level in levels):
            kind = Argument("kinds", {data.names[v]: "continuous"})
            return Message(", or pass ", kind, " if its numbers are quantities")
    return Message("")


def dependent_rows(data: Dataset) -> Iterator[Finding]:
    """Find rows that resemble their neighbors: a time series, or repeated measurements."""
    rows = data.rows
    if rows < 10 or not data.continuous or data.weights is not None:
        return
    parts = _some_at_a_time(data.values[:MAX_CHECKED_COLUMNS])
    alike = np.concatenate([_correlation(part[:, :-1], part[:, 1:]) for part in parts]).tolist()
    if max(alike) <= 0.25:  # columns by which the rows are sorted have more
        return
    keys, is_time = _sort_keys(data)
    chance = NormalDist().inv_cdf(1 - 1e-3 / len(alike))  # reached in one of a thousand tables
    least = max(0.3, chance / math.sqrt(rows)) if is_time else max(0.5, 4.5 / math.sqrt(rows))
    correlations: dict[str, float] = {}
    is_series = False  # True if a column is not merely in blocks of equal values, as if sorted
    for i, v in enumerate(data.continuous[:MAX_CHECKED_COLUMNS]):
        values = data.values[i]
        if v in keys or few_distinct_values(values, FEW_VALUES) is not None:
            continue
        r = alike[i]
        if keys and not is_time:
            rest = _residuals(values, data, keys)
            r = float(_correlation(rest[:-1], rest[1:]))
        if r > least:
            correlations[data.names[v]] = r
            is_series = is_series or 2 * int(np.count_nonzero(np.diff(values))) > rows
    if correlations:
        best = max(correlations, key=lambda name: correlations[name])
        many = f"{len(correlations)} column{'' if len(correlations) == 1 else 's'}"
        what = (
            f"Neighboring rows are similar in {many} (most in {best!r}, correlation "
            f"{correlations[best]:.2f}): the rows look like a time series, or like repeated "
            "measurements."
        )
        advice = "Scores treat each row as an independent record, so too many edges are found. Use "
        advice += "differences or one row per unit; if the table is merely sorted, ignore this."
        yield Finding("dependent rows", is_series, tuple(correlations), what, advice)


def _sort_keys(data: Dataset) -> tuple[list[int], bool]:
    """Return the columns by which the rows are sorted, and whether one of them numbers the rows."""
    keys, is_time = [], False
    for i, v in enumerate(data.continuous):
        steps = np.diff(data.values[i])
        rising, falling = int((steps > 0).sum()), int((steps < 0).sum())
        if min(rising, falling) <= 0.05 * max(rising, falling):  # also sorted in a few blocks
            keys.append(v)
            is_time = is_time or _rises_by_one(data.values[i]) or _rises_by_one(-data.values[i])
    for row, v in enumerate(data.discrete):
        codes = data.codes[row]
        runs = int((codes[1:] != codes[:-1]).sum()) + 1
        if 1 < runs <= len(data.levels[v] or ()):
            keys.append(v)
    return keys, is_time


def _residuals(values: Floats, data: Dataset, keys: Sequence[int]) -> Floats:
    """Return the residuals of a column given the columns by which the rows are sorted."""
    design = [np.ones(data.rows)]
    for v in keys[:MAX_NAMES_SHOWN]:
        key, _ = observed_values(data, v)
        if data.kinds[v] is Kind.CONTINUOUS:
            design += [(key - key.mean()) ** power for power in (1, 2, 3)]
        else:
            design += [(key == level).astype(np.float64) for level in np.unique(key)[1:20]]
    matrix = np.array(design).T
    matrix = matrix / np.maximum(np.abs(matrix).max(axis=0), 1e-300)
    rest: Floats = values - matrix @ np.linalg.lstsq(matrix, values, rcond=None)[0]
    return rest


def row_numbers(data: Dataset) -> Iterator[Finding]:
    """Find columns that number the rows, or name them."""
    found = [
        data.names[v]
        for values, v in zip(data.values, data.continuous, strict=True)
        if data.rows >= MIN_NUMBERED_ROWS
        and (_rises_by_one(values) or _are_names(data.names[v], values))
    ]
    if found:
        what = f"{counted_columns(found, 'numbers', 'number')} the rows: {listed(found)}."
        advice = Message("Unless this is a variable, pass ", exclude_option(found), ".")
        yield Finding("row numbers", False, tuple(found), what, advice)


def _are_names(name: str, values: Floats) -> bool:
    """Return whether a column has a different integer in each row, and a name that says so."""
    is_named_so = ROW_NAMES.fullmatch(name) is not None and are_whole(values)
    return is_named_so and len(np.unique(values)) == len(values)


def _rises_by_one(values: Floats) -> bool:
    """Return whether each number is one more than the one before it."""
    return np.array_equal(values[1:], values[:-1] + 1)


def repeated_rows(data: Dataset) -> Iterator[Finding]:
    """Find records that occur twice although continuous columns can hardly agree by chance."""
    wide = [i for i in range(len(data.values)) if few_distinct_values(data.values[i], 50) is None]
    if len(wide) < 3 or data.weights is not None or data.rows > MAX_COMPARED_ROWS:
        return
    rows = np.ascontiguousarray(np.concatenate([data.values, data.codes.astype(np.float64)]).T)
    copies = len(rows) - len(np.unique(rows.view(f"V{rows.shape[1] * 8}")))
    if copies and not _agree_by_chance(rows.T, wide[:MAX_CHECKED_COLUMNS], copies):
        copied = (
            "row is an exact copy of another" if copies == 1 else "rows are exact copies of others"
        )
        advice = "If records were entered twice, remove the copies: each counts as new evidence."
        yield Finding("repeated rows", False, (), f"{copies:,} {copied}.", advice)


def _agree_by_chance(columns: Floats, wide: list[int], copies: int) -> bool:
    """Return whether many more rows agree without one of the columns, as they do by chance."""
    draw = np.random.default_rng(0)
    keys = []  # a random number for each value; a row has their sum, modulo 2**64
    for column in columns:
        distinct, place = np.unique(column, return_inverse=True)
        keys.append(draw.integers(0, 1 << 64, len(distinct), np.uint64)[place])
    rows = np.array(keys).sum(axis=0)
    agreeing = [len(rows) - len(np.unique(rows - keys[i])) for i in wide]
    return float(np.median(agreeing)) > 2 * copies
