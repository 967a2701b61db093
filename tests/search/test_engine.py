"""The incremental engine equals the from-scratch engine, step by step and count by count."""

from functools import partial

import pytest

import scratch_engine as scratch
from sges.graph import PDAG, dag_to_cpdag, is_cpdag
from sges.network import random_dag
from sges.operators import all_turns
from sges.properties import (
    MaxClique,
    MaxParents,
    MaxTreewidth,
    MaxVStructures,
    MaxVWidth,
    Property,
)
from sges.result import Result
from sges.score import GaussianBIC
from sges.score.protocol import tie_tolerance, total_score
from sges.search import bes, fes, ges, poly_fes, sbes, sges, turning
from worlds import gaussian_score


def assert_same(
    result: Result,
    score: GaussianBIC,
    start: PDAG,
    generate: scratch.Generate,
    *,
    delete: bool,
    counted: bool = True,
) -> None:
    tolerance = tie_tolerance(total_score(score, start))
    least = -tolerance * 1.0000001 if delete else tolerance
    cpdag, steps, asked = scratch.search(score, start, generate, tolerance, least=least)
    assert [step.operator for step in result.steps] == [op for op, _ in steps]
    for step, (_, gain) in zip(result.steps, steps, strict=True):
        assert step.gain == pytest.approx(gain, rel=1e-6, abs=1e-6)
    assert result.cpdag == cpdag
    assert not counted or result.score_evaluations == asked


@pytest.mark.parametrize(("n", "edges", "records"), [(8, 12, 300), (12, 20, 60)])
def test_forward_searches_equal_the_engine_that_starts_from_scratch(
    n: int, edges: int, records: int, seed: int
) -> None:
    score, start = gaussian_score(n, edges, records, seed), PDAG.empty(n)
    inserts = scratch.inserts_before_the_path_condition
    assert_same(fes(score), score, start, inserts, delete=False)
    turned = dag_to_cpdag(random_dag(n, edges, seed=seed + 1))
    assert_same(turning(score, turned), score, turned, all_turns, delete=False, counted=False)
    for largest_t in (0, 1):
        result = poly_fes(score, max_t=largest_t)
        generate = partial(scratch.inserts_of_one_member, largest_t=largest_t)
        assert_same(result, score, start, generate, delete=False)
        assert (result.score_evaluations or 0) <= (result.evaluation_bound or 0)


PROPERTIES: list[Property] = [
    MaxParents(2),
    MaxClique(2),
    MaxClique(3, tight=True),
    MaxVWidth(1),
    MaxTreewidth(2),
    MaxVStructures(1),
]


@pytest.mark.parametrize("assume", [None, *PROPERTIES], ids=str)
def test_backward_searches_equal_the_engine_that_starts_from_scratch(
    assume: Property | None, seed: int
) -> None:
    score, start = gaussian_score(8, 10, 400, seed), PDAG.complete(8)
    if assume is None:
        assert_same(bes(score, start), score, start, scratch.EVERY_DELETE, delete=True)
    else:
        found = sbes(score, start, assume)
        assert_same(found, score, start, scratch.selected(assume), delete=True)


def test_sbes_with_a_slack_bound_is_bes_step_by_step(seed: int) -> None:
    score, start = gaussian_score(9, 14, 500, seed), PDAG.complete(9)
    slack = sbes(score, start, MaxVWidth(9))
    plain = bes(score, start)
    assert [s.operator for s in slack.steps] == [s.operator for s in plain.steps]
    assert slack.cpdag == plain.cpdag
    assert slack.score_evaluations == plain.score_evaluations


def test_leaving_out_large_cliques_or_asking_exactly_needs_no_more_evaluations(seed: int) -> None:
    score, start = gaussian_score(9, 9, 2000, seed), PDAG.complete(9)
    plain = sbes(score, start, MaxParents(2)).score_evaluations
    dropped = sbes(score, start, MaxParents(2), drop_large=True).score_evaluations
    exact = sbes(score, start, MaxParents(2), exact=True).score_evaluations
    assert plain is not None
    assert dropped is not None
    assert exact is not None
    assert dropped <= plain
    assert exact <= plain


@pytest.mark.parametrize("forward", ["fes", "poly", "complete"])
def test_gains_add_up_to_the_score_and_every_state_is_a_cpdag(forward: str, seed: int) -> None:
    score = gaussian_score(12, 20, 500, seed)
    result = sges(score, MaxParents(3), forward=forward)  # type: ignore[arg-type]
    start = PDAG.complete(12) if forward == "complete" else PDAG.empty(12)
    cpdag, total = start, total_score(score, start)
    for step in result.steps:
        cpdag = step.operator.apply(cpdag)
        total += step.gain
        assert is_cpdag(cpdag)
        assert step.edges == cpdag.edge_count()
        assert step.score == pytest.approx(total_score(score, cpdag), rel=1e-9)
    assert cpdag == result.cpdag
    assert result.score == pytest.approx(total, rel=1e-9)


def test_turning_never_lowers_the_score_and_ends_where_no_turn_improves(seed: int) -> None:
    score = gaussian_score(10, 18, 200, seed)
    before = ges(score)
    after = turning(score, before.cpdag)
    assert after.score >= before.score
    assert all(step.gain > 0 for step in after.steps)
    assert not turning(score, after.cpdag).steps
