"""A bound chosen from the data: its result, and its cost."""

from itertools import pairwise

import numpy as np
import pytest

from sges.errors import SgesError
from sges.graph import PDAG, dag_to_cpdag
from sges.network import BayesianNetwork, random_structure
from sges.nodeset import NodeSet
from sges.properties import MaxParents, MaxVWidth
from sges.score import OracleMDL
from sges.score.protocol import Candidates, Gains
from sges.search import fes, poly_fes, sbes, sges
from sges.search.auto import auto_bound
from worlds import gaussian_score


class Noting:
    """A score that records the families of operators, but not those of totals."""

    def __init__(self, score: OracleMDL) -> None:
        self.n, self.local = score.n, score.local
        self.families: set[tuple[int, NodeSet]] = set()

    def insert_gains(self, y: int, base: NodeSet, xs: Candidates, /) -> Gains:
        return self._gains(y, base, [base | 1 << x for x in xs.tolist()])

    def delete_gains(self, y: int, base: NodeSet, xs: Candidates, /) -> Gains:
        return self._gains(y, base, [base ^ 1 << x for x in xs.tolist()])

    def _gains(self, y: int, base: NodeSet, after: list[NodeSet]) -> Gains:
        self.families |= {(y, parents) for parents in (base, *after)}
        return np.array([self.local(y, parents) - self.local(y, base) for parents in after])


def oracle(n: int, parents: int, seed: int) -> tuple[PDAG, OracleMDL]:
    dag = random_structure(n, parents, seed=seed)
    return dag, OracleMDL(BayesianNetwork.random(dag, seed=seed))


@pytest.mark.parametrize("forward", ["fes", "poly", "complete"])
def test_the_result_is_that_of_sges_with_the_bound_chosen(seed: int, forward: str) -> None:
    _, score = oracle(7, 3, seed)
    found = auto_bound(score, forward=forward)  # type: ignore[arg-type]
    alone = sges(score, found.assume, forward=forward)  # type: ignore[arg-type]
    assert found.result.cpdag == alone.cpdag
    assert [step.operator for step in found.result.steps] == [s.operator for s in alone.steps]
    assert found.result.assume == str(found.assume)
    assert found.result.score_name == "OracleMDL"


def test_rounds_end_with_the_first_that_does_not_improve_the_score(seed: int) -> None:
    """Each round has the next bound, and improves the score unless it is the last."""
    _, score = oracle(8, 3, seed)
    rounds = auto_bound(score, forward="complete").rounds
    scores = [r.score for r in rounds]
    assert [r.k for r in rounds] == list(range(1, len(rounds) + 1))
    assert all(b > a for a, b in pairwise(scores[:-1]))
    assert scores[-1] <= scores[-2] + 1.0


def test_the_truth_is_found_from_the_complete_graph_without_knowing_k() -> None:
    """Fixed models that are sufficiently faithful; with k = 1, the first one is not found."""
    for seed in range(3):
        dag, score = oracle(7, 2, seed)
        found = auto_bound(score, forward="complete")
        assert found.result.cpdag == dag_to_cpdag(dag)
        assert found.assume == MaxParents(found.assume.k)


@pytest.mark.parametrize("forward", ["poly", "complete"])
def test_evaluations_are_the_unique_families_of_all_rounds_together(
    seed: int, forward: str
) -> None:
    _, score = oracle(7, 3, seed)
    found = auto_bound(score, forward=forward)  # type: ignore[arg-type]
    noting = Noting(score)
    state = poly_fes(noting).cpdag if forward == "poly" else PDAG.complete(7)
    for r in found.rounds:
        sbes(noting, state, MaxParents(r.k))
    assert found.result.score_evaluations == len(noting.families)
    assert found.rounds[-1].score_evaluations == len(noting.families)


def test_other_kinds_of_bound_can_be_chosen(seed: int) -> None:
    found = auto_bound(gaussian_score(8, 10, 500, seed), MaxVWidth)
    assert isinstance(found.assume, MaxVWidth)
    assert found.result.forward == "fes"


def test_a_time_limit_of_zero_returns_the_start_marked_incomplete(seed: int) -> None:
    for strategy in ("two-phase", "extended"):
        found = auto_bound(gaussian_score(8, 10, 500, seed), strategy=strategy, time_limit=0.0)
        assert found.result.stopped == "time limit"
        assert found.result.cpdag == PDAG.empty(8)


def test_largest_is_the_last_bound_tried(seed: int) -> None:
    _, score = oracle(7, 3, seed)
    found = auto_bound(score, forward="complete", max_bound=1)
    assert [r.k for r in found.rounds] == [1]


def test_a_largest_below_the_first_bound_is_refused(seed: int) -> None:
    with pytest.raises(SgesError, match="max_bound = 0: it must be a whole number, 1 or more"):
        auto_bound(gaussian_score(4, 3, 100, seed), max_bound=0)


def test_the_forward_phase_runs_once(seed: int) -> None:
    score = gaussian_score(8, 12, 500, seed)
    found = auto_bound(score)
    forward = fes(score).steps
    assert found.result.steps[: len(forward)] == forward


@pytest.mark.parametrize("strategy", ["interleaved", "turning", "extended"])
@pytest.mark.parametrize("forward", ["fes", "poly", "order"])
def test_every_strategy_can_choose_its_bound(seed: int, strategy: str, forward: str) -> None:
    """The result has the best score of all rounds, and its steps lead to its graph."""
    score = gaussian_score(9, 18, 400, seed)
    found = auto_bound(score, forward=forward, strategy=strategy)  # type: ignore[arg-type]
    result = found.result
    assert result.strategy == strategy
    assert result.assume == str(found.assume)
    assert result.score >= max(r.score for r in found.rounds) - 1e-6
    cpdag = PDAG.empty(9)
    if forward != "order":
        for step in result.steps:
            cpdag = step.operator.apply(cpdag)
        assert cpdag == result.cpdag
