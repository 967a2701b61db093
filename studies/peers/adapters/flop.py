"""FLOP of Wienöbst, Henckel & Weichwald (2025): a search over orders, in Rust."""

from studies.peers.adapters.conventions import from_ones_and_twos
from studies.peers.contract import Environment, Found, Go, Peer, Prepare, Table


def _load() -> Prepare:
    import flopsearch

    def prepare(table: Table) -> Go:
        def go() -> Found:
            return from_ones_and_twos(flopsearch.flop(table.values, 2.0, restarts=20))

        return go

    return prepare


DOCUMENTED = (
    Peer(
        name="flopsearch.flop",
        environment=Environment("flopsearch", ("flopsearch", "numpy"), "flopsearch"),
        method="FLOP",
        kinds=("gaussian",),
        penalty="`flop(values, 2.0, restarts=20)`; `restarts` has no default",
        load=_load,
    ),
)
