"""Records drawn from a network: each variable after its parents, all records at once."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.data import Dataset, Kind
from sges.errors import NetworkError
from sges.graph.equivalence import topological_order
from sges.graph.pdag import PDAG
from sges.nodeset import nodes

Seed: TypeAlias = int | np.random.Generator
"""Where randomness comes from: the same whole number gives the same draws."""


def sample_codes(
    dag: PDAG, cpts: Sequence[NDArray[np.float64]], m: int, seed: Seed
) -> NDArray[np.unsignedinteger[Any]]:
    """Return the level numbers of m independent records, one row per variable."""
    m = checked_size(m)
    rng = np.random.default_rng(seed)
    most = max((cpt.shape[-1] for cpt in cpts), default=1)
    codes = np.zeros((dag.n, m), dtype=np.min_scalar_type(most - 1))
    for v in topological_order(dag):
        thresholds = np.cumsum(cpts[v], axis=-1)
        thresholds /= thresholds[..., -1:]  # a level of probability zero is then never drawn
        given = thresholds[tuple(codes[p] for p in nodes(dag.parents(v)))]
        uniform = rng.random(m)
        for level in range(cpts[v].shape[-1] - 1):
            codes[v] += uniform >= given[..., level]
    return codes


def checked_size(m: int) -> int:
    """Return m if so many records can be drawn."""
    if m < 0:
        raise NetworkError(f"a sample of {m} records: the number must be 0 or more")
    return int(m)


def tabulated(
    codes: NDArray[np.unsignedinteger[Any]],
    names: tuple[str, ...],
    levels: tuple[tuple[Any, ...], ...],
) -> Dataset:
    """Return level numbers, one row per variable, as a table."""
    n, m = codes.shape
    return Dataset(
        names=names,
        kinds=(Kind.DISCRETE,) * n,
        levels=levels,
        values=np.empty((0, m)),
        codes=codes,
        weights=None,
    )
