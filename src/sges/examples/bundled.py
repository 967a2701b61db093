"""The bundled samples, each with the network it was drawn from."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sges.errors import InvalidArgument
from sges.examples.asia import asia
from sges.examples.greenhouse import greenhouse
from sges.graph.equivalence import dag_to_cpdag
from sges.graph.pdag import PDAG
from sges.network import BayesianNetwork, LinearGaussian

if TYPE_CHECKING:
    import pyarrow as pa

_NETWORKS: dict[str, Callable[[], BayesianNetwork | LinearGaussian]] = {
    "asia": asia,
    "greenhouse": greenhouse,
}

NAMES = tuple(_NETWORKS)
"""What ``load`` knows."""


@dataclass(frozen=True, eq=False)
class Example:
    """A bundled table and the network behind it.

    It is itself a table to whatever reads Arrow streams: ``learn``, ``Dataset.of``, polars and
    pyarrow take it as it is.
    """

    name: str
    network: BayesianNetwork | LinearGaussian
    """What the table was sampled from."""

    @property
    def path(self) -> Path:
        """The CSV file."""
        return Path(__file__).with_name(f"{self.name}.csv")

    @property
    def table(self) -> "pa.Table":
        """The records, as a pyarrow table."""
        from sges.data import read_table

        return read_table(self.path)

    @property
    def truth(self) -> PDAG:
        """The CPDAG of the network: all that data can tell of it."""
        return dag_to_cpdag(self.network.dag).named(self.network.names)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Offer the records to any reader of Arrow streams."""
        return self.table.__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]


def load(name: str) -> Example:
    """Return a bundled example by its name.

    >>> example = load("asia")
    >>> example.table.num_rows, example.truth.edge_count()
    (5000, 8)
    """
    if name not in _NETWORKS:
        raise InvalidArgument(f"there is no example {name!r}; there are {', '.join(NAMES)}")
    return Example(name, _NETWORKS[name]())
