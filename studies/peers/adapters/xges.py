"""XGES of Nazaret & Blei (2024): compiled on first use by numba, so it is warmed up."""

from functools import partial

from studies.peers.adapters.conventions import from_row_to_column
from studies.peers.contract import Environment, Found, Go, Peer, Prepare, Table

# The package does not declare scipy and numba, and needs a NumPy before version 2.
_ENVIRONMENT = Environment("xges", ("xges", "scipy", "numba<0.60", "numpy<2"), "xges")


def _load(extended: bool, **options: float) -> Prepare:
    from xges import XGES

    def prepare(table: Table) -> Go:
        def go() -> Found:
            graph = XGES(**options).fit(table.values, extended_search=extended)
            return from_row_to_column(graph.to_adjacency_matrix())

        return go

    return prepare


PEERS = tuple(
    Peer(
        name=name,
        environment=_ENVIRONMENT,
        method=method,
        kinds=("gaussian",),
        penalty="`alpha=1`",
        load=partial(_load, extended, alpha=1.0),
    )
    for name, method, extended in (
        ("xges-0", "XGES-0, deletes before turns before inserts", False),
        ("xges", "XGES, with the extended search", True),
    )
)

DOCUMENTED = (
    Peer(
        name="xges.XGES",
        environment=_ENVIRONMENT,
        method="XGES, with the extended search",
        kinds=("gaussian",),
        penalty="`XGES().fit(values)`, whose default is `alpha=2`",
        load=partial(_load, True),
    ),
)
