"""Scores: the value of a family of variables, computed from data or from an oracle.

``BasisBIC`` is a tool, imported when it is first used.
"""

from typing import TYPE_CHECKING, Any

from sges.score.conformance import check_score
from sges.score.discrete import QNML, BDeu, DiscreteBIC
from sges.score.gaussian.bge import BGe
from sges.score.gaussian.bic import GaussianBIC, RankBIC
from sges.score.gaussian.mixed import DegenerateGaussian
from sges.score.oracles import GaussianOracle, OracleMDL, SeparationOracle
from sges.score.protocol import (
    CountingScore,
    EdgePrior,
    Score,
    delete_gains,
    insert_gains,
    total_score,
)
from sges.toolbox import tool

if TYPE_CHECKING:
    from sges.tools.curved.score import BasisBIC as BasisBIC

__all__ = [
    "QNML",
    "BDeu",
    "BGe",
    "BasisBIC",
    "CountingScore",
    "DegenerateGaussian",
    "DiscreteBIC",
    "EdgePrior",
    "GaussianBIC",
    "GaussianOracle",
    "OracleMDL",
    "RankBIC",
    "Score",
    "SeparationOracle",
    "check_score",
    "delete_gains",
    "insert_gains",
    "total_score",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 (any of these tools)
    if name == "BasisBIC":
        return tool(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
