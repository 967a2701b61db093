"""Which classes the compiled engine admits, compared with all members of each class."""

import time

import numpy as np
import pytest

import naive
from bridge import arcs_of, pdag_of
from known import KINDS, Rng, satisfies
from sges.graph import PDAG, dag_to_cpdag
from sges.knowledge import Knowledge
from sges.network import random_dag
from sges.operators import Delete, Insert, Operator, Turn, all_deletes, all_inserts, all_turns
from sges.score.protocol import total_score
from sges.search.engines import Engine
from sges.search.moves import Moves
from worlds import gaussian_score

EVERYTHING = Moves(inserts="all", turns=True, deletes=True)


def knowledge_of(dag: PDAG, rng: Rng) -> Knowledge:
    """Return random knowledge of a random kind that a DAG satisfies."""
    return KINDS[int(rng.integers(len(KINDS)))](dag, rng)


def operators(cpdag: PDAG) -> list[Operator]:
    return [*all_inserts(cpdag), *all_deletes(cpdag), *all_turns(cpdag)]


@pytest.mark.parametrize(("n", "times"), [(3, 10), (4, 1)])
def test_an_operator_is_admitted_if_a_member_of_its_class_satisfies_the_knowledge(
    n: int, times: int, seed: int
) -> None:
    """From every class of n nodes, admitted or not, each time with other random knowledge."""
    rng = np.random.default_rng(seed)
    score, classes = gaussian_score(n, n - 1, 100, seed), naive.all_cpdags(n)
    answers = {True: 0, False: 0}
    for arcs in times * list(classes):
        known = knowledge_of(random_dag(n, int(rng.integers(n)), seed=rng), rng)
        graph = pdag_of(n, arcs)
        engine = Engine(score, constraint=known.bind(n))
        engine.start(graph, 0.0)
        for operator in operators(graph):
            members = classes[arcs_of(operator.apply(graph))]
            expected = any(satisfies(dag, known) for dag in members)
            assert engine.admits(operator) == expected, (known, graph, operator)
            assert engine.cpdag == graph
            answers[expected] += 1
    assert min(answers.values()) > 0


@pytest.mark.parametrize("n", [5, 8, 66])
def test_only_changes_are_examined_and_the_answer_is_that_of_the_whole_class(
    n: int, seed: int
) -> None:
    """Wherever the engine has gone by admitted steps, by others, and by going back."""
    rng = np.random.default_rng(seed)
    answers = {True: 0, False: 0}
    for i in range(6 if n < 10 else 2):
        dag = random_dag(n, int(rng.integers(n, 2 * n)), seed=rng)
        bound = knowledge_of(dag, rng).bind(n)
        score = gaussian_score(n, 2 * n if n > 5 else 8, 200, seed + i)
        start = bound.start(n) if rng.random() < 0.5 else dag_to_cpdag(dag)
        engine = Engine(score, constraint=bound)
        engine.start(start, total_score(score, start))
        marks = [engine.mark()]
        for _ in range(25):
            choices = operators(engine.cpdag) if n < 10 else some_operators(engine.cpdag, rng)
            for k in rng.permutation(len(choices))[:12]:
                expected = bound.admits(choices[k].apply(engine.cpdag))
                assert engine.admits(choices[k]) == expected
                answers[expected] += 1
            match rng.integers(6):
                case 0:
                    at = int(rng.integers(len(marks)))
                    engine.rewind(marks[at])
                    del marks[at + 1 :]
                case 1 if choices:  # whether admitted or not
                    engine.apply("x", choices[int(rng.integers(len(choices)))], 0.0)
                    marks.append(engine.mark())
                case 2:
                    bound = bound.relaxed or bound
                    engine.constraint = bound
                case _:
                    engine.climb("x", EVERYTHING, most=int(rng.integers(4)))
                    marks.append(engine.mark())
    assert min(answers.values()) > 0


def some_operators(cpdag: PDAG, rng: Rng) -> list[Operator]:
    """Return deletes, turns and inserts of a large class without a set, if they are valid."""
    near = [(x, y) for x in range(cpdag.n) for y in range(cpdag.n) if cpdag.adjacent(x) >> y & 1]
    pairs = [(x, y) for x, y in rng.integers(cpdag.n, size=(200, 2)).tolist() + near if x != y]
    chosen: list[Operator] = [make(x, y) for x, y in pairs for make in (Insert, Delete, Turn)]
    return [operator for operator in chosen if operator.is_valid(cpdag)]


def test_a_delete_that_is_not_admitted_is_rejected_once_beside_a_filter() -> None:
    """It was offered again and again, as a filter examines all deletes of a state."""
    for seed in (1, 3, 5):
        score, ends = gaussian_score(5, 6, 80, seed), []
        for is_filtered in (True, False):
            known = Knowledge(forbidden=[(0, 1)]).bind(5)
            engine = Engine(score, constraint=known, deadline=time.perf_counter() + 5)
            engine.start(PDAG.empty(5), 0.0)
            engine.only((lambda _: True) if is_filtered else None)
            engine.climb("x", EVERYTHING)
            assert engine.stopped is None
            ends.append(engine.cpdag)
        assert ends[0] == ends[1]


def test_edges_of_a_large_component_are_directed_together() -> None:
    """Two arrows in a path of 100 nodes exclude each other if they point to each other."""
    n = 100
    path = PDAG.from_edges(n, undirected=[(v, v + 1) for v in range(n - 1)])
    score = gaussian_score(n, n, 300, 0)
    for required, expected in (
        ([(10, 11), (80, 81)], True),
        ([(11, 10), (80, 81)], True),
        ([(11, 10), (81, 80)], True),
        ([(10, 11), (81, 80)], False),
    ):
        engine = Engine(score, constraint=Knowledge(required=required).bind(n))
        engine.start(path, 0.0)
        assert engine.admits(Delete(98, 99)) == expected
        assert engine.admits(Delete(40, 41))  # this leaves two components
        assert not engine.admits(Delete(*sorted(required[0])))
