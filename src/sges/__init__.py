"""Selective Greedy Equivalence Search: learn the equivalence class of a Bayesian network.

An implementation of Chickering & Meek, "Selective Greedy Equivalence Search: Finding Optimal
Bayesian Networks Using a Polynomial Number of Score Evaluations" (UAI 2015).
``docs/paper-map.md`` lists where each definition, figure and theorem of the paper is implemented.

Apart from graphs and properties, names and modules such as ``sges.score`` are imported when they
are first used, so that ``import sges`` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sges.graph import PDAG
from sges.properties import MaxClique, MaxParents, MaxTreewidth, MaxVStructures, MaxVWidth

if TYPE_CHECKING:
    from sges import examples as examples
    from sges.data import Dataset as Dataset
    from sges.estimator import GES as GES
    from sges.estimator import SGES as SGES
    from sges.estimator import StructureLearner as StructureLearner
    from sges.knowledge import Knowledge as Knowledge
    from sges.learning import learn as learn
    from sges.network import BayesianNetwork as BayesianNetwork
    from sges.result import Result as Result
    from sges.search import Strategy as Strategy
    from sges.tools.export import read_graph as read_graph
    from sges.tools.inspect import inspect as inspect
    from sges.tools.metrics import compare as compare
    from sges.tools.report import read_result as read_result
    from sges.uncertainty import Confidence as Confidence
    from sges.uncertainty import EdgeConfidence as EdgeConfidence
    from sges.uncertainty import confidence as confidence

__version__ = "0.1.0"

_HOMES = {
    "BayesianNetwork": "sges.network",
    "Confidence": "sges.uncertainty",
    "Dataset": "sges.data",
    "EdgeConfidence": "sges.uncertainty",
    "GES": "sges.estimator",
    "Knowledge": "sges.knowledge",
    "Result": "sges.result",
    "SGES": "sges.estimator",
    "Strategy": "sges.search",
    "StructureLearner": "sges.estimator",
    "compare": "sges.tools.metrics",
    "confidence": "sges.uncertainty",
    "inspect": "sges.tools.inspect",
    "learn": "sges.learning",
    "read_graph": "sges.tools.export",
    "read_result": "sges.tools.report",
}

__all__ = [
    "PDAG",
    "MaxClique",
    "MaxParents",
    "MaxTreewidth",
    "MaxVStructures",
    "MaxVWidth",
    "__version__",
    "examples",
]
__all__ += list(_HOMES)


def __getattr__(name: str) -> Any:  # noqa: ANN401 (any of the names above)
    if name in _HOMES:
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value
    missing = AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name.startswith("_"):
        raise missing
    try:
        return import_module(f"{__name__}.{name}")  # such as sges.score
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
        raise missing from None


def __dir__() -> list[str]:
    modules = ("data", "graph", "network", "operators", "score", "search", "tools", "uncertainty")
    return sorted({*__all__, *modules})
