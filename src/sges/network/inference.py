"""Exact marginals of a discrete network, with the work shared between queries.

A search needs the marginals of very many overlapping sets of variables, so each of the two ways
to compute one keeps intermediate tables for the next:

    FromJoint   a network with few configurations (18 binary variables, say) is one array,
                and a marginal is the marginal of one variable more, summed over it.  Sets of
                variables that are left out share their beginnings, and so their tables.
    FromBuckets any other: variable elimination (Zhang & Poole 1994; Dechter 1999) in one
                fixed min-fill order.  Only ancestors of the query take part, the others being
                barren (Shachter 1986).  A bucket's message depends only on the part of the
                query, and of its ancestors, below it in the tree of buckets: it is stored
                under that key.

A table contains one number per configuration of its variables, one axis per variable, the axes
in increasing order of the variables.  Because all tables keep that one order, two of them are
aligned by inserting axes of length one, never by transposing.

Paper: Section 5, exact inference.
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.errors import Undecided
from sges.graph.pdag import PDAG
from sges.graph.undirected import min_fill, moral_graph
from sges.nodeset import NodeSet, first, nodes, reach

MAX_TABLE_CELLS = 1 << 27
"""The most cells that a table may have: one gibibyte of numbers."""

MAX_TABLE_AXES = 32
"""The most axes of an array in every NumPy version that we support."""

MAX_JOINT_CELLS = 1 << 22
"""The most configurations of a network that is kept as one array (32 mebibytes)."""

MAX_JOINT_AXES = 30
"""The most variables of such a network, since variables of one level add no cells."""

MAX_KEPT_CELLS = 1 << 24
"""How many cells of earlier results are kept (128 mebibytes), the most recently used."""


@dataclass(frozen=True, eq=False, slots=True)
class Table:
    """Numbers for each configuration of the variables in ``scope``, axes in increasing order."""

    scope: NodeSet
    values: NDArray[np.float64]


def cells(scope: NodeSet, arities: Sequence[int]) -> int:
    """Return the number of configurations of the variables in scope."""
    return prod(arities[v] for v in nodes(scope))


def check_size(scope: NodeSet, arities: Sequence[int]) -> None:
    """Refuse a table that is too large for memory, or for NumPy."""
    needed = cells(scope, arities)
    if needed > MAX_TABLE_CELLS or scope.bit_count() > MAX_TABLE_AXES:
        raise Undecided(
            f"exact inference needs a table of {needed:.3g} cells over {scope.bit_count()} "
            f"variables, more than {MAX_TABLE_CELLS} cells or {MAX_TABLE_AXES} variables; ask for "
            "the marginal of fewer variables, or use a sparser network"
        )


def product(tables: Iterable[Table], arities: Sequence[int]) -> Table:
    """Return the product of tables, whose scope is the union of theirs."""
    factors = sorted(tables, key=lambda t: t.values.size)  # small products stay small longest
    result = Table(0, np.ones(()))
    for factor in factors:
        scope = result.scope | factor.scope
        check_size(scope, arities)
        aligned = []  # with an axis of length one for each variable that a table lacks
        for table in (result, factor):
            lengths = iter(table.values.shape)
            shape = [next(lengths) if table.scope >> v & 1 else 1 for v in nodes(scope)]
            aligned.append(table.values.reshape(shape))
        result = Table(scope, aligned[0] * aligned[1])
    return result


def sum_out(table: Table, v: int) -> Table:
    """Return the table without variable v, its values summed over v."""
    shape = table.values.shape
    axis = (table.scope & (1 << v) - 1).bit_count()
    inner = prod(shape[axis + 1 :])
    # Adding whole slices is several times faster than a reduction over a short middle axis.
    slices = table.values.reshape(-1, shape[axis], inner)
    total = slices[:, 0].copy()
    for value in range(1, shape[axis]):
        total += slices[:, value]
    return Table(table.scope ^ 1 << v, total.reshape(shape[:axis] + shape[axis + 1 :]))


def marginals_of(dag: PDAG, factors: Sequence[Table], arities: Sequence[int]) -> "Marginals":
    """Return the faster way to marginals: ``factors[v]`` is p(v | parents of v)."""
    everything = (1 << dag.n) - 1
    if dag.n <= MAX_JOINT_AXES and cells(everything, arities) <= MAX_JOINT_CELLS:
        return FromJoint(factors, arities)
    return FromBuckets(dag, factors, arities)


class _Kept:
    """The most recently used tables, up to a total of ``MAX_KEPT_CELLS`` cells."""

    def __init__(self) -> None:
        self._tables: OrderedDict[Hashable, Table] = OrderedDict()
        self._cells = 0

    def get(self, key: Hashable) -> Table | None:
        table = self._tables.get(key)
        if table is not None:
            self._tables.move_to_end(key)
        return table

    def keep(self, key: Hashable, table: Table) -> None:
        self._tables[key] = table
        self._cells += table.values.size
        while self._cells > MAX_KEPT_CELLS and len(self._tables) > 1:
            _, oldest = self._tables.popitem(last=False)
            self._cells -= oldest.values.size


class FromJoint:
    """Marginals summed from the joint distribution of all variables."""

    def __init__(self, factors: Sequence[Table], arities: Sequence[int]) -> None:
        self._everything = (1 << len(factors)) - 1
        self._factors, self._arities = factors, arities
        self._joint: Table | None = None  # made on the first query
        self._kept = _Kept()

    def marginal(self, query: NodeSet, /) -> Table:
        """Return the joint distribution of the variables in query."""
        if self._joint is None:
            self._joint = product(self._factors, self._arities)
        missing, above = self._everything & ~query, []
        table = None
        while missing and (table := self._kept.get(self._everything & ~missing)) is None:
            above.append(first(missing))
            missing &= missing - 1
        table = self._joint if table is None else table
        for v in reversed(above):
            table = sum_out(table, v)
            self._kept.keep(table.scope, table)
        return table


class FromBuckets:
    """Marginals by variable elimination in one min-fill order, messages kept."""

    def __init__(self, dag: PDAG, factors: Sequence[Table], arities: Sequence[int]) -> None:
        self._dag, self._factors, self._arities = dag, factors, arities
        self._order = min_fill(moral_graph(dag)).order
        self._bucket, self._heir, self._below, self._given = _buckets(self._order, factors)
        self._kept = _Kept()

    def marginal(self, query: NodeSet, /) -> Table:
        """Return the joint distribution of the variables in query."""
        check_size(query, self._arities)
        table = self._kept.get(query)
        if table is None:
            for v in range(self._dag.n):  # the marginal of one variable more, if that is known
                larger = None if query >> v & 1 else self._kept.get(query | 1 << v)
                if larger is not None:
                    table = sum_out(larger, v)
                    break
            else:
                table = self._eliminate(query)
            self._kept.keep(query, table)
        return table

    def _eliminate(self, query: NodeSet) -> Table:
        active = reach(self._dag.parents, query)
        inbox: dict[int, list[Table]] = {v: [] for v in (*self._order, -1)}
        for v in self._order:
            if not active & self._given[v]:
                continue
            key = (v, query & self._below[v], active & self._given[v])
            message = self._kept.get(key)
            if message is None:
                own = [self._factors[u] for u in nodes(active & self._bucket[v])]
                message = product(own + inbox[v], self._arities)
                if message.scope & ~query & 1 << v:
                    message = sum_out(message, v)
                self._kept.keep(key, message)
            inbox[self._heir[v]].append(message)
        return product(inbox[-1], self._arities)


Marginals: TypeAlias = FromJoint | FromBuckets


def _buckets(
    order: Sequence[int], factors: Sequence[Table]
) -> tuple[list[NodeSet], list[int], list[NodeSet], list[NodeSet]]:
    """Return the tree of buckets of an elimination order, one entry per variable v.

    bucket: the variables whose factors are in v's bucket; heir: the bucket that v's message goes
    to, -1 for none; below: the variables eliminated in v's subtree; given: the variables whose
    factors are in v's subtree.
    """
    n = len(order)
    place = {v: i for i, v in enumerate(order)}
    bucket, heir = [0] * n, [-1] * n
    below, scopes = [1 << v for v in range(n)], [0] * n
    for u, factor in enumerate(factors):
        at = min(nodes(factor.scope), key=place.__getitem__)
        bucket[at] |= 1 << u
        scopes[at] |= factor.scope
    given = list(bucket)
    for v in order:
        rest = scopes[v] & ~(1 << v)
        if rest:
            heir[v] = up = min(nodes(rest), key=place.__getitem__)
            scopes[up] |= rest
            below[up] |= below[v]
            given[up] |= given[v]
    return bucket, heir, below, given
