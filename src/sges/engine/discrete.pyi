from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from sges.engine.scores import NativeScore

class DiscreteScore(NativeScore):
    in_vectors: bool
    @property
    def records(self) -> int: ...

class DiscreteBIC(DiscreteScore):
    def __init__(
        self,
        codes: NDArray[Any],
        arities: Sequence[int] | NDArray[Any],
        weights: NDArray[Any] | None = ...,
        penalty: float = ...,
        unit: float = ...,
    ) -> None: ...

class QNML(DiscreteScore):
    def __init__(
        self,
        codes: NDArray[Any],
        arities: Sequence[int] | NDArray[Any],
        weights: NDArray[Any] | None = ...,
        unit: float = ...,
    ) -> None: ...

class BDeu(DiscreteScore):
    def __init__(
        self,
        codes: NDArray[Any],
        arities: Sequence[int] | NDArray[Any],
        weights: NDArray[Any] | None = ...,
        ess: float = ...,
        unit: float = ...,
    ) -> None: ...
