"""Operations on a large symmetric matrix, in place.

A columns x columns matrix may take most of the memory, so a second one of its size is never
allocated, not even as a temporary.  All functions process the matrix in panels: some rows at a
time, and only the part left of the diagonal if it is symmetric.
"""

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.errors import DataError

Matrix: TypeAlias = NDArray[Any]
"""Doubles, or singles to save memory."""

Progress: TypeAlias = Callable[[int, int], object]
"""Called with the work done so far and the total work, in the same units."""

PANEL = 512
"""Rows processed together: as fast as all at once, with temporaries of this many rows."""

LOOKED_AT = 1 << 28
"""A smaller matrix, in bytes, is allocated without checking the available memory."""


class SharedCores:
    """A context in which BLAS uses one thread while several threads of the program are inside.

    Otherwise the threads of BLAS in each of them compete for the cores, and eight threads that
    learn at once may take longer than one that learns eight times.  The number of threads of BLAS
    is that of the whole program, and is restored when at most one thread is left inside.

    A limit is set and restored in threads that end at once: as long as a thread that has set one
    is alive, threadpoolctl ignores all others.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._libraries: Any = None
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside > 1 and self._limits is None:
                _in_a_thread(self._limit)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside <= 1 and self._limits is not None:
                _in_a_thread(self._limits.restore_original_limits)
                self._limits = None

    def _limit(self) -> None:
        if self._libraries is None:
            from threadpoolctl import ThreadpoolController

            self._libraries = ThreadpoolController()  # takes a millisecond
        self._limits = self._libraries.limit(limits=1, user_api="blas")


def _in_a_thread(work: Callable[[], object]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


SHARED_CORES = SharedCores()
"""The context of all threads that learn."""


def panels(n: int, rows: int = PANEL) -> Iterator[slice]:
    """Return the rows of a matrix in slices, one after the other."""
    for low in range(0, n, rows):
        yield slice(low, min(low + rows, n))


def add_products(
    total: Matrix, factor: Matrix, *, fresh: bool, report: Callable[[int], object] | None = None
) -> None:
    """Add ``factor @ factor.T`` to the lower triangle of ``total``, or write it if ``fresh``.

    ``report`` is called with the number of entries that each panel has added to.  That products
    of whole tables are not left to BLAS has another reason besides memory: the one that comes with
    NumPy 2 (OpenBLAS 0.3.31) crashes on ``x.T @ x`` of 1,000 x 20,000 doubles.
    """
    room = None if fresh else np.empty((min(PANEL, len(factor)), len(factor)), total.dtype)
    for rows in panels(len(factor)):
        # Left of the diagonal block, and the block itself, of which BLAS computes one half.
        for columns in (slice(0, rows.start), rows):
            own = total[rows, columns]
            product = own if room is None else room[: len(own), columns]
            np.matmul(factor[rows], factor[columns].T, out=product)
            if room is not None:
                own += product
        if report is not None:
            report((rows.stop - rows.start) * rows.stop)


def mirror(matrix: Matrix) -> None:
    """Copy the lower triangle to the upper one."""
    for rows in panels(len(matrix)):
        matrix[: rows.start, rows] = matrix[rows, : rows.start].T
        own = matrix[rows, rows]
        own[:] = np.tril(own) + np.tril(own, -1).T


def is_positive_definite(matrix: Matrix) -> bool:
    """Return whether Cholesky's factorization of a symmetric matrix succeeds.

    It is written over the lower triangle, and ``restore_lower`` undoes it.  Written out in
    products of panels, because the routine of some BLAS libraries is many times slower than
    their products when other programs run beside it.
    """
    n = len(matrix)
    for own in panels(n, PANEL // 2):
        upper = np.triu(matrix[own, own], 1)
        for rows in panels(n - own.start) if own.start else ():
            at = slice(own.start + rows.start, own.start + rows.stop)
            matrix[at, own] -= matrix[at, : own.start] @ matrix[own, : own.start].T
        try:
            factor = np.linalg.cholesky(matrix[own, own])
        except np.linalg.LinAlgError:
            matrix[own, own] = upper
            return False
        matrix[own, own] = factor + upper
        if own.stop < n:
            below = matrix[own.stop :, own]
            below[:] = below @ np.linalg.inv(factor).T
    return True


def restore_lower(matrix: Matrix, diagonal: float) -> None:
    """Copy the upper triangle to the lower one, and write the diagonal."""
    mirror(matrix.T)
    np.fill_diagonal(matrix, diagonal)


def symmetrize(matrix: Matrix) -> None:
    """Replace a matrix by the mean of itself and its transpose."""
    for rows in panels(len(matrix)):
        left = slice(0, rows.stop)
        mean = (matrix[rows, left] + matrix[left, rows].T) / 2
        matrix[rows, left] = mean
        matrix[left, rows] = mean.T


def is_finite(matrix: Matrix) -> bool:
    """Return whether every entry is a finite number."""
    return all(bool(np.isfinite(matrix[rows]).all()) for rows in panels(len(matrix)))


def check_matrix_size(columns: int, dtype: np.dtype[Any]) -> None:
    """Raise an error if a columns x columns matrix does not fit in memory."""
    needed = columns * columns * dtype.itemsize
    if needed < LOOKED_AT or (available := available_memory()) is None or needed <= available:
        return
    remedy = "use dtype='float32', or fewer columns" if dtype.itemsize > 4 else "use fewer columns"
    raise DataError(
        f"{columns:,} columns need a correlation matrix of {needed / 1e9:.1f} GB ({dtype.name}), "
        f"but only {available / 1e9:.1f} GB are available; {remedy}"
    )


def available_memory() -> int | None:
    """Return how many bytes can be allocated without swapping, or None if that is not known."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None
