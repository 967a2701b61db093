"""Extended search is never worse than its start, equals its twin, and keeps its budget."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sges.graph import PDAG, is_cpdag
from sges.properties import MaxClique, MaxParents, MaxVWidth, Property
from sges.score import GaussianBIC
from sges.score.protocol import tie_tolerance, total_score
from sges.search import (
    STRATEGIES,
    Progress,
    Strategy,
    fes,
    interleaved,
    search,
    turning,
)
from worlds import gaussian_score, linear_data

ASSUMPTIONS = [None, MaxParents(2), MaxParents(3), MaxVWidth(1), MaxClique(3)]


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
    phases = {p.phase for p in seen}
    assert {"extended"} <= phases <= {"fes", "bes", "interleaved", "order", "extended"}


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
