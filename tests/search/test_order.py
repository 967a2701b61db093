"""The search for the best order of the nodes: a plain twin, the guarantee, and knowledge."""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import naive_order
from bridge import arcs_of, frozen, pdag_of
from engines import EVERY, Make, started
from known import false_problem, satisfies, true_problem
from scratch_engine import Recorder
from sges.errors import ScoreError
from sges.graph import PDAG, dag_to_cpdag, is_cpdag, is_imap
from sges.knowledge import Knowledge
from sges.network import LinearGaussian, random_dag
from sges.nodeset import NodeSet, nodeset
from sges.operators import Delete, Insert
from sges.properties import AtMost, MaxClique, MaxParents, MaxTreewidth, MaxVStructures, MaxVWidth
from sges.score import GaussianBIC, SeparationOracle
from sges.score.protocol import Score, tie_tolerance, total_score
from sges.search import Progress, ges, search
from sges.search.bounds import order_bound
from sges.search.moves import Constraint, Moves, Policy
from sges.search.run import Run, Selection
from sges.search.strategy import backward, search_with_knowledge
from worlds import gaussian_score, linear_data

PROPERTIES: list[type[AtMost]] = [MaxParents, MaxClique, MaxVWidth, MaxTreewidth, MaxVStructures]
ORDERS = Policy(Moves())


def local_of(score: Score) -> naive_order.Local:
    """Return ``local`` of a score for sets of Python, as the twin calls it."""
    return cache(lambda y, parents: score.local(y, nodeset(parents)))


def dag_of(n: int, parents: naive_order.Parents) -> PDAG:
    return PDAG.from_edges(n, [(x, y) for y, family in parents.items() for x in family])


def searched(score: Score, start: PDAG | None = None, constraint: Constraint | None = None) -> Run:
    """Return a run after its search over orders."""
    run = Run(score, constraint=constraint)
    run.start(start)
    run.order()
    return run


def tiers_of(order: list[int]) -> list[list[int]]:
    """Return tiers that allow one order only."""
    return [[v] for v in order]


def small_score(data: st.DataObject, n: int) -> GaussianBIC:
    edges = data.draw(st.integers(0, n * (n - 1) // 2))
    records, seed = data.draw(st.sampled_from([20, 60])), data.draw(st.integers(0, 999))
    return gaussian_score(n, edges, records, seed)


class TestTheTwin:
    """The fast search is that of the plain twin."""

    @settings(max_examples=25)
    @given(st.data())
    def test_every_order_stands_for_the_dag_of_grow_and_shrink(self, data: st.DataObject) -> None:
        """Tiers of one node each leave one order; also under required and forbidden edges."""
        n = data.draw(st.integers(3, 7))
        score = small_score(data, n)
        tolerance = tie_tolerance(total_score(score, PDAG.empty(n)))
        most = data.draw(st.none() | st.integers(1, 3))
        order = data.draw(st.permutations(range(n)))
        pairs = [(x, y) for i, x in enumerate(order) for y in order[i + 1 :]]
        required = data.draw(st.lists(st.sampled_from(pairs), max_size=1))
        barred = data.draw(st.lists(st.sampled_from(pairs), max_size=n))
        known = Knowledge(
            required=required, forbidden=set(barred) - set(required), tiers=tiers_of(order)
        ).bind(n)
        parents = naive_order.parents_of_order(
            local_of(score),
            order,
            tolerance,
            required={y: frozen(known.fixed[y]) for y in range(n)},
            forbidden={y: frozen(known.barred[y]) for y in range(n)},
            most=n if most is None else most,
        )
        for make in EVERY:
            engine = started(make, score, known.start(n), known)
            engine.go_to_best_order(Policy(Moves(max_indegree=most)))
            assert engine.cpdag == dag_to_cpdag(dag_of(n, parents))

    @pytest.mark.parametrize("n", [4, pytest.param(5, marks=pytest.mark.slow)])
    def test_no_move_of_one_node_improves_the_order_that_is_found(self, n: int) -> None:
        """Some order of its class is a local optimum; from starts with any order."""
        for seed, order in enumerate(permutations(range(n))):
            score = gaussian_score(n, min(2 * n - 3, n + seed % 4), 40, seed)
            local, tolerance = local_of(score), 1e-9
            start = PDAG.from_edges(n, pairwise(order))
            found = searched(score, start).engine.cpdag
            optima = [
                other
                for other in permutations(range(n))
                if dag_to_cpdag(dag_of(n, naive_order.parents_of_order(local, other, tolerance)))
                == found
                and naive_order.best_neighbor(local, other, tolerance)
                <= naive_order.score_of_order(local, other, tolerance) + tolerance
            ]
            assert optima, (seed, order)

    def test_ties_go_to_the_lowest_node(self) -> None:
        """All correlations are equal, so that all parents of node 3 are equally good."""
        rho = np.full((4, 4), 0.5)
        np.fill_diagonal(rho, 1.0)
        score = GaussianBIC.from_covariance(rho, 30, penalty=2.0)
        for order, parent in (([0, 1, 2, 3], 0), ([2, 1, 3, 0], 1), ([2, 3, 1, 0], 2)):
            known = Knowledge(tiers=tiers_of(order)).bind(4)
            found = known.refine(searched(score, constraint=known).engine.cpdag)
            assert found.parents(3) == 1 << parent

    @pytest.mark.parametrize("make", EVERY)
    def test_the_families_counted_are_those_of_a_plain_set(self, make: Make, seed: int) -> None:
        score = gaussian_score(8, 14, 300, seed)
        recorder = Recorder(score)
        asking = started(EVERY[1], recorder)
        recorder.asked.clear()  # those of the start are not counted
        asking.go_to_best_order(ORDERS)
        engine = started(make, score)
        engine.go_to_best_order(ORDERS)
        assert engine.cpdag == asking.cpdag
        assert engine.evaluations == asking.evaluations == len(recorder.asked) <= order_bound(8)


class TestTheGuarantee:
    """The results with an oracle."""

    @pytest.mark.parametrize("n", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
    def test_every_order_stands_for_an_imap(self, n: int) -> None:
        for truth in truths(n):
            for order in permutations(range(n)):
                known = Knowledge(tiers=tiers_of(list(order))).bind(n)
                engine = started(EVERY[0], SeparationOracle(truth), None, known)
                engine.go_to_best_order(ORDERS)
                assert is_imap(engine.cpdag, truth)

    @pytest.mark.parametrize("n", [2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
    def test_theorem_3_the_truth_is_found_with_all_deletes_and_with_selected_ones(
        self, n: int
    ) -> None:
        for dag in truths(n):
            score, truth = SeparationOracle(dag), dag_to_cpdag(dag)
            found = searched(score).engine.cpdag
            assert is_imap(found, dag)
            for selection in [None, *(Selection(kind.of(dag)) for kind in PROPERTIES)]:
                run = Run(score)
                run.start(found)
                backward(run, selection)
                assert run.engine.cpdag == truth

    @pytest.mark.parametrize("n", [3, pytest.param(4, marks=pytest.mark.slow)])
    def test_every_start_leads_to_an_imap(self, n: int) -> None:
        classes = [pdag_of(n, cpdag) for cpdag in naive.all_cpdags(n)]
        for dag in list(truths(n))[:: 1 if n == 3 else 7]:
            for start in classes:
                assert is_imap(searched(SeparationOracle(dag), start).engine.cpdag, dag)

    @pytest.mark.parametrize("seed", [5, 6, 7])
    def test_a_given_start_does_not_lead_to_a_lower_score(self, seed: int) -> None:
        score = gaussian_score(12, 24, 300, seed)
        start = random_dag(12, 12, seed=seed + 1)
        from_start = search(score, strategy="auto", start=start, forward="fes")
        assert from_start.score > search(score, strategy="auto").score - 1.0

    def test_orders_lead_to_better_graphs_than_two_phases_on_most_dense_problems(self) -> None:
        """On ten data sets of 20 variables and 50 edges; ties are not counted."""
        better = worse = 0
        for seed in range(10):
            score = GaussianBIC(linear_data(20, 50, 1000, seed)[1])
            run = searched(score)
            backward(run)
            ours, plain = total_score(score, run.engine.cpdag), ges(score).score
            better += ours > plain + 1e-6
            worse += ours < plain - 1e-6
        assert better > 5 * worse


def truths(n: int) -> Iterator[PDAG]:
    """Yield one DAG of each class."""
    return (pdag_of(n, dags[0]) for dags in naive.all_cpdags(n).values())


class TestKnowledge:
    """Tiers, required and forbidden edges, and both at once."""

    @staticmethod
    def sges(score: Score, bound: Constraint, dag: PDAG) -> tuple[Run, PDAG]:
        """Search forward over orders and backward selectively, with knowledge."""
        run, selection = Run(score, constraint=bound), Selection(MaxParents.of(dag))

        def phases() -> None:
            run.order()
            backward(run, selection)

        search_with_knowledge(run, None, phases)
        return run, run.result().cpdag

    def test_true_knowledge_and_an_oracle_give_the_truth(self, seed: int) -> None:
        for i in range(90):
            dag, known = true_problem(seed * 1000 + i)
            bound = known.bind(dag.n)
            run, found = self.sges(SeparationOracle(dag), bound, dag)
            assert run.engine.cpdag == dag_to_cpdag(dag), (dag, known)
            assert satisfies(arcs_of(bound.member(found)), known)

    def test_every_constraint_holds_on_data_whether_it_is_true_or_not(self, seed: int) -> None:
        for i in range(60):
            dag, known = false_problem(seed * 1000 + i)
            bound = known.bind(dag.n)
            score = GaussianBIC(LinearGaussian.random(dag, seed=i).sample(60, seed=i))
            run, found = self.sges(score, bound, dag)
            assert satisfies(arcs_of(bound.member(found)), known)
            assert run.engine.total == pytest.approx(total_score(score, run.engine.cpdag))

    def test_steps_are_admissible_one_by_one(self, seed: int) -> None:
        for i in range(30):
            dag, known = true_problem(seed * 1000 + i)
            bound = known.bind(dag.n)
            run = searched(SeparationOracle(dag), constraint=bound)
            cpdag = bound.start(dag.n)
            for step in run.engine.steps:
                cpdag = step.operator.apply(cpdag)
                assert bound.admits(cpdag)
            assert cpdag == run.engine.cpdag


class TestTheSteps:
    """The steps that the phase records."""

    @pytest.mark.parametrize("start", [PDAG.empty(12), PDAG.complete(12)])
    def test_steps_are_valid_add_up_and_lead_from_the_start_to_the_result(
        self, start: PDAG, seed: int
    ) -> None:
        score = gaussian_score(12, 24, 300, seed)
        run = searched(score, start)
        result = run.result()
        cpdag, total = start, total_score(score, start)
        for step in result.steps:
            cpdag = step.operator.apply(cpdag)
            total += step.gain
            assert is_cpdag(cpdag)
            assert (step.phase, step.edges) == ("order", cpdag.edge_count())
            assert step.score == pytest.approx(total_score(score, cpdag), rel=1e-9)
        assert cpdag == run.engine.cpdag == result.cpdag
        assert run.engine.total == pytest.approx(result.score, rel=1e-9)
        assert {type(step.operator) for step in result.steps} <= {Insert, Delete}

    def test_a_start_that_is_found_again_takes_no_steps(self, seed: int) -> None:
        score = gaussian_score(10, 12, 1000, seed)
        once = searched(score).engine.cpdag
        again = searched(score, once)
        assert again.engine.cpdag == once
        assert again.result().steps == ()

    def test_progress_and_seconds_are_those_of_one_phase(self, seed: int) -> None:
        seen: list[Progress] = []
        run = Run(gaussian_score(10, 16, 400, seed), progress=seen.append)
        run.start(None)
        run.order()
        result = run.result()
        assert {p.phase for p in seen} <= {"order", "search"}
        assert set(result.seconds) == {"order"}
        assert result.operators_considered > 0


class Interrupted:
    """A score at whose k-th family Ctrl-C is pressed."""

    def __init__(self, score: Score, at: int) -> None:
        self.score, self.n, self.left = score, score.n, at

    def local(self, y: int, parents: NodeSet) -> float:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return self.score.local(y, parents)


class TestAnEarlyEnd:
    """Ctrl-C, and no time at all."""

    @pytest.mark.parametrize("at", [20, 100, 300, 800])
    def test_the_state_is_valid_and_the_steps_lead_there(self, at: int, seed: int) -> None:
        score = Interrupted(gaussian_score(10, 20, 500, seed), at)
        run = searched(score)
        assert (run.stopped is None) == (score.left > 0)  # it may need fewer families
        score.left = 0
        result, cpdag = run.result(), PDAG.empty(10)
        for step in result.steps:
            cpdag = step.operator.apply(cpdag)
        assert cpdag == run.engine.cpdag
        assert is_cpdag(cpdag)
        assert run.engine.total == pytest.approx(result.score, rel=1e-9)

    def test_a_run_that_has_stopped_stays_where_it_is(self) -> None:
        run = Run(gaussian_score(5, 6, 300, 0), time_limit=0)
        run.start(None)
        for _ in range(2):
            run.order()
            assert run.engine.cpdag == PDAG.empty(5)
        assert run.stopped == "time limit"


def test_a_score_that_is_not_finite_is_refused() -> None:
    class Bad:
        n = 3

        def local(self, y: int, parents: NodeSet) -> float:
            return float("nan") if parents.bit_count() == 2 else y + float(parents.bit_count())

    run = Run(Bad())
    run.start(PDAG.from_edges(3, undirected=[(0, 1)]))
    with pytest.raises(ScoreError, match="must be finite"):
        run.order()
