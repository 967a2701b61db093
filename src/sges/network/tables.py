"""Tables over sets of discrete variables, and the three things done with them.

A table holds one number per configuration of its variables, one axis per variable, the axes
in increasing order of the variables.  Because all tables keep that one order, two of them
are aligned by inserting axes of length one, never by transposing:

    product     multiply tables; the scope of the result is the union of the scopes
    sum_out     add up over one variable
    cells       how large a table would be, asked before it is made
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from sges.errors import Undecided
from sges.nodeset import NodeSet, nodes

LARGEST = 1 << 27
"""The most cells that a table may have: one gibibyte of numbers."""

MOST_AXES = 32
"""The most axes of an array in every NumPy that we support."""


@dataclass(frozen=True, eq=False, slots=True)
class Table:
    """Numbers for each configuration of the variables in ``scope``, axes in increasing order."""

    scope: NodeSet
    values: NDArray[np.float64]


def cells(scope: NodeSet, arities: Sequence[int]) -> int:
    """Return the number of configurations of the variables in scope."""
    return prod(arities[v] for v in nodes(scope))


def refuse_if_too_large(scope: NodeSet, arities: Sequence[int]) -> None:
    """Stop before a table is made that memory, or NumPy, cannot hold."""
    needed = cells(scope, arities)
    if needed > LARGEST or scope.bit_count() > MOST_AXES:
        raise Undecided(
            f"exact inference needs a table of {needed:.3g} cells over {scope.bit_count()} "
            f"variables, more than {LARGEST} cells or {MOST_AXES} variables; ask for the marginal "
            "of fewer variables, or use a sparser network"
        )


def product(tables: Iterable[Table], arities: Sequence[int]) -> Table:
    """Return the product of tables, whose scope is the union of theirs."""
    factors = sorted(tables, key=lambda t: t.values.size)  # small products stay small longest
    result = Table(0, np.ones(()))
    for factor in factors:
        scope = result.scope | factor.scope
        refuse_if_too_large(scope, arities)
        result = Table(scope, _aligned(result, scope) * _aligned(factor, scope))
    return result


def _aligned(table: Table, scope: NodeSet) -> NDArray[np.float64]:
    """Return the values with an axis of length one for each variable of scope they lack."""
    lengths = iter(table.values.shape)
    shape = [next(lengths) if table.scope >> v & 1 else 1 for v in nodes(scope)]
    return table.values.reshape(shape)


def sum_out(table: Table, v: int) -> Table:
    """Return the table without variable v, its values added up over v."""
    shape = table.values.shape
    axis = (table.scope & (1 << v) - 1).bit_count()
    inner = prod(shape[axis + 1 :])
    # Adding whole slices is several times faster than a reduction over a short middle axis.
    slices = table.values.reshape(-1, shape[axis], inner)
    total = slices[:, 0].copy()
    for value in range(1, shape[axis]):
        total += slices[:, value]
    return Table(table.scope ^ 1 << v, total.reshape(shape[:axis] + shape[axis + 1 :]))
