"""Example data that come with the package, and the networks they were sampled from.

The samples are made by ``scripts/make_examples.py``, and a test checks that they are up to date.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sges.errors import check_word
from sges.graph.equivalence import dag_to_cpdag
from sges.graph.pdag import PDAG
from sges.network import BayesianNetwork, LinearGaussian
from sges.toolbox import tool

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Example", "asia", "greenhouse", "load"]

ASIA: dict[str, tuple[tuple[str, ...], tuple[float, ...]]] = {
    "asia": ((), (0.01,)),
    "tub": (("asia",), (0.01, 0.05)),
    "smoke": ((), (0.5,)),
    "lung": (("smoke",), (0.01, 0.1)),
    "bronc": (("smoke",), (0.3, 0.6)),
    "either": (("tub", "lung"), (0.0, 1.0, 1.0, 1.0)),
    "xray": (("either",), (0.05, 0.98)),
    "dysp": (("bronc", "either"), (0.1, 0.7, 0.8, 0.9)),
}
"""The parents of each variable, and the probability of "yes" for each of their configurations.

"no" comes before "yes", and the last parent changes fastest: for dysp (no bronc, not either),
(no bronc, either), (bronc, not either), both.
"""


@cache
def asia() -> BayesianNetwork:
    """Return ASIA, the chest clinic of Lauritzen & Spiegelhalter (1988).

    A visit to Asia raises the risk of tuberculosis, smoking that of lung cancer and bronchitis.
    ``either`` is tuberculosis or cancer; the x-ray cannot tell which.  Shortness of breath
    (``dysp``) is caused by either of them, and by bronchitis.

    Returns
    -------
    BayesianNetwork
        The network with its published parameters; the levels are "no" and "yes".

    References
    ----------
    Lauritzen, S. L. & Spiegelhalter, D. J. (1988). Local computations with probabilities on
    graphical structures and their application to expert systems. Journal of the Royal
    Statistical Society B 50, 157-224.

    Examples
    --------
    >>> network = asia()
    >>> network
    BayesianNetwork(8 variables, 8 edges, 18 parameters)
    >>> [round(float(network.marginal({v})[1]), 4) for v in range(3, 8)]
    [0.055, 0.45, 0.0648, 0.1103, 0.436]
    """
    names = tuple(ASIA)
    edges = [(names.index(p), names.index(v)) for v, (parents, _) in ASIA.items() for p in parents]
    cpts = []  # p(name | parents), one axis per parent and a last one for the variable
    for parents, probabilities in ASIA.values():
        yes = np.array(probabilities).reshape([2] * len(parents))
        cpts.append(np.stack([1 - yes, yes], axis=-1))
    dag = PDAG.from_edges(len(names), edges, names=names)
    return BayesianNetwork(dag, cpts, levels=[("no", "yes")] * len(names))


GREENHOUSE_UNITS = {
    "light": (420.0, 90.0),
    "watering": (6.0, 1.5),
    "nitrogen": (38.0, 7.0),
    "temperature": (24.0, 2.5),
    "soil_moisture": (31.0, 5.0),
    "pests": (12.0, 4.0),
    "chlorophyll": (45.0, 6.0),
    "leaf_area": (820.0, 110.0),
    "photosynthesis": (18.0, 3.0),
    "sugar": (9.5, 1.2),
    "fruit_weight": (140.0, 20.0),
}
"""Mean and standard unit of each variable: µmol, litres, mg/kg, °C, %, insects, SPAD, cm², ..."""

GREENHOUSE_EFFECTS = {
    ("light", "temperature"): 0.8,
    ("temperature", "soil_moisture"): -0.7,
    ("watering", "soil_moisture"): 0.9,
    ("temperature", "pests"): 0.6,
    ("nitrogen", "chlorophyll"): 0.8,
    ("soil_moisture", "leaf_area"): 0.6,
    ("light", "photosynthesis"): 0.6,
    ("chlorophyll", "photosynthesis"): 0.5,
    ("leaf_area", "photosynthesis"): 0.6,
    ("photosynthesis", "sugar"): 0.8,
    ("sugar", "fruit_weight"): 0.7,
    ("pests", "fruit_weight"): -0.6,
}
"""The change of the second variable, in standard units, per unit of the first."""


@cache
def greenhouse() -> LinearGaussian:
    """Return a greenhouse, a linear Gaussian model of our own, in standard units.

    Light warms the house and drives photosynthesis; warmth dries the soil, which watering wets,
    and breeds pests; nitrogen greens the leaves, moisture makes them grow; sugar and pests
    decide what the fruit weighs.  ``GREENHOUSE_UNITS`` turns standard units into those of the
    bundled table, which does not change the graph.

    Returns
    -------
    LinearGaussian
        The model.

    Examples
    --------
    >>> model = greenhouse()
    >>> model.n, model.dag.edge_count()
    (11, 12)
    """
    names = tuple(GREENHOUSE_UNITS)
    edges = [(names.index(cause), names.index(effect)) for cause, effect in GREENHOUSE_EFFECTS]
    weights = np.zeros((len(names), len(names)))
    for edge, size in zip(edges, GREENHOUSE_EFFECTS.values(), strict=True):
        weights[edge] = size
    dag = PDAG.from_edges(len(names), edges, names=names)
    return LinearGaussian(dag, weights, np.full(len(names), 0.5))


_NETWORKS: dict[str, Callable[[], BayesianNetwork | LinearGaussian]] = {
    "asia": asia,
    "greenhouse": greenhouse,
}

NAMES = tuple(_NETWORKS)
"""The names that ``load`` knows."""


@dataclass(frozen=True, eq=False, repr=False)
class Example:
    """A bundled table and the network behind it.

    It is a table itself: ``learn``, ``Dataset.of``, polars and pyarrow, which read Arrow streams,
    take it as it is.

    Parameters
    ----------
    name : str
        The name of the example.
    network : BayesianNetwork or LinearGaussian
        The network from which the table was sampled.
    """

    name: str
    network: BayesianNetwork | LinearGaussian

    @property
    def path(self) -> Path:
        """The CSV file."""
        return Path(__file__).with_name(f"{self.name}.csv")

    @property
    def table(self) -> "pa.Table":
        """The records, as a pyarrow table."""
        import pyarrow.csv

        return pyarrow.csv.read_csv(self.path)

    @property
    def truth(self) -> PDAG:
        """The CPDAG of the network: the part of it that data can determine."""
        return dag_to_cpdag(self.network.dag).named(self.network.names)

    def __repr__(self) -> str:
        table = self.table
        return f"Example({self.name!r}, {table.num_rows:,} rows of {table.num_columns} variables)"

    def _repr_html_(self) -> str:
        names = ", ".join(self.network.names)
        return tool("graph_html")(
            self.truth, f"{self!r}\nvariables: {names}\nAbove: the true class."
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Offer the records to any reader of Arrow streams."""
        return self.table.__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]


def load(name: str) -> Example:
    """Return a bundled example by its name.

    Parameters
    ----------
    name
        ``"asia"`` or ``"greenhouse"``.

    Returns
    -------
    Example
        The table, its path, the network it was sampled from, and the CPDAG of that.

    Raises
    ------
    InvalidArgument
        If there is no example of this name.

    Examples
    --------
    >>> example = load("asia")
    >>> example.table.num_rows, example.truth.edge_count()
    (5000, 8)
    """
    check_word("example", name, NAMES)
    return Example(name, _NETWORKS[name]())
