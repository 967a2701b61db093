"""The forward phase over orders ends in an IMAP, and equals the plain search over orders."""

import time
from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engines
import naive
import naive_order
from bridge import frozen, pdag_of
from engines import MakeCompiled
from scratch_engine import Recorder
from sges.errors import InvalidArgument, ScoreError
from sges.graph import PDAG, dag_to_cpdag, is_cpdag, is_imap, pdag_to_dag
from sges.network import random_dag
from sges.nodeset import NodeSet, nodes, nodeset
from sges.operators import Delete, Insert
from sges.properties import AtMost, MaxClique, MaxParents, MaxTreewidth, MaxVStructures, MaxVWidth
from sges.score import GaussianBIC, SeparationOracle
from sges.score.protocol import Score, total_score
from sges.search import Progress, ges, search
from sges.search import order as order_search
from sges.search.bounds import order_bound
from sges.search.order import first_order, go_to_best_order
from sges.search.run import Run, Selection
from sges.search.strategy import backward
from worlds import gaussian_score, linear_data

EVERYWHERE = float("inf")
LEAVES = 20
"""A seed with a local optimum from which no move of a single node leads away."""
PROPERTIES: list[type[AtMost]] = [MaxParents, MaxClique, MaxVWidth, MaxTreewidth, MaxVStructures]


def local_of(score: Score) -> naive_order.Local:
    """Return ``local`` of a score for sets of Python, as the twin calls it."""
    return lambda y, parents: score.local(y, nodeset(parents))


class Orders:
    """A search over orders that starts with a given order."""

    def __init__(
        self,
        score: Score,
        order: list[int],
        reach: float = EVERYWHERE,
        required: Sequence[NodeSet] | None = None,
        most: int | None = None,
    ) -> None:
        n, everyone = score.n, (1 << score.n) - 1
        self.engine = engines.compiled(score)
        self.engine.start(PDAG.empty(n), total_score(score, PDAG.empty(n)))
        self.tolerance = self.engine.tolerance
        allowed = [everyone & ~(1 << y) for y in range(n)]
        self.engine.order_begin(order, allowed, required or [0] * n, [0] * n, reach, most)

    @property
    def order(self) -> list[int]:
        return self.engine.order_state()[0]

    @property
    def parents(self) -> list[NodeSet]:
        return self.engine.order_state()[1]

    @property
    def gain(self) -> float:
        return self.engine.order_state()[2]

    def choose(self, y: int, before: NodeSet) -> NodeSet:
        """Return the parents of y in an order with these nodes before it."""
        rest = [v for v in range(self.engine.n) if v != y and not before >> v & 1]
        self.engine.order_set([*nodes(before), y, *rest])
        return self.parents[y]

    def improve(self) -> None:
        """Move each node to its best position in turn, until no node moves."""
        while self.engine.order_round():
            pass


def dag_of(orders: Orders) -> PDAG:
    """Return the DAG of the current order."""
    edges = [(x, y) for y, parents in enumerate(orders.parents) for x in nodes(parents)]
    return PDAG.from_edges(len(orders.order), edges)


def searched(score: Score, start: PDAG | None = None) -> Run:
    """Return a run after its search over orders."""
    run = Run(score)
    run.start(start)
    run.order()
    return run


@st.composite
def problems(draw: st.DrawFn) -> tuple[GaussianBIC, list[int]]:
    """Draw a score of a few variables, and an order of them."""
    n = draw(st.integers(2, 6))
    edges = draw(st.integers(0, n * (n - 1) // 2))
    score = gaussian_score(n, edges, draw(st.sampled_from([30, 300])), draw(st.integers(0, 999)))
    return score, draw(st.permutations(range(n)))


class TestTheGuarantee:
    """The results with an oracle."""

    @pytest.mark.parametrize("n", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
    def test_every_order_stands_for_an_imap_before_and_after_the_search(self, n: int) -> None:
        for dags in naive.all_cpdags(n).values():
            truth = pdag_of(n, dags[0])
            for order in permutations(range(n)):
                search = Orders(SeparationOracle(truth), list(order))
                assert is_imap(dag_of(search), truth)
                search.improve()
                assert is_imap(dag_of(search), truth)

    @pytest.mark.parametrize("n", [2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
    def test_theorem_3_the_truth_is_found_with_all_deletes_and_with_selected_ones(
        self, n: int
    ) -> None:
        for dags in naive.all_cpdags(n).values():
            dag = pdag_of(n, dags[0])
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
        for truth in classes[:: 1 if n == 3 else 7]:
            dag = next(iter(naive.extensions(n, frozenset(_arcs(truth)))))
            score = SeparationOracle(pdag_of(n, dag))
            for start in classes:
                assert is_imap(searched(score, start).engine.cpdag, pdag_of(n, dag))


def _arcs(graph: PDAG) -> set[tuple[int, int]]:
    lines = graph.undirected_edges()
    return {*graph.directed_edges(), *lines, *((y, x) for x, y in lines)}


class TestTheTwin:
    """The fast search equals the plain one."""

    @given(
        problem=problems(),
        sets=st.lists(st.integers(0, 63), min_size=1, max_size=8),
        most=st.none() | st.integers(2, 4),
    )
    def test_the_parents_under_any_order_are_those_of_the_plain_one(
        self, problem: tuple[GaussianBIC, list[int]], sets: list[NodeSet], most: int | None
    ) -> None:
        score, order = problem
        required = [0] * score.n
        required[order[-1]] = sets[0] & 0b11 & ~(1 << order[-1])
        search = Orders(score, order, required=required, most=most)
        for s in sets:
            for y in order:
                before = (s & nodeset(order) & ~(1 << y)) | required[y]
                plain = naive_order.grow_shrink(
                    local_of(score),
                    y,
                    frozen(before),
                    search.tolerance,
                    frozen(required[y]),
                    score.n if most is None else most,
                )
                assert frozen(search.choose(y, before)) == plain

    @settings(max_examples=40)
    @given(problem=problems(), reach=st.sampled_from([EVERYWHERE, 5.0]))
    def test_the_search_ends_with_the_order_and_the_parents_of_the_plain_one(
        self, problem: tuple[GaussianBIC, list[int]], reach: float
    ) -> None:
        score, order = problem
        search, local = Orders(score, order, reach), local_of(score)
        search.improve()
        plain = naive_order.best_order(local, order, search.tolerance, reach)
        assert search.order == plain
        parents = naive_order.parents_of_order(local, plain, search.tolerance)
        assert {y: frozen(chosen) for y, chosen in enumerate(search.parents)} == parents

    @settings(max_examples=40)
    @given(problem=problems())
    def test_beginning_again_ends_where_another_order_of_the_class_is_no_better(
        self, problem: tuple[GaussianBIC, list[int]]
    ) -> None:
        score, _ = problem
        end = searched(score).engine.cpdag
        best = total_score(score, end) - total_score(score, PDAG.empty(score.n))
        again = Orders(score, first_order(pdag_to_dag(end), [0] * score.n))
        again.improve()
        assert again.gain <= best + 1e-6

    @pytest.mark.parametrize("make", engines.COMPILED)
    def test_a_search_with_bounded_work_deals_the_best_order_and_leaves_local_optima(
        self, make: MakeCompiled
    ) -> None:
        score = gaussian_score(9, 27, 1000, LEAVES)
        plain, bounded = make(score), make(score)
        go_to_best_order(plain, "order")
        go_to_best_order(bounded, "order", effort=10.0)
        assert total_score(score, bounded.cpdag) > total_score(score, plain.cpdag) + 1.0

    @pytest.mark.parametrize("seed", [5, 6, 7])
    def test_bounded_work_is_no_less_for_a_search_from_a_given_graph(self, seed: int) -> None:
        score = gaussian_score(12, 24, 300, seed)
        start = random_dag(12, 12, seed=seed + 1)
        from_start = search(score, strategy="auto", start=start, forward="fes")
        assert from_start.score > search(score, strategy="auto").score - 1.0

    @pytest.mark.parametrize("make", engines.COMPILED)
    @pytest.mark.parametrize("effort", [None, 10.0])
    def test_the_best_order_is_kept_when_the_rounds_are_over(
        self, make: MakeCompiled, effort: float | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        score, totals = gaussian_score(9, 27, 1000, LEAVES), []
        for rounds in (1, 4, 50):
            monkeypatch.setattr(order_search, "ROUNDS", rounds)
            engine = make(score)
            go_to_best_order(engine, "order", effort=effort)
            totals.append(total_score(score, engine.cpdag))
        assert total_score(score, PDAG.empty(9)) < totals[0] <= totals[1] <= totals[2]

    @pytest.mark.parametrize("make", engines.COMPILED[1:])
    def test_the_families_counted_are_those_of_a_plain_set(
        self, make: MakeCompiled, seed: int
    ) -> None:
        recorder = Recorder(gaussian_score(8, 14, 300, seed))
        engine = make(recorder)
        go_to_best_order(engine, "order")
        counted, asked = engine.evaluations, len(recorder.asked)
        assert counted == asked
        assert asked <= order_bound(8)

    def test_ties_go_to_the_lowest_node(self) -> None:
        """All correlations are equal, so that all parents of node 3 are equally good."""
        rho = np.full((4, 4), 0.5)
        np.fill_diagonal(rho, 1.0)
        score = GaussianBIC.from_covariance(rho, 30, penalty=2.0)
        search = Orders(score, [0, 1, 2, 3])
        assert [search.choose(3, s) for s in (0b111, 0b110, 0b100)] == [0b001, 0b010, 0b100]


class TestTheSteps:
    """The steps that the phase records."""

    @pytest.mark.parametrize("start", [PDAG.empty(12), PDAG.complete(12)])
    def test_steps_are_valid_add_up_and_lead_from_the_start_to_the_result(
        self, start: PDAG, seed: int
    ) -> None:
        score = gaussian_score(12, 24, 300, seed)
        run = searched(score, start)
        found, result = run.engine.cpdag, run.result()
        cpdag, total = start, total_score(score, start)
        for step in result.steps:
            cpdag = step.operator.apply(cpdag)
            total += step.gain
            assert is_cpdag(cpdag)
            assert (step.phase, step.edges) == ("order", cpdag.edge_count())
            assert step.score == pytest.approx(total_score(score, cpdag), rel=1e-9)
        assert cpdag == found == result.cpdag
        assert run.engine.total == pytest.approx(result.score, rel=1e-9)
        kinds = {type(step.operator) for step in result.steps}
        assert kinds == ({Insert} if not start.edge_count() else {Insert, Delete})

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
        assert {p.phase for p in seen} == set(result.seconds) == {"order"}
        assert seen[-1].edges == result.cpdag.edge_count()
        assert seen[-1].score == pytest.approx(result.score, rel=1e-9)
        assert result.operators_considered > 0


class Late:
    """A score that waits, or is interrupted, at the k-th family."""

    def __init__(self, score: Score, at: int, act: str) -> None:
        self.score, self.at, self.act, self.asked = score, at, act, 0
        self.n = score.n

    def local(self, y: int, parents: NodeSet) -> float:
        """Return the score; act at one call."""
        self.asked += 1
        if self.asked == self.at:
            if self.act == "interrupted":
                raise KeyboardInterrupt
            time.sleep(0.25)
        return self.score.local(y, parents)


class TestAnEarlyEnd:
    """Time limits and Ctrl-C."""

    @pytest.mark.parametrize("act", ["interrupted", "time limit"])
    @pytest.mark.parametrize("at", [20, 800])
    def test_the_state_is_valid_and_the_steps_lead_there(
        self, at: int, act: str, seed: int
    ) -> None:
        score = gaussian_score(10, 20, 500, seed)
        late = Late(score, at, act)
        run = Run(late, time_limit=0.2 if act == "time limit" else None)
        run.start(None)
        run.order()
        found = run.engine.cpdag
        assert is_cpdag(found)
        if act == "interrupted":  # not interrupted, if it needed fewer families
            assert (run.stopped is None) == (late.asked < at)
        late.at = 0
        result = run.result()
        cpdag = PDAG.empty(10)
        for step in result.steps:
            cpdag = step.operator.apply(cpdag)
        assert cpdag == found
        assert run.engine.total == pytest.approx(result.score, rel=1e-9)

    def test_time_that_is_up_during_the_search_leaves_the_best_order_so_far(self) -> None:
        score = gaussian_score(10, 20, 500, 3)
        start = PDAG.from_edges(10, undirected=[(0, 1)])
        first = Orders(score, first_order(pdag_to_dag(start), [0] * 10)).gain
        whole = Late(score, 0, "time limit")
        searched(whole, start)
        late = Run(Late(score, whole.asked * 2 // 3, "time limit"), time_limit=0.2)
        late.start(start)
        late.order()
        assert late.stopped == "time limit"
        best = total_score(score, PDAG.empty(10)) + first
        assert total_score(score, late.engine.cpdag) >= best - 1e-6

    def test_a_run_that_has_stopped_stays_where_it_is(self) -> None:
        run = Run(gaussian_score(5, 6, 300, 0), time_limit=0)
        run.start(None)
        for _ in range(2):
            run.order()
            assert run.engine.cpdag == PDAG.empty(5)
        assert run.stopped == "time limit"


def test_an_order_that_knowledge_makes_impossible_is_refused() -> None:
    assert first_order(PDAG.from_edges(3, [(2, 0)]), [0b010, 0, 0]) == [2, 0, 1]
    with pytest.raises(InvalidArgument, match="no order of the nodes"):
        first_order(PDAG.empty(3), [0b010, 0b100, 0b001])


def test_a_score_that_is_not_finite_is_refused() -> None:
    class Bad:
        n = 3

        def local(self, y: int, parents: NodeSet) -> float:
            return float("nan") if parents.bit_count() == 2 else y + float(parents.bit_count())

    run = Run(Bad())
    run.start(PDAG.from_edges(3, undirected=[(0, 1)]))
    with pytest.raises(ScoreError, match="must be finite"):
        run.order()


def test_orders_lead_to_better_graphs_than_two_phases_on_most_dense_problems() -> None:
    """On ten data sets of 20 variables and 50 edges; ties are not counted."""
    better = worse = 0
    for seed in range(10):
        _, data = linear_data(20, 50, 1000, seed)
        score = GaussianBIC(data)
        run = searched(score)
        backward(run)
        ours = total_score(score, run.engine.cpdag)
        plain = ges(score).score
        better += ours > plain + 1e-6
        worse += ours < plain - 1e-6
    assert better > 5 * worse
