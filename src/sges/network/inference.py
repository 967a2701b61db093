"""Exact marginals of a discrete network, with the work shared between queries.

A search needs the marginals of very many overlapping sets of variables, so intermediate tables
are kept.  A table contains one number per configuration of its variables, one axis per variable,
the axes in increasing order of the variables: two tables are aligned by inserting axes of length
one, never by transposing.

Paper: Section 5, exact inference.
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from sges.errors import Undecided
from sges.graph.pdag import PDAG
from sges.graph.undirected import min_fill, moral_graph
from sges.nodeset import NodeSet, first, nodes, nodeset, reach

MAX_TABLE_CELLS = 1 << 27  # one gibibyte of numbers
MAX_TABLE_AXES = 32  # the most axes of an array in every NumPy version that we support
MAX_JOINT_CELLS = 1 << 22  # the most cells of a network that is stored as one array: 32 mebibytes
MAX_JOINT_AXES = 30  # the most axes of such a network; variables with one level add no cells
MAX_KEPT_CELLS = 1 << 24  # the most cells of stored results, the latest ones: 128 mebibytes


@dataclass(frozen=True, eq=False, slots=True)
class Table:
    """Numbers for each configuration of the variables in ``scope``, axes in increasing order."""

    scope: NodeSet
    values: NDArray[np.float64]


def cells(scope: NodeSet, arities: Sequence[int]) -> int:
    """Return the number of configurations of the variables in scope."""
    return prod(arities[v] for v in nodes(scope))


def check_size(scope: NodeSet, arities: Sequence[int]) -> None:
    """Raise an error if a table is too large for memory, or for NumPy."""
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


def scaled_product(tables: Iterable[Table], arities: Sequence[int]) -> Table:
    """Return the product of tables, times a power of two that keeps it from vanishing."""
    result = Table(0, np.ones(()))
    for table in sorted(tables, key=lambda t: t.values.size):
        result = product([result, table], arities)
        _, exponent = np.frexp(result.values.max(initial=0.0))
        result = Table(result.scope, np.ldexp(result.values, -exponent))
    return result


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


class Marginals:
    """The marginals of a network: ``factors[v]`` is p(v | parents of v).

    A network with few configurations is one array, its joint distribution, and a marginal is
    computed from that of one more variable by summing over it.  Variables are summed out in a fixed
    order, so that queries share tables.

    In any other network, variables are eliminated in one min-fill order (Zhang & Poole 1994;
    Dechter 1999).  Only ancestors of the query take part, as the others are barren (Shachter 1986).
    A bucket's message depends only on the part of the query, and of its ancestors, below it in the
    tree of buckets: it is stored under that key.
    """

    def __init__(self, dag: PDAG, factors: Sequence[Table], arities: Sequence[int]) -> None:
        self._dag, self._factors, self._arities = dag, factors, arities
        self._everything = (1 << dag.n) - 1
        size = cells(self._everything, arities)
        self._is_small = dag.n <= MAX_JOINT_AXES and size <= MAX_JOINT_CELLS
        self._kept = _Kept()

    def marginal(self, query: NodeSet, /) -> Table:
        """Return the joint distribution of the variables in query."""
        check_size(query, self._arities)
        if self._is_small and query == self._everything:
            return self._joint
        table = self._kept.get(query)
        if table is None:
            table = self._computed(query)
            self._kept.keep(query, table)
        return table

    def given(self, v: int, known: Mapping[int, int]) -> NDArray[np.float64]:
        """Return p(v, known) for each level of v, up to a factor; all zero if that is impossible.

        Factors are restricted to the known levels before anything is multiplied, so that known
        variables make the tables smaller.
        """
        observed = nodeset(known)
        active = reach(self._dag.parents, observed | 1 << v)
        summed = active & ~observed & ~(1 << v)
        tables = []
        for u in nodes(active):
            factor = self._factors[u]
            at = tuple(known.get(w, slice(None)) for w in nodes(factor.scope))
            tables.append(Table(factor.scope & ~observed, factor.values[at]))
        for u in self._tree[0] if summed else ():
            if summed >> u & 1:
                here = [table for table in tables if table.scope >> u & 1]
                tables = [table for table in tables if not table.scope >> u & 1]
                tables.append(sum_out(scaled_product(here, self._arities), u))
        return scaled_product(tables, self._arities).values

    def _computed(self, query: NodeSet) -> Table:
        missing = self._everything & ~query
        if self._is_small:
            v = first(missing)
            return sum_out(self.marginal(query | 1 << v), v)
        for v in nodes(missing):  # the marginal of one more variable, if it is stored
            larger = self._kept.get(query | 1 << v)
            if larger is not None:
                return sum_out(larger, v)
        return self._eliminate(query)

    def _eliminate(self, query: NodeSet) -> Table:
        order, buckets, heirs, below, conditions = self._tree
        active = reach(self._dag.parents, query)
        inbox: dict[int, list[Table]] = {v: [] for v in (*order, -1)}
        for v in order:
            if not active & conditions[v]:
                continue
            key = (v, query & below[v], active & conditions[v])
            message = self._kept.get(key)
            if message is None:
                tables = [self._factors[u] for u in nodes(active & buckets[v])]
                message = product(tables + inbox[v], self._arities)
                if message.scope & ~query & 1 << v:
                    message = sum_out(message, v)
                self._kept.keep(key, message)
            inbox[heirs[v]].append(message)
        return product(inbox[-1], self._arities)

    @cached_property
    def _joint(self) -> Table:
        return product(self._factors, self._arities)

    @cached_property
    def _tree(self) -> tuple[Sequence[int], list[NodeSet], list[int], list[NodeSet], list[NodeSet]]:
        """The order of elimination, and the tree of its buckets, by variable.

        These are the variables whose factors are in the bucket, the bucket that its message goes
        to (-1 for none), and the variables that are eliminated, and whose factors are, in its
        subtree.
        """
        n, order = self._dag.n, min_fill(moral_graph(self._dag)).order
        place = {v: i for i, v in enumerate(order)}
        buckets, heirs = [0] * n, [-1] * n
        below, scopes = [1 << v for v in range(n)], [0] * n
        for u, factor in enumerate(self._factors):
            at = min(nodes(factor.scope), key=place.__getitem__)
            buckets[at] |= 1 << u
            scopes[at] |= factor.scope
        given = list(buckets)
        for v in order:
            if rest := scopes[v] & ~(1 << v):
                heirs[v] = up = min(nodes(rest), key=place.__getitem__)
                scopes[up] |= rest
                below[up] |= below[v]
                given[up] |= given[v]
        return order, buckets, heirs, below, given
