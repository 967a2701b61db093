from collections.abc import Iterable, Sequence

from numpy import float32, float64, signedinteger
from numpy.typing import NDArray

from sges.engine.scores import NativeScore

class Gaussian(NativeScore):
    def __init__(
        self, correlation: NDArray[float64 | float32], half: float, per_parent: float
    ) -> None: ...

class BGe(NativeScore):
    def __init__(
        self,
        correlation: NDArray[float64 | float32],
        spread: Sequence[float] | NDArray[float64],
        by_size: Sequence[float] | NDArray[float64],
        freedom: float,
        isolated: float,
        constant: Iterable[int] = ...,
    ) -> None: ...

class DegenerateGaussian(NativeScore):
    def __init__(
        self,
        matrix: NDArray[float64 | float32],
        starts: Iterable[int],
        widths: Sequence[int] | NDArray[signedinteger],
        half: float,
        per_parameter: float,
    ) -> None: ...
