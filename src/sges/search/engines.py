"""The compiled engine, and the native forms of scores.

The reference engine (``sges.search.reference``) is the search in plain Python, from scratch at
every step: it is there to be read and to test against.
"""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from sges.errors import MissingLibrary
from sges.nodeset import nodes
from sges.score.discrete import QNML, BDeu, DiscreteBIC, DiscreteScore
from sges.score.gaussian.bge import BGe
from sges.score.gaussian.bic import GaussianBIC, RankBIC
from sges.score.gaussian.mixed import DegenerateGaussian
from sges.score.oracles import GaussianOracle
from sges.score.protocol import EdgePrior, Score
from sges.search.moves import Constraint

try:
    from sges.engine import discrete, gaussian, scores
    from sges.engine.core import Core
except ImportError as error:
    raise MissingLibrary(
        "the compiled engine of sges is missing: install a wheel, or install from source where "
        "there is a C compiler"
    ) from error


class CompiledEngine(Core):
    """The compiled engine; ``sges.search.reference`` documents the interface of its climbs."""


def make_engine(
    score: Score, *, counting: bool, deadline: float | None, constraint: Constraint | None
) -> CompiledEngine:
    """Return an engine for a search with this score."""
    return CompiledEngine(
        score, native_of(score), counting=counting, deadline=deadline, constraint=constraint
    )


# The scores that the compiled engine reads without the interpreter


_MADE: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # a score may be searched many times


def native_of(score: Any) -> Any:  # noqa: ANN401 (any score, and any native one)
    """Return the native form of a score, or None if the engine must call the score in Python.

    A score is native if its class is exactly one of ``MAKERS``, or names one as ``_computed_as``:
    a subclass may compute a different score.
    """
    if type(score) is EdgePrior:
        inner = native_of(score.score)
        return None if inner is None else scores.EdgePrior(inner, score.cost)
    make = MAKERS.get(vars(type(score)).get("_computed_as", type(score)))
    if make is None:
        return None
    native = _MADE.get(score)
    if native is None:
        native = _MADE[score] = make(score)
    return native


def _gaussian_bic(score: GaussianBIC) -> Any:  # noqa: ANN401
    return gaussian.Gaussian(score._correlation, score._half, score._per_parent)


def _bge(score: BGe) -> Any:  # noqa: ANN401
    return gaussian.BGe(
        score._correlation,
        score._spread,
        score._by_size,
        score._freedom,
        score._isolated,
        list(nodes(score._constant)),
    )


def _degenerate_gaussian(score: DegenerateGaussian) -> Any:  # noqa: ANN401
    blocks = score._blocks
    return gaussian.DegenerateGaussian(
        blocks.matrix, blocks.starts, blocks.widths, score._half, score._per_parameter
    )


def _discrete(score: DiscreteScore, make: Callable[..., Any], *setting: float) -> Any:  # noqa: ANN401
    data = score.data
    return make(data.codes, data.arities, data.weights, *setting, data.unit)


MAKERS: dict[type, Callable[[Any], Any]] = {
    GaussianBIC: _gaussian_bic,
    GaussianOracle: _gaussian_bic,
    BGe: _bge,
    DegenerateGaussian: _degenerate_gaussian,
    RankBIC: _gaussian_bic,
    DiscreteBIC: lambda score: _discrete(score, discrete.DiscreteBIC, score.penalty),
    QNML: lambda score: _discrete(score, discrete.QNML),
    BDeu: lambda score: _discrete(score, discrete.BDeu, score.ess),
}
