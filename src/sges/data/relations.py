"""Columns that are functions of others: copies, derived columns, collinear groups, curves.

And columns that all seem to be functions of one that is not in the table: a common factor.

A relation counts as deterministic only if it would hardly ever occur by chance.  Pairs are compared
among the first ``MAX_PAIR_COLUMNS`` columns of a kind.
"""

import math
from collections.abc import Iterator, Sequence, Set
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.data.checks import CONFIDENCE, FEW_VALUES, ROW_NAMES, Floats, exclude_option, named
from sges.data.columns import MAX_NAMES_SHOWN, are_whole, listed
from sges.data.dataset import Dataset
from sges.data.decisions import counted_columns
from sges.data.description import Finding
from sges.errors import Argument, Message

MAX_PAIR_COLUMNS = 200
"""Pairs of columns are compared among this many, the first of their kind."""

MAX_INDICATORS = 100
"""Discrete columns with more levels than this are not compared with each other."""

PRODUCT_ROWS = 2_000
"""Rows of indicator columns in memory at a time."""

MAX_CORRELATIONS = 400
"""Collinear columns are searched among this many numeric ones, the first."""

MIN_R2 = 0.99
"""A column is collinear if the others explain this share of its variance, adjusted for chance."""

RELATED_R2 = 0.9
"""It is strongly related to the others if they explain this share: a variance inflation of ten."""

GROUP_CORRELATION = 0.95
"""Collinear columns with at least this correlation belong to one group."""

MAX_INTERVALS_SHOWN = 4
"""A finding names this many intervals of a continuous column that are levels of another."""

ORDER_ROWS = 64
"""Columns that order this many rows differently are not monotone functions of each other."""

MOST_LUCK = 5
"""Chance may make the unexplained share of a column this many times too small, but not more."""

RIDGE = 1e-10
"""Added to the variances, so that correlations of exact functions have an inverse."""

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

CHANCE = math.log(1e-6)
"""The log probability, over all pairs compared, below which a relation is not due to chance."""


def duplicates(data: Dataset) -> Iterator[Finding]:
    """Find discrete columns that are the same up to the names of their levels."""
    by_counts: dict[tuple[int, ...], list[int]] = {}
    for row in range(min(len(data.discrete), MAX_PAIR_COLUMNS)):
        counts = tuple(sorted(filter(None, np.bincount(data.codes[row]).tolist())))
        by_counts.setdefault(counts, []).append(row)
    groups: dict[bytes, list[str]] = {}
    for row in sorted(row for rows in by_counts.values() if len(rows) > 1 for row in rows):
        _, first, inverse = np.unique(data.codes[row], return_index=True, return_inverse=True)
        if len(first) > 1:  # levels are numbered in the order of their appearance
            logs = math.lgamma(data.rows + 1)
            logs -= sum(math.lgamma(count + 1) for count in np.bincount(inverse).tolist())
            if 2 * math.log(len(data.discrete)) - logs > CHANCE:
                continue
            key = np.argsort(np.argsort(first)).astype(np.int32)[inverse].tobytes()
            groups.setdefault(key, []).append(data.names[data.discrete[row]])
    same = [group for group in groups.values() if len(group) > 1]
    if same:
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
    ways = [_by_levels] if data.discrete else []
    if data.discrete and data.continuous:
        ways += [_constant_within_levels, _by_thresholds]
    for relations in (*ways, _monotone):
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
    columns = data.discrete[:MAX_PAIR_COLUMNS]
    weights = None if data.weights is None else data.weights.astype(np.float64)
    arity = [len(data.levels[v] or ()) for v in columns]
    pairs = max(1, len(columns) * (len(columns) - 1))
    for j, i in _candidates(data.codes[: len(columns)], arity, weights):
        shape = arity[i], arity[j]
        joint = data.codes[i].astype(np.int64) * arity[j] + data.codes[j]
        rows, records = (
            np.bincount(joint, times, minlength=math.prod(shape)).reshape(shape).astype(np.float64)
            for times in (None, weights)
        )
        if (relation := _function_of(rows, records, pairs)) is None:
            continue
        is_one_to_one = all(((rows > 0).sum(axis=axis) <= 1).all() for axis in (0, 1))
        if relation == "is" and is_one_to_one:
            continue  # a duplicate, which is another finding
        y, x = data.names[columns[j]], data.names[columns[i]]
        yield y, x, f"{y!r} {relation} a function of {x!r}"


def _candidates(
    codes: NDArray[np.unsignedinteger], arity: list[int], weights: Floats | None
) -> list[tuple[int, int]]:
    """Return pairs (y, x) for which guessing y from x is nearly always right."""
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
    occurring = np.add.reduceat(np.diagonal(tables) > 0, starts, dtype=np.intp)
    return [(kept[y], kept[x]) for y, x in at.tolist() if x != y and occurring[x] >= occurring[y]]


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
    """Return whether the rows suffice to say that guesses are hardly ever wrong.

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
        if _is_sorted(data.values[i]) and are_whole(data.values[i]):
            # Sorted integers may number rows, persons or groups, which determine anything.
            span = data.values[i].max() - data.values[i].min()
            is_dense = span < 2 * len(np.unique(data.values[i]))
            if is_dense or ROW_NAMES.fullmatch(data.names[x]) is not None:
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
            levels, names = data.levels[y] or (), (data.names[y], data.names[x])
            lows, highs = values[[0, *(changes + 1)]].tolist(), values[[*changes, -1]].tolist()
            order_of_levels = [levels[codes[at]] for at in [*changes, -1]]
            parts = [f"{order_of_levels[0]} up to {highs[0]:g}"]
            middle = zip(order_of_levels[1:-1], lows[1:-1], highs[1:-1], strict=True)
            parts += [f"{level} from {low:g} to {high:g}" for level, low, high in middle]
            parts += [f"{order_of_levels[-1]} from {lows[-1]:g}"]
            if len(parts) > MAX_INTERVALS_SHOWN:
                parts[MAX_INTERVALS_SHOWN - 1 : -1] = ["..."]
            yield *names, f"{names[0]!r} is a function of {names[1]!r} ({', '.join(parts)})"


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
                pair = data.names[y], data.names[x]
                yield *pair, f"{pair[0]!r} is a function of {pair[1]!r}"


def _monotone(data: Dataset) -> Iterator[Relation]:
    """Find continuous columns with the same ranks as another that are not linear in it."""
    columns = data.continuous[:MAX_PAIR_COLUMNS]
    if len(columns) < 2 or data.rows < 20:
        return
    values = data.values[: len(columns)]
    few = values[:, :: -(-data.rows // ORDER_ROWS)]
    rising, falling = (
        {order.tobytes() for order in np.argsort(rows, axis=1, kind="stable")}
        for rows in (few, -few)
    )
    if len(rising) == len(columns) and rising.isdisjoint(falling):
        return
    ranks = np.array([np.unique(row, return_inverse=True)[1] for row in values], np.float64)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        by_rank, by_value = (np.atleast_2d(np.corrcoef(rows)) for rows in (ranks, values))
    same = (np.abs(by_rank) > 1 - 1e-9) & (np.abs(by_value) < 1 - 1e-6)
    for j in range(1, len(columns)):
        for i in np.flatnonzero(same[j, :j]).tolist():
            # Two series that only rise have the same ranks without being functions of each other.
            if len(np.unique(ranks[i])) > FEW_VALUES and not _is_sorted(values[i]):
                pair = data.names[columns[j]], data.names[columns[i]]
                way = "an increasing" if by_rank[j, i] > 0 else "a decreasing"
                yield *pair, f"{pair[0]!r} is {way} function of {pair[1]!r}"
                break


def linear_relations(data: Dataset, *, brief: bool = False) -> list[Finding]:
    """Find collinear columns, or a common factor, among continuous columns and codes of levels."""
    names, rows = [data.names[v] for v in data.continuous], [data.values]
    for row, v in enumerate(data.discrete):
        levels = data.levels[v] or ()
        is_number = all(isinstance(level, int | float) for level in levels)
        if len(levels) == 2 or is_number:
            scale = np.array(levels if is_number else range(len(levels)), np.float64)
            rows.append(scale[data.codes[row]][None, :])
            names.append(data.names[v])
    if len(names) < 2:
        return []
    with np.errstate(over="ignore", invalid="ignore"):
        deviations = np.concatenate(rows)
        deviations -= np.average(deviations, axis=1, weights=data.weights)[:, None]
        times = data.rows if data.weights is None else data.weights.sum()
        weighted = deviations if data.weights is None else deviations * data.weights
        covariance = weighted @ deviations.T / times
    coded = {data.names[v] for v in data.discrete}
    return linear_relations_of(names, covariance, data.records, coded, brief=brief)


def linear_relations_of(
    names: list[str],
    covariance: Floats,
    records: float,
    coded: Set[str] = frozenset(),
    *,
    brief: bool = False,
) -> list[Finding]:
    """Find columns that are nearly linear functions of the others, or all of an unmeasured one."""
    variance = np.diagonal(covariance)
    usable = np.flatnonzero(np.isfinite(variance) & (variance > 0))[:MAX_CORRELATIONS]
    if len(usable) < 2 or not np.isfinite(covariance[np.ix_(usable, usable)]).all():
        return []
    names = [names[v] for v in usable]
    deviation = np.sqrt(variance[usable])
    matrix = covariance[np.ix_(usable, usable)] / deviation[:, None] / deviation
    r2 = _explained_shares(matrix, records)
    top = float(r2.max())
    up_to = "1" if top > 1 - 1e-9 else f"up to {math.floor(top * 1e4) / 1e4:.4g}"
    close = np.flatnonzero(r2 >= MIN_R2).tolist()
    if not close:
        factor = list(_common_factor(names, matrix, records))
        related = [names[v] for v in np.flatnonzero(r2 >= RELATED_R2)]
        if factor or not related:
            return factor
        count = f"{len(related)} numeric column{' is' if len(related) == 1 else 's are'}"
        what = f"{count} explained by the others to more than {RELATED_R2:.0%} (R² {up_to}): "
        what += f"{listed(related)}."
        advice = (
            "Which of several edges is found is then often a matter of chance; see how certain "
        )
        how = Message(advice, "each is with ", CONFIDENCE, ".")
        return [Finding("strongly related columns", False, tuple(related), what, how)]
    members = tuple(names[v] for v in close)
    is_coded = coded >= set(members)
    topic = "nearly determined columns" if is_coded else "collinear columns"
    if brief:
        return [Finding(topic, True, members, "", "")]
    groups = _groups(matrix, close)
    single = [v for v in close if not any(v in group for group in groups)]
    shown = [_joined([names[v] for v in group]) for group in groups]
    for v in single[:4]:
        sources = [names[u] for u in _explained_by(matrix, v)]
        shown.append(f"{names[v]!r} of {listed(sources)}")
    derived = [v for group in groups for v in group[1:]] or single[-1:]
    linear, columns = ("", "columns") if is_coded else (" linear", "numeric columns")
    is_exact = not is_coded and bool(r2[close].min() > 1 - 1e-9)
    is_function = (
        f"is {'almost a' if is_coded else 'a' if is_exact else 'an almost'}{linear} function"
    )
    are_functions = f"are{'' if is_exact else ' almost'}{linear} functions"
    what = f"{len(close)} of {len(names)} {columns} "
    what += f"{is_function if len(close) == 1 else are_functions} of others (R² {up_to}): "
    what += f"{_first_few(shown, 4, len(groups) + len(single))}."
    chance = "is then arbitrary" if is_exact else "then depends on small errors of measurement"
    how = Message(
        f"Which edges are found among them {chance}, and there may be many. ",
        f"{'Keep one column of each group' if groups else 'Leave one of them out'}: ",
        exclude_option([names[v] for v in derived]), ".",
    )  # fmt: skip
    return [Finding(topic, True, members, what, how)]


def _explained_shares(matrix: Floats, records: float) -> Floats:
    """Return the share of each column that the others explain, adjusted for chance."""
    p = len(matrix)
    left: Floats = 1.0 - (np.abs(matrix) - np.eye(p)).max(axis=1) ** 2
    left *= (records - 1) / _freedom(records - 2, p * p)
    if records > p + 1:
        inverse = np.linalg.inv(matrix + RIDGE * np.eye(p))
        given_all = 1.0 / np.maximum(np.diagonal(inverse), 1.0)
        left = np.minimum(left, given_all * (records - 1) / _freedom(records - p, p))
    return 1.0 - left


def _freedom(degrees: float, count: int) -> float:
    """Return the degrees of freedom, or less if they are so few that chance has large effects.

    A mean of k squares of Gaussian numbers is below u with a probability of at most (e u)^(k/2)
    (Chernoff), so that none of ``count`` of them is likely to be below ``least``.
    """
    degrees = max(degrees, 1.0)
    least = math.exp(2 / degrees * math.log(1e-3 / count) - 1)
    return degrees * min(1.0, MOST_LUCK * least)


def _common_factor(names: list[str], matrix: Floats, records: float) -> Iterator[Finding]:
    """Find correlations that one unmeasured common cause of all columns would produce.

    Many graphs have large correlations throughout.  But in a sparse one most correlations given all
    other columns are zero, whereas with a common factor none is, and all follow from the loadings.
    A graph in which one measured column is the parent of all others is excluded.
    """
    p = len(names)
    is_pair = ~np.eye(p, dtype=np.bool_)
    squares = float((matrix[is_pair] ** 2).mean())
    are_clear = np.abs(matrix[is_pair]) > 3 / math.sqrt(records)
    if p < MIN_FACTOR_COLUMNS or squares < FACTOR_CORRELATION**2:
        return
    if are_clear.mean() < FACTOR_SHARE or records <= p + 1:
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
