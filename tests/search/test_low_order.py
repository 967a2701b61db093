"""Low-order search (Chickering 2020) finds the true class from families of few parents."""

from dataclasses import replace
from functools import cache
from itertools import combinations, permutations, product

import numpy as np
import pytest

import naive
import naive_low_order as twin
from bridge import arcs_of, frozen, pdag_of
from engines import needs_compiled
from sges import MaxParents, Strategy, learn
from sges.errors import InvalidArgument
from sges.graph import PDAG, dag_to_cpdag
from sges.knowledge import Knowledge
from sges.network import BayesianNetwork, LinearGaussian, random_dag
from sges.nodeset import nodes
from sges.result import Result
from sges.score import BDeu, DiscreteBIC, GaussianBIC, GaussianOracle, Score, SeparationOracle
from sges.search import fes, low_order, poly_fes, search
from sges.search.low_order import LowOrder
from sges.search.run import Run
from sges.search.strategy import Forward

SIZES = [2, 3, 4, pytest.param(5, marks=pytest.mark.slow)]


class Watched:
    """A score that records the largest number of parents in an evaluated family."""

    def __init__(self, score: Score) -> None:
        self.n = score.n
        self._score = score
        self.most_parents = 0

    def local(self, y: int, parents: int, /) -> float:
        """Return the score."""
        self.most_parents = max(self.most_parents, parents.bit_count())
        return self._score.local(y, parents)


def ordered_dags(n: int) -> list[PDAG]:
    """Return every DAG with edges to higher nodes only: all DAGs up to relabeling."""
    pairs = list(combinations(range(n), 2))
    return [
        PDAG.from_edges(n, [pair for pair, there in zip(pairs, bits, strict=True) if there])
        for bits in product((False, True), repeat=len(pairs))
    ]


def classes_up_to_relabeling(n: int) -> list[PDAG]:
    """Return one DAG of each equivalence class, up to relabeling."""
    found: dict[tuple[tuple[int, int], ...], PDAG] = {}
    for dag in ordered_dags(n):
        arcs = naive.cpdag_of(n, arcs_of(dag))
        form = min(
            tuple(sorted((new[x], new[y]) for x, y in arcs)) for new in permutations(range(n))
        )
        found.setdefault(form, dag)
    return list(found.values())


def sparse_dag(n: int, edges: int, most: int, seed: int) -> PDAG:
    """Return a random DAG with at most ``edges`` edges and ``most`` parents per node."""
    rng = np.random.default_rng(seed)
    kept: list[tuple[int, int]] = []
    for x, y in random_dag(n, edges, seed=rng).directed_edges():
        if sum(b == y for _, b in kept) < most:
            kept.append((x, y))
    return PDAG.from_edges(n, kept)


def parents_of(dag: PDAG) -> int:
    return max(dag.parents(v).bit_count() for v in range(dag.n))


@pytest.fixture(
    params=[False, pytest.param(True, marks=needs_compiled)], ids=["reference", "compiled"]
)
def _on_each_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sges.search.engines.IS_USED", request.param)


@pytest.mark.usefixtures("_on_each_engine")
@pytest.mark.parametrize("n", SIZES)
def test_every_truth_is_found_with_families_of_one_parent_more_than_it_has(n: int) -> None:
    for truth in ordered_dags(n):
        score = Watched(SeparationOracle(truth))
        result = low_order(score)
        assert result.cpdag == dag_to_cpdag(truth)
        assert score.most_parents <= parents_of(truth) + 1
        of_truth = sum(score.local(v, truth.parents(v)) for v in range(n))
        assert result.score == pytest.approx(of_truth)


@pytest.mark.usefixtures("_on_each_engine")
@pytest.mark.parametrize("n", SIZES)
def test_every_truth_is_found_from_other_imaps(n: int) -> None:
    rng = np.random.default_rng(n)
    for truth in ordered_dags(n):
        extra = [
            (x, y)
            for x, y in combinations(range(n), 2)
            if not truth.adjacent(x) >> y & 1 and rng.random() < 0.5
        ]
        denser = truth.edited(direct=extra)
        for start in (denser, dag_to_cpdag(denser), poly_fes(SeparationOracle(truth)).cpdag):
            score = Watched(SeparationOracle(truth))
            assert low_order(score, start).cpdag == dag_to_cpdag(truth)
            assert score.most_parents <= parents_of(truth) + 1


@pytest.mark.usefixtures("_on_each_engine")
@pytest.mark.parametrize("seed", range(4))
def test_no_level_asks_for_a_family_of_more_than_one_parent_above_it(seed: int) -> None:
    """Including all bookkeeping, on data rather than with an oracle."""
    score = Watched(sampled(seed))
    run = Run(score)
    run.start(PDAG.complete(score.n), scored=False)
    levels, reached = LowOrder(run), []
    for k in levels.up_to(None):
        levels.descend(k)
        assert score.most_parents <= k + 1
        reached.append(score.most_parents)
    assert reached == list(range(1, len(reached) + 1))
    assert len(reached) > 1


@pytest.mark.parametrize("seed", range(20))
def test_larger_truths_are_found_with_a_native_oracle(seed: int) -> None:
    truth = sparse_dag(9, 14, 3, seed)
    result = low_order(GaussianOracle(LinearGaussian.random(truth, seed=seed)))
    assert result.cpdag == dag_to_cpdag(truth)


@cache
def independences_of_classes(n: int) -> dict[naive.Arcs, int]:
    return {arcs: naive.independences(n, dags[0]) for arcs, dags in naive.all_cpdags(n).items()}


def imaps_of(n: int, truth: naive.Arcs) -> list[naive.Arcs]:
    """Return the CPDAGs of all classes that are IMAPs of the truth."""
    lacking = ~naive.independences(n, truth)
    return [arcs for arcs, holding in independences_of_classes(n).items() if not holding & lacking]


@pytest.mark.parametrize("n", [3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_certified_deletes_are_sound_and_exist_on_all_pairs(n: int) -> None:
    """For the twin: on every pair of a truth and an IMAP of it, up to relabeling."""
    checked = 0
    for truth in map(arcs_of, classes_up_to_relabeling(n)):
        k = max(len(naive.parents(truth, v)) for v in range(n))
        found = twin.separators(n, truth, k)
        every = set(imaps_of(n, truth))
        for cpdag in every:
            deletes = twin.certified_deletes(n, cpdag, found, k)
            for x, y, h in deletes:
                assert twin.after(n, cpdag, x, y, h) in every
            assert deletes or cpdag == naive.cpdag_of(n, truth)
            checked += 1
    assert checked == {3: 22, 4: 548, 5: 38_786}[n]


@pytest.mark.parametrize("n", [3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_a_level_keeps_what_the_definition_certifies(n: int) -> None:
    """For every H that Selective-Generate-Ops proposes with bound k, on all small pairs."""
    seen = 0
    for truth in classes_up_to_relabeling(n):
        k, score = parents_of(truth), SeparationOracle(truth)
        found = twin.separators(n, arcs_of(truth), k)
        for arcs in imaps_of(n, arcs_of(truth)):
            run = Run(score)
            run.start(pdag_of(n, arcs), scored=False)
            levels = LowOrder(run)
            for level in range(k + 1):
                levels._find_separators(level)
            kept = {
                (one.delete.x, one.delete.y, frozen(one.delete.h))
                for one in levels.kept(k)
                if one.separator is not None
            }
            wanted = {
                (x, y, h)
                for x, y, h in twin.certified_deletes(n, arcs, found, k)
                if len(staying(arcs, x, y, h)) > k and len(largest_part(arcs, x, y, h)) <= k
            }
            assert kept == wanted
            seen += len(kept)
    assert seen > n


def staying(arcs: naive.Arcs, x: int, y: int, h: frozenset[int]) -> frozenset[int]:
    na = naive.neighbors(arcs, y) & naive.adjacent(arcs, x)
    return (naive.parents(arcs, y) | (na - h)) - {x}


def largest_part(arcs: naive.Arcs, x: int, y: int, h: frozenset[int]) -> frozenset[int]:
    """Return the smallest intersection of H with a maximal clique of NA that contains NA ∖ H."""
    na = naive.neighbors(arcs, y) & naive.adjacent(arcs, x)
    cliques = [frozenset(c) for c in naive.powerset(na) if naive.is_clique(arcs, frozenset(c))]
    maximal = [c for c in cliques if not any(c < d for d in cliques)]
    parts = [c & h for c in maximal if na - h <= c]
    return min(parts, key=len)


@pytest.mark.parametrize("n", [4, pytest.param(5, marks=pytest.mark.slow)])
def test_subsets_of_k_and_of_k_less_one_nodes_are_enough_and_fewer_are_not(n: int) -> None:
    def wrong(less: int) -> int:
        count = 0
        for truth in ordered_dags(n):
            run = Run(SeparationOracle(truth))
            run.start(PDAG.complete(n), scored=False)
            levels = LowOrder(run, less=less)
            for k in levels.up_to(None):
                levels.descend(k)
            count += run.engine.cpdag != dag_to_cpdag(truth)
        return count

    assert [wrong(less) for less in (0, 1, 2)] == [0, 0, {4: 19, 5: 352}[n]]


EXAMPLES = [
    (
        PDAG.from_edges(6, [(2, 1), (3, 1), (1, 0), (0, 5)]),
        PDAG.from_edges(6, [(4, 0), (5, 0), (0, 1), (4, 1), (1, 2), (1, 3)], [(2, 3)]),
    ),
    (
        PDAG.from_edges(8, [(0, 5), (1, 3), (1, 4), (2, 3), (2, 4), (3, 0), (4, 0), (5, 7)]),
        PDAG.from_edges(
            8,
            [(0, 3), (0, 4), (3, 1), (3, 2), (4, 1), (4, 2), (5, 0), (6, 0), (6, 5), (7, 5)],
            [(1, 2), (3, 4)],
        ),
    ),
]


@pytest.mark.parametrize(("truth", "state"), EXAMPLES, ids=["six nodes", "eight nodes"])
def test_the_states_that_refute_theorem_2_as_printed_are_left(truth: PDAG, state: PDAG) -> None:
    assert low_order(SeparationOracle(truth), state).cpdag == dag_to_cpdag(truth)


# Data


def sampled(seed: int, n: int = 7, rows: int = 400) -> DiscreteBIC:
    network = BayesianNetwork.random(random_dag(n, 10, seed=seed), arity=3, seed=seed)
    return DiscreteBIC(network.sample(rows, seed=seed))


def facts(result: Result) -> tuple[object, ...]:
    steps = [(step.phase, step.operator, step.separator) for step in result.steps]
    return result.cpdag, steps, result.score_evaluations, result.complete


@pytest.mark.parametrize("seed", range(6))
def test_both_engines_and_a_python_score_take_the_same_steps(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    score = sampled(seed)
    first, asked = low_order(score), low_order(Watched(score))
    assert facts(first) == facts(asked)
    monkeypatch.setattr("sges.search.engines.IS_USED", False)
    assert facts(low_order(score)) == facts(first)


@pytest.mark.parametrize("seed", range(6))
def test_the_totals_lead_up_to_the_score_of_the_result(seed: int) -> None:
    result = low_order(sampled(seed))
    assert result.steps[-1].score == pytest.approx(result.score)
    for before, after in zip(result.steps, result.steps[1:], strict=False):
        assert after.score == pytest.approx(before.score + after.gain)


def test_a_certified_step_gains_what_its_separator_says() -> None:
    score = sampled(0)
    steps = [step for step in low_order(score).steps if step.separator is not None]
    assert steps
    for step in steps:
        x, y, m = step.operator.x, step.operator.y, step.separator
        assert m is not None
        assert step.gain == pytest.approx(score.local(y, m) - score.local(y, m | 1 << x))
        assert step.gain == pytest.approx(score.local(x, m) - score.local(x, m | 1 << y))


def test_max_order_bounds_what_is_conditioned_on() -> None:
    for order in range(3):
        score = Watched(sampled(3))
        result = low_order(score, max_order=order)
        searched = max(
            step.separator.bit_count() for step in result.steps if step.separator is not None
        )
        assert searched <= order


@pytest.mark.parametrize("wrong", [-1, 1.5, "2", True])
def test_other_orders_are_refused(wrong: object) -> None:
    with pytest.raises(InvalidArgument, match="max_order"):
        low_order(sampled(0), max_order=wrong)  # type: ignore[arg-type]


def test_knowledge_is_obeyed() -> None:
    score = sampled(1)
    bound = Knowledge(required=[(0, 1)]).bind(7)
    result = low_order(score, constraint=bound)
    assert result.cpdag.adjacent(0) >> 1 & 1
    assert result.cpdag.parents(1) & 1


def test_a_time_limit_leaves_the_state_that_was_reached() -> None:
    result = low_order(sampled(2, n=12), time_limit=0.0)
    assert not result.complete
    assert result.stopped == "time limit"


# The strategy


@pytest.mark.parametrize("n", [3, 4])
def test_the_strategy_finds_every_truth(n: int) -> None:
    for truth in ordered_dags(n):
        result = search(SeparationOracle(truth), strategy="low-order")
        assert result.cpdag == dag_to_cpdag(truth)


@pytest.mark.parametrize("seed", range(8))
def test_the_strategy_is_never_worse_than_its_levels(seed: int) -> None:
    score = sampled(seed)
    low = search(score, strategy="low-order")
    assert low.strategy == "low-order"
    assert low.forward == "complete"
    assert low.score >= low_order(score, max_order=3).score - 1e-6
    assert low.score == pytest.approx(sum(_locals(score, low.cpdag)))
    assert low.steps[-1].score == pytest.approx(low.score)


@pytest.mark.parametrize("forward", ["fes", "poly", "order", "complete"])
def test_the_totals_of_the_strategy_lead_up_to_the_score_after_any_forward_phase(
    forward: Forward,
) -> None:
    for seed in range(6):
        result = search(sampled(seed, n=5), strategy="low-order", forward=forward)
        assert result.steps[-1].score == pytest.approx(result.score)


@pytest.mark.parametrize("forbidden", [[(1, 4), (3, 4)], [(0, 3), (4, 0)], [(3, 4), (4, 1)]])
def test_a_second_search_under_relaxed_knowledge_is_kept_only_if_it_scores_higher(
    forbidden: list[tuple[int, int]],
) -> None:
    score, known = sampled(5, n=5), Knowledge(forbidden=forbidden).bind(5)
    levels = Strategy(interleaved=True, low_order=True)
    both, first = (
        search(score, strategy=levels, forward="poly", constraint=constraint)
        for constraint in (known, replace(known, relaxed=None))
    )
    assert both.score >= first.score - 1e-6


def _locals(score: Score, cpdag: PDAG) -> list[float]:
    from sges.graph import pdag_to_dag

    dag = pdag_to_dag(cpdag)
    return [score.local(v, dag.parents(v)) for v in range(dag.n)]


def test_the_strategy_takes_other_starts_and_bounds() -> None:
    score = sampled(5)
    for options in (
        {"forward": "order"},
        {"forward": "poly"},
        {"start": fes(score).cpdag},
        {"assume": MaxParents(2)},
    ):
        result = search(score, strategy="low-order", **options)
        assert result.complete


def test_learn_accepts_the_strategy_and_records_the_separators() -> None:
    table = BayesianNetwork.random(random_dag(6, 8, seed=1), arity=3, seed=1).sample(300, seed=1)
    result = learn(table, strategy="low-order")
    assert any(step.separator is not None for step in result.steps)
    again = Result.from_json(result.to_json())
    assert [s.separator for s in again.steps] == [s.separator for s in result.steps]


def test_an_explanation_names_the_separator() -> None:
    sizes = set()
    for edges, rows in ((6, 300), (8, 2000)):
        network = BayesianNetwork.random(random_dag(6, edges, seed=0), arity=3, seed=0)
        result = learn(network.sample(rows, seed=0), score="bdeu", strategy="low-order")
        names = result.names
        for step in result.steps:
            if step.separator is not None:
                x, y = names[step.operator.x], names[step.operator.y]
                given = ", ".join(names[v] for v in nodes(step.separator))
                condition = f" given {{{given}}}" if given else ""
                reason = f"because {x} and {y} are independent{condition} according to the score"
                assert reason in str(result.explain(x, y))
                sizes.add(step.separator.bit_count())
    assert sizes == {0, 1, 2}


def test_order_and_low_order_cannot_be_combined() -> None:
    with pytest.raises(InvalidArgument, match="cannot be combined"):
        Strategy(interleaved=True, order=True, low_order=True)


@pytest.mark.parametrize("k", [1, 2])
def test_the_families_asked_for_grow_polynomially(k: int) -> None:
    counts = []
    for n in (8, 16):
        truth = sparse_dag(n, n // 2, k, 3)
        result = low_order(GaussianOracle(LinearGaussian.random(truth, seed=1)), max_order=k)
        assert result.score_evaluations is not None
        counts.append(result.score_evaluations)
    assert counts[1] / counts[0] < 2 ** (k + 2.5)


def test_continuous_scores_work_as_well() -> None:
    rows = np.random.default_rng(0).normal(size=(200, 6))
    rows[:, 3] += rows[:, 0] + rows[:, 1]
    rows[:, 5] += rows[:, 3]
    assert search(GaussianBIC(rows), strategy="low-order").cpdag == PDAG.from_edges(
        6, [(0, 3), (1, 3), (3, 5)]
    )
    assert low_order(BDeu(np.round(np.clip(rows, -1, 1)).astype(int))).complete
