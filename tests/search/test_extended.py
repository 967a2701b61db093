"""Extended search is never worse than its start, equals its twin, and keeps its budget."""

import signal
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sges.graph import PDAG, is_cpdag
from sges.knowledge import Knowledge
from sges.properties import MaxClique, MaxParents, MaxVWidth, Property
from sges.score import GaussianBIC
from sges.score.protocol import tie_tolerance, total_score
from sges.search import (
    STRATEGIES,
    Progress,
    Strategy,
    extended,
    fes,
    interleaved,
    search,
    turning,
)
from sges.search.extended import TRIALS_AT_ONCE
from worlds import gaussian_score, linear_data

ASSUMPTIONS = [None, MaxParents(2), MaxParents(3), MaxVWidth(1), MaxClique(3)]


CLIMB_AND_ESCAPE = Strategy(interleaved=True, extended=True)


@pytest.mark.parametrize(
    "strategy",
    [
        CLIMB_AND_ESCAPE,
        STRATEGIES["auto"],
        replace(CLIMB_AND_ESCAPE, patience=0.1),
        replace(CLIMB_AND_ESCAPE, sets_per_clique=2),
    ],
    ids=str,
)
@pytest.mark.parametrize("at_once", [1, TRIALS_AT_ONCE])
def test_trials_run_in_turn_equal_those_that_are_run_one_by_one(
    at_once: int, strategy: Strategy, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a progress report, the compiled engine returns to Python after each trial."""
    monkeypatch.setattr(extended, "TRIALS_AT_ONCE", at_once)
    tried = 0
    for score in (gaussian_score(9, 20, 300, seed), gaussian_score(8, 16, 300, 1)):
        for assume in (None, MaxParents(2)):
            in_turn = search(score, assume, strategy=strategy)
            one_by_one = search(score, assume, strategy=strategy, progress=lambda _: None)
            for field in ("steps", "score_evaluations", "operators_considered", "notes"):
                assert getattr(in_turn, field) == getattr(one_by_one, field)
            tried += int(in_turn.notes[0].split()[1])
    assert tried > 4


@given(st.integers(0, 10_000), st.integers(4, 8), st.integers(1, 3), st.sampled_from(ASSUMPTIONS))
@settings(max_examples=25)
def test_extended_search_is_never_worse_than_its_start(
    seed: int, n: int, density: int, assume: Property | None
) -> None:
    score = gaussian_score(n, min(density * n, n * (n - 1) // 2), 200, seed)
    plain = interleaved(score, assume)
    result = search(score, assume, strategy="extended")
    assert result.score >= plain.score - tie_tolerance(plain.score)
    start = fes(score).cpdag
    from_there = search(score, assume, strategy="extended", start=start)
    assert from_there.score >= total_score(score, start) - tie_tolerance(plain.score)


def test_extended_search_improves_on_most_dense_problems() -> None:
    better = 0
    for seed in range(6):
        score = GaussianBIC(linear_data(14, 35, 1000, seed)[1])
        better += search(score, strategy="extended").score > interleaved(score).score + 1e-6
    assert better >= 3


@pytest.mark.parametrize("assume", [None, MaxParents(2)], ids=str)
def test_extended_search_ends_where_no_operator_improves(
    assume: Property | None, seed: int
) -> None:
    score = gaussian_score(12, 24, 300, seed)
    result = search(score, assume, strategy="extended")
    assert not interleaved(score, assume, start=result.cpdag).steps
    assert not turning(score, result.cpdag).steps
    assert not fes(score, result.cpdag).steps


@pytest.mark.parametrize("strategy", ["extended", Strategy(extended=True)])
@pytest.mark.parametrize("n", [8, 12])
def test_the_steps_that_are_kept_add_up_to_the_score(
    n: int, strategy: Strategy | str, seed: int
) -> None:
    score = gaussian_score(n, 5 * n // 2, 300, seed)
    seen: list[Progress] = []
    result = search(score, strategy=strategy, progress=seen.append)
    cpdag, total = PDAG.empty(n), total_score(score, PDAG.empty(n))
    for step in result.steps:
        cpdag = step.operator.apply(cpdag)
        total += step.gain
        assert is_cpdag(cpdag)
        assert step.edges == cpdag.edge_count()
    assert cpdag == result.cpdag
    assert result.score == pytest.approx(total, rel=1e-9)
    assert {"extended"} <= {p.phase for p in seen} <= set(result.seconds)


def test_an_exact_selection_and_one_without_bounds_can_be_extended(seed: int) -> None:
    class AtMostTwenty:
        """A custom property without bounds: at most twenty edges."""

        def holds(self, graph: PDAG) -> bool:
            return graph.edge_count() <= 20

    score = gaussian_score(7, 12, 300, seed)
    for assume, exact in ((MaxVWidth(2), True), (AtMostTwenty(), False)):
        plain = interleaved(score, assume, exact=exact)
        result = search(score, assume, strategy=replace(STRATEGIES["extended"], exact=exact))
        assert result.score >= plain.score - tie_tolerance(plain.score)
        assert result.notes[-1].startswith("escapes: ")


def test_extended_search_obeys_knowledge(seed: int) -> None:
    score = gaussian_score(9, 18, 300, seed)
    free = search(score, strategy="extended").cpdag
    forbidden = [*free.directed_edges(), *free.undirected_edges()][::3]
    known = Knowledge(forbidden=[edge for x, y in forbidden for edge in ((x, y), (y, x))]).bind(9)
    plain = search(score, strategy="interleaved", constraint=known)
    result = search(score, strategy="extended", constraint=known)
    assert not any(result.cpdag.adjacent(x) >> y & 1 for x, y in forbidden)
    assert result.score >= plain.score - tie_tolerance(plain.score)


class Pressing:
    """A score without batch methods that raises SIGINT at the k-th family."""

    def __init__(self, score: GaussianBIC, at: int | None) -> None:
        self.n, self.score, self.at, self.asked = score.n, score, at, 0

    def local(self, y: int, parents: int) -> float:
        """Return the score of a family."""
        self.asked += 1
        if self.asked == self.at:
            signal.raise_signal(signal.SIGINT)
        return self.score.local(y, parents)


def test_a_time_limit_inside_an_escape_is_reported(seed: int) -> None:
    """The score waits soon after the beginning of the first escape."""
    score = gaussian_score(10, 20, 300, seed)
    plain = Pressing(score, None)
    interleaved(plain)

    class Late(Pressing):
        """A score that waits instead."""

        def local(self, y: int, parents: int) -> float:
            """Return the score of a family."""
            self.asked += 1
            if self.asked == self.at:
                time.sleep(1.0)
            return self.score.local(y, parents)

    late = Late(score, plain.asked + 1)  # after all families of the climb
    strategy = Strategy(interleaved=True, extended=True)
    result = search(late, strategy=strategy, time_limit=0.9)
    assert result.stopped == "time limit"
    assert "extended" in result.seconds
    assert result.cpdag == interleaved(score).cpdag
