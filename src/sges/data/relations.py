"""Columns that are functions of others: copies, derived columns, collinear groups, curves.

A relation counts as deterministic only where chance would hardly ever show it.  Pairs are compared
among the first ``MAX_PAIR_COLUMNS`` columns of a kind.
"""

import math
from collections.abc import Iterator, Sequence, Set
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.data.checks import FEW_VALUES, Floats, confidence, exclude_option, named
from sges.data.columns import MAX_NAMES_SHOWN, are_whole, listed
from sges.data.dataset import Dataset
from sges.data.decisions import ROW_NAMES
from sges.data.description import Finding
from sges.errors import Argument, Message

MAX_PAIR_COLUMNS = 200
"""Pairs of columns are compared among this many, the first of their kind."""

MAX_INDICATORS = 100
"""Discrete columns with more levels than this are not compared with each other."""

PRODUCT_ROWS = 2_000
"""Rows of indicator columns in memory at a time."""

MAX_CORRELATIONS = 400
"""Collinear columns are looked for among this many numeric ones, the first."""

MIN_R2 = 0.99
"""A column is collinear if the others explain this share of its variance, adjusted for chance."""

RELATED_R2 = 0.9
"""And strongly related to the others if they explain this share: a variance inflation of ten."""

GROUP_CORRELATION = 0.95
"""Collinear columns with at least this correlation belong to one group."""

ORDER_ROWS = 64
"""Columns that order this many rows differently are not monotone functions of each other."""

RIDGE = 1e-10
"""Added to the variances, so that correlations of exact functions have an inverse."""

NEARLY = 0.98
"""A column is nearly a function of another if that removes this share of the wrong guesses."""

CHANCE = math.log(1e-6)
"""The log probability below which chance is not an explanation, over all pairs compared."""


def duplicates(data: Dataset) -> Iterator[Finding]:
    """Find discrete columns that are the same up to the names of their levels."""
    counted: dict[tuple[int, ...], list[int]] = {}
    for row in range(min(len(data.discrete), MAX_PAIR_COLUMNS)):
        sizes = tuple(sorted(filter(None, np.bincount(data.codes[row]).tolist())))
        counted.setdefault(sizes, []).append(row)
    alike = sorted(row for rows in counted.values() if len(rows) > 1 for row in rows)
    groups: dict[bytes, list[int]] = {}
    for row in alike:
        v, codes = data.discrete[row], data.codes[row]
        _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        if len(first) < 2:
            continue
        renamed = np.argsort(np.argsort(first))[inverse]
        groups.setdefault(renamed.astype(np.int32).tobytes(), []).append(v)
    same = [group for group in groups.values() if len(group) > 1]
    if not same:
        return
    shown = "; ".join(" and ".join(map(repr, named(data, group))) for group in same[:3])
    more = f"; {len(same) - 3} more" if len(same) > 3 else ""
    rest = [name for group in same for name in named(data, group[1:])]
    yield Finding(
        "duplicated columns",
        True,
        tuple(name for group in same for name in named(data, group)),
        f"Discrete columns hold the same information: {shown}{more}.",
        Message(
            "Each can take the place of the other, so edges to either are arbitrary; keep one: ",
            exclude_option(rest),
            ".",
        ),
    )


def determined(data: Dataset) -> Iterator[Finding]:
    """Find columns that are functions of a single other column, at least nearly."""
    relations = [
        *_by_levels(data),
        *_constant_within_levels(data),
        *_by_thresholds(data),
        *_monotone(data),
    ]
    if not relations:
        return
    found: dict[str, str] = {}
    derived: list[str] = []
    for name, source, text in relations:
        if found.setdefault(name, text) is text and source not in derived:
            derived.append(name)
    shown = "; ".join(list(found.values())[:4])
    more = f"; {len(found) - 4} more" if len(found) > 4 else ""
    yield Finding(
        "deterministic columns",
        True,
        tuple(found),
        f"{len(found)} column{' is' if len(found) == 1 else 's are'} determined by another: "
        f"{shown}{more}.",
        Message(
            "Given the other column nothing is left to explain, so edges of either are arbitrary. "
            "Leave out the one that was derived: ",
            exclude_option(derived),
            ".",
        ),
    )


Relation: TypeAlias = tuple[str, str, str]
"""A column, the column that determines it, and both in a sentence."""


def _by_levels(data: Dataset) -> Iterator[Relation]:
    """Find discrete columns that are functions of another discrete column."""
    columns = data.discrete[:MAX_PAIR_COLUMNS]
    weights = None if data.weights is None else data.weights.astype(np.float64)
    arity = [len(data.levels[v] or ()) for v in columns]
    pairs = max(1, len(columns) * (len(columns) - 1))
    for j, i in _candidates(data.codes[: len(columns)], arity, weights):
        kx, ky, x, y = arity[i], arity[j], columns[i], columns[j]
        joint = data.codes[i].astype(np.int64) * ky + data.codes[j]
        table = np.bincount(joint, minlength=kx * ky).reshape(kx, ky).astype(np.float64)
        records: Floats = table
        if weights is not None:
            weighted = np.bincount(joint, weights, minlength=kx * ky).astype(np.float64)
            records = weighted.reshape(kx, ky)
        if (relation := _function_of(table, records, pairs)) is None:
            continue
        if kx == ky and relation == "is" and (j < i or _same_size(table)):
            continue  # a duplicate, which is another finding
        text = f"{data.names[y]!r} {relation} a function of {data.names[x]!r}"
        yield data.names[y], data.names[x], text


def _candidates(
    codes: NDArray[np.unsignedinteger], arity: list[int], weights: Floats | None
) -> list[tuple[int, int]]:
    """Return pairs (y, x) for which guessing the level of y from that of x is nearly always right.

    All tables of two columns are the blocks of one product of indicator columns.
    """
    kept = [i for i, k in enumerate(arity) if 2 <= k <= MAX_INDICATORS]
    if len(kept) < 2:
        return []
    sizes = [arity[i] for i in kept]
    starts = np.cumsum([0, *sizes[:-1]])
    tables = np.zeros((sum(sizes), sum(sizes)))
    for first in range(0, codes.shape[1], PRODUCT_ROWS):
        rows = slice(first, first + PRODUCT_ROWS)
        block = codes[:, rows]
        ones = np.concatenate([block[i] == np.arange(arity[i])[:, None] for i in kept])
        ones = ones.astype(np.float32)
        times = ones if weights is None else ones * weights[rows]
        tables += times @ ones.T
    right = np.add.reduceat(np.maximum.reduceat(tables, starts, axis=1), starts, axis=0)
    total = codes.shape[1] if weights is None else float(weights.sum())
    base = total - np.maximum.reduceat(np.diagonal(tables), starts)  # wrong guesses without x
    at = np.argwhere(total - right.T <= (1 - NEARLY) * base[:, None] + 1e-6 * total)
    return [(kept[y], kept[x]) for y, x in at.tolist() if x != y and sizes[x] >= sizes[y]]


def _same_size(table: Floats) -> bool:
    """Tell whether levels correspond one to one."""
    return bool(((table > 0).sum(axis=0) <= 1).all() and ((table > 0).sum(axis=1) <= 1).all())


def _function_of(table: Floats, records: Floats, pairs: int) -> str | None:
    """Return "is" or "is nearly" if the columns of a table are a function of its rows."""
    if ((table > 0).sum(axis=0) > 0).sum() < 2:
        return None
    share = table.sum(axis=0) / table.sum()
    base = 1.0 - records.sum(axis=0).max() / records.sum()
    wrong = 1.0 - records.max(axis=1).sum() / records.sum()
    if wrong > (1 - NEARLY) * base + 1e-12 or not _is_certain(wrong, base, table.sum()):
        return None
    sizes = table.sum(axis=1)
    sizes = sizes[sizes > 1]
    with np.errstate(divide="ignore", under="ignore"):
        chance = float(np.log((share[None, :] ** sizes[:, None]).sum(axis=1)).sum())
    if chance + math.log(pairs) > CHANCE:
        return None
    return "is" if wrong <= 1e-12 else "is nearly"


def _is_certain(wrong: float, base: float, rows: float) -> bool:
    """Tell whether the rows suffice to say that guesses are hardly ever wrong.

    If none of n is wrong, up to a share of 3/n may be, with a confidence of 95%.
    """
    return wrong + 3 / rows <= 0.1 * base


def _by_thresholds(data: Dataset) -> Iterator[Relation]:
    """Find discrete columns whose levels are intervals of a continuous column."""
    discrete = [
        (row, v)
        for row, v in enumerate(data.discrete[:MAX_PAIR_COLUMNS])
        if 2 <= len(data.levels[v] or ()) <= FEW_VALUES
    ]
    pairs = max(1, len(discrete) * len(data.continuous))
    for i, x in enumerate(data.continuous[:MAX_PAIR_COLUMNS] if discrete else ()):
        if _numbers_groups(data.names[x], data.values[i]):
            continue
        order = np.argsort(data.values[i], kind="stable")
        values = data.values[i][order]
        for row, y in discrete:
            codes = data.codes[row][order]
            changes = np.flatnonzero(codes[1:] != codes[:-1])
            present = np.bincount(codes)
            if len(changes) != (present > 0).sum() - 1 or not len(changes):
                continue
            if (values[changes] == values[changes + 1]).any():
                continue
            if not _is_certain(0.0, 1 - present.max() / data.rows, data.rows):
                continue
            logs = math.lgamma(data.rows + 1) - sum(math.lgamma(c + 1) for c in present.tolist())
            if -logs + math.lgamma(len(changes) + 2) + math.log(pairs) > CHANCE:
                continue
            levels = data.levels[y] or ()
            cut = changes[0]
            yield (
                data.names[y],
                data.names[x],
                f"{data.names[y]!r} is a function of {data.names[x]!r} ({levels[codes[cut]]} up to "
                f"{values[cut]:g}, {levels[codes[cut + 1]]} from {values[cut + 1]:g})",
            )


def _numbers_groups(name: str, values: Floats) -> bool:
    """Tell whether sorted integers number rows, persons or groups, which determine anything."""
    if not (_is_sorted(values) and are_whole(values)):
        return False
    is_dense = values.max() - values.min() < 2 * len(np.unique(values))
    return bool(is_dense) or ROW_NAMES.fullmatch(name) is not None


def _is_sorted(values: Floats) -> bool:
    steps = np.diff(values)
    return bool((steps >= 0).all() or (steps <= 0).all())


def _constant_within_levels(data: Dataset) -> Iterator[Relation]:
    """Find continuous columns with one value for each level of a discrete column."""
    for row, x in enumerate(data.discrete[:MAX_PAIR_COLUMNS]):
        arity = len(data.levels[x] or ())
        if arity < 2 or data.rows < 5 * arity:
            continue
        sizes = np.maximum(np.bincount(data.codes[row], minlength=arity), 1)
        for i, y in enumerate(data.continuous[:MAX_PAIR_COLUMNS]):
            values = data.values[i] - data.values[i].mean()
            total = float(values @ values)
            means = np.bincount(data.codes[row], values, minlength=arity) / sizes
            rest = values - means[data.codes[row]]
            if total > 0 and float(rest @ rest) < 1e-3 * total:
                text = f"{data.names[y]!r} is a function of {data.names[x]!r}"
                yield data.names[y], data.names[x], text


def _monotone(data: Dataset) -> Iterator[Relation]:
    """Find continuous columns that are increasing or decreasing functions of another, not linear.

    Such columns have the same ranks; equal columns and linear functions are another finding.
    """
    columns = data.continuous[:MAX_PAIR_COLUMNS]
    if len(columns) < 2 or data.rows < 20:
        return
    values = data.values[: len(columns)]
    if not _share_an_order(values[:, :: -(-data.rows // ORDER_ROWS)]):
        return
    ranks = np.array([np.unique(row, return_inverse=True)[1] for row in values], np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        by_rank = _standard(ranks) @ _standard(ranks).T / data.rows
        by_value = _standard(values) @ _standard(values).T / data.rows
    same = (np.abs(by_rank) > 1 - 1e-9) & (np.abs(by_value) < 1 - 1e-6)
    for j in range(1, len(columns)):
        for i in np.flatnonzero(same[j, :j]).tolist():
            # Two series that only rise have the same ranks without being functions of each other.
            if len(np.unique(ranks[i])) > FEW_VALUES and not _is_sorted(values[i]):
                pair = data.names[columns[j]], data.names[columns[i]]
                way = "an increasing" if by_rank[j, i] > 0 else "a decreasing"
                yield *pair, f"{pair[0]!r} is {way} function of {pair[1]!r}"
                break


def _share_an_order(values: Floats) -> bool:
    """Tell whether two columns rise together, or one rises where the other falls."""
    orders = {order.tobytes() for order in np.argsort(values, axis=1, kind="stable")}
    falling = {order.tobytes() for order in np.argsort(-values, axis=1, kind="stable")}
    return len(orders) < len(values) or not orders.isdisjoint(falling)


def collinear_columns(data: Dataset, *, brief: bool = False) -> list[Finding]:
    """Find collinear columns among the continuous ones and the codes."""
    names, numbers = _numbers(data)
    if len(names) < 2:
        return []
    weights = None if data.weights is None else data.weights.astype(np.float64)
    total = numbers.shape[1] if weights is None else float(weights.sum())
    mean = numbers.mean(axis=1) if weights is None else numbers @ (weights / total)
    with np.errstate(over="ignore", invalid="ignore"):
        centred = numbers - mean[:, None]
        covariance = (centred if weights is None else centred * weights) @ centred.T / total
    coded = {data.names[v] for v in data.discrete}
    return collinear(names, covariance, data.records, coded, brief=brief)


def _numbers(data: Dataset) -> tuple[list[str], Floats]:
    """Return the continuous columns, and after them discrete columns whose levels are numbers."""
    names = [data.names[v] for v in data.continuous]
    rows = [data.values]
    for row, v in enumerate(data.discrete):
        levels = data.levels[v] or ()
        if len(levels) == 2 or all(isinstance(level, int | float) for level in levels):
            is_number = all(isinstance(level, int | float) for level in levels)
            scale = np.array(levels if is_number else range(len(levels)), np.float64)
            rows.append(scale[data.codes[row]][None, :])
            names.append(data.names[v])
    return names, np.concatenate(rows) if len(rows) > 1 else data.values


def collinear(
    names: list[str],
    covariance: Floats,
    records: float,
    coded: Set[str] = frozenset(),
    *,
    brief: bool = False,
) -> list[Finding]:
    """Find columns that the others determine, or nearly, as linear functions.

    ``coded`` are the names of discrete columns, which stand there by their codes.  A ``brief``
    finding does not say of which columns they are functions.
    """
    variance = np.diagonal(covariance)
    usable = np.flatnonzero(np.isfinite(variance) & (variance > 0))[:MAX_CORRELATIONS]
    if len(usable) < 2 or not np.isfinite(covariance[np.ix_(usable, usable)]).all():
        return []
    names = [names[v] for v in usable]
    deviation = np.sqrt(variance[usable])
    matrix = covariance[np.ix_(usable, usable)] / deviation[:, None] / deviation
    p, pairs = len(names), np.abs(matrix) - np.eye(len(names))
    r2 = _explained_shares(matrix, records)
    close = np.flatnonzero(r2 >= MIN_R2).tolist()
    if not close:
        return _related(names, r2)
    is_coded = coded >= set(_of(names, close))
    topic = "nearly determined columns" if is_coded else "collinear columns"
    if brief:
        return [Finding(topic, True, tuple(_of(names, close)), "", "")]
    groups = _groups(pairs, close)
    single = [v for v in close if not any(v in group for group in groups)]
    shown = [
        *(_joined(_of(names, group)) for group in groups),
        *(f"{names[v]!r} of {listed(_of(names, _explained_by(matrix, v)))}" for v in single[:4]),
    ]
    derived = [names[v] for group in groups for v in group[1:]] or _of(names, single[-1:])
    count = len(groups) + len(single)
    more = f"; {count - 4} more" if count > 4 else ""
    one = len(close) == 1
    if is_coded:
        columns, what = "columns", "is almost a function" if one else "are almost functions"
    else:
        columns = "numeric columns"
        what = "is an almost linear function" if one else "are almost linear functions"
    return [
        Finding(
            topic,
            True,
            tuple(_of(names, close)),
            f"{len(close)} of {p} {columns} {what} of others (R² {_up_to(r2)}): "
            f"{'; '.join(shown[:4])}{more}.",
            Message(
                "Small errors of measurement then decide which edges are found among them, and "
                "the search may find many. Keep one column of each group: ",
                exclude_option(derived),
                ".",
            ),
        )
    ]


def _explained_shares(matrix: Floats, records: float) -> Floats:
    """Return the share of each column that the others explain, adjusted for chance.

    It is that of the best of the others, or of all where there are records enough.
    """
    p = len(matrix)
    r2: Floats = (np.abs(matrix) - np.eye(p)).max(axis=1) ** 2
    r2 = 1.0 - (1.0 - r2) * (records - 1) / max(records - 2, 1)
    if records > p + 1:
        inverse = np.linalg.inv(matrix + RIDGE * np.eye(p))
        full = 1.0 - 1.0 / np.maximum(np.diagonal(inverse), 1.0)
        r2 = np.maximum(r2, 1.0 - (1.0 - full) * (records - 1) / (records - p))
    return r2


def _joined(names: Sequence[str]) -> str:
    if len(names) > MAX_NAMES_SHOWN:
        return listed(names)
    return f"{', '.join(map(repr, names[:-1]))} and {names[-1]!r}"


def _related(names: list[str], r2: Floats) -> list[Finding]:
    """Return the finding on columns that others explain to a large part, but not nearly all."""
    related = np.flatnonzero(r2 >= RELATED_R2).tolist()
    if not related:
        return []
    one = len(related) == 1
    return [
        Finding(
            "strongly related columns",
            False,
            tuple(_of(names, related)),
            f"{len(related)} numeric column{' is' if one else 's are'} explained by the others to "
            f"more than {RELATED_R2:.0%} (R² {_up_to(r2)}): {listed(_of(names, related))}.",
            Message(
                "Which of several edges is found is then often a matter of chance; see how sure "
                "each is with ",
                confidence(),
                ".",
            ),
        )
    ]


def _up_to(r2: Floats) -> str:
    top = float(r2.max())
    return "1" if top > 1 - 1e-9 else f"up to {math.floor(top * 1e4) / 1e4:.4g}"


def _of(names: Sequence[str], columns: Sequence[int]) -> list[str]:
    return [names[v] for v in columns]


def _groups(pairs: Floats, close: list[int]) -> list[list[int]]:
    """Return the connected groups of collinear columns, by their correlations."""
    left, groups = set(close), []
    while left:
        group, waiting = [], [min(left)]
        left.discard(waiting[0])
        while waiting:
            v = waiting.pop()
            group.append(v)
            near = [u for u in left if pairs[v, u] >= GROUP_CORRELATION]
            left.difference_update(near)
            waiting += near
        if len(group) > 1:
            groups.append(sorted(group))
    return groups


def _explained_by(matrix: Floats, v: int) -> list[int]:
    """Return few columns of which a column is nearly a linear function.

    They are chosen one by one; where that fails, as for small differences of large columns, those
    that count most in the regression on all others.
    """
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
    deviation = values.std(axis=1, keepdims=True)
    usable = np.flatnonzero(deviation[:, 0] > 0)
    z = ((values - values.mean(axis=1, keepdims=True))[usable] / deviation[usable]).clip(-3, 3)
    z = _standard(z)
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
        members = sorted({int(usable[v]) for pair in pairs for v in pair})
        yield Finding(
            "curved relations",
            False,
            named(data, [columns[v] for v in members]),
            f"The relation of {count} of columns is curved; the share of variance that a parabola "
            f"explains beyond a line: {', '.join(shown)}.",
            Message(
                "The default score sees lines only; ", Argument("score", "basis"),
                " allows curves.",
            ),
        )  # fmt: skip


def _standard(z: Floats) -> Floats:
    z = z - z.mean(axis=1, keepdims=True)
    deviation = z.std(axis=1, keepdims=True)
    standard: Floats = np.divide(z, deviation, out=np.zeros_like(z), where=deviation > 0)
    return standard
