"""GES of gCastle."""

from studies.peers.adapters.conventions import from_row_to_column
from studies.peers.contract import Environment, Found, Go, Peer, Prepare, Table


def _load() -> Prepare:
    from castle.algorithms.ges.ges import GES

    def prepare(table: Table) -> Go:
        def go() -> Found:
            search = GES(criterion="bic", method="scatter")
            search.learn(table.values)
            return from_row_to_column(search.causal_matrix)

        return go

    return prepare


PEERS = (
    Peer(
        name="gcastle",
        environment=Environment("gcastle", ("gcastle", "torch"), "gcastle"),
        method="GES",
        kinds=("gaussian",),
        penalty='`criterion="bic"`, which is twice ours: the same optimum',
        load=_load,
    ),
)
