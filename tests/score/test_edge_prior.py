"""The edge prior: its closed form, the contract of a score, EBIC, and the compiled engine."""

import math
from collections.abc import Callable

import numpy as np
import pytest

import engines
from sges.data import Dataset
from sges.errors import ScoreError
from sges.network import BayesianNetwork, LinearGaussian, random_dag
from sges.nodeset import nodes, nodeset
from sges.score import (
    QNML,
    BasisBIC,
    BDeu,
    BGe,
    DegenerateGaussian,
    DiscreteBIC,
    EdgePrior,
    GaussianBIC,
    RankBIC,
    Score,
    check_score,
)
from sges.score.protocol import total_score
from sges.search import ges, reference, search
from sges.search.engines import native_of
from sges.search.moves import Moves
from sges.tools.penalty import extended_bic

N, RECORDS = 7, 300


def continuous(seed: int) -> Dataset:
    return LinearGaussian.random(random_dag(N, 9, seed=seed), seed=seed).sample(RECORDS, seed=seed)


def discrete(seed: int) -> Dataset:
    network = BayesianNetwork.random(random_dag(N, 9, seed=seed), arity=3, seed=seed)
    return network.sample(RECORDS, seed=seed)


def mixed(seed: int) -> Dataset:
    numbers = continuous(seed).values
    columns = {f"x{v}": numbers[v] for v in range(N)}
    cut = {f"x{v}": np.where(numbers[v] > 0, "high", "low") for v in range(3)}
    return Dataset.of({**columns, **cut})


SCORES: dict[str, Callable[[int], Score]] = {
    "gaussian-bic": lambda seed: GaussianBIC(continuous(seed)),
    "bge": lambda seed: BGe(continuous(seed)),
    "rank": lambda seed: RankBIC(continuous(seed)),
    "basis": lambda seed: BasisBIC(continuous(seed)),
    "degenerate-gaussian": lambda seed: DegenerateGaussian(mixed(seed)),
    "discrete-bic": lambda seed: DiscreteBIC(discrete(seed)),
    "qnml": lambda seed: QNML(discrete(seed)),
    "bdeu": lambda seed: BDeu(discrete(seed)),
}
each_score = pytest.mark.parametrize("name", SCORES)


def families(seed: int) -> list[tuple[int, int]]:
    rng = np.random.default_rng(seed)
    drawn = [(int(rng.integers(N)), nodeset(np.flatnonzero(rng.random(N) < 0.4).tolist()))
             for _ in range(30)]  # fmt: skip
    return [(y, parents & ~(1 << y)) for y, parents in drawn]


@each_score
@pytest.mark.parametrize("cost", [None, 4.6, 0.0, -1.0])
def test_every_parent_costs_log_p_or_what_was_asked_for(
    name: str, cost: float | None, seed: int
) -> None:
    plain = SCORES[name](seed)
    prior = EdgePrior(plain, cost)
    expected = math.log(N) if cost is None else cost
    for y, parents in families(seed):
        paid = plain.local(y, parents) - prior.local(y, parents)
        assert paid == pytest.approx(expected * len(list(nodes(parents))), abs=1e-9)


@each_score
def test_a_score_with_the_prior_keeps_the_contract(name: str, seed: int) -> None:
    check_score(EdgePrior(SCORES[name](seed)), seed=seed, pairs=200)


def test_the_prior_of_a_gaussian_bic_is_the_extended_bic_with_a_half(seed: int) -> None:
    data = continuous(seed)
    extended = GaussianBIC(data, extended_bic(N, RECORDS))
    prior = EdgePrior(GaussianBIC(data))
    for y, parents in families(seed):
        gain = extended.local(y, parents) - extended.local(y, 0)
        assert prior.local(y, parents) - prior.local(y, 0) == pytest.approx(gain, abs=1e-8)
    assert ges(prior).cpdag == ges(extended).cpdag


@each_score
def test_the_engine_takes_the_steps_of_the_reference_with_the_prior(name: str, seed: int) -> None:
    """The prior is a cost of the engine, beside a native score."""
    score, moves = EdgePrior(SCORES[name](seed)), Moves(inserts="all", turns=True, deletes=True)
    native, cost = native_of(score)
    assert native is native_of(score.score)[0]
    assert cost == score.cost
    assert native_of(EdgePrior(score, 1.0)) == (native, cost + 1.0)
    gains = reference.Gains(score)
    expected = reference.climb(gains, None, moves)
    for make in engines.EVERY:
        engine = engines.started(make, score)
        engine.climb("climb", moves)
        assert [step.operator for step in engine.steps] == [s.operator for s in expected.steps]
        assert engine.total == pytest.approx(expected.steps[-1].score)
        assert engine.evaluations == gains.evaluations
        assert engine.member_score() == pytest.approx(total_score(score, engine.cpdag))


@each_score
def test_the_prior_has_the_names_and_records_of_its_score(name: str, seed: int) -> None:
    score = SCORES[name](seed)
    for kept in ("names", "records", "data"):
        if hasattr(score, kept):
            assert getattr(EdgePrior(score), kept) is getattr(score, kept)
    assert EdgePrior(score).names == tuple(f"x{v}" for v in range(N))


class Plain:
    """A score without a native form: each edge adds 2."""

    n = N

    def local(self, y: int, parents: int, /) -> float:  # noqa: ARG002
        return 2.0 * parents.bit_count()


def test_a_score_in_python_takes_the_prior_too() -> None:
    assert search(EdgePrior(Plain(), cost=1.0)).cpdag.edge_count() == N * (N - 1) // 2
    assert search(EdgePrior(Plain(), cost=3.0)).cpdag.edge_count() == 0


@each_score
def test_the_score_of_a_result_is_the_sum_over_its_families(name: str, seed: int) -> None:
    for score in (SCORES[name](seed), EdgePrior(SCORES[name](seed))):
        result = search(score, strategy="two-phase")
        assert result.score == pytest.approx(total_score(score, result.cpdag), rel=1e-12)


def test_a_higher_cost_never_adds_edges(seed: int) -> None:
    score = SCORES["gaussian-bic"](seed)
    costs = (0.0, 7.0, 14.0, 21.0, 1e6)
    edges = [search(EdgePrior(score, one)).cpdag.edge_count() for one in costs]
    assert edges == sorted(edges, reverse=True)
    assert edges[-1] == 0


@pytest.mark.parametrize("cost", [math.inf, -math.inf, math.nan, "log p"])
def test_a_cost_that_is_not_finite_is_refused(cost: object) -> None:
    with pytest.raises(ScoreError, match="not a finite number"):
        EdgePrior(Plain(), cost)  # type: ignore[arg-type]


@pytest.mark.parametrize("score", [None, Plain, "bdeu"])
def test_what_is_not_a_score_is_refused(score: object) -> None:
    with pytest.raises(ScoreError, match="is not a score"):
        EdgePrior(score)  # type: ignore[arg-type]
