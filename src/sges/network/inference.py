"""Exact marginals of a discrete network, with the work shared between queries.

A search asks for the marginals of very many overlapping sets of variables, so each of the
two ways to compute one keeps what the next can use:

    FromJoint   a network with few configurations (18 binary variables, say) is one array,
                and a marginal is the marginal of one variable more, added up.  Sets of
                variables that are left out share their beginnings, and so their tables.
    FromBuckets any other: variable elimination (Zhang & Poole 1994; Dechter 1999) in one
                fixed min-fill order.  Only ancestors of the query take part, the rest being
                barren (Shachter 1986).  A bucket's message depends only on the part of the
                query, and of its ancestors, below it in the tree of buckets: it is kept
                under that key.

Paper: Section 5, exact inference.
"""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import Protocol

from sges.graph.pdag import PDAG
from sges.network.tables import Table, cells, product, refuse_if_too_large, sum_out
from sges.nodeset import NodeSet, first, nodes

JOINT_CELLS = 1 << 22
"""Up to so many configurations a network is kept as one array (32 mebibytes)."""

JOINT_AXES = 30
"""... and up to so many variables, since variables of one level make no cells."""

KEPT_CELLS = 1 << 24
"""How many cells of earlier results are kept (128 mebibytes); the least recently used go."""


class Marginals(Protocol):
    """What answers queries for marginals."""

    def marginal(self, query: NodeSet, /) -> Table:
        """Return the joint distribution of the variables in query."""


def marginals_of(dag: PDAG, factors: Sequence[Table], arities: Sequence[int]) -> Marginals:
    """Return the faster way to marginals: ``factors[v]`` is p(v | parents of v)."""
    everything = (1 << dag.n) - 1
    if dag.n <= JOINT_AXES and cells(everything, arities) <= JOINT_CELLS:
        return FromJoint(factors, arities)
    return FromBuckets(dag, factors, arities)


class _Kept:
    """The most recently used tables, up to a total of ``KEPT_CELLS`` cells."""

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
        while self._cells > KEPT_CELLS and len(self._tables) > 1:
            _, oldest = self._tables.popitem(last=False)
            self._cells -= oldest.values.size


class FromJoint:
    """Marginals added up from the joint distribution of all variables."""

    def __init__(self, factors: Sequence[Table], arities: Sequence[int]) -> None:
        self._everything = (1 << len(factors)) - 1
        self._factors, self._arities = factors, arities
        self._joint: Table | None = None  # made on the first question
        self._kept = _Kept()

    def marginal(self, query: NodeSet, /) -> Table:
        """Return the joint distribution of the variables in query."""
        missing, above = self._everything & ~query, []
        table = self._known(missing)
        while table is None:
            above.append(first(missing))
            missing &= missing - 1
            table = self._known(missing)
        for v in reversed(above):
            table = sum_out(table, v)
            self._kept.keep(table.scope, table)
        return table

    def _known(self, missing: NodeSet) -> Table | None:
        if missing:
            return self._kept.get(self._everything & ~missing)
        if self._joint is None:
            self._joint = product(self._factors, self._arities)
        return self._joint


class FromBuckets:
    """Marginals by variable elimination in one min-fill order, messages kept."""

    def __init__(self, dag: PDAG, factors: Sequence[Table], arities: Sequence[int]) -> None:
        self._dag, self._factors, self._arities = dag, factors, arities
        self._order = min_fill_order(moral_rows(dag))
        self._bucket, self._heir, self._below, self._given = _buckets(self._order, factors)
        self._kept = _Kept()

    def marginal(self, query: NodeSet, /) -> Table:
        """Return the joint distribution of the variables in query."""
        refuse_if_too_large(query, self._arities)
        table = self._kept.get(query)
        if table is None:
            table = self._from_larger(query)
            if table is None:
                table = self._eliminate(query)
            self._kept.keep(query, table)
        return table

    def _from_larger(self, query: NodeSet) -> Table | None:
        """Return the marginal from that of one variable more, if that is known."""
        for v in range(self._dag.n):
            if not query >> v & 1 and (larger := self._kept.get(query | 1 << v)) is not None:
                return sum_out(larger, v)
        return None

    def _eliminate(self, query: NodeSet) -> Table:
        active = self._dag.ancestors(query)
        inbox: dict[int, list[Table]] = {v: [] for v in (*self._order, -1)}
        for v in self._order:
            if not active & self._given[v]:
                continue
            key = (v, query & self._below[v], active & self._given[v])
            message = self._kept.get(key)
            if message is None:
                message = self._message(v, query, active, inbox[v])
                self._kept.keep(key, message)
            inbox[self._heir[v]].append(message)
        return product(inbox[-1], self._arities)

    def _message(self, v: int, query: NodeSet, active: NodeSet, inbox: list[Table]) -> Table:
        """Return what bucket v says to its heir: all that is known below, without v."""
        own = [self._factors[u] for u in nodes(active & self._bucket[v])]
        table = product(own + inbox, self._arities)
        return sum_out(table, v) if table.scope & ~query & 1 << v else table


def _buckets(
    order: Sequence[int], factors: Sequence[Table]
) -> tuple[list[NodeSet], list[int], list[NodeSet], list[NodeSet]]:
    """Return the tree of buckets of an elimination order, one entry per variable v.

    bucket: whose factors v's bucket holds; heir: the bucket that v's message goes to, -1 for
    none; below: the variables eliminated in v's subtree; given: whose factors it holds.
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


def moral_rows(dag: PDAG, within: NodeSet | None = None) -> list[NodeSet]:
    """Return the adjacency of the moral graph of an ancestral part (default: all) of a DAG."""
    rows = [0] * dag.n
    for v in range(dag.n) if within is None else nodes(within):
        family = dag.parents(v) | 1 << v
        for u in nodes(family):
            rows[u] |= family & ~(1 << u)
    return rows


def min_fill_order(rows: Sequence[NodeSet]) -> list[int]:
    """Return an order that eliminates, each time, the node that needs the fewest new edges.

    Ties go to the lowest node.  Only nodes whose surroundings changed are counted again.
    """
    adjacent = dict(enumerate(rows))
    fill = {v: _missing_edges(adjacent, v) for v in adjacent}
    order = []
    while fill:
        v = min(fill, key=lambda u: (fill[u], u))
        order.append(v)
        around = adjacent.pop(v)
        del fill[v]
        changed = around
        for u in nodes(around):
            adjacent[u] = (adjacent[u] | around) & ~(1 << u | 1 << v)
            changed |= adjacent[u]
        fill.update((u, _missing_edges(adjacent, u)) for u in nodes(changed))
    return order


def _missing_edges(adjacent: dict[int, NodeSet], v: int) -> int:
    around = adjacent[v]
    return sum((around & ~adjacent[u]).bit_count() - 1 for u in nodes(around)) // 2
