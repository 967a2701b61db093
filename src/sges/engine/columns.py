"""Discrete tables, checked once and laid out for counting.

    checked_table    raise an error if arrays do not fit together; drop rows of weight zero
    numbered         number the levels that occur in a column from zero, in one or four bytes
    Blocks           put the columns of few levels side by side, 32 to a block

    in_native        the native score of such a table

The compiled scores (``scores/discrete.hpp``) read the arrays that are made here.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sges.engine import native
from sges.errors import ScoreError
from sges.score.discrete import exact_regrets

LANES = 32
"""How many columns a block has; ``counting.h`` has the same."""
MOST_LEVELS = 32
"""The most levels of a column in a block; ``counting.h`` has the same."""
COST_ALONE = 8
"""A column that is counted alone costs as much as this many levels of a block."""
ROWS_AT_A_TIME = 4096

Codes = NDArray[np.unsignedinteger[Any]]
Weights = NDArray[np.int64] | None


def checked_table(
    name: str, codes: ArrayLike, arities: ArrayLike, weights: ArrayLike | None
) -> tuple[Codes, NDArray[np.int64], Weights]:
    """Return codes, numbers of levels and weights as the score ``name`` counts them."""
    whole = _checked_codes(name, codes)
    n, rows = whole.shape
    numbers = _whole_numbers(name, "arities", arities, n, "variable")
    if n and numbers.min() < 1:
        v = int(numbers.argmin())
        raise ScoreError(f"{name}: arities[{v}] = {numbers[v]}; a variable has at least one level")
    declared, times = np.ascontiguousarray(numbers, dtype=np.int64), None
    if weights is not None:
        numbers = _whole_numbers(name, "weights", weights, rows, "row")
        if rows and (numbers.min() < 0 or float(numbers.sum(dtype=np.float64)) > 2.0**62):
            raise ScoreError(
                f"{name}: weights between {numbers.min()} and {numbers.max()} cannot be used; they "
                "must be at least 0 and add up to at most 2**62"
            )
        times = np.ascontiguousarray(numbers, dtype=np.int64)
    if times is not None and not times.all():
        whole, times = np.ascontiguousarray(whole[:, times > 0]), times[times > 0]
    if not whole.shape[1]:
        raise ScoreError(f"{name}: the table has no records; at least one is needed")
    largest = whole.max(axis=1)
    for v in np.flatnonzero(largest >= declared).tolist():
        raise ScoreError(
            f"{name}: codes[{v}] holds {largest[v]} and arities[{v}] is {declared[v]}; "
            "a code must be less than the number of levels"
        )
    return whole, declared, times


def _checked_codes(name: str, given: ArrayLike) -> Codes:
    codes = np.asarray(given)
    if codes.ndim != 2 or codes.dtype.kind not in "uib":
        raise ScoreError(
            f"{name}: codes of type {codes.dtype} with {codes.ndim} dimensions cannot be counted; "
            "they must be whole numbers, one row per variable"
        )
    if codes.dtype not in (np.uint8, np.uint16, np.uint32):
        if codes.size and (codes.min() < 0 or codes.max() >= 2**32):
            raise ScoreError(
                f"{name}: codes lie between {codes.min()} and {codes.max()}; "
                "they must lie between 0 and the number of levels, and below 2**32"
            )
        codes = codes.astype(np.uint8 if codes.dtype == bool else np.uint32)
    if codes.shape[1] >= 2**32 - 1:
        raise ScoreError(f"{name}: {codes.shape[1]} rows are too many; at most 2**32 - 2 fit")
    return np.ascontiguousarray(codes)


def _whole_numbers(
    name: str, what: str, given: ArrayLike, count: int, each: str
) -> NDArray[np.integer[Any]]:
    """Return one whole number for each variable or row."""
    numbers = np.asarray(given)
    if numbers.shape != (count,) or (count and numbers.dtype.kind not in "ui"):
        raise ScoreError(
            f"{name}: {what} of type {numbers.dtype} and shape {numbers.shape} do not fit "
            f"{count} {each}s; one whole number per {each} is needed"
        )
    return numbers


def numbered(column: Codes) -> tuple[Codes, int]:
    """Return the levels that occur numbered from zero, and how many there are.

    Up to 256 levels take one byte each, more four bytes.
    """
    size = int(column.max()) + 1
    if size > 4 * len(column) + 256:  # a table of all levels would be too large
        occurring, ranks = np.unique(column, return_inverse=True)
        return _in_bytes(ranks, len(occurring)), len(occurring)
    for some in (column[:ROWS_AT_A_TIME], column):
        occurs = np.bincount(some, minlength=size) > 0
        if occurs.all():
            return _in_bytes(column, size), size
    numbers = np.cumsum(occurs) - 1
    levels = int(numbers[-1]) + 1
    return _in_bytes(numbers, levels)[column], levels


def _in_bytes(numbers: NDArray[Any], levels: int) -> Codes:
    return np.ascontiguousarray(numbers, dtype=np.uint8 if levels <= 256 else np.uint32)


@dataclass(frozen=True, slots=True)
class Blocks:
    """Which columns are counted together, and their codes side by side.

    Attributes
    ----------
    lanes
        The column in each lane of each block, those of most levels first; -1 is an empty lane.
        Four lanes next to each other have columns of one kind.
    alone
        The columns in no block.
    codes
        For each block an array with a row of 32 bytes per row of the table.
    kinds, depth
        For each block and each four lanes, the kind of their columns and the most levels of one.
    """

    lanes: NDArray[np.int64]
    alone: NDArray[np.int64]
    codes: list[NDArray[np.uint8]]
    kinds: NDArray[np.int64]
    depth: NDArray[np.int64]


def in_blocks(
    columns: list[Codes], levels: NDArray[np.int64], kinds: NDArray[np.int64], together: bool
) -> Blocks:
    """Choose the columns that are counted together, or none, and put them side by side."""
    widest = _widest_in_blocks(levels) if together else 0
    lanes = _lanes(levels, kinds, widest)
    fours = lanes.reshape(len(lanes), LANES // 4, 4)
    depth = np.where(fours < 0, 0, levels[fours]).max(axis=2, initial=0)
    return Blocks(
        lanes=lanes,
        alone=np.flatnonzero(levels > widest),
        codes=[_side_by_side(columns, members) for members in lanes.tolist()],
        kinds=kinds[fours[:, :, 0]],
        depth=depth,
    )


def _widest_in_blocks(levels: NDArray[np.int64]) -> int:
    """Return up to how many levels columns are counted together rather than alone.

    A level costs one step per row and block that has it; a column counted alone costs several.
    """
    have = np.bincount(np.minimum(levels, MOST_LEVELS + 1), minlength=MOST_LEVELS + 2)
    more_than = len(levels) - np.cumsum(have)[:-1]

    def cost(most: int) -> int:
        # columns that have a second level, a third ...
        sharing = more_than[1:most] - more_than[most]
        return int(COST_ALONE * more_than[most] + (-(-sharing // LANES)).sum())

    # Between two numbers of levels that occur, nothing changes.
    numbers: set[int] = set(levels[levels <= MOST_LEVELS].tolist())
    return min(sorted({1, *numbers}), key=cost)


def _lanes(levels: NDArray[np.int64], kinds: NDArray[np.int64], widest: int) -> NDArray[np.int64]:
    """Return the columns of at most ``widest`` levels, 32 to a row."""
    inside = np.flatnonzero(levels <= widest)
    order = inside[np.lexsort((inside, kinds[inside], -levels[inside]))]
    lanes: list[int] = []
    last = -1
    for v in order.tolist():
        if kinds[v] != last:
            lanes += [-1] * (-len(lanes) % 4)
        lanes.append(v)
        last = kinds[v]
    lanes += [-1] * (-len(lanes) % LANES)
    return np.array(lanes, np.int64).reshape(-1, LANES)


def _side_by_side(columns: list[Codes], members: list[int]) -> NDArray[np.uint8]:
    """Return the codes of some columns row by row, no row across two lines of the cache."""
    rows = len(columns[0])
    memory = np.zeros((rows + 2) * LANES, np.uint8)
    skipped = -memory.ctypes.data % 64
    codes = memory[skipped : skipped + rows * LANES].reshape(rows, LANES)
    for low in range(0, rows, ROWS_AT_A_TIME):  # a part that stays in the cache
        for k, v in enumerate(members):
            if v >= 0:
                codes[low : low + ROWS_AT_A_TIME, k] = columns[v][low : low + ROWS_AT_A_TIME]
    return codes


def in_native(
    kind: str,
    codes: ArrayLike,
    arities: ArrayLike,
    weights: ArrayLike | None,
    setting: float,
    unit: float,
    *,
    in_vectors: bool = True,
) -> Any:  # noqa: ANN401 (a native score)
    """Return the native score of a kind, "bic", "qnml" or "bdeu": check, merge, and lay out."""
    whole, numbers, times = checked_table(kind, codes, arities, weights)
    columns, levels = [], np.ones(len(whole), np.int64)
    for v, column in enumerate(whole):
        numbered_column, levels[v] = numbered(column)
        columns.append(numbered_column)
    records = whole.shape[1] if times is None else int(times.sum())
    merged = _merged_rows(columns, levels, times)
    if merged is not None:
        rows, times = merged
        columns = [column[rows] for column in columns]
    distinct, kinds = np.ones(1), np.zeros(len(numbers), np.int64)
    if kind == "bdeu":
        distinct, kinds = np.unique(numbers, return_inverse=True)
    blocks = in_blocks(columns, levels, kinds, records < 2**32)
    regrets = np.zeros(0)
    if kind == "qnml":
        regrets = np.asarray(exact_regrets(max(round(records * unit), 1)), np.float64)
    return native.discrete(
        kind,
        columns,
        levels.tolist(),
        numbers.astype(np.float64),
        times,
        blocks.codes,
        blocks.lanes.astype(np.int32).ravel(),
        blocks.kinds.astype(np.int32).ravel(),
        blocks.depth.astype(np.int32).ravel(),
        blocks.alone.astype(np.int32),
        kinds.astype(np.int32),
        distinct.astype(np.float64),
        setting,
        float(records),
        unit,
        regrets,
        in_vectors,
    )


def _merged_rows(
    columns: list[Codes], levels: NDArray[np.int64], weights: Weights
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return which rows to keep and their weights, or None if merging would not save work.

    A weighted row costs a little more than one that counts once.
    """
    rows = len(columns[0]) if columns else 0
    sample = min(rows, 2048)
    for some in (sample, rows) if rows > 2 * sample else (rows,):
        numbers = native.number_rows([column[:some] for column in columns], levels.tolist())
        distinct = int(numbers.max()) + 1
        if distinct > (0.98 if some < rows else 0.8) * some:
            return None
    first = np.empty(distinct, np.int64)
    first[numbers[::-1]] = np.arange(rows)[::-1]
    merged = np.zeros(distinct, np.int64)
    np.add.at(merged, numbers, 1 if weights is None else weights)
    return first, merged
