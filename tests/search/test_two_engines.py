"""The compiled engine takes the steps of the reference engine, and evaluates its families.

It is tested with native scores, and with scores that are called in Python.
"""

import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engines
import naive
from bridge import pdag_of
from engines import COMPILED, Engine, Make
from known import false_problem, true_problem
from sges.graph import PDAG, dag_to_cpdag, pdag_to_dag
from sges.network import BayesianNetwork, LinearGaussian, random_dag
from sges.nodeset import NodeSet
from sges.operators import Operator, all_deletes, all_inserts, all_turns
from sges.score import (
    QNML,
    BDeu,
    BGe,
    DegenerateGaussian,
    DiscreteBIC,
    GaussianBIC,
    SeparationOracle,
)
from sges.score.protocol import Score, total_score
from sges.search.generate import changed_views
from sges.search.moves import Constraint, Moves
from strategies import cpdags
from worlds import gaussian_score, linear_data

INSERTS = [
    Moves(inserts="all"),
    Moves(inserts="poly"),
    Moves(inserts="poly", largest_t=1),
]
DELETES = [
    Moves(deletes=True),
    Moves(deletes=True, clique_bound=0),
    Moves(deletes=True, clique_bound=1),
    Moves(deletes=True, clique_bound=1, drop_large=True),
    Moves(deletes=True, size_bound=1),
    Moves(deletes=True, clique_bound=2, size_bound=2),
]
MIXED = [
    Moves(inserts="all", turns=True, deletes=True),
    Moves(inserts="all", turns=True, deletes=True, clique_bound=1),
    Moves(inserts="poly", deletes=True, size_bound=1),
    Moves(inserts="all", turns=True),
]
TURNS = [Moves(turns=True)]
LIMITED = [
    Moves(inserts="all", sets_per_clique=1),
    Moves(inserts="all", sets_per_clique=2),
    Moves(inserts="poly", sets_per_clique=1),
    Moves(inserts="all", max_indegree=1),
    Moves(inserts="poly", largest_t=1, max_indegree=2),
    Moves(deletes=True, sets_per_clique=1),
    Moves(deletes=True, sets_per_clique=2, clique_bound=1),
    Moves(deletes=True, sets_per_clique=2, size_bound=1, drop_large=True, clique_bound=2),
    Moves(turns=True, sets_per_clique=1),
    Moves(turns=True, max_indegree=2),
    Moves(inserts="all", turns=True, deletes=True, sets_per_clique=1),
    Moves(inserts="all", turns=True, deletes=True, sets_per_clique=4, max_indegree=2),
]
EVERY = [*INSERTS, *DELETES, *MIXED, *TURNS, *LIMITED]
INTERLEAVED = MIXED[0]


def started(make: Make, score: Score, start: PDAG, constraint: Constraint | None = None) -> Engine:
    """Return an engine at a class."""
    engine = make(score, constraint=constraint)
    engine.start(start, total_score(score, start))
    return engine


def assert_same(engine: Engine, wanted: Engine) -> None:
    """Compare the states of two engines, their steps, and the families they evaluated."""
    assert [s.operator for s in engine.steps] == [s.operator for s in wanted.steps]
    assert [(s.phase, s.edges) for s in engine.steps] == [(s.phase, s.edges) for s in wanted.steps]
    gains, expected = ([s.gain for s in e.steps] for e in (engine, wanted))
    assert gains == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert engine.total == pytest.approx(wanted.total, rel=1e-9, abs=1e-6)
    assert (engine.cpdag, engine.edges) == (wanted.cpdag, wanted.edges)
    assert engine.step_count == len(wanted.steps)
    assert engine.evaluations == wanted.evaluations
    assert engine.stopped == wanted.stopped
    if wanted.capped is not None:  # the compiled engine may report it earlier
        assert engine.capped is not None
        assert engine.capped <= wanted.capped


def assert_same_climb(
    score: Score,
    start: PDAG,
    moves: Moves,
    constraint: Constraint | None = None,
    makes: Iterable[Make] = engines.COMPILED,
) -> None:
    """Climb with each engine, and compare."""
    wanted = started(engines.reference, score, start, constraint)
    moved = wanted.climb("climb", moves)
    for make in makes:
        engine = started(make, score, start, constraint)
        assert engine.climb("climb", moves) == moved
        assert_same(engine, wanted)


def classes(n: int) -> list[PDAG]:
    return [pdag_of(n, cpdag) for cpdag in naive.all_cpdags(n)]


def oracles(n: int) -> list[SeparationOracle]:
    """Return an oracle for each class, which is called in Python."""
    return [SeparationOracle(pdag_to_dag(truth)) for truth in classes(n)]


@pytest.mark.parametrize("moves", EVERY, ids=str)
@pytest.mark.parametrize("n", [2, 3])
def test_a_climb_takes_the_same_steps_from_every_class(n: int, moves: Moves) -> None:
    for score, start in product(oracles(n), classes(n)):
        assert_same_climb(score, start, moves, makes=[engines.asking])


@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("moves", EVERY, ids=str)
def test_a_climb_takes_the_same_steps_from_many_classes_of_four_nodes(
    moves: Moves, share: int
) -> None:
    """Each kind of moves on another quarter of the classes, or on all classes."""
    four = classes(4)
    pairs = list(zip(oracles(4), four[37:] + four[:37], strict=True))
    for score, start in pairs[EVERY.index(moves) % share :: share]:
        assert_same_climb(score, start, moves, makes=[engines.asking])


@st.composite
def limits(draw: st.DrawFn, ranked: int = 0) -> Moves:
    """Draw a valid combination of moves, with a ranking of so many nodes."""
    some = st.none() | st.integers(0, 3)
    clique = draw(some)
    return Moves(
        inserts=draw(st.sampled_from([None, "all", "poly"])),
        largest_t=draw(st.integers(0, 2)),
        turns=draw(st.booleans()),
        deletes=draw(st.booleans()),
        clique_bound=clique,
        size_bound=draw(some),
        drop_large=clique is not None and draw(st.booleans()),
        max_indegree=draw(st.none() | st.integers(0, 4)),
        sets_per_clique=draw(st.none() | st.sampled_from([1, 2, 3, 4, 8, 16])),
        ranking=tuple(draw(st.permutations(range(ranked))))
        if ranked and draw(st.booleans())
        else None,
    )


@st.composite
def problems(draw: st.DrawFn) -> tuple[Score, PDAG]:
    """Draw a score of a few variables and a class to start from."""
    n, seed = draw(st.integers(2, 8)), draw(st.integers(0, 9999))
    most = n * (n - 1) // 2
    edges = draw(st.integers(0, most))
    rows = draw(st.sampled_from([20, 100, 1000]))
    start = dag_to_cpdag(random_dag(n, draw(st.integers(0, most)), seed=seed + 1))
    if draw(st.booleans()):
        kinds = st.sampled_from([GaussianBIC, BGe, DegenerateGaussian])
        return draw(kinds)(linear_data(n, edges, rows, seed)[1]), start
    arity = draw(st.integers(2, 3))
    network = BayesianNetwork.random(random_dag(n, edges, seed=seed), arity=arity, seed=seed)
    kind = draw(st.sampled_from([DiscreteBIC, QNML, BDeu]))
    return kind(network.sample(rows, seed=seed)), start


@settings(max_examples=150)
@given(problems(), st.data())
def test_any_moves_take_the_same_steps_on_any_data(
    problem: tuple[Score, PDAG], data: st.DataObject
) -> None:
    assert_same_climb(*problem, data.draw(limits(problem[0].n)))


@settings(max_examples=80)
@given(st.integers(0, 9999), st.data())
def test_any_moves_take_the_same_steps_under_any_true_knowledge(
    seed: int, data: st.DataObject
) -> None:
    dag, known = true_problem(seed)
    bound, moves = known.bind(dag.n), data.draw(limits(dag.n))
    for start in (bound.start(dag.n), dag_to_cpdag(dag)):
        assert_same_climb(gaussian_of(dag, seed), start, moves, bound)


@pytest.mark.parametrize("kind", range(6))
def test_escapes_include_the_deletes_that_knowledge_rejected(kind: int, seed: int) -> None:
    for k in range(10):
        dag, known = false_problem(600 * seed + 6 * k + kind)
        bound = known.bind(dag.n)
        listed = []
        for make in engines.EVERY:
            engine = started(make, gaussian_of(dag, seed), bound.start(dag.n), bound)
            engine.climb("climb", INTERLEAVED)
            listed.append({delete for _, delete in engine.escapes(INTERLEAVED)})
        assert listed[0] == listed[1] == listed[2]


def gaussian_of(dag: PDAG, seed: int) -> GaussianBIC:
    covariance = LinearGaussian.random(dag, seed=seed).covariance()
    return GaussianBIC.from_covariance(covariance, 300)


@pytest.mark.parametrize("kind", range(6))
def test_the_strength_of_a_node_is_the_sum_of_the_gains_into_it(kind: int, seed: int) -> None:
    dag, known = true_problem(6 * seed + kind)
    score, bound = gaussian_of(dag, seed), known.bind(dag.n)
    for constraint in (None, bound):
        expected = []
        for y in range(dag.n):
            base = 0 if constraint is None else bound.fixed[y]
            barred = base | 1 << y | (0 if constraint is None else bound.barred[y])
            local = [score.local(y, base | 1 << x) for x in range(dag.n) if not barred >> x & 1]
            expected.append(sum(local) - len(local) * score.local(y, base))
        makes = [make(score, constraint=constraint) for make in COMPILED]
        for engine in makes:
            assert engine.strengths() == pytest.approx(expected, rel=1e-9, abs=1e-6)
        assert len({engine.evaluations for engine in makes}) == 1


class Noise:
    """A random number for every family: half of all operators improve the score."""

    def __init__(self, n: int, seed: int) -> None:
        self.n = n
        self._seed = seed

    def local(self, y: int, parents: NodeSet, /) -> float:
        return random.Random(f"{self._seed} {y} {parents}").random()


def bdeu(n: int, edges: int, records: int, seed: int) -> Score:
    """Return the score of a sample of a random network of binary variables."""
    network = BayesianNetwork.random(random_dag(n, edges, seed=seed), seed=seed)
    return BDeu(network.sample(records, seed=seed))


def some_operator(rng: random.Random, g: PDAG) -> Operator:
    """Return a random insert, delete or turn; for an empty graph it is an insert."""
    for generate in rng.sample([all_inserts, all_deletes, all_turns], 3):
        if found := list(islice(generate(g), 2000)):
            return rng.choice(found)
    raise AssertionError("a graph on two nodes has an insert or a delete")


class Pair:
    """Two engines with the same calls, which are compared after each call."""

    def __init__(self, make: Make, score: Score, moves: list[Moves], rng: random.Random) -> None:
        self.rng, self.score, self.moves = rng, score, moves
        self.n = score.n
        self.both = [started(m, score, PDAG.empty(score.n)) for m in (make, engines.reference)]
        self.marks = [[engine.mark() for engine in self.both]]

    def do(self, thing: str) -> None:
        """Call one method on both engines, and compare them."""
        getattr(self, thing)()
        assert_same(*self.both)
        ours, wanted = (
            e.touched_since(mark) for e, mark in zip(self.both, self.marks[-1], strict=True)
        )
        assert ours == wanted

    def climb(self) -> None:
        moves = self.rng.choice(self.moves)
        ends = not isinstance(self.score, Noise)  # not score equivalent: may not end
        most = self.rng.choice([None, 0, 1, 3] if ends else [0, 1, 3, 6])
        x, y = self.rng.sample(range(self.n), 2)
        bar = self.rng.choice([None, (x, y)])
        patience = self.rng.choice([0.0, 0.0, 0.3])
        aim = self.both[1].total + self.rng.choice([0.0, 5.0])
        moved = [
            e.climb("climb", moves, bar=bar, patience=patience, aim=aim, most=most)
            for e in self.both
        ]
        assert moved[0] == moved[1]

    def apply(self) -> None:
        operator = some_operator(self.rng, self.both[1].cpdag)
        gain = operator.gain(self.score, self.both[1].cpdag)
        peeked = [engine.peek(operator) for engine in self.both]
        for engine in self.both:
            engine.apply("applied", operator, gain)
        assert peeked == [engine.cpdag for engine in self.both]

    def mark(self) -> None:
        self.marks.append([engine.mark() for engine in self.both])

    def rewind(self) -> None:
        if len(self.marks) > 1 and self.rng.random() < 0.5:
            self.marks.pop()
        for engine, mark in zip(self.both, self.marks[-1], strict=True):
            engine.rewind(mark)

    def escapes(self) -> None:
        """Compare the escapes, after an evaluation of the deletes only or of all moves."""
        moves = replace(self.rng.choice(EVERY), deletes=True)
        if self.rng.random() < 0.5:
            moves = replace(moves, inserts=None, turns=False)
        for engine in self.both:
            engine.climb("asked", moves, most=0)
        ours, wanted = (e.escapes(moves) for e in self.both)
        gains = {op: gain for gain, op in wanted}
        assert {op: gain for gain, op in ours} == pytest.approx(gains, rel=1e-6, abs=1e-6)
        assert [gain for gain, _ in ours] == sorted((gain for gain, _ in ours), reverse=True)

    def local(self) -> None:
        y = self.rng.randrange(self.n)
        parents = self.rng.getrandbits(min(self.n, 4)) & ~(1 << y)
        ours, wanted = (e.local(y, parents) for e in self.both)
        assert ours == pytest.approx(wanted)

    def begin(self) -> None:
        """Start again from another class, with the stored gains."""
        edges = self.rng.randint(0, self.n * (self.n - 1) // 2 if self.n < 10 else self.n)
        start = dag_to_cpdag(random_dag(self.n, edges, seed=self.rng.randrange(1 << 30)))
        for engine in self.both:
            engine.start(start, total_score(self.score, start))
        self.marks = [[engine.mark() for engine in self.both]]


THINGS = ["climb", "climb", "climb", "apply", "mark", "rewind", "escapes", "local", "begin"]
WORLDS: dict[str, tuple[Callable[[int], Score], list[Moves], int]] = {
    "dense": (lambda seed: gaussian_score(7, 14, 300, seed), EVERY, 40),
    "sparse": (lambda seed: gaussian_score(14, 18, 300, seed), EVERY, 25),
    "discrete": (lambda seed: bdeu(7, 9, 300, seed), EVERY, 30),
    "noise": (lambda seed: Noise(6, seed), EVERY, 40),
    "blocked turns": (lambda seed: Noise(10, seed), TURNS, 150),
}
"""By name: the score for a seed, the moves of climbs, and the number of calls.

A step that ends the block of a turn is rare, so that walk is long.
"""


@pytest.mark.parametrize("make", engines.COMPILED)
@pytest.mark.parametrize("world", WORLDS)
def test_random_calls_have_the_same_effect_on_both_engines(
    world: str, make: Make, seed: int
) -> None:
    """After a jump, the stored values of the compiled engine must be those of the new state."""
    make_score, moves, things = WORLDS[world]
    for k in range(3):
        rng = random.Random(f"{world} {seed} {k}")
        pair = Pair(make, make_score(10 * seed + k), moves, rng)
        for _ in range(things):
            pair.do(rng.choice(THINGS))


@given(cpdags(max_nodes=7, min_nodes=2), st.randoms(use_true_random=False))
def test_the_nodes_touched_are_those_whose_view_changed(g: PDAG, rng: random.Random) -> None:
    engine = started(engines.asking, Noise(g.n, 1), g)
    for _ in range(4):
        mark, before, operator = engine.mark(), engine.cpdag, some_operator(rng, engine.cpdag)
        engine.apply("applied", operator, 0.0)
        assert engine.touched_since(mark) == changed_views(before, engine.cpdag)


def test_graphs_may_have_more_nodes_than_bits_in_a_word(seed: int) -> None:
    """70 nodes need two words."""
    score = gaussian_score(70, 60, 300, seed)
    for moves in (INTERLEAVED, Moves(inserts="poly", deletes=True, clique_bound=1)):
        start = dag_to_cpdag(random_dag(70, 80, seed=seed))
        engine, wanted = (
            started(make, score, start) for make in (engines.compiled, engines.reference)
        )
        for each in (engine, wanted):
            each.climb("climb", moves, most=4)
        assert_same(engine, wanted)
