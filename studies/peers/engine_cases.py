"""What the engine study measures: the data, the searches, and the speed-up that is wanted."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from studies.peers.contract import Table
from studies.peers.problems import make_problem
from studies.peers.suite import NETWORKS, Spec
from studies.peers.worker import write_table

Values: TypeAlias = NDArray[np.float64]
Sort: TypeAlias = Literal["suite", "covariance", "sparse"]
"""A data set of the suite, a population covariance, or a table too wide for the suite."""


@dataclass(frozen=True, slots=True)
class Data:
    """A data set, apart from its seed."""

    spec: Spec
    sort: Sort = "suite"

    def write(self, seed: int, folder: Path) -> Path:
        """Write the table, unless it is there already, and return where it is."""
        path = folder / f"{self.sort}-{self.spec.name}-{seed}.npz"
        if not path.exists():
            write_table(self._table(seed), path)
        return path

    def _table(self, seed: int) -> Table:
        if self.sort == "sparse":
            return Table("gaussian", sparse_gaussian(self.spec.d, self.spec.rows, seed))
        if self.sort == "covariance":
            return Table("gaussian", population_covariance(self.spec.d, seed))
        return make_problem(self.spec, seed).table


def sparse_gaussian(d: int, rows: int, seed: int) -> Values:
    """Return records of a random DAG with d edges; the pairs are drawn, not chosen from all."""
    rng = np.random.default_rng([seed, d])
    edges: set[tuple[int, int]] = set()
    while len(edges) < d:
        low, high = sorted(rng.integers(d, size=2).tolist())
        if low < high:
            edges.add((low, high))
    values = rng.normal(size=(d, rows))
    for x, y in sorted(edges, key=lambda edge: edge[1]):  # parents are complete before children
        values[y] += rng.choice([-1.0, 1.0]) * rng.uniform(0.5, 2.0) * values[x]
    values /= values.std(axis=1, keepdims=True)
    return np.ascontiguousarray(values[rng.permutation(d)].T)


def population_covariance(d: int, seed: int) -> Values:
    """Return the covariance of a linear Gaussian model in which no node has over two parents."""
    rng = np.random.default_rng([seed, d])
    weights, order = np.zeros((d, d)), rng.permutation(d)
    for place in range(1, d):
        parents = order[rng.choice(place, size=min(place, int(rng.integers(3))), replace=False)]
        sign = rng.choice([-1.0, 1.0], len(parents))
        weights[parents, order[place]] = sign * rng.uniform(0.5, 2.0, len(parents))
    effects = np.linalg.inv(np.eye(d) - weights)
    covariance: Values = effects.T @ effects
    return covariance


@dataclass(frozen=True, slots=True)
class Case:
    """One measurement: a search on a data set, and the ratio that is wanted of it."""

    group: str
    what: str
    data: Data
    do: str
    options: dict[str, Any] = field(default_factory=dict)
    target: float | None = None
    seeds: int = 1
    busy: bool = False
    """Whether threads are not limited while another process keeps a core busy."""

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.data.spec.d

    @property
    def wall(self) -> bool:
        """Whether it is timed by the clock on the wall: where there are several threads."""
        return self.busy or self.group in ("threads", "growth")


def er(d: int, edges: int = 2, rows: int = 10_000) -> Data:
    """Return linear Gaussian data over an Erdős–Rényi graph."""
    return Data(Spec("er", d, rows, edges))


def network(name: str) -> Data:
    """Return records of a reference network."""
    return Data(Spec("network", NETWORKS[name], 5_000, network=name))


SIZES = (25, 50, 100, 200, 500, 1000, 2000)
QUICK = 50
"""No more variables than this with ``--quick``."""


def all_cases(*, quick: bool = False, large: bool = False) -> list[Case]:
    """Return what is measured; quick is small data only, large adds what takes many minutes."""
    cases = [*_gaussian(), *_complete(quick), *_discrete(), *_python(), *_busy(), *_several()]
    cases += [*_floors(quick), *_growth(large)]
    return [case for case in cases if case.n <= QUICK] if quick else cases


def _gaussian() -> Iterator[Case]:
    for strategy, largest, target in (
        ("two-phase", 2000, 8.0),
        ("interleaved", 2000, 10.0),
        ("extended", 500, 8.0),
    ):
        for d in SIZES:
            if d <= largest:
                yield _search("2d edges", er(d), strategy, target)
    for strategy, target in (("two-phase", 4.0), ("interleaved", 5.0), ("extended", 5.0)):
        for d in (50, 100, 200):
            yield _search("4d edges", er(d, 4), strategy, target)
    for d in SIZES[:5]:
        options = {"strategy": "interleaved"}
        yield Case("learn", "interleaved", er(d), "learn", options, 5.0, _seeds(d))


def _search(group: str, data: Data, strategy: str, target: float) -> Case:
    options = {"strategy": strategy}
    return Case(group, strategy, data, "search", options, target, _seeds(data.spec.d))


def _seeds(d: int) -> int:
    return 3 if d <= 200 else 1


def _complete(quick: bool) -> Iterator[Case]:
    data = Data(Spec("er", 12 if quick else 50, 10_000, 1), "covariance")
    what = "from the complete graph, MaxParents(2)"
    yield Case("complete", what, data, "complete", {"parents": 2}, 8.0)


def _discrete() -> Iterator[Case]:
    for strategy, names, target in (
        ("two-phase", ("asia", "sachs", "child"), 2.5),
        ("extended", ("asia", "sachs", "child", "insurance", "alarm", "hailfinder"), 4.0),
    ):
        for name in names:
            options = {"strategy": strategy, "score": "discrete-bic", "kinds": "discrete"}
            what = f"{strategy}, {name}"
            yield Case("discrete", what, network(name), "learn", options, target, 3)


def _python() -> Iterator[Case]:
    """Yield what must still ask Python: it must not be slower than before."""
    make = partial(Case, "python", target=1.0)
    for strategy in ("two-phase", "interleaved", "extended"):
        for d in (10, 25, 50) if strategy != "extended" else (10, 25):
            what = f"custom score, {strategy}"
            yield make(what, er(d), "custom", {"strategy": strategy})
    for d in (10, 25, 50):
        for strategy in ("two-phase", "interleaved"):
            bound: dict[str, Any] = {"parents": 3, "strategy": strategy}
            yield make(f"exact, {strategy}", er(d), "assuming", {**bound, "exact": True})
            yield make(f"no bounds, {strategy}", er(d), "assuming", {**bound, "bounds": False})
            yield make(f"drop_large, {strategy}", er(d), "assuming", {**bound, "drop_large": True})


def _busy() -> Iterator[Case]:
    for d in (25, 50, 100):
        for strategy in ("two-phase", "interleaved"):
            options = {"strategy": strategy, "score": "bge"}
            yield Case("busy", f"BGe, {strategy}", er(d), "learn", options, 1.0, busy=True)
            if d <= 50:  # beyond, the predecessor's threads wait for each other for minutes
                what, given = f"mixed, {strategy}", {"strategy": strategy}
                yield Case("busy", what, er(d), "mixed", given, 1.0, busy=True)


def _several() -> Iterator[Case]:
    for d in (50, 200):
        for what, at_once in (("eight in turn", False), ("eight threads", True)):
            options = {"strategy": "interleaved", "at_once": at_once}
            yield Case("threads", what, er(d), "several", options)


def _floors(quick: bool) -> Iterator[Case]:
    sizes = {"two-phase": (500, 1000), "interleaved": (500, 1000), "extended": (100,)}
    for strategy, given in sizes.items():
        for d in (QUICK,) if quick else given:
            yield Case("floor", strategy, er(d), "floor", {"strategy": strategy})


def _growth(large: bool) -> Iterator[Case]:
    for strategy in ("two-phase", "interleaved"):
        for d in (1000, 2000, 5000):
            if d <= 2000 or large:
                data = Data(Spec("er", d, 10_000, 1), "sparse")
                yield Case(
                    "growth", f"{strategy}, 10,000 rows", data, "learn", {"strategy": strategy}
                )
        for d in (5000, 10_000, 20_000) if large else ():
            data = Data(Spec("er", d, 1_000, 1), "sparse")
            options = {"strategy": strategy, "penalty": "rule"}
            yield Case("growth", f"{strategy}, 1,000 rows", data, "learn", options)
        for d in (10_000, 20_000, 50_000) if large else ():
            data = Data(Spec("er", d, 1_000, 1), "sparse")
            what = f"{strategy}, 1,000 rows, float32"
            yield Case("growth", what, data, "single", {"strategy": strategy})
