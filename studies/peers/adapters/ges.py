"""The package ``ges`` of Juan L. Gamella: GES in Python, close to Chickering (2002)."""

from studies.peers.adapters.conventions import from_row_to_column
from studies.peers.contract import Environment, Found, Go, Peer, Prepare, Table


def _load() -> Prepare:
    import ges

    def prepare(table: Table) -> Go:
        def go() -> Found:
            return from_row_to_column(ges.fit_bic(table.values, phases=["forward", "backward"])[0])

        return go

    return prepare


PEERS = (
    Peer(
        name="ges",
        environment=Environment("ges", ("ges",), "ges"),
        method="GES",
        kinds=("gaussian",),
        penalty="`fit_bic`, whose default is λ = ½ log m",
        load=_load,
    ),
)
