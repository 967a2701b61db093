"""The engine takes the steps of the reference, and evaluates its families.

It is tested with native scores, with scores that are called in Python, and with so little memory
that it forgets gains at nearly every step.
"""

import random
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice, product
from threading import Timer

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engines
import naive
from bridge import pdag_of
from engines import Make, started
from known import true_problem
from recording import Refusing
from sges.errors import GraphError, InvalidOperator, ScoreError
from sges.graph import PDAG, dag_to_cpdag, pdag_to_dag
from sges.knowledge import Knowledge
from sges.network import BayesianNetwork, LinearGaussian, random_dag
from sges.nodeset import NodeSet
from sges.operators import Insert, Operator, Turn, all_deletes, all_inserts, all_turns
from sges.properties import MaxParents, MaxVWidth, Property
from sges.result import Step
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
from sges.search import bes, fes, ges, interleaved, poly_fes, reference, sbes, turning
from sges.search.engines import Engine
from sges.search.moves import Constraint, Moves
from sges.search.reference import Climb, Gains
from worlds import gaussian_score, linear_data

INSERTS = [Moves("all"), Moves("poly"), Moves("poly", largest_t=1)]
DELETES = [
    Moves(deletes=True),
    Moves(deletes=True, clique_bound=0),
    Moves(deletes=True, clique_bound=1),
    Moves(deletes=True, clique_bound=1, drop_large=True),
    Moves(deletes=True, size_bound=1),
    Moves(deletes=True, clique_bound=2, size_bound=2),
]
MIXED = [
    Moves("all", turns=True, deletes=True),
    Moves("all", turns=True, deletes=True, clique_bound=1),
    Moves("poly", deletes=True, size_bound=1),
    Moves("all", turns=True),
]
TURNS = [Moves(turns=True)]
LIMITED = [
    Moves("all", sets_per_clique=1),
    Moves("all", sets_per_clique=2),
    Moves("poly", sets_per_clique=1),
    Moves("all", max_indegree=1),
    Moves("poly", largest_t=1, max_indegree=2),
    Moves(deletes=True, sets_per_clique=1),
    Moves(deletes=True, sets_per_clique=2, clique_bound=1),
    Moves(deletes=True, sets_per_clique=2, size_bound=1, drop_large=True, clique_bound=2),
    Moves(turns=True, sets_per_clique=1),
    Moves(turns=True, max_indegree=2),
    Moves("all", turns=True, deletes=True, sets_per_clique=1),
    Moves("all", turns=True, deletes=True, sets_per_clique=4, max_indegree=2),
]
ANY = [*INSERTS, *DELETES, *MIXED, *TURNS, *LIMITED]
INTERLEAVED = MIXED[0]


def assert_same_steps(found: Iterable[Step], wanted: Iterable[Step]) -> None:
    """Compare steps, up to rounding."""
    found, wanted = list(found), list(wanted)
    assert [s.operator for s in found] == [s.operator for s in wanted]
    assert [s.edges for s in found] == [s.edges for s in wanted]
    for name in ("gain", "score"):
        expected = [getattr(step, name) for step in wanted]
        assert [getattr(step, name) for step in found] == pytest.approx(expected, 1e-6, 1e-6)


def assert_same_climb(
    score: Score,
    start: PDAG,
    moves: Moves,
    constraint: Constraint | None = None,
    makes: Iterable[Make] = engines.EVERY,
) -> None:
    """Climb with each engine and with the reference, and compare."""
    gains = Gains(score)
    wanted = reference.climb(gains, start, moves, constraint=constraint)
    for make in makes:
        engine = started(make, score, start, constraint)
        assert engine.climb("climb", moves) == bool(wanted.steps)
        assert engine.cpdag == wanted.cpdag
        assert_same_steps(engine.steps, wanted.steps)
        assert engine.evaluations == gains.evaluations
        assert engine.step_count == len(wanted.steps)
        assert_capped(engine, wanted, 0)


def assert_capped(engine: Engine, wanted: Climb, begun: int) -> None:
    """Compare what is said of operators left out; the engine may say it earlier."""
    assert engine.came_back == wanted.came_back
    if wanted.capped is not None:
        assert engine.capped is not None
        assert engine.capped <= begun + wanted.capped


def classes(n: int) -> list[PDAG]:
    return [pdag_of(n, cpdag) for cpdag in naive.all_cpdags(n)]


def oracles(n: int) -> list[SeparationOracle]:
    """Return an oracle for each class, which is called in Python."""
    return [SeparationOracle(pdag_to_dag(truth)) for truth in classes(n)]


def bic_of(dag: PDAG, seed: int) -> GaussianBIC:
    return GaussianBIC.from_covariance(LinearGaussian.random(dag, seed=seed).covariance(), 300)


class TestClimbs:
    """A climb with any moves, from any class."""

    @pytest.mark.parametrize("moves", ANY, ids=str)
    @pytest.mark.parametrize("n", [2, 3])
    def test_small_classes(self, n: int, moves: Moves) -> None:
        for score, start in product(oracles(n), classes(n)):
            assert_same_climb(score, start, moves, makes=[engines.asking])

    @pytest.mark.parametrize(
        ("n", "share"),
        [(4, 4), *(pytest.param(*case, marks=pytest.mark.slow) for case in [(4, 1), (5, 26)])],
    )
    @pytest.mark.parametrize("moves", ANY, ids=str)
    def test_many_classes_of_four_and_five_nodes(self, moves: Moves, n: int, share: int) -> None:
        """Each kind of moves on another share of the classes: of five nodes, each class once."""
        every = classes(n)
        pairs = list(zip(oracles(n), every[37:] + every[:37], strict=True))
        for score, start in pairs[ANY.index(moves) % share :: share]:
            assert_same_climb(score, start, moves, makes=[engines.asking])

    @settings(max_examples=150)
    @given(st.data())
    def test_random_data(self, data: st.DataObject) -> None:
        score, start = data.draw(problems())
        assert_same_climb(score, start, data.draw(limits()))

    @settings(max_examples=80)
    @given(st.integers(0, 9999), st.data())
    def test_true_knowledge_of_every_kind(self, seed: int, data: st.DataObject) -> None:
        dag, known = true_problem(seed)
        bound, moves = known.bind(dag.n), data.draw(limits())
        for start in (bound.start(dag.n), dag_to_cpdag(dag)):
            assert_same_climb(bic_of(dag, seed), start, moves, bound)

    def test_more_nodes_than_bits_in_a_word(self, seed: int) -> None:
        """70 nodes need two words."""
        score = gaussian_score(70, 60, 300, seed)
        start = dag_to_cpdag(random_dag(70, 80, seed=seed))
        for moves in (INTERLEAVED, Moves("poly", deletes=True, clique_bound=1)):
            engine = started(engines.native, score, start)
            engine.climb("climb", moves, most=4)
            assert_same_steps(engine.steps, reference.climb(score, start, moves, most=4).steps)

    def test_a_set_that_grows_from_a_gap_between_the_neighbors(self) -> None:
        """Ne(5) is {0, 2, 4}; one set begins with {0, 4}, and 2 joins it last."""
        lines = [(0, 2), (0, 4), (0, 5), (2, 3), (2, 4), (2, 5), (3, 4), (4, 5)]
        arrows = [(0, 1), (0, 6), (2, 1), (3, 6), (4, 6), (5, 1), (6, 1)]
        start = PDAG.from_edges(7, arrows, lines)
        assert_same_climb(gaussian_score(7, 14, 300, 12), start, Moves("all"))

    @given(st.integers(0, 9999), st.data())
    def test_no_edge_is_inserted_where_it_is_barred(self, seed: int, data: st.DataObject) -> None:
        """As if it were known that the two nodes are not adjacent."""
        score = gaussian_score(6, data.draw(st.integers(4, 15)), 200, seed)
        x, y = data.draw(st.permutations(range(6)))[:2]
        known = replace(Knowledge(not_adjacent=[(x, y)]).bind(6), relaxed=None)
        moves = data.draw(st.sampled_from([*INSERTS[::2], *MIXED]))
        wanted = reference.climb(score, None, moves, constraint=known)
        for make in engines.EVERY:
            engine = started(make, score)
            engine.climb("climb", moves, bar=(x, y))
            assert_same_steps(engine.steps, wanted.steps)

    @pytest.mark.parametrize("patience", [0.1, 0.3])
    def test_impatience_ends_before_an_insert_that_regains_too_little(
        self, patience: float, seed: int
    ) -> None:
        score = gaussian_score(8, 14, 300, seed)
        wanted = reference.climb(score, None, INTERLEAVED).steps
        aim = wanted[-1].score + 100.0
        kept = 0
        for step in wanted:
            least = patience * (aim - (step.score - step.gain))
            if isinstance(step.operator, Insert) and step.gain < least:
                break
            kept += 1
        assert kept < len(wanted)
        for make in engines.EVERY:
            engine = started(make, score)
            engine.climb("climb", INTERLEAVED, patience=patience, aim=aim)
            assert_same_steps(engine.steps, wanted[:kept])


@st.composite
def limits(draw: st.DrawFn) -> Moves:
    """Draw a valid combination of moves."""
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


class FewEdges:
    """A property of a user, without bounds: at most four edges."""

    def holds(self, graph: PDAG) -> bool:
        return graph.edge_count() <= 4

    def __repr__(self) -> str:  # the name of its tests, the same in every process
        return "FewEdges"


class TestSearches:
    """The functions of ``sges.search`` are those of the reference."""

    def test_each_phase(self, seed: int) -> None:
        score, complete = gaussian_score(8, 12, 300, seed), PDAG.complete(8)
        dag = random_dag(8, 12, seed=seed + 1)
        for ours, theirs in (
            (fes(score), reference.fes(score)),
            (fes(score, max_indegree=1), reference.fes(score, max_indegree=1)),
            (poly_fes(score), reference.poly_fes(score)),
            (poly_fes(score, max_t=2), reference.poly_fes(score, max_t=2)),
            (bes(score, complete), reference.bes(score, complete)),
            (turning(score, dag), reference.turning(score, dag_to_cpdag(dag))),
            (interleaved(score), reference.interleaved(score)),
            (ges(score), reference.ges(score)),
        ):
            assert ours.cpdag == theirs.cpdag
            assert_same_steps(ours.steps, theirs.steps)
            assert [step.phase for step in ours.steps] == [step.phase for step in theirs.steps]

    @pytest.mark.parametrize(
        ("assume", "exact"),
        [(MaxParents(2), False), (MaxParents(2), True), (MaxVWidth(1), True), (FewEdges(), False)],
        ids=str,
    )
    def test_deletes_selected_by_a_property(self, assume: Property, exact: bool, seed: int) -> None:
        """Also those that are tested one by one, and a property that a user defines."""
        for k in range(4):
            score = gaussian_score(7, 10, 200, 10 * seed + k)
            gains = Gains(score)
            wanted = reference.sbes(gains, PDAG.complete(7), assume, exact=exact)
            found = sbes(score, PDAG.complete(7), assume, exact=exact)
            assert_same_steps(found.steps, wanted.steps)
            assert found.score_evaluations == gains.evaluations
            mixed = interleaved(score, assume, exact=exact)
            also = reference.interleaved(score, None, assume, exact=exact)
            assert_same_steps(mixed.steps, also.steps)

    def test_a_slack_bound_is_no_bound(self, seed: int) -> None:
        score, start = gaussian_score(9, 14, 500, seed), PDAG.complete(9)
        slack, plain = sbes(score, start, MaxVWidth(9)), bes(score, start)
        assert_same_steps(slack.steps, plain.steps)
        assert slack.score_evaluations == plain.score_evaluations

    def test_fewer_deletes_need_no_more_evaluations(self, seed: int) -> None:
        score, start = gaussian_score(9, 9, 2000, seed), PDAG.complete(9)
        plain = sbes(score, start, MaxParents(2)).score_evaluations or 0
        assert (sbes(score, start, MaxParents(2), drop_large=True).score_evaluations or 0) <= plain
        assert (sbes(score, start, MaxParents(2), exact=True).score_evaluations or 0) <= plain


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


class Jumps:
    """Random calls of one engine, with what the reference and the operators say of each."""

    def __init__(self, make: Make, score: Score, moves: list[Moves], rng: random.Random) -> None:
        self.rng, self.score, self.moves, self.n = rng, score, moves, score.n
        self.engine, self.gains = started(make, score), Gains(score)
        self.marks = [self.here()]

    def here(self) -> tuple[object, PDAG, list[Step], float]:
        """Return a mark and what must be found there again."""
        engine = self.engine
        return engine.mark(), engine.cpdag, engine.steps, engine.total

    def climb(self) -> None:
        moves, most = self.rng.choice(self.moves), self.rng.choice([0, 1, 3, 6])
        begun = self.engine.step_count
        wanted = reference.climb(self.gains, self.engine.cpdag, moves, most=most)
        assert self.engine.climb("climb", moves, most=most) == bool(wanted.steps)
        assert self.engine.cpdag == wanted.cpdag
        steps = self.engine.steps[begun:]
        assert [s.operator for s in steps] == [s.operator for s in wanted.steps]
        assert self.engine.evaluations == self.gains.evaluations
        if wanted.capped is not None:
            assert self.engine.capped is not None
            assert self.engine.capped <= begun + wanted.capped

    def apply(self) -> None:
        before = self.engine.cpdag
        operator = some_operator(self.rng, before)
        after = operator.apply(before)
        assert self.engine.peek(operator) == after
        assert self.engine.cpdag == before
        self.engine.apply("applied", operator, operator.gain(self.score, before))
        assert self.engine.cpdag == after
        assert self.engine.edges == after.edge_count()

    def mark(self) -> None:
        self.marks.append(self.here())

    def rewind(self) -> None:
        if len(self.marks) > 1 and self.rng.random() < 0.5:
            self.marks.pop()
        self.engine.rewind(self.marks[-1][0])
        assert self.here()[1:] == self.marks[-1][1:]

    def local(self) -> None:
        y = self.rng.randrange(self.n)
        parents = self.rng.getrandbits(min(self.n, 4)) & ~(1 << y)
        assert self.engine.local(y, parents) == pytest.approx(self.gains.local(y, parents))

    def begin(self) -> None:
        """Start again from another class, with the stored gains."""
        edges = self.rng.randint(0, self.n * (self.n - 1) // 2 if self.n < 10 else self.n)
        start = dag_to_cpdag(random_dag(self.n, edges, seed=self.rng.randrange(1 << 30)))
        self.engine.start(start, total_score(self.score, start))
        self.marks = [self.here()]


CALLS = ["climb", "climb", "climb", "apply", "mark", "rewind", "local", "begin"]
WORLDS: dict[str, tuple[Callable[[int], Score], list[Moves], int]] = {
    "dense": (lambda seed: gaussian_score(7, 14, 300, seed), ANY, 40),
    "sparse": (lambda seed: gaussian_score(14, 18, 300, seed), ANY, 25),
    "discrete": (lambda seed: bdeu(7, 9, 300, seed), ANY, 30),
    "noise": (lambda seed: Noise(6, seed), ANY, 40),
    "blocked turns": (lambda seed: Noise(10, seed), TURNS, 150),
}
"""By name: the score for a seed, the moves of climbs, and the number of calls.

A step that ends the block of a turn is rare, so that walk is long.
"""


@pytest.mark.parametrize("make", engines.EVERY)
@pytest.mark.parametrize("world", WORLDS)
def test_after_any_jump_the_engine_goes_on_as_if_it_had_started_there(
    world: str, make: Make, seed: int
) -> None:
    """What it has stored must be that of the new state."""
    make_score, moves, calls = WORLDS[world]
    for k in range(3):
        rng = random.Random(f"{world} {seed} {k}")
        jumps = Jumps(make, make_score(10 * seed + k), moves, rng)
        for _ in range(calls):
            getattr(jumps, rng.choice(CALLS))()


class Acting:
    """A score that acts when the k-th family is evaluated."""

    def __init__(self, score: Score, at: int, act: Callable[[], object]) -> None:
        self.score, self.n, self.left, self.act = score, score.n, at, act

    def local(self, y: int, parents: NodeSet) -> float:
        self.left -= 1
        if self.left == 0:
            self.act()
        return self.score.local(y, parents)


def replayed(steps: Iterable[Step], start: PDAG) -> PDAG:
    """Return where steps lead from a class."""
    cpdag = start
    for step in steps:
        cpdag = step.operator.apply(cpdag)
        assert step.edges == cpdag.edge_count()
    return cpdag


class TestEarlyEnds:
    """Ctrl-C, deadlines and errors leave an engine at its last complete state."""

    @pytest.mark.parametrize("moves", [Moves("poly"), INTERLEAVED], ids=str)
    @pytest.mark.parametrize("at", [40, 350])
    def test_ctrl_c_ends_a_climb_at_the_last_state(self, moves: Moves, at: int, seed: int) -> None:
        score = gaussian_score(8, 12, 300, seed)
        whole = reference.climb(score, None, moves)
        engine = Engine(Acting(score, at, lambda: signal.raise_signal(signal.SIGINT)))
        engine.start(PDAG.empty(8), total_score(score, PDAG.empty(8)))
        engine.climb("climb", moves)
        assert engine.stopped in ("interrupted", None)
        assert at > 40 or engine.stopped is not None
        assert_same_steps(engine.steps, whole.steps[: engine.step_count])
        assert replayed(engine.steps, PDAG.empty(8)) == engine.cpdag
        assert not engine.climb("again", moves) or engine.stopped is None

    def test_ctrl_c_while_a_step_is_reported_keeps_the_step(self, seed: int) -> None:
        reports: list[str] = []

        def press(phase: str) -> None:
            reports.append(phase)
            if len(reports) == 5:  # the start and four steps
                raise KeyboardInterrupt

        engine = started(engines.native, gaussian_score(8, 12, 300, seed))
        engine.report = press
        engine.climb("fes", Moves("all"))
        assert engine.stopped == "interrupted"
        assert engine.step_count == 4
        assert replayed(engine.steps, PDAG.empty(8)) == engine.cpdag
        assert reports == ["fes"] * 5

    def test_a_deadline_holds_while_exponentially_many_sets_are_listed(self) -> None:
        """In the complete graph on 40 nodes, each ordered pair has 2^38 deletes."""
        score = GaussianBIC.from_covariance(np.eye(40) * 0.5 + 0.5, 1000)
        engine = Engine(score, deadline=time.perf_counter() + 0.3)
        engine.start(PDAG.complete(40), 0.0)
        engine.climb("bes", Moves(deletes=True))
        assert engine.stopped == "time limit"
        assert engine.cpdag == PDAG.complete(40)

    def test_another_thread_may_halt_a_search(self) -> None:
        engine = Engine(GaussianBIC.from_covariance(np.eye(40) * 0.5 + 0.5, 1000))
        engine.start(PDAG.complete(40), 0.0)
        timer = Timer(0.1, engine.halt)
        timer.start()
        engine.climb("bes", Moves(deletes=True))
        timer.join()
        assert engine.stopped is not None
        assert engine.cpdag == PDAG.complete(40)

    def test_an_error_of_the_score_passes_through(self) -> None:
        def fail() -> None:
            raise ZeroDivisionError

        score = gaussian_score(6, 8, 300, 1)
        engine = started(engines.native, Acting(score, 60, fail))
        with pytest.raises(ZeroDivisionError):
            engine.climb("fes", Moves("all"))
        assert replayed(engine.steps, PDAG.empty(6)) == engine.cpdag
        engine.climb("fes", Moves("all"))
        assert engine.cpdag == reference.fes(score).cpdag

    def test_a_gain_that_is_not_finite_is_refused_with_its_family(self) -> None:
        class Infinite:
            n = 3

            def local(self, y: int, parents: NodeSet) -> float:
                return float("-inf") if (y, parents) == (2, 0b10) else 0.0

        words = r"node 2 with parents \{\} changes by -inf with node 1; a score must be finite"
        engine = Engine(Infinite())
        with pytest.raises(ScoreError, match=words):
            engine.climb("fes", Moves("all"))
        with pytest.raises(ScoreError, match=words):
            reference.fes(Infinite())
        with pytest.raises(ScoreError, match=r"local\(2, 0b10\) is -inf"):
            engine.local(2, 0b10)


def test_a_climb_reports_its_steps_and_a_step_from_outside_is_not_reported() -> None:
    """A search that applies operators itself can then report each of them once."""
    engine, reports = Engine(gaussian_score(5, 6, 200, 1)), list[tuple[str, int]]()
    engine.report = lambda phase: reports.append((phase, engine.step_count))
    engine.climb("fes", Moves("all"))
    assert reports == [("fes", i) for i in range(engine.step_count + 1)]
    reports.clear()
    engine.apply("applied", next(all_deletes(engine.cpdag)), 0.0)
    assert not reports


def test_a_rejected_turn_is_offered_again_only_after_the_next_start(seed: int) -> None:
    """With data from 0 → 2 ← 1, turning an edge of the chain 0 — 2 — 1 improves the score."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(500, 2))
    score = GaussianBIC(np.column_stack([causes, causes.sum(axis=1) + rng.normal(size=500)]))
    chain = PDAG.from_edges(3, undirected=[(0, 2), (1, 2)])
    ends = [turn.apply(chain) for turn in (Turn(0, 2, {1}), Turn(1, 2, {0}))]
    refusing = Refusing(3)
    for make in engines.EVERY:
        engine = make(score, constraint=refusing)
        for _ in range(2):
            engine.start(chain, 0.0)
            assert not engine.climb("turning", Moves(turns=True))
    reference.turning(score, chain, constraint=refusing)
    assert refusing.refused == ends * 7


def test_what_does_not_belong_to_the_state_is_refused() -> None:
    engine = Engine(gaussian_score(4, 3, 100, 1))
    with pytest.raises(GraphError, match="a start of 5 nodes"):
        engine.start(PDAG.empty(5), 0.0)
    engine.start(PDAG.complete(4), 0.0)
    with pytest.raises(InvalidOperator, match="already adjacent"):
        engine.apply("x", Insert(0, 1), 0.0)
