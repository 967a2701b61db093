"""The operators that a climb considers: all without limits, polynomially many with them."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import scratch_engine as scratch
from bridge import measured, pdag_of
from sges.graph import (
    PDAG,
    dag_to_cpdag,
    is_cpdag,
    is_imap,
    maximal_cliques,
    members,
    pdag_to_dag,
)
from sges.network import random_dag
from sges.nodeset import NodeSet
from sges.operators import Insert, Operator, Turn, all_deletes, all_turns
from sges.properties import MaxClique, MaxParents, MaxVStructures, MaxVWidth, Property
from sges.score import GaussianBIC, SeparationOracle
from sges.score.protocol import tie_tolerance, total_score
from sges.search.moves import Moves
from sges.search.reference import (
    Climb,
    Gains,
    SetLimit,
    bes,
    climb,
    deletes_of,
    fes,
    ges,
    inserts_of,
    interleaved,
    parents_in_member,
    poly_fes,
    sbes,
    sges,
    subset_size,
    turning,
    turns_of,
)
from strategies import cpdags
from worlds import gaussian_score

ALL = Moves(inserts="all", turns=True, deletes=True)
BOUNDS = [(None, None), (0, None), (1, None), (2, None), (None, 1), (1, 2)]


def classes(n: int) -> list[PDAG]:
    return [pdag_of(n, cpdag) for cpdag in naive.all_cpdags(n)]


def once(operators: Iterator[Operator]) -> set[Operator]:
    """Return operators as a set, after a check that none occurs twice."""
    found = list(operators)
    assert len(found) == len(set(found))
    return set(found)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_without_limits_every_operator_is_generated_once(n: int) -> None:
    for g in classes(n):
        assert once(deletes_of(g, ALL)) == set(all_deletes(g))
        assert once(inserts_of(g, ALL)) == set(scratch.inserts_before_the_path_condition(g))
        turns = once(turns_of(g, ALL))
        assert {op for op in turns if op.is_valid(g)} == set(all_turns(g))


@given(cpdags(max_nodes=8))
def test_a_limit_that_is_never_reached_changes_nothing(g: PDAG) -> None:
    limit = SetLimit(2**8)
    assert once(deletes_of(g, ALL, limit=limit)) == once(deletes_of(g, ALL))
    assert once(inserts_of(g, ALL, limit=limit)) == once(inserts_of(g, ALL))
    assert once(turns_of(g, ALL, limit)) == once(turns_of(g, ALL))
    assert not limit.left_out


def test_subset_sizes_are_the_largest_that_the_limit_allows() -> None:
    for m in range(12):
        for limit in range(1, 300):
            size = subset_size(m, limit)
            if 2**m <= limit:
                assert size == m
                continue
            assert size >= 1
            assert size == 1 or sum(comb(m, j) for j in range(size + 1)) <= limit
            assert sum(comb(m, j) for j in range(size + 2)) > limit


def few(m: NodeSet, s: NodeSet, limit: int) -> bool:
    """Return whether the limit allows a set s with nodes of the clique m."""
    return 2 ** m.bit_count() <= limit or s.bit_count() <= subset_size(m.bit_count(), limit)


def cliques_at(g: PDAG, y: int) -> list[NodeSet]:
    return maximal_cliques(g.skeleton(), g.neighbors(y))


def limited_inserts(g: PDAG, limit: int) -> set[Insert]:
    """Return all inserts that the limit keeps."""
    every = set(scratch.inserts_before_the_path_condition(g))
    found = {
        op
        for op in every
        if any(few(m, op.t, limit) for m in cliques_at(g, op.y) if not insert_set(g, op) & ~m)
    }
    short = {op.y for op in every - found}
    return found | {
        op for op in every if op.y in short and insert_set(g, op) == parents_in_member(g, op.y)
    }


def insert_set(g: PDAG, op: Insert) -> NodeSet:
    return g.na(op.y, op.x) | op.t


def limited_turns(g: PDAG, limit: int) -> set[Turn]:
    """Return all turns that the limit keeps."""
    return {
        op
        for op in turns_of(g, ALL)
        if any(
            few(m, op.c, limit) or few(m, m & ~op.c, limit)
            for m in cliques_at(g, op.y)
            if not op.c & ~m
        )
    }


@settings(max_examples=150)
@given(cpdags(max_nodes=8), st.integers(1, 40))
def test_a_limit_keeps_exactly_the_small_and_the_large_sets(g: PDAG, limit: int) -> None:
    moves = replace(ALL, sets_per_clique=limit)
    assert once(inserts_of(g, moves)) == limited_inserts(g, limit)
    assert once(turns_of(g, moves)) == limited_turns(g, limit)
    kept = once(deletes_of(g, moves))
    for op in all_deletes(g):
        s = g.na(op.y, op.x) & ~op.h | 1 << op.x & g.neighbors(op.y)
        around = [m for m in cliques_at(g, op.y) if not s & ~m]
        wanted = any(few(m, s, limit) or few(m, m & ~s, limit) for m in around)
        assert (op in kept) == wanted


@settings(max_examples=100)
@given(cpdags(max_nodes=8), st.integers(1, 40), st.sampled_from(BOUNDS))
def test_bounds_and_a_limit_leave_what_both_leave(
    g: PDAG, limit: int, bounds: tuple[int | None, int | None]
) -> None:
    bounded = replace(ALL, clique_bound=bounds[0], size_bound=bounds[1])
    both = once(deletes_of(g, replace(bounded, sets_per_clique=limit)))
    alone = once(deletes_of(g, replace(ALL, sets_per_clique=limit)))
    assert both <= once(deletes_of(g, bounded)) & alone
    assert once(deletes_of(g, replace(bounded, sets_per_clique=2**8))) == once(
        deletes_of(g, bounded)
    )


@given(cpdags(max_nodes=8), st.integers(1, 40))
def test_the_limit_records_that_operators_were_left_out(g: PDAG, most: int) -> None:
    for generate in (deletes_of, inserts_of, turns_of):
        limit = SetLimit(most)
        some = once(generate(g, ALL, limit=limit))
        assert limit.left_out or some == once(generate(g, ALL))


@pytest.mark.parametrize("limit", [1, 2, 16, 64])
def test_the_complete_graph_has_polynomially_many_operators(limit: int) -> None:
    n = 24
    moves = replace(ALL, sets_per_clique=limit)
    count = sum(1 for _ in deletes_of(PDAG.complete(n), moves))
    assert count <= n * (n - 1) * 2 * max(limit, n)
    assert not list(inserts_of(PDAG.complete(n), moves))
    assert not list(turns_of(PDAG.complete(n), moves))


@pytest.mark.parametrize("limit", [1, 2, 16, 64])
def test_a_clique_that_lacks_a_node_has_polynomially_many_operators(limit: int) -> None:
    """Node n − 1 is adjacent to node 0 only, so inserts may have any subset of the clique as T."""
    n = 24
    edges = [*combinations(range(n - 1), 2), (0, n - 1)]
    g = PDAG.from_edges(n, undirected=edges)
    assert is_cpdag(g)
    moves = replace(ALL, sets_per_clique=limit)
    for generate in (inserts_of, turns_of):
        assert sum(1 for _ in generate(g, moves)) <= n * n * 2 * max(limit, n)


@pytest.mark.parametrize("limit", [1, 2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_a_limited_search_still_finds_every_truth(n: int, limit: int) -> None:
    for truth in classes(n):
        score = SeparationOracle(pdag_to_dag(truth))
        for start in (PDAG.empty(n), PDAG.complete(n)):
            assert interleaved(score, start, sets_per_clique=limit).cpdag == truth


@pytest.mark.parametrize("limit", [1, 2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_limited_inserts_alone_still_lead_to_an_imap(n: int, limit: int) -> None:
    for truth in classes(n):
        dag = pdag_to_dag(truth)
        found = fes(SeparationOracle(dag), sets_per_clique=limit).cpdag
        assert is_imap(pdag_to_dag(found), dag)


def one_factor(n: int, seed: int) -> GaussianBIC:
    """Return the score of columns with one common factor, which leads to dense states."""
    rng = np.random.default_rng(seed)
    return GaussianBIC(rng.normal(size=(500, 1)) + rng.normal(size=(500, n)))


def test_the_first_step_at_which_operators_were_left_out_is_recorded(seed: int) -> None:
    score = one_factor(9, seed)
    free, limited = fes(score), fes(score, sets_per_clique=4)
    assert free.capped is None
    at = limited.capped
    assert at is not None
    assert limited.steps[:at] == free.steps[:at]
    assert interleaved(gaussian_score(8, 7, 1000, seed), sets_per_clique=64).capped is None


@given(cpdags(max_nodes=5))
def test_all_members_of_a_class_have_the_same_largest_number_of_parents(g: PDAG) -> None:
    assert len({MaxParents.measure(dag) for dag in members(g)}) == 1


@pytest.mark.parametrize("k", [0, 1, 2, 3])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_few_parents_of_y_suffice_for_few_parents_everywhere(n: int, k: int) -> None:
    """From a class within the limit, exactly the operators with results within it are kept."""
    moves = replace(ALL, max_indegree=k)
    for g in classes(n):
        if measured(MaxParents, g) > k:
            continue
        for generate in (inserts_of, turns_of):
            every = {op for op in generate(g, ALL) if op.is_valid(g)}
            within = {op for op in every if measured(MaxParents, op.apply(g)) <= k}
            assert {op for op in generate(g, moves) if op.is_valid(g)} == within


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize(
    "moves", [ALL, replace(ALL, inserts="poly"), replace(ALL, sets_per_clique=4)]
)
def test_no_climb_exceeds_the_limit_on_parents(moves: Moves, k: int, seed: int) -> None:
    found = climb(one_factor(7, seed), None, replace(moves, max_indegree=k))
    assert MaxParents.measure(found.cpdag) == k


def assert_best_each_time(
    found: Climb, score: GaussianBIC, start: PDAG, generate: scratch.Generate, *, delete: bool
) -> None:
    """Compare a search with one that scores every operator of every state by its definition."""
    tolerance = tie_tolerance(total_score(score, start))
    least = -tolerance * 1.0000001 if delete else tolerance
    cpdag, steps = scratch.search(score, start, generate, tolerance, least=least)
    assert [step.operator for step in found.steps] == [op for op, _ in steps]
    for step, (_, gain) in zip(found.steps, steps, strict=True):
        assert step.gain == pytest.approx(gain, rel=1e-6, abs=1e-6)
    assert found.cpdag == cpdag


@pytest.mark.parametrize(("n", "edges", "records"), [(8, 12, 300), (12, 20, 60)])
def test_each_step_forward_is_the_best_valid_insert_or_turn(
    n: int, edges: int, records: int, seed: int
) -> None:
    score, start = gaussian_score(n, edges, records, seed), PDAG.empty(n)
    inserts = scratch.inserts_before_the_path_condition
    assert_best_each_time(fes(score), score, start, inserts, delete=False)
    for largest_t in (0, 1):
        found = poly_fes(score, max_t=largest_t)
        generate = partial(scratch.inserts_of_one_member, largest_t=largest_t)
        assert_best_each_time(found, score, start, generate, delete=False)
    turned = dag_to_cpdag(random_dag(n, edges, seed=seed + 1))
    assert_best_each_time(turning(score, turned), score, turned, all_turns, delete=False)


@pytest.mark.parametrize(
    "assume", [None, MaxParents(2), MaxClique(3, tight=True), MaxVWidth(1), MaxVStructures(1)]
)
def test_each_step_backward_is_the_best_delete_that_is_allowed(
    assume: Property | None, seed: int
) -> None:
    score, start = gaussian_score(8, 10, 400, seed), PDAG.complete(8)
    found = bes(score, start) if assume is None else sbes(score, start, assume)
    every = all_deletes if assume is None else scratch.selected(assume)
    assert_best_each_time(found, score, start, every, delete=True)


def test_families_are_counted_once(seed: int) -> None:
    score, start = gaussian_score(6, 8, 400, seed), PDAG.empty(6)
    gains, recorder = Gains(score), scratch.Recorder(score)
    fes(gains)
    inserts = scratch.inserts_before_the_path_condition
    scratch.search(recorder, start, inserts, tie_tolerance(total_score(score, start)))
    assert gains.evaluations == len(recorder.asked)


def test_the_reference_of_sges_finds_the_truth() -> None:
    for truth in classes(4):
        score = SeparationOracle(pdag_to_dag(truth))
        assert ges(score).cpdag == truth
        assert sges(score, None, MaxParents.of(pdag_to_dag(truth))).cpdag == truth
