"""Searches with knowledge satisfy it, and find the truth if the knowledge is true."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count, islice, permutations, product
from typing import Any, Literal

import numpy as np
import pytest

import naive
from bridge import arcs_of, pdag_of
from known import KINDS, Rng, false_problem, satisfies, some, true_problem
from sges.errors import KnowledgeError, NotACPDAG
from sges.graph import PDAG, dag_to_cpdag, extensions, is_dag
from sges.knowledge import Knowledge
from sges.knowledge.indexed import IndexedKnowledge
from sges.network import LinearGaussian, random_dag
from sges.properties import MaxParents
from sges.result import Result
from sges.score import GaussianBIC, GaussianOracle, SeparationOracle
from sges.score.protocol import Score, total_score
from sges.search import Progress, bes, fes, ges, poly_fes, sbes, sges, turning
from sges.search.auto import auto_bound
from sges.search.run import Run
from sges.search.strategy import _enforce
from worlds import gaussian_score

Search = Callable[[Score, IndexedKnowledge, PDAG], Result]

SEARCHES: dict[str, Search] = {
    "ges": lambda score, bound, _: ges(score, constraint=bound),
    "sges, fes": lambda score, bound, dag: sges(score, MaxParents.of(dag), constraint=bound),
    "sges, poly": lambda score, bound, dag: sges(
        score, MaxParents.of(dag), forward="poly", constraint=bound
    ),
    "sges, order": lambda score, bound, dag: sges(
        score, MaxParents.of(dag), forward="order", constraint=bound
    ),
    "sges, complete": lambda score, bound, dag: sges(
        score, MaxParents.of(dag), forward="complete", constraint=bound
    ),
    "bes": lambda score, bound, dag: bes(score, PDAG.complete(dag.n), constraint=bound),
    "sbes": lambda score, bound, dag: sbes(
        score, PDAG.complete(dag.n), MaxParents.of(dag), constraint=bound
    ),
}
every_search = pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES.keys())


Problem = tuple[PDAG, Knowledge]


def problems(
    make: Callable[[int], Problem], seed: int, count: int, first: int = 0
) -> Iterator[Problem]:
    """Yield ``count`` random truths with knowledge of all kinds in turn."""
    return (make(seed * 1000 + i) for i in range(first, first + count))


def part_of(search: Search) -> tuple[int, int]:
    """Return (at, share): a search gets every third case in the gate, and all in test-all."""
    if os.environ.get("SGES_HYPOTHESIS", "gate") != "gate":
        return 0, 1
    return list(SEARCHES.values()).index(search) % 3, 3


def enough(search: Search) -> dict[str, int]:
    """Return the number of problems, and the first: fewer for phases of another search.

    The gate takes a third of the problems, not the same third for each search.
    """
    count = 48 if search in (SEARCHES["bes"], SEARCHES["sbes"]) else 201
    at, share = part_of(search)
    return {"count": count // share, "first": at * (count // share)}


def assert_satisfied(graph: PDAG, known: Knowledge, bound: IndexedKnowledge) -> None:
    """Assert that the class has members, and that all of them satisfy the knowledge.

    The edges are checked, which covers all members, and the first 50 members one by one.
    """
    some = list(islice(extensions(graph), 50))
    assert some
    for dag in some:
        assert is_dag(dag)
        assert satisfies(arcs_of(dag), known)
    lines = graph.undirected_edges()
    either_way = graph.directed_edges() + lines + [(y, x) for x, y in lines]
    assert not any(bound.forbidden[x] >> y & 1 for x, y in either_way)
    assert set(bound.required) <= set(graph.directed_edges())


@every_search
def test_true_knowledge_and_an_oracle_give_the_true_class_refined(
    search: Search, seed: int
) -> None:
    for dag, known in problems(true_problem, seed, **enough(search)):
        bound = known.bind(dag.n)
        result = search(SeparationOracle(dag), bound, dag)
        assert result.cpdag == bound.refine(dag_to_cpdag(dag)), (dag, known)


@every_search
def test_every_constraint_holds_on_data_whether_the_knowledge_is_true_or_not(
    search: Search, seed: int
) -> None:
    """The knowledge is that of another random DAG, and there are few records."""
    for i, (dag, known) in enumerate(problems(false_problem, seed, **enough(search))):
        bound = known.bind(dag.n)
        data = LinearGaussian.random(dag, seed=i).sample(60, seed=i)
        score = GaussianBIC(data)
        result = search(score, bound, dag)
        assert_satisfied(result.cpdag, known, bound)
        assert result.score == pytest.approx(total_score(score, result.cpdag))


def orders(n: int) -> Iterator[tuple[int, ...]]:
    """Yield every assignment of n nodes to tiers, as a tier number for each node."""
    return (
        place for place in product(range(n), repeat=n) if set(place) == set(range(max(place) + 1))
    )


def known_order(place: tuple[int, ...]) -> Knowledge:
    return Knowledge(tiers=[[v for v, t in enumerate(place) if t == i] for i in range(len(place))])


@every_search
def test_admissible_steps_alone_find_every_dag_of_three_nodes_under_every_true_order(
    search: Search,
) -> None:
    """The theorem on orders: nothing is relaxed, so no step leaves the admissible classes."""
    for arcs, place in product(naive.all_dags(3), orders(3)):
        if all(place[x] <= place[y] for x, y in arcs):
            dag, bound = pdag_of(3, arcs), known_order(place).bind(3)
            assert bound.relaxed is None
            result = search(SeparationOracle(dag), bound, dag)
            assert result.cpdag == bound.refine(dag_to_cpdag(dag))


@every_search
def test_admissible_steps_alone_find_every_dag_of_four_nodes_under_a_true_order(
    search: Search, seed: int
) -> None:
    """Each DAG, or each third one, with random true tiers and some required edges."""
    rng = np.random.default_rng(seed)
    every = list(orders(4))
    at, share = part_of(search)
    for arcs in naive.all_dags(4)[at::share]:
        fitting = [place for place in every if all(place[x] <= place[y] for x, y in arcs)]
        order = known_order(fitting[int(rng.integers(len(fitting)))])
        required = [arc for arc in sorted(arcs) if rng.random() < 0.3]
        dag = pdag_of(4, arcs)
        bound = Knowledge(required=required, tiers=order.tiers).bind(4)
        assert bound.relaxed is None
        result = search(SeparationOracle(dag), bound, dag)
        assert result.cpdag == bound.refine(dag_to_cpdag(dag))


@pytest.mark.parametrize("forward", ["fes", "poly"])
def test_deletes_filtered_one_by_one_find_the_truth_under_knowledge_too(
    forward: Literal["fes", "poly"], seed: int
) -> None:
    for dag, known in problems(true_problem, seed, count=60):
        bound, score = known.bind(dag.n), SeparationOracle(dag)
        result = sges(score, MaxParents.of(dag), forward=forward, exact=True, constraint=bound)
        assert result.cpdag == bound.refine(dag_to_cpdag(dag))


class TestAForbiddenEdgeInTheWay:
    """The smallest case: 0 and 3 are not adjacent in the truth, and this is known.

    Inserts of admissible edges end in a class that is not an IMAP: 0 and 3 are dependent given 1
    and 2, which needs an edge between them.  With this edge, 0 — 1 can be deleted, and then the
    edge itself, which leaves the collider at 2.
    """

    truth = PDAG.from_edges(4, [(0, 2), (3, 2), (2, 1), (3, 1)])
    bound = Knowledge(not_adjacent=[(0, 3)]).bind(4)

    def test_admissible_steps_alone_are_stuck(self) -> None:
        alone = ges(SeparationOracle(self.truth), constraint=replace(self.bound, relaxed=None))
        assert alone.cpdag != dag_to_cpdag(self.truth)
        assert self.bound.admits(alone.cpdag)

    def test_the_relaxed_search_goes_on_to_the_truth(self) -> None:
        result = ges(SeparationOracle(self.truth), constraint=self.bound)
        assert result.cpdag == dag_to_cpdag(self.truth)
        assert [str(step.operator) for step in result.steps][-3:] == [
            "Insert(0, 3, {})",
            "Delete(0, 1, {})",
            "Delete(0, 3, {2})",
        ]


@every_search
def test_the_steps_add_up_to_the_score_whatever_was_tried_and_dropped(
    search: Search, seed: int
) -> None:
    for i, (dag, known) in enumerate(problems(false_problem, seed, count=60)):
        bound = known.bind(dag.n)
        score = GaussianBIC(LinearGaussian.random(dag, seed=i).sample(60, seed=i))
        result = search(score, bound, dag)
        if not result.steps:
            continue
        first = result.steps[0]
        before = first.score - first.gain
        gains = sum(step.gain for step in result.steps)
        assert before + gains == pytest.approx(result.score)
        assert result.steps[-1].edges == result.cpdag.edge_count()
        if result.evaluation_bound is not None and result.score_evaluations is not None:
            assert result.score_evaluations <= result.evaluation_bound


@every_search
def test_knowledge_of_nothing_changes_nothing(search: Search, seed: int) -> None:
    score = gaussian_score(7, 10, 200, seed)
    dag = random_dag(7, 10, seed=seed)
    nothing = search(score, Knowledge().bind(7), dag)
    free = search(score, None, dag)  # type: ignore[arg-type]
    assert (nothing.cpdag, nothing.steps, nothing.score_evaluations) == (
        free.cpdag,
        free.steps,
        free.score_evaluations,
    )


def test_an_order_spares_score_evaluations(seed: int) -> None:
    score = gaussian_score(15, 25, 500, seed)
    order = Knowledge(tiers=[range(5), range(5, 10), range(10, 15)]).bind(15)
    free, informed = fes(score), fes(score, constraint=order)
    assert informed.score_evaluations is not None
    assert free.score_evaluations is not None
    assert informed.score_evaluations < free.score_evaluations


@pytest.mark.parametrize("phase", [fes, poly_fes])
def test_a_forward_phase_alone_keeps_to_admissible_classes(phase: Any, seed: int) -> None:  # noqa: ANN401
    for i, (dag, known) in enumerate(problems(false_problem, seed, count=60)):
        bound = known.bind(dag.n)
        score = GaussianBIC(LinearGaussian.random(dag, seed=i).sample(60, seed=i))
        assert_satisfied(phase(score, constraint=bound).cpdag, known, bound)


def test_a_result_is_a_start_for_the_next_search(seed: int) -> None:
    """A refined class is not a CPDAG, but it determines the class that it refines."""
    for i, (dag, known) in enumerate(problems(true_problem, seed, count=60)):
        bound = known.bind(dag.n)
        score = GaussianBIC(LinearGaussian.random(dag, seed=i).sample(100, seed=i))
        found = fes(score, constraint=bound).cpdag
        for result in (
            bes(score, found, constraint=bound),
            turning(score, found, constraint=bound),
            sges(score, MaxParents(2), start=found, constraint=bound),
        ):
            assert_satisfied(result.cpdag, known, bound)


def test_no_time_at_all_mends_a_start_that_violates_what_can_be_relaxed(seed: int) -> None:
    bound = Knowledge(not_adjacent=[(0, 1), (2, 3)]).bind(5)
    score = gaussian_score(5, 6, 200, seed)
    result = bes(score, PDAG.complete(5), constraint=bound, time_limit=0)
    assert result.stopped == "time limit"
    assert bound.admits(result.cpdag)
    assert result.score == pytest.approx(total_score(score, result.cpdag))


def test_after_forbidden_edges_were_deleted_the_search_has_a_forward_phase() -> None:
    """A search from the complete graph has none; without one, the edge 0 — 2 would be missing."""
    chain = PDAG.from_edges(3, [(0, 1), (1, 2)])
    score = GaussianOracle(LinearGaussian.random(chain, seed=0))
    bound = Knowledge(not_adjacent=[(0, 1)]).bind(3)
    result = sges(score, forward="complete", constraint=bound)
    phases = [step.phase for step in result.steps]
    assert "poly-fes" in phases[phases.index("knowledge") :]
    assert result.cpdag.adjacent(0) >> 2 & 1


def test_a_start_that_contradicts_what_cannot_be_relaxed_is_refused() -> None:
    score = gaussian_score(3, 2, 100, 0)
    required, order = Knowledge([(0, 1)]).bind(3), Knowledge(tiers=[[0], [1, 2]]).bind(3)
    with pytest.raises(NotACPDAG, match="it lacks a required edge"):
        bes(score, PDAG.empty(3), constraint=required)
    with pytest.raises(NotACPDAG, match="a directed edge that the knowledge forbids"):
        sges(score, start=PDAG.from_edges(3, [(1, 0), (2, 0)]), constraint=order)
    apart = Knowledge(not_adjacent=[(0, 1)]).bind(3)
    with pytest.raises(NotACPDAG, match="background knowledge"):
        fes(score, PDAG.complete(3), constraint=apart)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("forward", ["fes", "poly"])
def test_larger_gaussian_truths_are_recovered_with_true_knowledge(
    kind: Callable[[PDAG, Rng], Knowledge], forward: Literal["fes", "poly"], seed: int
) -> None:
    dag = random_dag(20, 26, seed=seed)
    bound = kind(dag, np.random.default_rng(seed)).bind(20)
    score = GaussianOracle(LinearGaussian.random(dag, seed=seed))
    result = sges(score, MaxParents.of(dag), forward=forward, constraint=bound)
    assert result.cpdag == bound.refine(dag_to_cpdag(dag))


@pytest.mark.parametrize("start", [PDAG.empty(6), PDAG.complete(6)])
def test_a_search_that_is_interrupted_at_any_report_ends_in_an_admissible_class(
    start: PDAG, seed: int
) -> None:
    """Also during the search with relaxed knowledge, and while forbidden edges are deleted."""
    pairs = [(x, y) for x in range(6) for y in range(x)]
    for i in range(5):
        rng = np.random.default_rng(seed + i)
        apart = [pairs[k] for k in rng.choice(len(pairs), size=4, replace=False)]
        known, score = Knowledge(not_adjacent=apart), gaussian_score(6, 8, 200, seed + i)
        reports, bound = count(), known.bind(6)
        sges(score, start=start, forward="fes", constraint=bound, progress=lambda _: next(reports))  # noqa: B023
        for last in range(next(reports)):
            left = iter(range(last))

            def interrupt(_: Progress, left: Iterator[int] = left) -> None:
                if next(left, None) is None:
                    raise KeyboardInterrupt

            result = sges(score, start=start, forward="fes", constraint=bound, progress=interrupt)
            assert result.stopped == "interrupted"
            assert_satisfied(result.cpdag, known, bound)


def test_of_the_forbidden_edges_of_a_member_the_cheapest_is_deleted_first(seed: int) -> None:
    """From the complete graph, with pairs that must not be adjacent."""
    choices = 0
    for i in range(20):
        rng = np.random.default_rng(seed + i)
        pairs = [(x, y) for x in range(6) for y in range(x)]
        apart = [pairs[k] for k in rng.choice(len(pairs), size=4, replace=False)]
        bound = Knowledge(not_adjacent=apart).bind(6)
        score = gaussian_score(6, 8, 200, seed + i)
        run = Run(score, constraint=bound)
        run.start(PDAG.complete(6), relaxed=True)
        dag = bound.member(run.engine.cpdag)
        _enforce(run, bound)
        for step in run.engine.steps:
            x, y = step.operator.x, step.operator.y
            gains = {(a, b): gain_of_deletion(score, dag, a, b) for a, b in bound.violations(dag)}
            assert step.gain == pytest.approx(gains[x, y])
            assert gains[x, y] == max(gains.values())
            choices += len(gains) > 1
            dag = dag.edited(remove=[(x, y)])
        assert bound.admits(run.engine.cpdag)
    assert choices >= 40


def gain_of_deletion(score: Score, dag: PDAG, x: int, y: int) -> float:
    return score.local(y, dag.parents(y) & ~(1 << x)) - score.local(y, dag.parents(y))


def any_knowledge(n: int, rng: Rng) -> Knowledge | None:
    """Return random required and forbidden edges, or None if they contradict each other."""
    pairs = list(permutations(range(n), 2))
    try:
        return Knowledge(some(pairs, 0.1, rng), some(pairs, 0.4, rng))
    except KnowledgeError:
        return None


@pytest.mark.parametrize("strategy", ["two-phase", "interleaved", "extended"])
@pytest.mark.parametrize("forward", [None, "fes", "poly", "order", "complete"])
def test_a_bound_is_chosen_under_knowledge_exactly_if_some_dag_satisfies_it(
    forward: Any,  # noqa: ANN401
    strategy: str,
    seed: int,
) -> None:
    rng, satisfiable, n = np.random.default_rng(seed), 0, 4
    for i in range(40):
        known, score = any_knowledge(n, rng), gaussian_score(n, 5, 60, seed + i)
        if known is None:
            continue
        if not any(satisfies(dag, known) for dag in naive.all_dags(n)):
            with pytest.raises(KnowledgeError):
                known.bind(n)
            continue
        satisfiable += 1
        bound = known.bind(n)
        for limit in (None, 0.0):
            found = auto_bound(
                score, forward=forward, strategy=strategy, time_limit=limit, constraint=bound
            )
            assert_satisfied(found.result.cpdag, known, bound)
    assert satisfiable


@pytest.mark.parametrize("forward", ["fes", "poly", "order", "complete"])
def test_a_search_under_knowledge_with_a_chosen_bound_is_the_search_with_that_bound(
    forward: Any,  # noqa: ANN401
    seed: int,
) -> None:
    for dag, known in problems(false_problem, seed, count=18):
        bound, score = known.bind(dag.n), gaussian_score(dag.n, 10, 60, seed)
        chosen = auto_bound(score, forward=forward, constraint=bound)
        alone = sges(score, chosen.assume, forward=forward, constraint=bound)
        assert chosen.result.cpdag == alone.cpdag
        assert [s.operator for s in chosen.result.steps] == [s.operator for s in alone.steps]
