"""Exogenous nodes: the search against the same search under a required, complete first tier."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import naive
from sges.errors import NotACPDAG, SgesError
from sges.graph import PDAG, dag_to_cpdag, topological_order
from sges.graph.pdag import subgraph
from sges.knowledge import Knowledge
from sges.network import BayesianNetwork, LinearGaussian, random_dag
from sges.nodeset import nodes
from sges.properties import AtMost, MaxClique, MaxParents, MaxTreewidth, MaxVStructures, MaxVWidth
from sges.score import QNML, BDeu, DiscreteBIC, GaussianBIC, GaussianOracle, SeparationOracle
from sges.score.protocol import Score
from sges.search import STRATEGIES, search, sges
from sges.search.exogenous import class_with
from sges.search.run import Run, Selection
from sges.search.strategy import Forward, as_strategy, run_strategy

BOUNDED: tuple[type[AtMost], ...] = (MaxParents, MaxClique, MaxVWidth, MaxTreewidth, MaxVStructures)


def edges_among(m: int) -> list[tuple[int, int]]:
    return list(combinations(range(m), 2))


Edges = Sequence[tuple[int, int]]


def first_tier(n: int, m: int, required: Edges = (), forbidden: Edges = ()) -> Knowledge:
    """Return knowledge that the first m of n nodes come first, with all edges among them."""
    tiers = [(v, f) for f in range(m) for v in range(m, n)]
    return Knowledge(required=[*edges_among(m), *required], forbidden=[*tiers, *forbidden])


def whole(dag: PDAG, m: int) -> PDAG:
    """Return the DAG with all edges among its first m nodes."""
    return dag.edited(direct=edges_among(m))


def true_class(dag: PDAG, m: int) -> PDAG:
    """Return the class that knowledge of the first tier gives, without the edges in this tier."""
    refined = first_tier(dag.n, m).bind(dag.n).refine(dag_to_cpdag(whole(dag, m)))
    return refined.edited(remove=edges_among(m))


def truths(
    count: int, seed: int, least: int = 5, most: int = 10
) -> Iterator[tuple[PDAG, int, int]]:
    """Yield random DAGs whose first nodes, without edges among them, have no other parents."""
    for i in range(seed * 1000, seed * 1000 + count):
        rng = np.random.default_rng(i)
        n, m = int(rng.integers(least, most + 1)), int(rng.integers(1, 4))
        dag = random_dag(n, int(rng.integers(n - 1, min(2 * n, n * (n - 1) // 2))), seed=i)
        new = np.argsort(list(topological_order(dag))).tolist()
        yield dag.relabel(new).edited(remove=edges_among(m)), m, i


@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_every_strategy_finds_every_class_of_four_nodes(n: int, m: int) -> None:
    """With population scores, as the search under knowledge does."""
    for number, arcs in enumerate(naive.all_dags(n)):
        dag = PDAG.from_edges(n, list(arcs))
        if m >= n or any(dag.into[v] for v in range(m)):
            continue
        truth = true_class(dag, m)
        assert class_with(dag, (1 << m) - 1) == truth
        model = LinearGaussian.random(whole(dag, m), seed=number)
        score, known = GaussianOracle(model, records=1e12), first_tier(n, m).bind(n)
        for strategy in STRATEGIES:
            found = search(score, strategy=strategy, exogenous=range(m))
            twin = search(score, strategy=strategy, constraint=known)
            assert found.cpdag == truth, (dag, strategy)
            assert twin.cpdag.edited(remove=edges_among(m)) == truth, (dag, strategy)
            first = sum(score.local(f, (1 << f) - 1) for f in range(m))
            assert found.score == pytest.approx(twin.score - first)


CASES: list[dict[str, Any]] = [
    *[{"strategy": word} for word in STRATEGIES],
    *[{"strategy": "two-phase", "forward": word} for word in ("poly", "order", "complete")],
]


def small_table(dag: PDAG, m: int, seed: int) -> Score:
    rows = (60, 200, 1000)[seed % 3]
    if seed % 2:
        return GaussianBIC(LinearGaussian.random(whole(dag, m), seed=seed).sample(rows, seed=seed))
    table = BayesianNetwork.random(whole(dag, m), seed=seed).sample(rows, seed=seed)
    return (DiscreteBIC, QNML, BDeu)[seed // 2 % 3](table)


def test_small_tables_have_the_graph_of_a_search_under_knowledge() -> None:
    """The climbs agree always; an order search has other orders to begin with."""
    differ = {str(case): 0 for case in CASES}
    for dag, m, i in truths(100, 0):
        score, known = small_table(dag, m, i), first_tier(dag.n, m).bind(dag.n)
        for case in CASES:
            found = search(score, exogenous=range(m), **case).cpdag
            twin = search(score, constraint=known, **case).cpdag
            differ[str(case)] += found != twin.edited(remove=edges_among(m))
    assert all(differ[str({"strategy": word})] == 0 for word in ("two-phase", "turning"))
    assert differ[str({"strategy": "interleaved"})] == 0
    assert max(differ.values()) <= 5, differ


@pytest.mark.parametrize("strategy", ["two-phase", "turning", "interleaved", "auto"])
def test_at_every_step_an_undirected_edge_has_the_same_exogenous_parents(
    strategy: str, seed: int
) -> None:
    """Every state is the class of its members, and nothing points to an exogenous node."""
    for dag, m, i in truths(20, seed):
        run = Run(small_table(dag, m, i), exogenous=range(m))
        block, states = run.block, list[PDAG]()
        run.engine.report = lambda _, run=run, states=states: states.append(run.engine.cpdag)
        run_strategy(run, as_strategy(strategy), Selection(), None, "fes")
        for state in [*states, run.engine.cpdag]:
            assert not any(state.into[f] for f in nodes(block))
            for a, b in state.undirected_edges():
                assert state.parents(a) & block == state.parents(b) & block
            assert class_with(state, block) == state


@pytest.mark.parametrize("forward", ["fes", "poly", "order", "complete"])
def test_sges_with_a_bound_on_the_others_finds_the_truth(forward: Forward, seed: int) -> None:
    for dag, m, _ in truths(40, seed, least=4, most=7):
        others = subgraph(dag, list(range(m, dag.n)))
        score, truth = SeparationOracle(whole(dag, m)), true_class(dag, m)
        for kind in BOUNDED:
            result = sges(score, kind.of(others), forward=forward, exogenous=range(m))
            assert result.cpdag == truth, (dag, m, kind)


def test_the_bound_of_the_others_is_too_small_for_exogenous_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of parents, for example: y and the clique in H have k parents among the others."""
    monkeypatch.setattr(Selection, "block_bound", property(lambda self: self.bounds[0]))
    lost = 0
    for dag, m, _ in truths(60, 0, least=5, most=7):
        assume = MaxParents.of(subgraph(dag, list(range(m, dag.n))))
        score = SeparationOracle(whole(dag, m))
        found = sges(score, assume, forward="complete", exogenous=range(m)).cpdag
        lost += found != true_class(dag, m)
    assert lost > 0


def test_knowledge_about_exogenous_nodes_and_others_holds(seed: int) -> None:
    for dag, m, i in truths(30, seed, least=5, most=8):
        edges = dag.directed_edges()
        rng = np.random.default_rng(i)
        required = [edge for edge in edges if rng.random() < 0.3]
        absent = [
            (x, y)
            for x in range(dag.n)
            for y in range(m, dag.n)
            if x != y and (x, y) not in edges and rng.random() < 0.2
        ]
        known = Knowledge(required=required, forbidden=absent).bind(dag.n)
        twin = first_tier(dag.n, m, required=required, forbidden=absent).bind(dag.n)
        truth = twin.refine(dag_to_cpdag(whole(dag, m))).edited(remove=edges_among(m))
        for strategy in ("two-phase", "auto"):
            options: dict[str, Any] = {"exogenous": range(m), "strategy": strategy}
            found = search(SeparationOracle(whole(dag, m)), constraint=known, **options)
            assert found.cpdag == truth
            table = small_table(dag, m, i)
            graph = search(table, constraint=known, **options).cpdag
            assert all(graph.out[x] >> y & 1 and not graph.into[x] >> y & 1 for x, y in required)
            assert not any(graph.out[x] >> y & 1 for x, y in absent)


def test_a_search_goes_on_from_its_own_result(seed: int) -> None:
    for dag, m, i in truths(20, seed):
        score = small_table(dag, m, i)
        found = search(score, strategy="interleaved", exogenous=range(m))
        again = search(score, strategy="interleaved", start=found.cpdag, exogenous=range(m))
        assert (again.cpdag, len(again.steps)) == (found.cpdag, 0)
        assert again.score == pytest.approx(found.score)
        members = list(found.members())
        assert len(members) == found.class_size()
        assert all(class_with(member, (1 << m) - 1) == found.cpdag for member in members)


def test_a_limit_on_parents_counts_the_others_only() -> None:
    for dag, m, i in truths(20, 1):
        found = search(small_table(dag, m, i), strategy="auto", exogenous=range(m), max_indegree=1)
        block = (1 << m) - 1
        for member in found.members():
            assert all((member.parents(v) & ~block).bit_count() <= 1 for v in range(dag.n))


def test_what_is_not_a_set_of_exogenous_nodes_or_a_start_is_refused() -> None:
    score = small_table(random_dag(4, 4, seed=1), 1, 1)
    for wrong in ([4], [-1], "a", 3, range(4), [0.5]):
        with pytest.raises(SgesError):
            search(score, exogenous=wrong)  # type: ignore[arg-type]
    for start in (PDAG.from_edges(4, [(1, 0)]), PDAG.from_edges(4, [], [(0, 1)])):
        with pytest.raises(NotACPDAG):
            search(score, start=start, exogenous=[0])
    known = Knowledge(required=[(1, 0)]).bind(4)
    with pytest.raises(SgesError, match="requires an edge to"):
        search(score, exogenous=[0], constraint=known)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_order_of_the_columns_changes_nothing(case: dict[str, Any], seed: int) -> None:
    """Exogenous nodes may be anywhere."""
    for dag, m, i in truths(12, seed):
        data = LinearGaussian.random(whole(dag, m), seed=i).sample(200, seed=i).values.T
        new = np.random.default_rng(i).permutation(dag.n)
        moved = data[:, np.argsort(new)]
        found = search(GaussianBIC(data), exogenous=range(m), **case)
        again = search(GaussianBIC(moved), exogenous=new[:m].tolist(), **case)
        if case.get("forward") not in ("poly", "order"):  # which depend on a member
            assert again.cpdag == found.cpdag.relabel(new.tolist())
        assert not any(again.cpdag.into[new[f]] for f in range(m))
