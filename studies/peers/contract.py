"""The interface between the study and the adapters of the peers.

Adapters run under the interpreter of the peer's own environment, so this file and those beside
them in ``adapters/`` import nothing but NumPy and the peer.

A program runs in three stages, which the worker times one by one:

    load()             imports and starts the library; returns ``prepare``
    prepare(table)     converts the table to the type of the library; returns ``go``
    go()               runs the search and returns the edges found; its time is "seconds"
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Kind: TypeAlias = Literal["gaussian", "discrete"]
Edge: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment: the packages to install, and the one whose version is reported."""

    name: str
    install: tuple[str, ...]
    package: str
    first: tuple[str, ...] = ()
    """Arguments of a first pip call: packages without dependencies, or needed to build the rest."""


@dataclass(frozen=True, slots=True)
class Peer:
    """One program: a row in every table."""

    name: str
    environment: Environment | None
    """None is the environment of the study itself, for our programs."""
    method: str
    kinds: tuple[Kind, ...]
    penalty: str
    """How the program is set to the textbook BIC, ½ log m per parameter; or how it is called, if
    that is as its documentation says."""
    load: "Load"
    warmups: int = 1
    """Runs on a small table before the time is measured: a JVM needs more than one."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The data, one row per record: float64, or level numbers, all of which occur, or text."""

    kind: Kind
    values: NDArray[np.float64] | NDArray[np.int64] | NDArray[np.str_]
    arities: tuple[int, ...] = ()
    max_parents: int = 0
    """The largest number of parents in the truth, for programs that may assume it."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order, for libraries that need names."""
        return [f"x{v}" for v in range(self.values.shape[1])]


@dataclass(frozen=True, slots=True)
class Found:
    """The graph a program returned, as edges between column numbers."""

    directed: tuple[Edge, ...] = ()
    undirected: tuple[Edge, ...] = ()


Go: TypeAlias = Callable[[], Found]
Prepare: TypeAlias = Callable[[Table], Go]
Load: TypeAlias = Callable[[], Prepare]
