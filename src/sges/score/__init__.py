"""Scores: what a family is worth, from data or from an oracle.

Each name is imported when it is first used, so that a discrete search never loads what only
Gaussian scores need.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sges.score.base import Score as Score
    from sges.score.base import delete_gains as delete_gains
    from sges.score.base import insert_gains as insert_gains
    from sges.score.base import total_score as total_score
    from sges.score.bge import BGe as BGe
    from sges.score.cache import CountingScore as CountingScore
    from sges.score.conformance import check_score as check_score
    from sges.score.discrete import BDeu as BDeu
    from sges.score.discrete import DiscreteBIC as DiscreteBIC
    from sges.score.gaussian import GaussianBIC as GaussianBIC
    from sges.score.mixed import DegenerateGaussian as DegenerateGaussian
    from sges.score.oracle import GaussianOracle as GaussianOracle
    from sges.score.oracle import OracleMDL as OracleMDL
    from sges.score.oracle import SeparationOracle as SeparationOracle

_HOMES = {
    "BDeu": "discrete",
    "BGe": "bge",
    "CountingScore": "cache",
    "DegenerateGaussian": "mixed",
    "DiscreteBIC": "discrete",
    "GaussianBIC": "gaussian",
    "GaussianOracle": "oracle",
    "OracleMDL": "oracle",
    "Score": "base",
    "SeparationOracle": "oracle",
    "check_score": "conformance",
    "delete_gains": "base",
    "insert_gains": "base",
    "total_score": "base",
}

__all__ = [
    "BDeu",
    "BGe",
    "CountingScore",
    "DegenerateGaussian",
    "DiscreteBIC",
    "GaussianBIC",
    "GaussianOracle",
    "OracleMDL",
    "Score",
    "SeparationOracle",
    "check_score",
    "delete_gains",
    "insert_gains",
    "total_score",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 (any of the names above)
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
