"""Sources are right at whatever state they are moved to, not only at the next one.

An extended search goes back to earlier states, and what the sources remember across such a jump
(gains, lanes, which inserts and which turns a path bars) has to be that of the new state.  The
twin remembers nothing: it generates and scores every operator anew.
"""

import random
from collections.abc import Callable, Iterator
from itertools import islice

import pytest

from sges.graph import PDAG, dag_to_cpdag
from sges.network import BayesianNetwork, random_dag
from sges.nodeset import NodeSet
from sges.operators import Operator, all_deletes, all_inserts, all_turns
from sges.score import BDeu
from sges.score.base import Score
from sges.search.deletes import DeleteSource
from sges.search.inserts import InsertSource
from sges.search.run import Run
from sges.search.scratch import Generate
from sges.search.source import Scored, Source
from sges.search.turns import TurnSource
from sges.selective import kept_cliques
from worlds import gaussian_score

Open = Callable[[PDAG, Run], Source]


def inserts_of(g: PDAG, run: Run) -> Source:
    return InsertSource(g, run.insert_gains, run.tolerance)


def deletes_of(g: PDAG, run: Run) -> Source:
    def kept(cpdag: PDAG, y: int) -> Iterator[tuple[NodeSet, NodeSet]]:
        yield from kept_cliques(cpdag, y, None).items()

    return DeleteSource(g, run.delete_gains, run.tolerance, kept)


def turns_of(g: PDAG, run: Run) -> Source:
    return TurnSource(g, run, run.tolerance)


EVERY: dict[Open, Generate] = {
    inserts_of: all_inserts,
    deletes_of: all_deletes,
    turns_of: all_turns,
}


def bdeu(n: int, edges: int, records: int, seed: int) -> Score:
    """Return the score of a sample of a random network of binary variables."""
    network = BayesianNetwork.random(random_dag(n, edges, seed=seed), seed=seed)
    return BDeu(network.sample(records, seed=seed))


class Noise:
    """A score that is a different number for every family: half of all turns are worth taking."""

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
"""By name: the score by the seed, the edges of the densest state to jump to, and how many jumps."""


@pytest.mark.parametrize("open_source", EVERY)
@pytest.mark.parametrize("world", WORLDS)
def test_after_any_jump_a_source_offers_what_its_twin_offers(
    world: str, open_source: Open, seed: int
) -> None:
    make_score, edges, jumps = WORLDS[world]
    rng = random.Random(f"{world} {seed}")
    assert compared(rng, open_source, make_score(seed), edges, jumps)


def test_turns_that_a_path_blocks_are_offered_as_soon_as_it_is_gone(seed: int) -> None:
    """What ends a block, or changes the parents of X alone, is rare: it takes long walks."""
    for k in range(8):
        rng, score = random.Random(f"{k} {seed}"), Noise(12, 8 * seed + k)
        assert compared(rng, turns_of, score, edges=24, jumps=300)


def compared(rng: random.Random, open_source: Open, score: Score, edges: int, jumps: int) -> int:
    """Compare a source with its twin along a walk; return how many operators they offered."""
    run = Run(score)
    start = run.start(None)
    source = open_source(start, run)
    offered = 0
    for g in walk(rng, start, edges, jumps):
        source.move_to(g)
        if offered and rng.random() < 0.4:
            continue  # not asked here: what it remembers is then older than one jump
        most = rng.choice([1, 3, 100])
        found = list(islice(offers(source), most))
        wanted = list(islice(offers_one_by_one(g, run, EVERY[open_source]), most))
        assert [s.operator for s in found] == [s.operator for s in wanted]
        assert [s.gain for s in found] == pytest.approx([s.gain for s in wanted], rel=1e-7)
        offered += len(found)
    return offered


def offers(source: Source) -> Iterator[Scored]:
    """Yield what a source offers, each after the one before it was rejected."""
    while (scored := source.best()) is not None:
        yield scored
        source.reject(scored.operator)


def offers_one_by_one(g: PDAG, run: Run, generate: Generate) -> Iterator[Scored]:
    """Score every operator of a state by its families, and yield the least of the best in turn."""
    tolerance = run.tolerance
    scored = [Scored(op, op.gain(run.counter, g)) for op in generate(g)]
    left = [s for s in scored if is_worth_it(s, tolerance)]
    while left:
        floor = max(s.gain for s in left) - tolerance
        least = min((s for s in left if s.gain >= floor), key=lambda s: s.operator.sort_key())
        yield least
        left.remove(least)


def is_worth_it(scored: Scored, tolerance: float) -> bool:
    """Tell whether an operator gains; a delete, whether it does not lose."""
    loses_an_edge = scored.operator.adds_edges < 0
    return scored.gain >= -tolerance if loses_an_edge else scored.gain > tolerance


def walk(rng: random.Random, g: PDAG, edges: int, jumps: int) -> Iterator[PDAG]:
    """Yield states: some a step from the last, some where it was before, some far from all."""
    far = [random_cpdag(rng, g.n, rng.randint(edges // 2, edges)) for _ in range(4)]
    seen = [*far]
    g = far[0]
    for _ in range(jumps):
        where = rng.random()
        if where < 0.5:
            g = some_operator(rng, g).carry_out(g)
        else:  # near states most of all: there, what is remembered may still be true
            g = rng.choice(seen[-6:] if where < 0.8 else seen if where < 0.9 else far)
        seen.append(g)
        yield g


def random_cpdag(rng: random.Random, n: int, edges: int) -> PDAG:
    return dag_to_cpdag(random_dag(n, edges, seed=rng.randrange(1 << 30)))


def some_operator(rng: random.Random, g: PDAG) -> Operator:
    """Return an insert, a delete or a turn: of an empty graph always an insert."""
    kinds: list[Generate] = [all_inserts, all_deletes, all_turns]
    for generate in rng.sample(kinds, 3):
        if found := list(islice(generate(g), 2000)):
            return rng.choice(found)
    raise AssertionError("a graph on two nodes has an insert or a delete")
