"""The interface of a peer, for adapters: what it is given, and what it returns.

Adapters run under the interpreter of the peer's own environment, so this file and those beside
them in ``adapters/`` import nothing but NumPy and the peer.

A program runs in three stages, which the worker times one by one:

    load()             imports the library, starts what must be started; returns ``prepare``
    prepare(table)     brings the table into the type the library takes, a frame say; returns ``go``
    go()               the search itself, from that type to the edges found: "seconds"
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
    """A virtual environment: what is installed in it, and which package's version is reported."""

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
    """None is the environment that the study itself runs in: ours."""
    method: str
    kinds: tuple[Kind, ...]
    penalty: str
    """How it is set to the textbook BIC, ½ log m per parameter."""
    load: "Load"
    warmups: int = 1
    """Runs on a small table before the clock starts: a JVM needs more than one."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The data: one row per record; float64, or level numbers that all occur."""

    kind: Kind
    values: NDArray[np.float64] | NDArray[np.int64]
    arities: tuple[int, ...] = ()
    max_parents: int = 0
    """The largest number of parents in the truth, for programs that may assume it."""

    @property
    def columns(self) -> list[str]:
        """Names for libraries that ask for them; their order is that of the columns."""
        return [f"x{v}" for v in range(self.values.shape[1])]


@dataclass(frozen=True, slots=True)
class Found:
    """The graph a program returned, as edges between column numbers."""

    directed: tuple[Edge, ...] = ()
    undirected: tuple[Edge, ...] = ()


Go: TypeAlias = Callable[[], Found]
Prepare: TypeAlias = Callable[[Table], Go]
Load: TypeAlias = Callable[[], Prepare]
