from collections.abc import Iterable, Sequence

from numpy import float32, float64
from numpy.typing import NDArray

class NativeScore:
    @property
    def n(self) -> int: ...
    def insert_gains(
        self, y: int, base: Sequence[int], worth: float = ..., also: Sequence[int] = ...
    ) -> tuple[dict[int, float], list[float]]: ...
    def delete_gains(self, y: int, base: Sequence[int]) -> list[float]: ...

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
        widths: Sequence[int],
        half: float,
        per_parameter: float,
    ) -> None: ...

def ask_one_run(
    score: NativeScore, questions: Iterable[tuple[str, int, Sequence[int]]]
) -> list[list[float]]: ...
