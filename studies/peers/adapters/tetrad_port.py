"""FGES and BOSS of tetrad_port, Tetrad translated to C++; built from source."""

from collections.abc import Callable
from functools import partial
from typing import Any

from studies.peers.adapters.conventions import frame_of, from_strings
from studies.peers.contract import Environment, Found, Go, Peer, Prepare, Table

# Its build fetches Eigen over the network; this folder takes the headers from a package instead.
_EIGEN = "--config-settings=cmake.define.FETCHCONTENT_SOURCE_DIR_EIGEN={here}/studies/peers/eigen"
_ENVIRONMENT = Environment(
    "tetrad-port", ("tetrad_port", _EIGEN), "tetrad_port", first=("cmeel-eigen",)
)

# BOSS runs with its defaults: with use_bes=True it returned almost complete graphs.


def _fges(port: Any, frame: Any) -> Any:  # noqa: ANN401 (a library without types)
    return port.run_fges(frame, penalty_discount=1.0, faithfulness_assumed=False)


def _boss(port: Any, frame: Any) -> Any:  # noqa: ANN401
    return port.run_boss(frame, penalty_discount=1.0, num_starts=1)


def _load(search: Callable[[Any, Any], Any]) -> Prepare:
    from tetrad_port import TetradPort

    def prepare(table: Table) -> Go:
        frame = frame_of(table)

        def go() -> Found:
            results, _ = search(TetradPort(), frame)
            return from_strings(table.columns, results["edges"])

        return go

    return prepare


PEERS = tuple(
    Peer(
        name=name,
        environment=_ENVIRONMENT,
        method=method,
        kinds=("gaussian",),
        penalty="`penalty_discount=1`",
        load=partial(_load, search),
    )
    for name, method, search in (
        ("tetrad-port-fges", "FGES, faithfulness not assumed", _fges),
        ("tetrad-port-boss", "BOSS without BES, one start", _boss),
    )
)
