"""A mixed table written as numbers: whitened indicators for its discrete columns.

A continuous column is written as itself, standardised; a discrete one with r levels that occur
as r − 1 columns, which span its indicators, are uncorrelated and have unit variance.  Their
correlations are all that ``sges.score.mixed`` needs.  Records are written out in chunks, so that
memory is that of the correlations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sges.data.dataset import Dataset
from sges.errors import ScoreError
from sges.score.correlation import Floats
from sges.score.standardized import conditioned, constant_columns, warn_of_constants

MOST_WRITTEN = 20_000
"""The most columns that a table may be written as: their correlations take 3 GB."""

CHUNK = 1 << 14
"""How many records are written out at a time."""


@dataclass(frozen=True, eq=False, slots=True)
class Written:
    """The correlations of the written columns, positive definite, and whose they are.

    Variable v is written as the ``widths[v]`` columns from ``starts[v]`` on, and
    ``log_determinant[v]`` is that of their covariance before they were whitened.
    """

    names: tuple[str, ...]
    records: int
    matrix: Floats
    starts: NDArray[np.intp]
    widths: NDArray[np.intp]
    log_determinant: Floats

    @classmethod
    def of(cls, data: Any) -> "Written":  # noqa: ANN401 (whatever Dataset.of takes)
        """Return the correlations of a table, warning of what is degenerate in it."""
        dataset = Dataset.of(data)
        if dataset.records < 2:
            raise ScoreError(f"{dataset.records} records: a variance needs at least two")
        writers = _writers(dataset)
        widths = np.array([writer.width for writer in writers], dtype=np.intp)
        _refuse_too_wide(dataset.names, widths)
        starts = np.cumsum(widths) - widths
        labels = [name for name, w in zip(dataset.names, widths, strict=True) for _ in range(w)]
        matrix = _correlations(dataset, writers, starts)
        return cls(
            dataset.names,
            dataset.records,
            conditioned(matrix, labels, dataset.records),
            starts,
            widths,
            np.array([writer.log_determinant for writer in writers]),
        )

    def permuted(self, order: Sequence[int]) -> "Written":
        """Return the same with variable i being the old variable ``order[i]``."""
        at = list(order)
        rows = [int(self.starts[v]) + i for v in at for i in range(self.widths[v])]
        widths = self.widths[at]
        return Written(
            tuple(self.names[v] for v in at),
            self.records,
            np.ascontiguousarray(self.matrix[np.ix_(rows, rows)]),
            np.cumsum(widths) - widths,
            widths,
            self.log_determinant[at],
        )


@dataclass(frozen=True, eq=False, slots=True)
class _Writer:
    """How one column is written: (x − shift) / scale, or a row of ``levels`` per code."""

    row: int
    width: int = 1
    constant: bool = False
    shift: float = 0.0
    scale: float = 1.0
    levels: Floats | None = None
    log_determinant: float = 0.0

    def write(self, dataset: Dataset, chunk: slice) -> Floats:
        """Return (width, records of the chunk)."""
        if self.constant:
            return np.zeros((1, 1))
        if self.levels is None:
            return (dataset.values[self.row : self.row + 1, chunk] - self.shift) / self.scale
        written: Floats = self.levels[dataset.codes[self.row, chunk]].T
        return written


def _writers(dataset: Dataset) -> list[_Writer]:
    """Return how each column is written, and tell which are constant."""
    weights = np.ones(dataset.rows) if dataset.weights is None else dataset.weights.astype(float)
    weights /= weights.sum()
    writers = {v: _continuous(dataset, i, weights) for i, v in enumerate(dataset.continuous)}
    writers |= {v: _discrete(dataset, i, weights) for i, v in enumerate(dataset.discrete)}
    warn_of_constants([dataset.names[v] for v in range(dataset.n) if writers[v].constant])
    return [writers[v] for v in range(dataset.n)]


def _continuous(dataset: Dataset, row: int, weights: Floats) -> _Writer:
    values = dataset.values[row]
    # Shifted by a value of its own first: a mean of 1e9 would swallow a spread of 1e-3.
    mean = values[0] + float(weights @ (values - values[0]))
    variance = float(weights @ (values - mean) ** 2)
    if constant_columns(np.array([variance])):
        return _Writer(row, constant=True)
    return _Writer(row, shift=mean, scale=variance**0.5, log_determinant=float(np.log(variance)))


def _discrete(dataset: Dataset, row: int, weights: Floats) -> _Writer:
    share = np.bincount(dataset.codes[row], weights, minlength=int(dataset.arities[row]))
    seen = np.flatnonzero(share)
    if len(seen) < 2:
        return _Writer(row, constant=True)
    width = len(seen) - 1
    if width > MOST_WRITTEN:
        return _Writer(row, width)  # refused by its width before anything is written
    p = share[seen[:-1]]
    factor = np.linalg.cholesky(np.diag(p) - np.outer(p, p))
    levels = np.zeros((len(share), width))
    indicators = np.eye(len(seen))[:, :-1] - p
    levels[seen] = np.linalg.solve(factor, indicators.T).T
    log_determinant = 2 * float(np.log(np.diagonal(factor)).sum())
    return _Writer(row, width, levels=levels, log_determinant=log_determinant)


def _correlations(dataset: Dataset, writers: Sequence[_Writer], starts: NDArray[np.intp]) -> Floats:
    size = sum(writer.width for writer in writers)
    total = np.zeros((size, size))
    for begin in range(0, dataset.rows, CHUNK):
        chunk = slice(begin, min(begin + CHUNK, dataset.rows))
        written = np.empty((size, chunk.stop - chunk.start))
        for writer, start in zip(writers, starts.tolist(), strict=True):
            written[start : start + writer.width] = writer.write(dataset, chunk)
        weighted = written if dataset.weights is None else written * dataset.weights[chunk]
        total += weighted @ written.T
    total /= dataset.records
    for writer, start in zip(writers, starts.tolist(), strict=True):
        own = slice(start, start + writer.width)
        total[own, own] = np.eye(writer.width)  # what it is but for rounding
    return (total + total.T) / 2


def _refuse_too_wide(names: Sequence[str], widths: NDArray[np.intp]) -> None:
    if (total := int(widths.sum())) > MOST_WRITTEN:
        worst = int(np.argmax(widths))
        raise ScoreError(
            f"the table is written as {total} columns, {widths[worst]} of them for the levels of "
            f"{names[worst]!r}; at most {MOST_WRITTEN} can be scored: merge levels or drop it"
        )
