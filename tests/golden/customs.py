"""Scores and properties as a user may write them, with only the required methods."""

from functools import cache
from itertools import combinations
from math import log

import numpy as np

from golden.tables import Floats
from sges import PDAG
from sges.score import Score


class LocalOnly:
    """A wrapper of another score that has only the method ``local``."""

    def __init__(self, score: Score) -> None:
        self.n = score.n
        self._score = score

    def local(self, y: int, parents: int, /) -> float:
        """Return the value of the other score."""
        return self._score.local(y, parents)


class Regression:
    """A Gaussian likelihood by least squares, with a penalty for each parent."""

    def __init__(self, data: Floats, price: float | None = None) -> None:
        self._data = (data - data.mean(axis=0)) / data.std(axis=0)
        self._rows = len(data)
        self.n: int = data.shape[1]
        self._price = log(self._rows) / 2 if price is None else price
        self.local = cache(self._local)

    def _local(self, y: int, parents: int, /) -> float:
        chosen = [v for v in range(self.n) if parents >> v & 1]
        left: Floats = self._data[:, y]
        if chosen:
            given = self._data[:, chosen]
            left = left - given @ np.linalg.lstsq(given, left, rcond=None)[0]
        fit = -self._rows / 2 * log(float((left**2).mean()))
        return fit - self._price * len(chosen)


class WholeNumbers:
    """A score of small integers, with many exact ties between operators.

    It is f(parents ∪ y) − f(parents) for a function of sets, and so score equivalent; f is the sum
    of a number for each pair and each triple in the set.
    """

    def __init__(self, n: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.n = n
        self._pairs = {pair: int(rng.random() * 9) - 4 for pair in combinations(range(n), 2)}
        self._triples = {three: int(rng.random() * 5) - 3 for three in combinations(range(n), 3)}

    def local(self, y: int, parents: int, /) -> float:
        """Return the sum over the pairs and triples of y and its parents that contain y."""
        chosen = [v for v in range(self.n) if parents >> v & 1]
        pairs = (self._pairs[min(x, y), max(x, y)] for x in chosen)
        triples = (self._triples[a, b, c] for a, b, c in self._with(y, chosen))
        return float(sum(pairs) + sum(triples))

    @staticmethod
    def _with(y: int, chosen: list[int]) -> list[tuple[int, int, int]]:
        found = []
        for a, b in combinations(chosen, 2):
            low, middle, high = sorted((a, b, y))
            found.append((low, middle, high))
        return found


class Lopsided(LocalOnly):
    """A score that is not score equivalent: edges cost more in one direction."""

    def local(self, y: int, parents: int, /) -> float:
        """Return the other score minus one half for each parent that is a later column."""
        return super().local(y, parents) - 0.5 * (parents >> y).bit_count()


class MaxDegree:
    """A custom property without bounds: no node is adjacent to more than k others."""

    def __init__(self, k: int) -> None:
        self.k = k

    def holds(self, graph: PDAG, /) -> bool:
        """Return whether the property holds."""
        return all(row.bit_count() <= self.k for row in graph.skeleton())


class Forest:
    """A custom property without bounds: the skeleton has no cycle."""

    def holds(self, graph: PDAG, /) -> bool:
        """Return whether the property holds."""
        root = list(range(graph.n))

        def find(v: int) -> int:
            while root[v] != v:
                v = root[v]
            return v

        for x, y in [*graph.directed_edges(), *graph.undirected_edges()]:
            a, b = find(x), find(y)
            if a == b:
                return False
            root[a] = b
        return True
