"""The edge of the networks: what is given is checked here, once, and trusted inside."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sges.data import Dataset
from sges.errors import DataError, NetworkError
from sges.graph.pdag import PDAG
from sges.nodeset import nodes

SUM_TOLERANCE = 1e-8
"""How far the probabilities of a row may add up from one before it is refused."""


def checked_cpts(dag: PDAG, cpts: Sequence[ArrayLike]) -> tuple[NDArray[np.float64], ...]:
    """Return read-only copies of the conditional distributions, or say which is none."""
    if len(cpts) != dag.n:
        raise NetworkError(f"{len(cpts)} distributions were given for {dag.n} variables")
    tables = [_as_table(dag, v, cpt) for v, cpt in enumerate(cpts)]
    for v, table in enumerate(tables):
        parents = list(nodes(dag.parents(v)))
        right = (*(tables[p].shape[-1] for p in parents), table.shape[-1])
        if table.shape != right:
            raise NetworkError(
                f"cpts[{dag.name(v)}] has the shape {table.shape}; with the parents "
                f"{', '.join(map(dag.name, parents)) or 'none'} in this order it must be {right}"
            )
        _refuse_no_distribution(dag.name(v), table)
        table /= table.sum(axis=-1, keepdims=True)  # what rounding left over
        table.setflags(write=False)
    return tuple(tables)


def _as_table(dag: PDAG, v: int, cpt: ArrayLike) -> NDArray[np.float64]:
    try:
        table = np.array(cpt, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise NetworkError(f"cpts[{dag.name(v)}] is not an array of numbers: {error}") from None
    axes = dag.parents(v).bit_count() + 1
    if table.ndim != axes or table.shape[-1] == 0:
        raise NetworkError(
            f"cpts[{dag.name(v)}] has the shape {table.shape}; it must have {axes} axes, one per "
            "parent and a last one with the levels of the variable itself"
        )
    return table


def _refuse_no_distribution(name: str, table: NDArray[np.float64]) -> None:
    if (bad := table[~(table >= 0)]).size:
        raise NetworkError(f"cpts[{name}] holds {bad[0]}; a probability is 0 or more")
    sums = table.sum(axis=-1)
    wrong = np.argwhere(~(np.abs(sums - 1) <= SUM_TOLERANCE))
    if len(wrong):
        at = tuple(int(i) for i in wrong[0])
        raise NetworkError(
            f"cpts[{name}]: the probabilities given the parents' levels {at} add up to "
            f"{float(sums[at])!r}; they must add up to 1"
        )


def checked_levels(
    dag: PDAG, arities: Sequence[int], levels: Sequence[Sequence[Any]] | None
) -> tuple[tuple[Any, ...], ...]:
    """Return the labels of the levels of each variable: those given, or 0, 1, ..."""
    if levels is None:
        return tuple(tuple(range(r)) for r in arities)
    if len(levels) != dag.n:
        raise NetworkError(f"levels of {len(levels)} variables were given for {dag.n} variables")
    for v, (labels, arity) in enumerate(zip(levels, arities, strict=True)):
        if len(set(labels)) != arity or len(labels) != arity:
            raise NetworkError(
                f"levels[{dag.name(v)}] = {tuple(labels)!r}; it needs {arity} labels, all different"
            )
    return tuple(tuple(labels) for labels in levels)


def checked_rows(
    rows: ArrayLike | Dataset, names: Sequence[str], levels: Sequence[Sequence[Any]]
) -> NDArray[np.integer[Any]]:
    """Return level numbers, one variable per place in the last axis, or say what is wrong."""
    codes = _codes_of(rows, names, levels) if isinstance(rows, Dataset) else np.asarray(rows)
    whole = np.issubdtype(codes.dtype, np.integer) or codes.size == 0
    if not whole or codes.shape[-1:] != (len(names),):
        raise DataError(
            f"rows of type {codes.dtype} and shape {codes.shape}: they must be whole numbers, "
            f"with the level of each of the {len(names)} variables in the last axis"
        )
    for v, (name, labels) in enumerate(zip(names, levels, strict=True)):
        column = codes[..., v]
        if column.size and not 0 <= column.min() <= column.max() < len(labels):
            raise DataError(
                f"variable {name}: rows hold the levels {column.min()} to {column.max()}; "
                f"its levels are 0 to {len(labels) - 1}"
            )
    return codes


def _codes_of(
    table: Dataset, names: Sequence[str], levels: Sequence[Sequence[Any]]
) -> NDArray[np.integer[Any]]:
    """Return a table's rows in the network's numbering, its columns found by their names."""
    columns = []
    for name, labels in zip(names, levels, strict=True):
        if name not in table.names:
            raise DataError(f"the table has no column {name!r}; each variable needs one")
        columns.append(_column(table, table.names.index(name), labels))
    return np.stack(columns, axis=-1) if columns else np.empty((table.rows, 0), np.intp)


def _column(table: Dataset, at: int, labels: Sequence[Any]) -> NDArray[np.intp]:
    found = table.levels[at]
    if found is None:
        raise DataError(f"column {table.names[at]!r} is continuous; a discrete one is needed")
    number = {label: code for code, label in enumerate(labels)}
    if strange := [label for label in found if label not in number]:
        raise DataError(
            f"column {table.names[at]!r} has the level {strange[0]!r}; "
            f"the network's levels of it are {tuple(labels)}"
        )
    translation = np.array([number[label] for label in found], dtype=np.intp)
    codes: NDArray[np.intp] = translation[table.codes[table.discrete.index(at)]]
    return codes
