"""One problem has one graph: for any limit of memory, any order of the columns, any way to score.

Ties are left aside: another graph is accepted if its score is the same.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from known import KINDS
from sges.graph import PDAG
from sges.knowledge import Knowledge
from sges.network import random_dag
from sges.properties import MaxParents, MaxVWidth, Property
from sges.score import GaussianBIC
from sges.score.protocol import Score, total_score
from sges.search import run as running
from sges.search import search
from sges.search.engines import Engine
from worlds import linear_data

LIMITS = [20_000, 4 << 20, 64 << 20]
STRATEGIES = ["auto", "auto", "extended", "interleaved", "two-phase", "turning"]


@dataclass(frozen=True)
class Problem:
    """Data, and what a search is told beside them; columns have the names of their numbers."""

    data: NDArray[np.float64]
    strategy: str
    assume: Property | None
    knowledge: Knowledge | None
    start: PDAG | None
    max_indegree: int | None

    @property
    def n(self) -> int:
        """The number of columns."""
        return int(self.data.shape[1])

    @property
    def numbers_matter(self) -> bool:
        """Whether a member of a class may be chosen by the numbers of its nodes.

        Poly-FES, which repeats the phases from a given start, and the deletion of forbidden
        edges do so unless the nodes are ranked.
        """
        if self.strategy in ("auto", "extended"):
            return False
        return self.start is not None or self.knowledge is not None

    def solve(self, order: Iterable[int] | None = None) -> tuple[PDAG, Score]:
        """Search with the columns in another order; return the graph in the original one."""
        columns = list(range(self.n) if order is None else order)
        place = [columns.index(v) for v in range(self.n)]
        score, known = GaussianBIC(self.data[:, columns]), self.knowledge
        found = search(
            score,
            self.assume,
            strategy=self.strategy,
            start=None if self.start is None else self.start.relabel(place),
            max_indegree=self.max_indegree,
            constraint=None if known is None else moved(known, place).bind(self.n),
        )
        return found.cpdag.named(None).relabel(columns), score


def moved(known: Knowledge, place: list[int]) -> Knowledge:
    """Return knowledge about columns at other places."""

    def pairs(edges: Iterable[tuple[Any, Any]]) -> list[tuple[int, int]]:
        return [(place[x], place[y]) for x, y in edges]

    return Knowledge(
        required=pairs(known.required),
        forbidden=pairs(known.forbidden),
        tiers=[[place[int(v)] for v in tier] for tier in known.tiers],
        forbid_within=known.forbid_within,
    )


def problem(seed: int) -> Problem:
    """Return a random problem: knowledge, a bound, a start and a limit on parents in turn."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 11))
    edges = int(rng.integers(n - 1, n * (n - 1) // 3 + n))
    dag, data = linear_data(n, min(edges, n * (n - 1) // 2), int(rng.choice([60, 300])), seed)
    known = KINDS[seed % len(KINDS)](dag, rng) if rng.random() < 0.5 else None
    bounds = [None, MaxParents(2), MaxVWidth(1)]
    return Problem(
        data,
        STRATEGIES[seed % 7 % len(STRATEGIES)],
        bounds[int(rng.integers(3))],
        known,
        random_dag(n, n // 2, seed=rng) if known is None and rng.random() < 0.3 else None,
        int(rng.integers(2, 4)) if known is None and rng.random() < 0.2 else None,
    )


def engines_made(monkeypatch: pytest.MonkeyPatch, **options: Any) -> list[Engine]:  # noqa: ANN401
    """Let searches make engines with these options; return the engines that they have made."""
    made: list[Engine] = []

    def make(score: Score, **others: Any) -> Engine:  # noqa: ANN401
        made.append(Engine(score, **others, **options))
        return made[-1]

    monkeypatch.setattr(running, "Engine", make)
    return made


@pytest.mark.parametrize(
    ("at", "share"), [(0, 5), *(pytest.param(at, 5, marks=pytest.mark.slow) for at in range(1, 5))]
)
def test_a_problem_has_one_graph(at: int, share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ties = 0
    for seed in range(at, 200, share):
        each = problem(seed)
        wanted, score = each.solve()
        work, same = set(), partial(is_same, score, wanted)
        for limit in LIMITS:
            made = engines_made(monkeypatch, limit=limit)
            assert each.solve()[0] == wanted, (seed, limit)
            work.add(sum(engine.work for engine in made))
        assert len(work) == 1, seed
        engines_made(monkeypatch, as_native=False)
        ties += same(each.solve()[0], seed)
        monkeypatch.setattr(running, "Engine", Engine)
        for k in range(0 if each.numbers_matter else 2):
            ties += same(each.solve(np.random.default_rng([seed, k]).permutation(each.n))[0], seed)
    assert ties <= 2


def is_same(score: Score, wanted: PDAG, found: PDAG, seed: int) -> bool:
    """Check that a graph is the wanted one or ties with it; return whether it ties."""
    if found == wanted:
        return False
    assert total_score(score, found) == pytest.approx(total_score(score, wanted), 1e-9), seed
    return True
