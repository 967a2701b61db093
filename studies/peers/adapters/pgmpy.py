"""GES and hill climbing of pgmpy."""

from collections.abc import Callable
from functools import partial

from studies.peers.adapters.conventions import frame_of, from_names
from studies.peers.contract import Environment, Found, Go, Peer, Prepare, Table

_ENVIRONMENT = Environment("pgmpy", ("pgmpy",), "pgmpy")
_SCORES = {"gaussian": "bic-g", "discrete": "bic-d"}


def _ges(table: Table) -> Go:
    from pgmpy.causal_discovery import GES

    frame = frame_of(table)

    def go() -> Found:
        graph = GES(scoring_method=_SCORES[table.kind]).fit(frame).causal_graph_
        return from_names(table.columns, graph.directed_edges, graph.undirected_edges)

    return go


def _hill_climbing(table: Table) -> Go:
    from pgmpy.causal_discovery import HillClimbSearch

    frame = frame_of(table)

    def go() -> Found:
        search = HillClimbSearch(
            scoring_method=_SCORES[table.kind], return_type="dag", show_progress=False
        )
        return from_names(table.columns, search.fit(frame).causal_graph_.edges())

    return go


def _load(prepare: Callable[[Table], Go]) -> Prepare:
    import pgmpy.causal_discovery  # noqa: F401 (this is the import that is timed)

    return prepare


PEERS = (
    Peer(
        name="pgmpy-ges",
        environment=_ENVIRONMENT,
        method="GES with turning",
        kinds=("gaussian", "discrete"),
        penalty='`scoring_method="bic-g"` or `"bic-d"`',
        load=partial(_load, _ges),
    ),
    Peer(
        name="pgmpy-hc",
        environment=_ENVIRONMENT,
        method="hill climbing with a tabu list",
        kinds=("gaussian", "discrete"),
        penalty='`scoring_method="bic-g"` or `"bic-d"`',
        load=partial(_load, _hill_climbing),
    ),
)


def _documented() -> Prepare:
    from pgmpy.causal_discovery import HillClimbSearch

    def prepare(table: Table) -> Go:
        frame = frame_of(table, labels=True)

        def go() -> Found:
            graph = HillClimbSearch(show_progress=False).fit(frame).causal_graph_
            return from_names(table.columns, graph.directed_edges, graph.undirected_edges)

        return go

    return prepare


DOCUMENTED = (
    Peer(
        name="pgmpy.HillClimbSearch",
        environment=_ENVIRONMENT,
        method="hill climbing with a tabu list",
        kinds=("gaussian", "discrete"),
        penalty="`HillClimbSearch(show_progress=False).fit(frame)`",
        load=_documented,
    ),
)
