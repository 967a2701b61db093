"""Columns that are functions of others: copies, derived columns, collinear groups, curves.

And columns that all seem to be functions of one that is not in the table: a common factor.

A relation counts as deterministic only if it would hardly ever occur by chance.  Pairs are compared
among the first ``MAX_PAIR_COLUMNS`` columns of a kind.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.data.columns import MAX_NAMES_SHOWN, are_whole, listed
from sges.data.concerns import (
    CHANCE,
    FEW_VALUES,
    MAX_PAIR_COLUMNS,
    MIN_R2,
    RIDGE,
    Floats,
    LinearRelations,
    copies,
    log_chance,
)
from sges.data.dataset import Dataset
from sges.data.decisions import counted_columns
from sges.errors import Argument, Message
from sges.tools.inspect.checks import CONFIDENCE, ROW_NAMES, exclude_option, named
from sges.tools.inspect.description import Finding

MAX_LEVELS = 100
"""Discrete columns with more levels than this are not compared with each other."""

RELATED_R2 = 0.9
"""A column is strongly related to others that explain this share: a variance inflation of ten."""

GROUP_CORRELATION = 0.95
"""Collinear columns with at least this correlation belong to one group."""

MAX_INTERVALS_SHOWN = 4
"""A finding names this many intervals of a continuous column that are levels of another."""

MIN_FACTOR_COLUMNS = 6
"""A common factor is searched only among at least this many columns."""

FACTOR_CORRELATION = 0.3
"""The least root mean square of the correlations that a common factor explains."""

FACTOR_SHARE = 0.9
"""The least share of correlations beyond three standard errors, if there is a common factor."""

FACTOR_AGREEMENT = 0.8
"""The least squared cosine of the partial correlations and those of a model with one factor.

It was below 0.56 for 720 random linear graphs with 6 to 100 variables, and above 0.9 for columns
with a common factor, wherever their partial correlations were clear.
"""

MAX_LOADING = 0.998
"""The largest correlation of a column with a common factor that is considered."""

MEASURED_SHARE = 0.05
"""A measured column is the factor if it leaves less than this of the squared correlations."""

NEARLY = 0.98
"""A column is nearly a function of another if that removes this share of the wrong guesses."""


def duplicates(data: Dataset) -> Iterator[Finding]:
    """Find discrete columns that are the same up to the names of their levels."""
    if same := copies(data):
        shown = _first_few([" and ".join(map(repr, group)) for group in same], 3)
        what = f"Discrete columns contain the same information: {shown}."
        advice = "They are interchangeable, so their edges are arbitrary; keep one: "
        how = Message(advice, exclude_option([name for group in same for name in group[1:]]), ".")
        members = tuple(name for group in same for name in group)
        yield Finding("duplicated columns", True, members, what, how)


def _first_few(texts: Sequence[str], most: int, count: int | None = None) -> str:
    """Return the first few of several texts, and how many more there are."""
    count = len(texts) if count is None else count
    return "; ".join(texts[:most]) + (f"; {count - most} more" if count > most else "")


def determined(data: Dataset) -> Iterator[Finding]:
    """Find columns that are functions of a single other column, at least nearly."""
    sentences: dict[str, str] = {}
    derived: list[str] = []
    for relations in (_by_levels, _constant_within_levels, _by_thresholds, _monotone):
        for name, source, text in relations(data):
            if sentences.setdefault(name, text) is text and source not in derived:
                derived.append(name)
    if sentences:
        count = counted_columns(sentences, "is", "are")
        shown = _first_few(list(sentences.values()), 4)
        how = Message(
            "Given the other column, a derived column has no variation of its own, so the edges of "
            "both are arbitrary. Leave out the derived one: ", exclude_option(derived), ".",
        )  # fmt: skip
        what = f"{count} determined by another: {shown}."
        yield Finding("deterministic columns", True, tuple(sentences), what, how)


Relation: TypeAlias = tuple[str, str, str]
"""A column, the column that determines it, and both in a sentence."""


def _by_levels(data: Dataset) -> Iterator[Relation]:
    """Find discrete columns that are functions of another discrete column."""
    arity = {v: len(_levels(data, v)) for v in data.discrete[:MAX_PAIR_COLUMNS]}
    codes = dict(zip(data.discrete, data.codes.astype(np.uint16), strict=True))
    pairs = max(1, len(arity) * (len(arity) - 1))
    found: dict[tuple[int, int], str | None] = {}
    for x, y in combinations([v for v, k in arity.items() if 2 <= k <= MAX_LEVELS], 2):
        joint, cells = codes[x] * np.uint16(arity[y]) + codes[y], (arity[x], arity[y])
        rows = records = np.bincount(joint, minlength=math.prod(cells)).reshape(cells)
        if data.weights is not None:
            records = np.bincount(joint, data.weights, rows.size).reshape(cells)
        found[y, x] = _function_of(rows, records, pairs)
        found[x, y] = _function_of(rows.T, records.T, pairs)
    for (y, x), relation in sorted(found.items()):
        if relation is not None:
            pair = data.names[y], data.names[x]
            yield *pair, f"{pair[0]!r} {relation} a function of {pair[1]!r}"


def _function_of(rows: NDArray[Any], records: NDArray[Any], pairs: int) -> str | None:
    """Return "is" or "is nearly" if one column, along a table, is a function of the other."""
    total = records.sum()
    base = 1.0 - records.sum(axis=0).max() / total
    wrong = 1.0 - records.max(axis=1).sum() / total
    if wrong > (1 - NEARLY) * base + 1e-12 or not _is_certain(wrong, base, rows.sum()):
        return None
    sizes, counts = rows.sum(axis=1), rows.sum(axis=0)
    if np.count_nonzero(sizes) < np.count_nonzero(counts):
        return None
    if wrong <= 1e-12 and np.count_nonzero(rows) == np.count_nonzero(counts):
        return None  # columns that determine each other are duplicates, another finding
    with np.errstate(divide="ignore", under="ignore"):
        shares = (counts / counts.sum()) ** sizes[sizes > 1][:, None]
        chance = float(np.log(shares.sum(axis=1)).sum())
    if chance + math.log(pairs) > CHANCE:
        return None
    return "is" if wrong <= 1e-12 else "is nearly"


def _is_certain(wrong: float, base: float, rows: float) -> bool:
    """Return whether the rows suffice to say that guesses are hardly ever wrong."""
    # If none of n is wrong, up to a share of 3/n may be, with a confidence of 95%.
    return wrong + 3 / rows <= 0.1 * base


def _by_thresholds(data: Dataset) -> Iterator[Relation]:
    """Find discrete columns whose levels are intervals of a continuous column."""
    few = [v for v in data.discrete[:MAX_PAIR_COLUMNS] if 2 <= len(_levels(data, v)) <= FEW_VALUES]
    if not few:
        return
    pairs = len(few) * len(data.continuous)
    codes = dict(zip(data.discrete, data.codes, strict=True))
    for x, values in zip(data.continuous[:MAX_PAIR_COLUMNS], data.values, strict=False):
        if _may_number_rows(data.names[x], values):
            continue
        order = np.argsort(values, kind="stable")
        for y in few:
            if intervals := _intervals(values[order], codes[y][order], pairs):
                names, text = (data.names[y], data.names[x]), _shown(intervals, _levels(data, y))
                yield *names, f"{names[0]!r} is a function of {names[1]!r} ({text})"


def _levels(data: Dataset, v: int) -> tuple[Any, ...]:
    return data.levels[v] or ()


def _may_number_rows(name: str, values: Floats) -> bool:
    """Return whether sorted integers may number rows, persons or groups: any level follows."""
    if not (_is_sorted(values) and are_whole(values)):
        return False
    is_dense = np.ptp(values) < 2 * len(np.unique(values))
    return bool(is_dense) or ROW_NAMES.fullmatch(name) is not None


Interval: TypeAlias = tuple[int, float, float]
"""The code of a level, and the least and the greatest value with it."""


def _intervals(values: Floats, codes: NDArray[Any], pairs: int) -> list[Interval]:
    """Return the intervals that levels are of sorted values, or none if they are not, surely."""
    changes = np.flatnonzero(codes[1:] != codes[:-1])
    counts = np.bincount(codes)
    if not 0 < len(changes) == (counts > 0).sum() - 1:
        return []
    chance = log_chance(counts) + math.lgamma(len(changes) + 2) + math.log(pairs)
    is_sure = chance <= CHANCE and _is_certain(0.0, 1 - counts.max() / len(codes), len(codes))
    if not is_sure or (values[changes] == values[changes + 1]).any():
        return []
    first, last = [0, *(changes + 1)], [*changes, -1]
    return list(
        zip(codes[last].tolist(), values[first].tolist(), values[last].tolist(), strict=True)
    )


def _shown(intervals: Sequence[Interval], levels: Sequence[Any]) -> str:
    """Return intervals in words, the first few and the last."""
    (lowest, _, high), *middle, (highest, low, _) = intervals
    parts = [f"{levels[lowest]} up to {high:g}"]
    parts += [f"{levels[code]} from {start:g} to {end:g}" for code, start, end in middle]
    parts += [f"{levels[highest]} from {low:g}"]
    if len(parts) > MAX_INTERVALS_SHOWN:
        parts[MAX_INTERVALS_SHOWN - 1 : -1] = ["..."]
    return ", ".join(parts)


def _is_sorted(values: Floats) -> bool:
    steps = np.diff(values)
    return bool((steps >= 0).all() or (steps <= 0).all())


def _constant_within_levels(data: Dataset) -> Iterator[Relation]:
    """Find continuous columns with one value for each level of a discrete column."""
    centered = data.values[:MAX_PAIR_COLUMNS] - data.values[:MAX_PAIR_COLUMNS].mean(axis=1)[:, None]
    for x, codes in zip(data.discrete[:MAX_PAIR_COLUMNS], data.codes, strict=False):
        arity = len(_levels(data, x))
        if arity < 2 or data.rows < 5 * arity:
            continue
        sizes = np.maximum(np.bincount(codes, minlength=arity), 1)
        for y, values in zip(data.continuous, centered, strict=False):
            rest = values - (np.bincount(codes, values, minlength=arity) / sizes)[codes]
            if float(rest @ rest) < 1e-3 * float(values @ values):
                pair = data.names[y], data.names[x]
                yield *pair, f"{pair[0]!r} is a function of {pair[1]!r}"


def _monotone(data: Dataset) -> Iterator[Relation]:
    """Find continuous columns with the same ranks as another that are not linear in it."""
    columns = data.continuous[:MAX_PAIR_COLUMNS]
    if len(columns) < 2 or data.rows < 20:
        return
    values = data.values[: len(columns)]
    ranks = np.array([np.unique(row, return_inverse=True)[1] for row in values], np.float64)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        by_rank, by_value = (np.atleast_2d(np.corrcoef(rows)) for rows in (ranks, values))
    same = np.tril((np.abs(by_rank) > 1 - 1e-9) & (np.abs(by_value) < 1 - 1e-6), -1)
    # Two series that only rise have the same ranks without being functions of each other.
    same[:, [_is_sorted(row) for row in values]] = False
    same[:, ranks.max(axis=1) < FEW_VALUES] = False
    for j in np.flatnonzero(same.any(axis=1)).tolist():
        i = int(same[j].argmax())
        pair = data.names[columns[j]], data.names[columns[i]]
        way = "an increasing" if by_rank[j, i] > 0 else "a decreasing"
        yield *pair, f"{pair[0]!r} is {way} function of {pair[1]!r}"


def linear_relations(data: Dataset) -> Iterator[Finding]:
    """Find collinear columns, or else a common factor, or columns that others explain in part."""
    found = LinearRelations.of(data)
    if found.close:
        yield _collinear(found)
        return
    factor = list(_common_factor(found.names, found.correlations, found.records))
    related = [found.names[v] for v in np.flatnonzero(found.explained >= RELATED_R2)]
    yield from factor
    if related and not factor:
        count = f"{len(related)} numeric column{' is' if len(related) == 1 else 's are'}"
        what = f"{count} explained by the others to more than {RELATED_R2:.0%} "
        what += f"({_most_explained(found)}): {listed(related)}."
        advice = (
            "Which of several edges is found is then often a matter of chance; see how certain "
        )
        how = Message(advice, "each is with ", CONFIDENCE, ".")
        yield Finding("strongly related columns", False, tuple(related), what, how)


def _most_explained(found: LinearRelations) -> str:
    top = float(found.explained.max())
    return "R² 1" if top > 1 - 1e-9 else f"R² up to {math.floor(top * 1e4) / 1e4:.4g}"


def _collinear(found: LinearRelations) -> Finding:
    """Return the finding on columns that are nearly linear functions of the others."""
    names, close = found.names, found.close
    groups = _groups(found.correlations, close)
    single = [v for v in close if not any(v in group for group in groups)]
    shown = [_joined([names[v] for v in group]) for group in groups]
    for v in single[:4]:
        sources = [names[u] for u in _explained_by(found.correlations, v)]
        shown.append(f"{names[v]!r} of {listed(sources)}")
    what = f"{len(close)} of {len(names)} {_are_functions(found)} of others "
    what += f"({_most_explained(found)}): {_first_few(shown, 4, len(groups) + len(single))}."
    is_exact = found.is_exact
    chance = "is then arbitrary" if is_exact else "then depends on small errors of measurement"
    which = "Keep one column of each group" if groups else "Leave one of them out"
    derived = [names[v] for group in groups for v in group[1:]] or [names[v] for v in single[-1:]]
    how = Message(
        f"Which edges are found among them {chance}, and there may be many. {which}: ",
        exclude_option(derived), ".",
    )  # fmt: skip
    return Finding(found.topic, True, tuple(names[v] for v in close), what, how)


def _are_functions(found: LinearRelations) -> str:
    """Say that columns are functions, linear ones if they are numeric, and almost if not exact."""
    is_one = len(found.close) == 1
    if found.is_coded:
        return "columns is almost a function" if is_one else "columns are almost functions"
    if found.is_exact:
        function = "is a linear function" if is_one else "are linear functions"
    else:
        function = "is an almost linear function" if is_one else "are almost linear functions"
    return f"numeric columns {function}"


def _common_factor(names: list[str], matrix: Floats, records: float) -> Iterator[Finding]:
    """Find correlations that one unmeasured common cause of all columns would produce.

    Many graphs have large correlations throughout.  But in a sparse one most correlations given all
    other columns are zero, whereas with a common factor none is, and all follow from the loadings.
    A graph in which one measured column is the parent of all others is excluded.
    """
    p = len(names)
    if p < MIN_FACTOR_COLUMNS or records <= p + 1:
        return
    is_pair = ~np.eye(p, dtype=np.bool_)
    squares = float((matrix[is_pair] ** 2).mean())
    are_clear = np.abs(matrix[is_pair]) > 3 / math.sqrt(records)
    if squares < FACTOR_CORRELATION**2 or are_clear.mean() < FACTOR_SHARE:
        return
    loadings = _loadings(matrix)
    best = int(np.abs(loadings).argmax())
    others = np.delete(np.arange(p), best)
    rest = matrix[np.ix_(others, others)] - np.outer(matrix[best, others], matrix[best, others])
    left = np.sqrt(np.maximum(np.diagonal(rest), RIDGE))
    given_best = (rest / left[:, None] / left)[~np.eye(p - 1, dtype=np.bool_)]
    if float((given_best**2).mean()) < MEASURED_SHARE * squares:
        return
    model = np.outer(loadings, loadings)
    np.fill_diagonal(model, 1.0)
    found, expected = _partial_correlations(matrix)[is_pair], _partial_correlations(model)[is_pair]
    error = 1 / (records - p)
    signal = float((found**2).mean()) - error
    agreement = float((found * expected).mean()) ** 2 / float((expected**2).mean())
    spread = error * math.sqrt(4 / (p * (p - 1)))  # of the mean square, if all were zero
    if signal < 5 * spread or agreement < FACTOR_AGREEMENT * signal:
        return
    size = float(np.abs(matrix[is_pair]).mean())
    what = f"The correlations of {p} numeric columns ({size:.2f} on average) are "
    what += "nearly those of columns that all depend on one unmeasured quantity."
    advice = (
        "The search assumes that common causes are measured. It connects nearly all such columns, "
        "and the edges have no causal reading. If the columns are measurements of one quantity, "
        "replace them by their mean; if the common cause is known, add it to the table."
    )
    yield Finding("common factor", True, tuple(names), what, advice)


def _loadings(matrix: Floats) -> Floats:
    """Return the correlation of each column with the one factor that fits best (principal axes)."""
    values, vectors = np.linalg.eigh(matrix)
    loadings: Floats = np.clip(vectors[:, -1] * math.sqrt(values[-1]), -MAX_LOADING, MAX_LOADING)
    for _ in range(200):
        before, size = loadings, math.sqrt(loadings @ loadings)
        loadings = (matrix @ before + (before**2 - 1) * before) / size  # with shared variances
        loadings *= math.sqrt(loadings @ before / size / (loadings @ loadings))
        loadings = loadings.clip(-MAX_LOADING, MAX_LOADING)
        if np.abs(loadings - before).max() < 1e-6:
            break
    return loadings


def _partial_correlations(matrix: Floats) -> Floats:
    """Return the correlation of each two columns given all others."""
    inverse = np.linalg.inv(matrix + RIDGE * np.eye(len(matrix)))
    scale = np.sqrt(np.diagonal(inverse))
    partial: Floats = -inverse / scale[:, None] / scale
    return partial


def _joined(names: Sequence[str]) -> str:
    if len(names) > MAX_NAMES_SHOWN:
        return listed(names)
    return f"{', '.join(map(repr, names[:-1]))} and {names[-1]!r}"


def _groups(matrix: Floats, close: list[int]) -> list[list[int]]:
    """Return the connected groups of collinear columns, by their correlations."""
    from scipy.sparse.csgraph import connected_components  # slow to import

    near = np.abs(matrix[np.ix_(close, close)]) >= GROUP_CORRELATION
    count, group = connected_components(near, directed=False)
    members = [np.array(close)[group == i].tolist() for i in range(count)]
    return [group for group in members if len(group) > 1]


def _explained_by(matrix: Floats, v: int) -> list[int]:
    """Return few columns of which a column is nearly a linear function."""
    chosen: list[int] = []
    partial = matrix + RIDGE * np.eye(len(matrix))  # covariances given the chosen
    while len(chosen) < min(MAX_NAMES_SHOWN, len(matrix) - 1):
        gains = partial[v] ** 2 / np.maximum(np.diagonal(partial), RIDGE / 2)
        gains[[v, *chosen]] = -1.0
        best = int(np.argmax(gains))
        chosen.append(best)
        partial = partial - np.outer(partial[:, best], partial[best]) / partial[best, best]
        if 1.0 - partial[v, v] >= MIN_R2:
            return sorted(chosen)
    row = np.abs(np.linalg.inv(matrix + RIDGE * np.eye(len(matrix)))[v])
    row[v] = 0.0
    most = np.argsort(-row, kind="stable")[:MAX_NAMES_SHOWN].tolist()
    return sorted(u for u in most if row[u] >= 0.1 * row.max())


# Curves


def curved(data: Dataset) -> Iterator[Finding]:
    """Find pairs of columns whose relation has a clear bend."""
    columns = data.continuous[:MAX_PAIR_COLUMNS]
    if data.rows < 100 or len(columns) < 2 or data.weights is not None:
        return
    values = data.values[: len(columns)]
    usable = np.flatnonzero(values.std(axis=1) > 0)
    z = _standard(_standard(values[usable]).clip(-3, 3))
    squares = z * z
    bend = squares - squares.mean(axis=1, keepdims=True)
    bend -= (bend * z).mean(axis=1, keepdims=True) * z
    is_flat = bend.std(axis=1) < 1e-6
    added = (_standard(bend) @ z.T / data.rows) ** 2  # of y (columns) by the square of x (rows)
    added[is_flat] = 0.0
    np.fill_diagonal(added, 0.0)
    best = np.maximum(added, added.T)
    at = np.argwhere(np.triu(best, 1) >= max(0.05, 30 / data.rows))
    pairs = sorted(at.tolist(), key=lambda pair: -best[tuple(pair)])
    if pairs:
        shown = []
        for one, two in pairs[:3]:
            x, y = (one, two) if added[one, two] >= added[two, one] else (two, one)
            bent, along = named(data, [columns[usable[y]], columns[usable[x]]])
            shown.append(f"{bent!r} with {along!r} ({added[x, y]:.0%})")
        count = "1 pair" if len(pairs) == 1 else f"{len(pairs)} pairs"
        members = sorted({columns[usable[v]] for pair in pairs for v in pair})
        what = f"The relation of {count} of columns is curved; the share of variance that a "
        what += f"parabola explains beyond a line: {', '.join(shown)}."
        basis = Argument("score", "basis")
        how = Message("The default score detects only linear relations; ", basis, " allows curves.")
        yield Finding("curved relations", False, named(data, members), what, how)


def _standard(z: Floats) -> Floats:
    z = z - z.mean(axis=1, keepdims=True)
    deviation = z.std(axis=1, keepdims=True)
    standard: Floats = np.divide(z, deviation, out=np.zeros_like(z), where=deviation > 0)
    return standard
