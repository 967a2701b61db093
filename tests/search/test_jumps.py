"""A climb is right from any state, not only from the end of the last climb.

An extended search goes back to earlier states.  After such a jump, the values that the engine has
stored (gains, lanes, and the inserts and turns that a path bars) must be those of the new state.
The twin stores nothing: it generates and scores every operator again.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import pytest

import engines
from engines import Engine, Make
from sges.graph import PDAG, dag_to_cpdag
from sges.network import BayesianNetwork, random_dag
from sges.nodeset import NodeSet
from sges.operators import Operator, all_deletes, all_inserts, all_turns
from sges.score import BDeu
from sges.score.protocol import Score
from sges.search.moves import Moves
from worlds import gaussian_score

Generate = Callable[[PDAG], Iterable[Operator]]
Scored = tuple[Operator, float]

EVERY: list[tuple[Moves, Generate]] = [
    (Moves(inserts="all"), all_inserts),
    (Moves(deletes=True), all_deletes),
    (Moves(turns=True), all_turns),
]
TURNS = EVERY[2]


def bdeu(n: int, edges: int, records: int, seed: int) -> Score:
    """Return the score of a sample of a random network of binary variables."""
    network = BayesianNetwork.random(random_dag(n, edges, seed=seed), seed=seed)
    return BDeu(network.sample(records, seed=seed))


class Noise:
    """A random number for every family: half of all turns improve the score."""

    def __init__(self, n: int, seed: int) -> None:
        self.n = n
        self._seed = seed

    def local(self, y: int, parents: NodeSet, /) -> float:
        return random.Random(f"{self._seed} {y} {parents}").random()


WORLDS: dict[str, tuple[Callable[[int], Score], int, int]] = {
    "dense": (lambda seed: gaussian_score(8, 18, 300, seed), 20, 80),
    "sparse": (lambda seed: gaussian_score(16, 24, 300, seed), 28, 60),
    "discrete": (lambda seed: bdeu(8, 12, 300, seed), 16, 40),
    "noise": (lambda seed: Noise(12, seed), 24, 100),
    "more than 64 nodes": (lambda seed: Noise(66, seed), 90, 4),
}
"""By name: the score for a seed, the edges of the densest state, and the number of jumps."""


@pytest.mark.parametrize("make", engines.COMPILED)
@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: str(kind[1].__name__))
@pytest.mark.parametrize("world", WORLDS)
def test_after_any_jump_a_climb_takes_the_step_that_its_twin_takes(
    world: str, kind: tuple[Moves, Generate], make: Make, seed: int
) -> None:
    make_score, edges, jumps = WORLDS[world]
    rng = random.Random(f"{world} {seed}")
    assert compared(rng, make, kind, make_score(seed), edges, jumps)


def test_turns_that_a_path_blocks_are_taken_as_soon_as_it_is_gone(seed: int) -> None:
    """Steps that end a block, or change only the parents of X, are rare: walks must be long."""
    for k in range(8):
        rng, score = random.Random(f"{k} {seed}"), Noise(12, 8 * seed + k)
        assert compared(rng, engines.asking, TURNS, score, edges=24, jumps=300)


def compared(
    rng: random.Random,
    make: Make,
    kind: tuple[Moves, Generate],
    score: Score,
    edges: int,
    jumps: int,
) -> int:
    """Compare an engine with its twin along a walk; return the number of steps."""
    moves, generate = kind
    engine = make(score)
    far = [random_cpdag(rng, score.n, rng.randint(edges // 2, edges)) for _ in range(4)]
    engine.start(far[0], 0.0)
    marks, taken = [engine.mark()], 0
    for _ in range(jumps):
        where = rng.random()
        if where < 0.5:
            engine.apply("walk", some_operator(rng, engine.cpdag), 0.0)
            marks.append(engine.mark())
        elif where < 0.9:  # mostly near states, where stored values may still hold
            del marks[max(rng.randrange(-6, 0) + len(marks), 0) + 1 :]
            engine.rewind(marks[-1])
        else:
            engine.start(rng.choice(far), 0.0)
            marks = [engine.mark()]
        if taken and rng.random() < 0.4:
            continue  # no climb here, so that stored values are older than a jump
        for found, wanted in steps_of_both(engine, score, moves, generate, rng.choice([1, 3])):
            assert found[0] == wanted[0]
            assert found[1] == pytest.approx(wanted[1], rel=1e-7, abs=1e-9)
            taken += 1
        engine.rewind(marks[-1])
    return taken


def steps_of_both(
    engine: Engine, score: Score, moves: Moves, generate: Generate, most: int
) -> Iterator[tuple[Scored, Scored]]:
    """Yield the steps of a climb, each with the step of the twin from the same state."""
    for _ in range(most):
        best = best_one_by_one(engine.cpdag, score, engine.tolerance, generate)
        assert engine.climb("climb", moves, most=1) == (best is not None)
        if best is None:
            return
        step = engine.steps[-1]
        yield (step.operator, step.gain), best


def best_one_by_one(g: PDAG, score: Score, tolerance: float, generate: Generate) -> Scored | None:
    """Score every operator of a state, and return the smallest of the best ones."""
    scored = [(op, op.gain(score, g)) for op in generate(g)]
    left = [s for s in scored if is_worth_it(*s, tolerance)]
    if not left:
        return None
    floor = max(gain for _, gain in left) - tolerance
    return min((s for s in left if s[1] >= floor), key=lambda s: s[0].sort_key())


def is_worth_it(operator: Operator, gain: float, tolerance: float) -> bool:
    """Return whether an operator improves the score, or a delete does not lower it."""
    return gain >= -tolerance if operator.adds_edges < 0 else gain > tolerance


def random_cpdag(rng: random.Random, n: int, edges: int) -> PDAG:
    return dag_to_cpdag(random_dag(n, edges, seed=rng.randrange(1 << 30)))


def some_operator(rng: random.Random, g: PDAG) -> Operator:
    """Return a random insert, delete or turn; for an empty graph it is an insert."""
    kinds: list[Generate] = [all_inserts, all_deletes, all_turns]
    for generate in rng.sample(kinds, 3):
        if found := list(islice(generate(g), 2000)):
            return rng.choice(found)
    raise AssertionError("a graph on two nodes has an insert or a delete")
