"""Functions of the ranks of a variable, and the columns by which they represent it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sges.score.gaussian.matrix import RIDGE, Floats
from sges.score.gaussian.mixed import CONSTANT, Encoding

CHUNK_ROWS = 1 << 14  # rows of which the functions are computed at a time


@dataclass(frozen=True, eq=False)
class Functions:
    """The normal score of a variable, or combinations of the basis of functions of its rank."""

    jumps: tuple[float, ...] = ()
    degree: int = 1
    weights: Floats | None = None  # of the basis, one row per combination

    @classmethod
    def polynomials(cls, degree: int) -> "Functions":
        """Return the Legendre polynomials of degrees 1 to ``degree``."""
        return cls((), degree, np.eye(degree, degree + 1, 1))

    @property
    def width(self) -> int:
        """The number of functions."""
        return 1 if self.weights is None else len(self.weights)

    def __call__(self, ranks: Floats) -> Floats:
        """Return the functions (width x rows) of ranks in (0, 1)."""
        columns = basis(ranks, self.jumps, self.degree)
        return columns[:1] if self.weights is None else self.weights @ columns

    def encode(self, ranks: Floats, weights: Floats) -> Encoding:
        """Return whitened functions of ranks in (0, 1); fewer if they have few values."""
        if ranks.min() == ranks.max():
            return CONSTANT
        chunks = [slice(at, at + CHUNK_ROWS) for at in range(0, len(ranks), CHUNK_ROWS)]
        mean = np.sum([self(ranks[rows]) @ weights[rows] for rows in chunks], axis=0)[:, None]
        covariance = np.zeros((len(mean), len(mean)))
        for rows in chunks:
            centered = self(ranks[rows]) - mean
            covariance += (centered * weights[rows]) @ centered.T
        width, factor = leading_factor(covariance)
        determinant = 2 * float(np.log(np.diagonal(factor)).sum())
        return Encoding(
            lambda rows: np.linalg.solve(factor, (self(ranks[rows]) - mean)[:width]),
            width,
            determinant,
        )


def basis(ranks: Floats, jumps: Sequence[float], degree: int) -> Floats:
    """Return normal scores, steps at jumps, and Legendre polynomials, each of ranks in (0, 1)."""
    from scipy.special import ndtri  # slow to import

    steps = [(ranks > jump).astype(np.float64) for jump in jumps]
    polynomials = np.polynomial.legendre.legvander(2 * ranks - 1, degree).T[1:]
    return np.concatenate([np.array([ndtri(ranks), *steps]), polynomials])


def leading_factor(covariance: Floats) -> tuple[int, Floats]:
    """Return how many leading columns are linearly independent, and their Cholesky factor."""
    # Polynomials of ranks are of order one: a deviation below 1e-9 is rounding.
    scale = np.maximum(np.sqrt(np.diagonal(covariance)), 1e-9)
    correlation = covariance / scale[:, None] / scale
    for width in range(len(covariance), 1, -1):
        try:
            factor = np.linalg.cholesky(correlation[:width, :width])
        except np.linalg.LinAlgError:
            continue
        if np.diagonal(factor).min() ** 2 > RIDGE:
            return width, scale[:width, None] * factor
    return 1, scale[:1, None]
