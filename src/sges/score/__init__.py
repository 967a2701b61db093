"""Scores: the value of a family of variables, computed from data or from an oracle."""

from sges.score.conformance import check_score
from sges.score.discrete import QNML, BDeu, DiscreteBIC
from sges.score.gaussian.bge import BGe
from sges.score.gaussian.bic import GaussianBIC, RankBIC
from sges.score.gaussian.mixed import BasisBIC, DegenerateGaussian
from sges.score.oracles import GaussianOracle, OracleMDL, SeparationOracle
from sges.score.protocol import (
    CountingScore,
    EdgePrior,
    Score,
    delete_gains,
    insert_gains,
    total_score,
)

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
