"""The forward phase over orders: an IMAP from every order, and the fast search is the plain one."""

import time
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import naive_order
from bridge import frozen, pdag_of
from scratch_engine import Recorder
from sges.errors import ScoreError, WrongUse
from sges.graph import PDAG, dag_to_cpdag, is_cpdag, is_imap
from sges.network import BayesianNetwork, random_dag
from sges.nodeset import NodeSet, nodeset
from sges.operators import Delete, Insert
from sges.properties import AtMost, MaxClique, MaxParents, MaxTreewidth, MaxVStructures, MaxVWidth
from sges.score import CountingScore, DiscreteBIC, GaussianBIC, SeparationOracle
from sges.score.base import Score, total_score
from sges.search import Progress, ges
from sges.search.edge_by_edge import EdgeByEdge
from sges.search.grow_shrink import GrowShrink
from sges.search.order import first_order, forward_by_order, order_bound, order_search, reordered
from sges.search.order_moves import OrderSearch
from sges.search.phases import Selection, backward
from sges.search.run import Run
from worlds import gaussian_score, linear_data

EVERYWHERE = float("inf")
PROPERTIES: list[type[AtMost]] = [MaxParents, MaxClique, MaxVWidth, MaxTreewidth, MaxVStructures]


def local_of(score: Score) -> naive_order.Local:
    """Return the score as the twin asks for it."""
    return lambda y, parents: score.local(y, nodeset(parents))


def search_of(run: Run, order: list[int], reach: float = EVERYWHERE) -> OrderSearch:
    """Return a search that begins with an order."""
    everyone = (1 << run.n) - 1
    trees = [
        GrowShrink(y, run.insert_gains, run.delete_gains, run.tolerance, allowed=everyone)
        for y in range(run.n)
    ]
    return OrderSearch(order, trees, [0] * run.n, run.tolerance, reach)


def started(score: Score) -> Run:
    run = Run(score)
    run.start(None)
    return run


@st.composite
def problems(draw: st.DrawFn) -> tuple[GaussianBIC, list[int]]:
    """Draw a score of a few variables, and an order of them."""
    n = draw(st.integers(2, 6))
    edges = draw(st.integers(0, n * (n - 1) // 2))
    score = gaussian_score(n, edges, draw(st.sampled_from([30, 300])), draw(st.integers(0, 999)))
    return score, draw(st.permutations(range(n)))


class TestTheGuarantee:
    """With a score that sees the truth."""

    @pytest.mark.parametrize("n", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
    def test_every_order_stands_for_an_imap_before_and_after_the_search(self, n: int) -> None:
        for dags in naive.all_cpdags(n).values():
            truth = pdag_of(n, dags[0])
            run = started(SeparationOracle(truth))
            for order in permutations(range(n)):
                search = search_of(run, list(order))
                assert is_imap(search.state.dag(), truth)
                search.improve()
                assert is_imap(search.state.dag(), truth)

    @pytest.mark.parametrize("n", [2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
    def test_theorem_3_the_truth_is_found_with_all_deletes_and_with_selected_ones(
        self, n: int
    ) -> None:
        for dags in naive.all_cpdags(n).values():
            dag = pdag_of(n, dags[0])
            score, truth = SeparationOracle(dag), dag_to_cpdag(dag)
            run = Run(score)
            found = forward_by_order(run, run.start(None))
            assert is_imap(found, dag)
            for selection in [None, *(Selection(kind.of(dag)) for kind in PROPERTIES)]:
                run = Run(score)
                assert backward(run, run.start(found), selection) == truth

    @pytest.mark.parametrize("n", [3, pytest.param(4, marks=pytest.mark.slow)])
    def test_every_start_leads_to_an_imap(self, n: int) -> None:
        classes = [pdag_of(n, cpdag) for cpdag in naive.all_cpdags(n)]
        for truth in classes[:: 1 if n == 3 else 7]:
            dag = next(iter(naive.extensions(n, frozenset(_arcs(truth)))))
            score = SeparationOracle(pdag_of(n, dag))
            for start in classes:
                run = Run(score)
                assert is_imap(forward_by_order(run, run.start(start)), pdag_of(n, dag))


def _arcs(graph: PDAG) -> set[tuple[int, int]]:
    lines = graph.undirected_edges()
    return {*graph.directed_edges(), *lines, *((y, x) for x, y in lines)}


class TestTheTwin:
    """The fast search does what the plain one does."""

    @given(problems(), st.lists(st.integers(0, 63), min_size=1, max_size=8))
    def test_grow_shrink_with_its_memory_equals_the_plain_one(
        self, problem: tuple[GaussianBIC, list[int]], sets: list[NodeSet]
    ) -> None:
        score, order = problem
        run, y = started(score), order[0]
        others = nodeset(order[1:])
        required = sets[0] & others & 0b11
        tree = GrowShrink(
            y,
            run.insert_gains,
            run.delete_gains,
            run.tolerance,
            allowed=others,
            required=required,
        )
        for s in sets:
            before = s & others | required
            choice = tree.choose(before)
            plain = naive_order.grow_shrink(
                local_of(score), y, frozen(before), run.tolerance, frozen(required)
            )
            assert frozen(choice.parents) == plain
            gain = score.local(y, choice.parents) - score.local(y, required)
            assert choice.gain == pytest.approx(gain, abs=1e-6)

    def test_other_nodes_may_come_and_go_unless_they_were_grown_or_are_rivals(
        self, seed: int
    ) -> None:
        n = 7
        run = started(gaussian_score(n, 14, 200, seed))
        tree = search_of(run, list(range(n)))._trees[0]
        kept = changed = 0
        for before in range(0, 1 << n, 2):
            choice = tree.choose(before)
            for x in range(1, n):
                other = tree.choose(before ^ 1 << x)
                matters = choice.grown if before >> x & 1 else choice.rivals
                if matters >> x & 1:
                    changed += other != choice
                else:
                    assert other == choice
                    kept += 1
        assert kept
        assert changed

    @given(problems())
    def test_a_sweep_gives_every_place_the_score_it_has_from_scratch(
        self, problem: tuple[GaussianBIC, list[int]]
    ) -> None:
        score, order = problem
        run, local = started(score), local_of(score)
        search = search_of(run, order)
        here = naive_order.score_of_order(local, order, run.tolerance)
        for v in order:
            gains = {place.at: place.gain for place in search.places(v)}
            assert set(gains) == set(range(len(order))) - {order.index(v)}
            for to, gain in gains.items():
                other = naive_order.moved(order, v, to)
                plain = naive_order.score_of_order(local, other, run.tolerance) - here
                assert gain == pytest.approx(plain, abs=1e-6)

    @settings(max_examples=40)
    @given(problems(), st.sampled_from([EVERYWHERE, 5.0]))
    def test_the_search_ends_with_the_order_and_the_parents_of_the_plain_one(
        self, problem: tuple[GaussianBIC, list[int]], reach: float
    ) -> None:
        score, order = problem
        run, local = started(score), local_of(score)
        search = search_of(run, order, reach)
        search.improve()
        plain = naive_order.best_order(local, order, run.tolerance, reach)
        assert list(search.state.order) == plain
        parents = naive_order.parents_of_order(local, plain, run.tolerance)
        assert {y: frozen(c.parents) for y, c in enumerate(search.state.choices)} == parents

    @settings(max_examples=40)
    @given(problems())
    def test_beginning_again_ends_where_another_order_of_the_class_is_no_better(
        self, problem: tuple[GaussianBIC, list[int]]
    ) -> None:
        score, order = problem
        run = started(score)
        plain, search = search_of(run, order), search_of(run, order)
        plain.improve()
        search.improve(lambda dag: reordered(None, dag))
        assert search.best == search.state
        assert search.best.gain >= plain.best.gain - run.tolerance
        again = search_of(run, reordered(None, search.best.dag()))
        again.improve()
        assert again.best.gain <= search.best.gain + 1e-6

    def test_a_score_that_skips_what_cannot_win_leads_to_the_same_orders(self, seed: int) -> None:
        """Discrete scores answer for hopeless candidates with any low number."""
        network = BayesianNetwork.random(random_dag(8, 12, seed=seed), seed=seed)
        score = DiscreteBIC(network.sample(500, seed=seed))
        assert hasattr(score, "insert_gains_above")
        run, order = started(score), list(range(8))
        search = search_of(run, order)
        search.improve()
        plain = naive_order.best_order(local_of(score), order, run.tolerance, EVERYWHERE)
        assert list(search.state.order) == plain

    def test_the_families_counted_are_those_of_a_plain_set(self, seed: int) -> None:
        run = started(gaussian_score(8, 14, 300, seed))
        recorder = Recorder(run.plain)
        run.counter = CountingScore(recorder)
        forward_by_order(run, PDAG.empty(8))
        assert run.counter.evaluations == len(recorder.asked)
        assert len(recorder.asked) <= order_bound(8)

    def test_ties_go_to_the_lowest_node(self) -> None:
        """Node 3 depends on three copies of one variable: each is as good as the others."""
        rho = np.full((4, 4), 0.5)
        np.fill_diagonal(rho, 1.0)
        run = started(GaussianBIC.from_covariance(rho, 30, penalty=2.0))
        tree = search_of(run, [0, 1, 2, 3])._trees[3]
        assert [tree.choose(s).parents for s in (0b111, 0b110, 0b100)] == [0b001, 0b010, 0b100]


class TestTheSteps:
    """How the phase tells what it did."""

    @pytest.mark.parametrize("start", [PDAG.empty(12), PDAG.complete(12)])
    def test_steps_are_valid_add_up_and_lead_from_the_start_to_the_result(
        self, start: PDAG, seed: int
    ) -> None:
        score = gaussian_score(12, 24, 300, seed)
        run = Run(score)
        found = forward_by_order(run, run.start(start))
        result = run.result(found)
        cpdag, total = start, total_score(score, start)
        for step in result.steps:
            cpdag = step.operator.apply(cpdag)
            total += step.gain
            assert is_cpdag(cpdag)
            assert (step.phase, step.edges) == ("order", cpdag.edge_count())
            assert step.score == pytest.approx(total_score(score, cpdag), rel=1e-9)
        assert cpdag == found == result.cpdag
        assert run.total == pytest.approx(result.score, rel=1e-9)
        kinds = {type(step.operator) for step in result.steps}
        assert kinds == ({Insert} if not start.edge_count() else {Insert, Delete})

    def test_a_start_that_is_found_again_takes_no_steps(self, seed: int) -> None:
        score = gaussian_score(10, 12, 1000, seed)
        run = Run(score)
        once = forward_by_order(run, run.start(None))
        again = Run(score)
        assert forward_by_order(again, again.start(once)) == once
        assert again.result(once).steps == ()

    @pytest.mark.parametrize("n", [2, 3])
    def test_a_way_leads_from_every_dag_to_every_other(self, n: int) -> None:
        score = gaussian_score(n, 1, 100, 0)
        dags = [pdag_of(n, dag) for dag in naive.all_dags(n)]
        for member in dags:
            for goal in dags:
                cpdag = dag_to_cpdag(member)
                way = EdgeByEdge(score, cpdag, member, goal)
                while (found := way.best()) is not None:
                    assert found.gain == pytest.approx(found.operator.delta(score, cpdag))
                    cpdag = found.operator.apply(cpdag)
                    way.move_to(cpdag)
                assert cpdag == dag_to_cpdag(goal)

    def test_progress_and_seconds_are_those_of_one_phase(self, seed: int) -> None:
        seen: list[Progress] = []
        run = Run(gaussian_score(10, 16, 400, seed), progress=seen.append)
        result = run.result(forward_by_order(run, run.start(None)))
        assert {p.phase for p in seen} == set(result.seconds) == {"order"}
        assert seen[-1].edges == result.cpdag.edge_count()
        assert seen[-1].score == pytest.approx(result.score, rel=1e-9)
        assert result.operators_considered > 0


class Late:
    """A score that takes its time, or is interrupted, at the k-th family."""

    def __init__(self, score: Score, at: int, act: str) -> None:
        self.score, self.at, self.act, self.asked = score, at, act, 0
        self.n = score.n

    def local(self, y: int, parents: NodeSet) -> float:
        """Return the score, but act once."""
        self.asked += 1
        if self.asked == self.at:
            if self.act == "interrupted":
                raise KeyboardInterrupt
            time.sleep(0.25)
        return self.score.local(y, parents)


class TestAnEarlyEnd:
    """Time limits and Ctrl-C."""

    @pytest.mark.parametrize("act", ["interrupted", "time limit"])
    @pytest.mark.parametrize("at", [20, 200, 800, 1500])
    def test_the_state_is_valid_and_the_steps_lead_there(
        self, at: int, act: str, seed: int
    ) -> None:
        score = gaussian_score(10, 20, 500, seed)
        late = Late(score, at, act)
        run = Run(late, time_limit=0.2 if act == "time limit" else None)
        found = forward_by_order(run, run.start(None))
        assert is_cpdag(found)
        if act == "interrupted":  # a run that needed fewer families was not
            assert (run.stopped is None) == (late.asked < at)
        late.at = 0
        result = run.result(found)
        cpdag = PDAG.empty(10)
        for step in result.steps:
            cpdag = step.operator.apply(cpdag)
        assert cpdag == found
        assert run.total == pytest.approx(result.score, rel=1e-9)

    def test_time_that_is_up_during_the_search_leaves_the_best_order_so_far(self) -> None:
        score = gaussian_score(10, 20, 500, 3)
        whole = started(score)
        first = order_search(whole, PDAG.empty(10)).state.gain
        asked = whole.counter.evaluations or 0
        late = Run(Late(score, asked + 150, "time limit"), time_limit=0.2)
        found = forward_by_order(late, late.start(PDAG.from_edges(10, undirected=[(0, 1)])))
        assert late.stopped == "time limit"
        assert total_score(score, found) >= total_score(score, PDAG.empty(10)) + first - 1e-6

    def test_ctrl_c_on_the_way_goes_no_further(self, seed: int) -> None:
        presses: list[Progress] = []

        def press(progress: Progress) -> None:
            if progress.step == 3 and run.counter.evaluations:
                presses.append(progress)
                if len(presses) == 2:  # the first was in the guess
                    raise KeyboardInterrupt

        run = Run(gaussian_score(10, 16, 400, seed), progress=press)
        found = forward_by_order(run, run.start(None))
        assert run.stopped == "interrupted"
        assert len(run.result(found).steps) == 3 == found.edge_count()

    def test_a_run_that_has_stopped_stays_where_it_is(self) -> None:
        run = Run(gaussian_score(5, 6, 300, 0), time_limit=0)
        start = run.start(None)
        assert forward_by_order(run, start) == start
        assert forward_by_order(run, start) == start
        assert run.stopped == "time limit"


def test_an_order_that_knowledge_makes_impossible_is_refused() -> None:
    assert first_order(PDAG.from_edges(3, [(2, 0)]), [0b010, 0, 0]) == [2, 0, 1]
    with pytest.raises(WrongUse, match="no order of the nodes"):
        first_order(PDAG.empty(3), [0b010, 0b100, 0b001])


def test_a_score_that_is_not_finite_is_refused() -> None:
    class Bad:
        n = 3

        def local(self, y: int, parents: NodeSet) -> float:
            return float("nan") if parents.bit_count() == 2 else y + float(parents.bit_count())

    run = Run(Bad())
    start = run.start(PDAG.from_edges(3, undirected=[(0, 1)]))
    with pytest.raises(ScoreError, match="must be finite"):
        forward_by_order(run, start)


def test_orders_lead_to_better_graphs_than_two_phases_on_most_dense_problems() -> None:
    """Ten data sets of 20 variables and 50 edges; ties count for neither."""
    better = worse = 0
    for seed in range(10):
        _, data = linear_data(20, 50, 1000, seed)
        score = GaussianBIC(data)
        run = Run(score)
        ours = total_score(score, backward(run, forward_by_order(run, run.start(None))))
        plain = ges(score).score
        better += ours > plain + 1e-6
        worse += ours < plain - 1e-6
    assert better > 5 * worse
