"""A search ends even if rounded gains contradict each other."""

import numpy as np
import pytest

from engines import native, started
from sges.nodeset import NodeSet
from sges.score import GaussianBIC
from sges.score.protocol import Candidates, Gains, delete_gains, insert_gains, total_score
from sges.search import STRATEGIES, reference, search
from sges.search.moves import Moves


class Rounded:
    """A score whose batched gains are too high, by a factor and a constant."""

    def __init__(self, score: GaussianBIC, share: float, surplus: float) -> None:
        self.score, self.n = score, score.n
        self.share, self.surplus = share, surplus

    def local(self, y: int, parents: NodeSet) -> float:
        return self.score.local(y, parents)

    def _seen(self, gains: Gains) -> Gains:
        return gains + self.share * np.abs(gains) + self.surplus

    def insert_gains(self, y: int, base: NodeSet, candidates: Candidates) -> Gains:
        return self._seen(insert_gains(self.score, y, base, candidates))

    def delete_gains(self, y: int, base: NodeSet, candidates: Candidates) -> Gains:
        return self._seen(delete_gains(self.score, y, base, candidates))


class Flat:
    """All graphs have the same score, but every insert seems to gain a little."""

    def __init__(self, n: int) -> None:
        self.n = n

    def local(self, _y: int, _parents: NodeSet) -> float:
        return 0.0

    def insert_gains(self, _y: int, _base: NodeSet, candidates: Candidates) -> Gains:
        return np.full(len(candidates), 1e-9)

    delete_gains = insert_gains


def dense(seed: int) -> GaussianBIC:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(500, 7))
    for j in range(1, 7):
        x[:, j] += x[:, :j] @ rng.uniform(0.5, 2.0, j)
    return GaussianBIC(x)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(("share", "surplus"), [(1e-9, 0.0), (0.0, 1e-7), (1e-7, 1e-7)])
def test_a_search_ends_though_a_step_and_its_undoing_both_seem_to_gain(
    strategy: str, share: float, surplus: float, seed: int
) -> None:
    exact = dense(seed)
    result = search(Rounded(exact, share, surplus), strategy=strategy, time_limit=60.0)
    assert result.complete
    best = search(exact, strategy=strategy)
    assert total_score(exact, result.cpdag) >= best.score - 1e-4


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_search_ends_though_every_change_seems_to_gain(strategy: str, n: int) -> None:
    assert search(Flat(n), strategy=strategy, time_limit=60.0).complete


class Erratic:
    """A score that is not score equivalent: every family has a random score."""

    n = 4

    def __init__(self, seed: int) -> None:
        families = np.random.default_rng(seed).normal(size=(self.n, 2**self.n))
        self._scores: list[list[float]] = families.tolist()

    def local(self, y: int, parents: NodeSet) -> float:
        return self._scores[y][parents]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_search_ends_though_the_score_is_not_score_equivalent(strategy: str) -> None:
    for seed in range(10):
        with pytest.warns(UserWarning, match="Erratic is not score equivalent"):
            result = search(Erratic(seed), strategy=strategy, time_limit=60.0)
        assert result.complete


def test_the_reference_comes_back_where_the_engine_does() -> None:
    came_back = 0
    for seed in range(20):
        score = Erratic(seed)
        wanted, engine = reference.interleaved(score), started(native, score)
        engine.climb("interleaved", Moves("all", turns=True, deletes=True))
        assert engine.cpdag == wanted.cpdag
        assert engine.came_back == wanted.came_back
        came_back += wanted.came_back
    assert came_back


def test_coming_back_to_a_class_is_named_where_the_first_pair_is_scored_equally() -> None:
    score = Erratic(0)
    families = score._scores
    for y in range(score.n):
        for x in range(score.n):
            families[y][1 << x] = 1.0
        families[y][0] = 0.0
    with pytest.warns(
        UserWarning, match="the search came back to a class by steps that all gain"
    ) as caught:
        search(score, strategy="interleaved", time_limit=60.0)
    assert len(caught) == 1
