"""The compiled engine: scores and the search.

Kept by hand, because it says more than what nanobind generates; a test compares the two.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Bits = bytes  # because Engine has a member of that name
# Of y, its parents and candidates, or parents that may go: a gain for each of these.
Gains = Callable[[int, list[int], list[int]], Sequence[float]]
# Where the edges of each node lead to and come from, as rows of bits, and the bytes of each row.
Rows = tuple[Bits, Bits, int]
# Its phase, kind, x, y, set and gain, and the score and the number of edges after it.
Step = tuple[int, int, int, int, list[int], float, float, int]

class Score:
    @property
    def n(self) -> int: ...
    def clone(self) -> Score: ...
    def insert_gains(
        self, y: int, base: Sequence[int], worth: float = float("-inf"), also: Sequence[int] = []
    ) -> tuple[dict[int, float], list[float]]: ...
    def delete_gains(self, y: int, base: Sequence[int]) -> list[float]: ...
    def family(self, y: int, base: Sequence[int]) -> float: ...

def gaussian(
    correlation: NDArray[np.float64] | NDArray[np.float32], half: float, per_parent: float
) -> Score: ...
def bge(
    correlation: NDArray[np.float64] | NDArray[np.float32],
    spread: NDArray[np.float64],
    by_size: NDArray[np.float64],
    freedom: float,
    isolated: float,
    constant: Sequence[int],
) -> Score: ...
def blocks(
    matrix: NDArray[np.float64] | NDArray[np.float32],
    widths: Sequence[int],
    half: float,
    per_parameter: float,
) -> Score: ...
def discrete(
    kind: str,
    columns: list[NDArray[np.uint8] | NDArray[np.uint32]],
    levels: Sequence[int],
    arities: NDArray[np.float64],
    weights: NDArray[np.int64] | None,
    blocks: list[NDArray[np.uint8]],
    lanes: NDArray[np.int32],
    kinds: NDArray[np.int32],
    depth: NDArray[np.int32],
    alone: NDArray[np.int32],
    kind_of: NDArray[np.int32],
    kind_arities: NDArray[np.float64],
    setting: float,
    records: float,
    unit: float,
    regrets: NDArray[np.float64],
    in_vectors: bool = True,
) -> Score: ...
def number_rows(
    columns: list[NDArray[np.uint8] | NDArray[np.uint32]], levels: Sequence[int]
) -> NDArray[np.uint32]: ...
def in_python(
    n: int, inserts: Gains, deletes: Gains, family: Callable[[int, list[int]], float]
) -> Score: ...

class Rules:
    def __init__(
        self,
        *,
        inserts: int = 0,
        largest_t: int = 0,
        deletes: bool = False,
        turns: bool = False,
        clique_bound: int = -1,
        size_bound: int = -1,
        block_bound: int = -1,
        drop_large: bool = False,
        max_indegree: int = -1,
        sets_per_clique: int = -1,
    ) -> None: ...

class Policy:
    def __init__(
        self,
        *,
        rules: Rules,
        orders: bool,
        shuffles: bool,
        escapes: bool,
        is_bounded: bool,
        patience: float,
        climb: int,
        order: int,
        escape: int,
    ) -> None: ...

class Mark:
    pass

class Engine:
    def __init__(
        self,
        score: Score,
        *,
        cost: float = 0.0,
        block: Sequence[int] = [],
        candidates: Sequence[Sequence[int]] | None = None,
        counting: bool = False,
        limit: int = 268435456,
    ) -> None: ...
    @property
    def n(self) -> int: ...
    @property
    def total(self) -> float: ...
    @property
    def edge_count(self) -> int: ...
    @property
    def step_count(self) -> int: ...
    @property
    def tolerance(self) -> float: ...
    @property
    def considered(self) -> int: ...
    @property
    def work(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def came_back(self) -> bool: ...
    @property
    def counted(self) -> int | None: ...
    @property
    def capped_nodes(self) -> list[int]: ...
    @property
    def capped(self) -> int | None: ...
    @capped.setter
    def capped(self, arg: int | None, /) -> None: ...
    @property
    def why_stopped(self) -> int: ...
    @why_stopped.setter
    def why_stopped(self, arg: int, /) -> None: ...
    @property
    def on_tick(self) -> Callable[[], object] | None: ...
    @on_tick.setter
    def on_tick(self, arg: Callable[[], object] | None, /) -> None: ...
    @property
    def on_explosion(self) -> Callable[[int, int], object] | None: ...
    @on_explosion.setter
    def on_explosion(self, arg: Callable[[int, int], object] | None, /) -> None: ...
    def set_deadline(self, seconds: float | None) -> None: ...
    def set_memory_limit(self, bytes: int) -> None: ...
    def halt(self) -> None: ...
    def set_report(self, report: Callable[[int], object] | None) -> None: ...
    def set_filter(self, filter: Callable[[int, int, list[int]], bool] | None) -> None: ...
    def set_knowledge(
        self,
        rows: tuple[Bits, Bits, Bits] | None,
        judge: Callable[[], bool] | None = None,
        member: Callable[[list[int]], list[list[int]]] | None = None,
    ) -> None: ...
    def start(self, edges: Sequence[tuple[int, int, int]], total: float) -> None: ...
    def climb(
        self,
        rules: Rules,
        phase: int = 0,
        bar_x: int = -1,
        bar_y: int = -1,
        patience: float = 0.0,
        aim: float = 0.0,
        most: int = -1,
    ) -> bool: ...
    def improve(self, policy: Policy) -> tuple[int, int, int, int, bool, bool]: ...
    def go_to_best_order(self, policy: Policy) -> None: ...
    def rank(self) -> list[int]: ...
    def apply(
        self, kind: int, x: int, y: int, set: Sequence[int], gain: float, phase: int = 0
    ) -> None: ...
    def admits(self, kind: int, x: int, y: int, set: Sequence[int]) -> bool: ...
    def peek(self, kind: int, x: int, y: int, set: Sequence[int]) -> Rows: ...
    def rows(self) -> Rows: ...
    def edges(self) -> list[tuple[int, int, int]]: ...
    def steps(self, from_step: int = 0) -> list[Step]: ...
    def mark(self) -> Mark: ...
    def rewind(self, mark: Mark) -> None: ...
    def member(self) -> list[list[int]]: ...
    def family(self, y: int, parents: Sequence[int]) -> float: ...
    def count_family(self, y: int, parents: Sequence[int]) -> None: ...
