"""Checks of the columns and rows of a table, as a statistician would make them.

Each check takes a dataset and yields findings.  Statistics of columns with missing values are
computed from the observed values; relations between columns are computed from the complete rows
if these are at least half, otherwise missing numbers are replaced by means, which can hide a
relation but hardly produce one.
"""

import math
import re
from collections.abc import Collection, Iterator, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sges.data.columns import MAX_NAMES_SHOWN, are_whole, few_distinct_values, listed
from sges.data.concerns import (
    FEW_VALUES,
    MIN_PER_CELL,
    Floats,
    crowded_columns,
    far_from_gaussian,
    few_records,
    level_counts,
    level_counts_of,
    observed_values,
    some_rows,
    sparse_columns,
)
from sges.data.dataset import Dataset, nearly_empty
from sges.data.decisions import counted_columns, numbers_in_text
from sges.data.reading import Kind
from sges.errors import Argument, Message, Spelling
from sges.tools.inspect.description import Finding

MAX_CHECKED_COLUMNS = 200
"""Neighboring rows are compared in the first columns."""

MAX_CHANCE = 0.01
"""The probability that a table seems to have dependent missing values by chance."""

MAX_PAIR_ROWS = 20_000
"""Pairs of columns are compared on this many rows, chosen at random."""

MIN_NUMBERED_ROWS = 10
"""From this many rows on, numbers that rise by one from row to row number the rows."""

COUNT_NAMES = frozenset(
    {"freq", "frequency", "count", "counts", "n", "number", "times", "cases", "weight", "weights"}
)
"""Names, in lower case, of columns that often hold how many times a row occurs."""

ROW_NAMES = re.compile(
    r"(?i:id|index|row|rows|rownames?|row\.names|obs|unnamed: 0)|.*(_id|\.id| id|Id|ID)"
)
"""Names of columns that often number the rows, or name them."""


def exclude_option(names: Sequence[str]) -> Message:
    """Return the option that leaves columns out, with the first few of them."""
    shown = list(names[:MAX_NAMES_SHOWN])
    more = len(names) - len(shown)
    return Message(Argument("exclude", shown), f" and {more} more" if more > 0 else "")


def named(data: Dataset, columns: Sequence[int]) -> tuple[str, ...]:
    """Return the names of columns."""
    return tuple(data.names[v] for v in columns)


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
        what += _most_frequent_pattern(data, holes)
    related = _related_holes(some_rows(data, MAX_PAIR_ROWS), columns)
    if related:
        what += f" Whether a value is missing depends on other columns: {'; '.join(related[:3])}."
    level = Message(", or ", Argument("missing", "level"), " if a missing value is informative")
    loss = "bias the result" if related else f"lose {incomplete / rows:.0%} of the rows"
    advice = Message(
        "Use ", Argument("missing", "em"),
        ", which assumes that values are missing at random given those observed",
        level if {data.kinds[v] for v in columns} == {Kind.DISCRETE} else "",
        "; ", Argument("missing", "drop"), f" would {loss}.",
    )  # fmt: skip
    if empty := named(data, nearly_empty(data)):
        what += f" Columns with next to no information: {listed(empty)}."
        leave = " Leave out columns with next to no information: "
        advice = Message(advice, leave, exclude_option(empty), ".")
    serious = bool(related) or incomplete > rows / 20
    yield Finding("missing values", serious, named(data, columns), what, advice)


def _most_frequent_pattern(data: Dataset, holes: NDArray[np.bool_]) -> str:
    """Say which columns most often miss their values together."""
    packed = np.packbits(holes[:, holes.any(axis=0)], axis=0).T
    patterns, counts = np.unique(packed, axis=0, return_counts=True)
    top = int(counts.argmax())
    bits = np.unpackbits(patterns[top])[: data.n]
    names = named(data, np.flatnonzero(bits).tolist())
    return (
        f" The most frequent of {len(counts)} patterns is {listed(names)} "
        f"{'together' if len(names) > 1 else 'alone'} ({counts[top]:,} rows)."
    )


def _related_holes(data: Dataset, some: list[int]) -> list[str]:
    """Say where values are missing more often than if they were missing completely at random."""
    tests = 0
    related: list[tuple[float, int, int, str]] = []
    for v in range(min(data.n, MAX_CHECKED_COLUMNS)):
        others = [h for h in some[:MAX_CHECKED_COLUMNS] if h != v]
        ways, chances = _chances(data, v, others)
        tests += chances.size
        for h, chance in zip(others if ways else (), chances, strict=False):
            k = int(chance.argmin())
            text = f"{data.names[h]!r} is missing more often where {data.names[v]!r} is {ways[k]}"
            related.append((float(chance[k]), h, v, text))
    return [text for chance, *_, text in sorted(related) if chance * tests < MAX_CHANCE]


def _chances(data: Dataset, v: int, others: list[int]) -> tuple[list[str], Floats]:
    """Return what a column may be, and the chance that others miss so many values there."""
    assert data.holes is not None
    are_counts = data.weights is not None and data.unit == 1
    times = np.asarray(data.weights if are_counts else np.ones(data.rows), np.float64)
    seen, (values, _) = ~data.holes[v], observed_values(data, v)
    distinct, place = np.unique(values, return_inverse=True)
    if not others or len(distinct) < 2:
        return [], np.empty(0)
    gone = data.holes[others][:, seen] * times[seen]
    size = np.bincount(place, times[seen]).astype(np.float64)
    if data.kinds[v] is Kind.CONTINUOUS:
        return ["low", "high"], _chance_of_ranks(place, size, gone)
    kept = np.flatnonzero(size >= MIN_PER_CELL)
    levels = data.levels[v] or ()
    return [str(levels[code]) for code in distinct[kept]], _chance_of_levels(
        place, size, gone, kept
    )


def _chance_of_ranks(place: NDArray[np.intp], size: Floats, gone: Floats) -> Floats:
    """Return the chance that values are missing so often where a column is low, or high."""
    from scipy.special import ndtr  # slow to import

    # In rows chosen at random, the sum of the ranks is nearly Gaussian (Wilcoxon).
    missing, total = gone.sum(axis=1)[:, None], size.sum()
    ranks = size.cumsum() - size / 2 - total / 2
    spread = missing * (total - missing) / (total - 1) * (size @ ranks**2 / total)
    z = (gone @ ranks[place])[:, None] / np.sqrt(np.maximum(spread, 1e-300))
    is_usable = np.minimum(missing, total - missing) >= 5
    chance: Floats = np.where(is_usable, 2 * ndtr(np.hstack([z, -z])), 1.0)
    return chance


def _chance_of_levels(
    place: NDArray[np.intp], size: Floats, gone: Floats, kept: NDArray[np.intp]
) -> Floats:
    """Return the chance that values are missing so often with each of the kept levels."""
    from scipy.special import rel_entr  # slow to import

    # The number of rows with a level is hypergeometric, with Chernoff's bound (Hoeffding 1963).
    missing, total = gone.sum(axis=1)[:, None], size.sum()
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(size)))
    both = np.add.reduceat(gone[:, order], starts, axis=1)  # missing, and with the level
    both, size = both[:, kept], size[kept]
    bounds = [
        m * (rel_entr(both / m, share) + rel_entr(1 - both / m, 1 - share))
        for m, share in ((np.maximum(missing, 1), size / total), (size, missing / total))
    ]
    is_more = both * total > missing * size
    chance: Floats = np.where(is_more, np.exp(-np.maximum(*bounds)), 1.0)
    return chance


STAND_INS = (
    *(-8.0, -9.0, -88.0, -98.0, -99.0, -888.0, -998.0, -999.0, -8888.0, -9999.0, -99999.0),
    *(88.0, 98.0, 99.0, 888.0, 998.0, 999.0, 8888.0, 9998.0, 9999.0, 99999.0),
)
"""Numbers that often stand for a missing value."""


def stand_ins(data: Dataset) -> Iterator[Finding]:
    """Find numbers such as -999 that often stand for a missing value."""
    found: dict[str, str] = {}
    for v in range(data.n):
        distinct, counts = _numbers(data, v)
        are_known = np.isin(distinct, STAND_INS)
        rest = distinct[~are_known]
        if len(rest) < 2:
            continue
        distance = np.maximum(rest[0] - distinct, distinct - rest[-1])
        codes = are_known & (counts >= 2) & (distance > 0.5 * (rest[-1] - rest[0]))
        if 0 < 2 * counts[codes].sum() < counts.sum():
            found[data.names[v]] = " and ".join(f"{value:g}" for value in distinct[codes])
    if found:
        what = "The same extreme number occurs repeatedly, far from all other values: "
        advice = "If it stands for a missing value, it distorts what depends on the column: "
        advice += "replace it by an empty field or NaN before reading the table."
        topic = "codes for missing values"
        yield Finding(topic, True, tuple(found), f"{what}{listed(found)}.", advice)


def _numbers(data: Dataset, v: int) -> tuple[Floats, NDArray[Any]]:
    """Return the distinct numbers in a column, sorted, and their counts; none if it has others."""
    if data.kinds[v] is Kind.CONTINUOUS:
        values, _ = observed_values(data, v)
        distinct, times = np.unique(values, return_counts=True)
        return distinct, times
    levels, counts = data.levels[v] or (), level_counts(data, v)
    kept = [i for i in np.flatnonzero(counts) if levels[i] is not None]
    if not all(isinstance(levels[i], int | float) for i in kept):
        return np.empty(0), np.empty(0)
    numbers = np.array([levels[i] for i in kept], np.float64)
    order = np.argsort(numbers)
    return numbers[order], counts[kept][order]


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
    if len(data.continuous) != 1 or not data.discrete:
        return
    name, values = data.names[data.continuous[0]], data.values[0]
    if data.weights is not None or data.holes is not None or not are_whole(values):
        return
    is_called_so = name.strip().lower() in COUNT_NAMES
    is_complete = math.prod(data.arities.tolist()) == data.rows
    if values.min() < 0 or values.max() <= 1 or not (is_complete or is_called_so):
        return
    if len(np.unique(data.codes, axis=1).T) == data.rows:
        what = f"The table looks like a cross-table: {name!r} contains counts, and no two rows "
        what += "agree in the other columns."
        advice = "Each row is treated as one record. If the column is the number of records of "
        advice += "each row, pass "
        how = Message(advice, Argument("weights", name), ".")
        yield Finding("counts", is_called_so, (name,), what, how)


# The shape of columns


def tails(data: Dataset) -> Iterator[Finding]:
    """Find skewed columns, and those with heavy tails."""
    skewed, is_serious = far_from_gaussian(data)
    if skewed:
        what = f"{counted_columns(skewed, 'is', 'are')} far from Gaussian: {listed(skewed)}."
        if data.discrete:
            remedy = Message("take logarithms or ranks of such a column before the search.")
        else:
            remedy = Message("use ", Argument("score", "rank"), ", or take logarithms.")
        advice = Message("The correlations then depend on a few records; ", remedy)
        yield Finding("skew and heavy tails", is_serious, tuple(skewed), what, advice)


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
        if len(distinct) > FEW_VALUES and (i := _pile(counts)) is not None:
            piles[data.names[v]] = f"{distinct[i]:g} in {counts[i] / len(values):.0%}"
    if piles:
        where = "a continuous column" if len(piles) == 1 else "continuous columns"
        what = f"One value occurs in many rows of {where}: {listed(piles)}."
        advice = (
            "This is impossible for a continuous distribution: the values may be cut off there, or "
            'stand for "none". Replace such a column by two, whether it has this value and how '
            "large it is otherwise, or make it discrete by dividing it into classes."
        )
        yield Finding("piled-up values", False, tuple(piles), what, advice)


def _pile(counts: NDArray[np.intp]) -> int | None:
    """Return which of the sorted values occurs too often: the most frequent one, or an end."""
    top, rows, usual = int(counts.argmax()), int(counts.sum()), float(np.median(counts))
    second = np.partition(counts, -2)[-2]
    if 0.15 * rows <= counts[top] < 0.95 * rows and counts[top] >= max(10 * usual, 3 * second):
        return top
    for end, inside in ((-1, -2), (0, 1)):
        if counts[end] >= max(5, 0.03 * rows, 5 * usual, 3 * counts[inside]):
            return end
    return None


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


def few_rows(data: Dataset) -> Iterator[Finding]:
    """Find tables with few records for their columns, or few at all."""
    records, p = data.records, data.n
    found = few_records(records, p)
    if found is None:
        return
    topic, is_serious = found
    advice = Message("Weak relations are missed. ")
    if topic == "fewer rows than columns":
        what = f"There are {p:,} columns and only {records:,} records."
        cost = "Keep the default penalty: with ", Argument("penalty", 1)
        advice = Message(advice, *cost, " many edges are found by chance. ")
    elif topic == "few rows per column":
        what = f"There are {records / p:.1f} records per column; ten or more are better."
    else:
        what = f"The table has only {records} {'rows' if data.rows == records else 'records'}."
        if len(data.continuous) > 1:
            least = math.log(records) + 2 * math.log(p)  # cost of an edge, by the default score
            weakest = math.sqrt(-math.expm1(-least / records))
            advice = Message(
                "An edge between two continuous columns needs a correlation of about "
                f"{weakest:.2f} to be found. "
            )
    if is_serious:
        advice = Message(
            "Many edges are then found by chance: read fewer columns, or collect more records. "
        )
    yield Finding(topic, is_serious, (), what, Message(advice, HOW_SURE))


def few_rows_per_cell(data: Dataset) -> Iterator[Finding]:
    """Find discrete columns with too many levels for the records, or with rare ones."""
    counts = level_counts_of(data)
    levels = {v: f"{len(sizes)} levels" for v, sizes in counts.items()}
    crowded, many = crowded_columns(data, counts), sparse_columns(data, counts)
    if crowded:
        shown = listed({data.names[v]: levels[v] for v in crowded})
        what = f"There are fewer than two of {data.records:,} records per level of {shown}."
        how = Message(
            "Nothing can be learned about such a column: pass ",
            exclude_option(named(data, crowded)), _or_continuous(data, crowded),
            ", or merge levels.",
        )  # fmt: skip
        yield Finding("nearly a level per row", True, named(data, crowded), what, how)
    if many:
        shown = listed({data.names[v]: levels[v] for v in many})
        leave = "leaves" if len(many) == 1 else "leave"
        what = f"Combined with any other discrete column, {shown} {leave} "
        what += f"fewer than {MIN_PER_CELL} of {data.records:,} records per cell."
        advice = "Most scores then miss edges, and qNML may find some between independent columns. "
        how = Message(f"{advice}Merge levels", _or_continuous(data, many), ".")
        yield Finding("few rows per cell", True, named(data, many), what, how)


def rare_levels(data: Dataset) -> Iterator[Finding]:
    """Find discrete columns with levels that occur in few records."""
    counts = level_counts_of(data)
    least = {v: int(sizes.min()) for v, sizes in counts.items() if len(sizes) > 2}
    crowded = crowded_columns(data, counts)
    rare = [v for v, size in least.items() if size < 5 and v not in crowded]
    if rare and data.records >= 50:
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


def _correlation(x: Floats, y: Floats) -> float:
    """Return a correlation; zero for constants."""
    x, y = x - x.mean(), y - y.mean()
    size = math.sqrt(x @ x) * math.sqrt(y @ y)
    return float(x @ y) / size if size > 0 else 0.0


def dependent_rows(data: Dataset) -> Iterator[Finding]:
    """Find rows that resemble their neighbors: a time series, or repeated measurements."""
    if data.rows < 10 or not data.continuous or data.weights is not None:
        return
    if found := _similar_to_neighbors(data):
        names = {data.names[data.continuous[i]]: r for i, r in found.items()}
        best = max(names, key=lambda name: names[name])
        many = f"{len(names)} column{'' if len(names) == 1 else 's'}"
        what = (
            f"Neighboring rows are similar in {many} (most in {best!r}, correlation "
            f"{names[best]:.2f}): the rows look like a time series, or like repeated "
            "measurements."
        )
        advice = "Scores treat each row as an independent record, so too many edges are found. Use "
        advice += "differences or one row per unit; if the table is merely sorted, ignore this."
        # Columns in blocks of equal values may merely be sorted.
        is_series = any(2 * np.count_nonzero(np.diff(data.values[i])) > data.rows for i in found)
        yield Finding("dependent rows", is_series, tuple(names), what, advice)


def _similar_to_neighbors(data: Dataset) -> dict[int, float]:
    """Return the correlation of rows with the next, for continuous columns in which it is high."""
    alike = [_correlation(row[:-1], row[1:]) for row in data.values[:MAX_CHECKED_COLUMNS]]
    if max(alike) <= 0.25:  # columns by which the rows are sorted have more
        return {}
    keys, is_time = _sort_keys(data)
    chance = NormalDist().inv_cdf(1 - 1e-3 / len(alike))  # reached in one of a thousand tables
    least, spread = (0.3, chance) if is_time else (0.5, 4.5)
    found = {}
    for i, r in enumerate(alike):
        values = data.values[i]
        if data.continuous[i] in keys or few_distinct_values(values, FEW_VALUES) is not None:
            continue
        if keys and not is_time:
            rest = _residuals(values, data, keys)
            r = _correlation(rest[:-1], rest[1:])
        if r > max(least, spread / math.sqrt(data.rows)):
            found[i] = r
    return found


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
    if len(wide) < 3 or data.weights is not None:
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
