"""Greedy hill climbing of PyBNesian, in C++."""

from studies.peers.adapters.conventions import frame_of, from_names
from studies.peers.contract import Environment, Found, Go, Peer, Prepare, Table


def _load() -> Prepare:
    import pybnesian

    def prepare(table: Table) -> Go:
        frame = frame_of(table, labels=True)
        discrete = table.kind == "discrete"

        def go() -> Found:
            kind = pybnesian.DiscreteBNType() if discrete else pybnesian.GaussianNetworkType()
            network = pybnesian.hc(frame, bn_type=kind, score="bic", operators=["arcs"])
            return from_names(table.columns, network.arcs())

        return go

    return prepare


PEERS = (
    Peer(
        name="pybnesian-hc",
        environment=Environment("pybnesian", ("pybnesian", "pandas"), "pybnesian"),
        method="hill climbing",
        kinds=("gaussian", "discrete"),
        penalty='`score="bic"`',
        load=_load,
    ),
)
