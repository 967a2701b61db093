"""Our own searches: each is one line of ``SEARCHES``."""

from collections.abc import Callable
from functools import partial
from typing import Any

from studies.peers.adapters.conventions import frame_of
from studies.peers.contract import Found, Go, Peer, Prepare, Table

Search = Callable[[Any, Any, Table], Any]
"""A function of the module ``sges.search``, a score and the table, which returns a result."""

SEARCHES: dict[str, tuple[str, Search]] = {
    "sges-ges": ("GES", lambda s, score, _: s.ges(score)),
    "sges-sges": ("SGES, true bound on parents", lambda s, score, t: s.sges(score, _bound(t))),
    "sges-interleaved": (
        "deletes before turns before inserts",
        lambda s, score, _: s.interleaved(score),
    ),
    "sges-turning": (
        "GES, then turns, repeated",
        lambda s, score, _: s.search(score, strategy="turning"),
    ),
    "sges-conservative": (
        "interleaved, independent pairs last",
        lambda s, score, _: s.search(score, strategy="conservative"),
    ),
    "sges-extended": (
        "the default of `learn`: two starts, then forced deletes",
        lambda s, score, _: s.search(score, strategy="extended"),
    ),
    "sges-order": ("a best order, then BES", lambda s, score, _: s.sges(score, forward="order")),
    "sges-order-extended": (
        "a best order, then extended",
        lambda s, score, _: s.search(score, strategy="extended", forward="order"),
    ),
}


def _bound(table: Table) -> Any:  # noqa: ANN401 (imported only where it is run)
    from sges.properties import MaxParents

    return MaxParents(max(table.max_parents, 1))


def _load(search: Search) -> Prepare:
    from sges import search as searches
    from sges.data import Dataset
    from sges.score import DiscreteBIC, GaussianBIC

    def prepare(table: Table) -> Go:
        if table.kind == "gaussian":
            return lambda: _found(search(searches, GaussianBIC(table.values), table))
        data = Dataset.of(table.values, kinds="discrete")
        return lambda: _found(search(searches, DiscreteBIC(data), table))

    return prepare


def _found(result: Any) -> Found:  # noqa: ANN401
    graph = result.cpdag
    return Found(tuple(graph.directed_edges()), tuple(graph.undirected_edges()))


PEERS = tuple(
    Peer(
        name=name,
        environment=None,
        method=method,
        kinds=("gaussian", "discrete"),
        penalty="`penalty=1.0` (default)",
        load=partial(_load, search),
    )
    for name, (method, search) in SEARCHES.items()
)


def _learn() -> Prepare:
    from sges import learn

    def prepare(table: Table) -> Go:
        frame = frame_of(table, labels=True)
        return lambda: _found(learn(frame))

    return prepare


DOCUMENTED = (
    Peer(
        name="sges.learn",
        environment=None,
        method="the default",
        kinds=("gaussian", "discrete"),
        penalty="`learn(frame)`",
        load=_learn,
    ),
)
