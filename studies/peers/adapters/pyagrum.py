"""Greedy hill climbing of pyAgrum."""

from typing import Any

from studies.peers.adapters.conventions import frame_of
from studies.peers.contract import Environment, Found, Go, Peer, Prepare, Table


def _load() -> Prepare:
    import pyagrum as gum

    def prepare(table: Table) -> Go:
        make: Any = gum.BNLearner
        learner = make(frame_of(table, labels=True))
        learner.setNumberOfThreads(1)
        learner.useNoPrior()
        learner.useScoreBIC()
        learner.useGreedyHillClimbing()
        return lambda: _arcs(learner, table)

    return prepare


def _arcs(learner: Any, table: Table) -> Found:  # noqa: ANN401 (a library without types)
    column = {learner.idFromName(name): v for v, name in enumerate(table.columns)}
    return Found(tuple(sorted((column[x], column[y]) for x, y in learner.learnDAG().arcs())))


PEERS = (
    Peer(
        name="pyagrum-hc",
        environment=Environment("pyagrum", ("pyagrum", "pandas"), "pyagrum"),
        method="hill climbing",
        kinds=("discrete",),
        penalty="`useScoreBIC()` with `useNoPrior()`",
        load=_load,
    ),
)
