"""Other strategies than two phases: the same guarantee, and better graphs."""

from collections.abc import Callable

import numpy as np
import pytest

import naive
from bridge import pdag_of
from sges.errors import SgesError
from sges.graph import PDAG, dag_to_cpdag
from sges.knowledge import Knowledge
from sges.properties import AtMost, MaxClique, MaxParents, MaxTreewidth, MaxVStructures, MaxVWidth
from sges.score import GaussianBIC, SeparationOracle
from sges.search import STRATEGIES, Strategy, fes, ges, interleaved, search, sges, turning
from sges.search.strategy import as_strategy
from worlds import gaussian_score, linear_data

PROPERTIES: list[type[AtMost]] = [MaxParents, MaxClique, MaxVWidth, MaxTreewidth, MaxVStructures]


SHARES = [
    *((2, 1), (3, 1)),
    (4, 3),
    pytest.param(4, 1, marks=pytest.mark.slow),
    pytest.param(5, 1, marks=pytest.mark.slow),
]
"""Numbers of nodes; with 3, each strategy is tested on another third of the classes."""

EVERY = [
    *STRATEGIES.values(),
    Strategy(turning=True),
    Strategy(extended=True),
    Strategy(interleaved=True, order=True),
    Strategy(interleaved=True, extended=True, patience=0.1),
]


def truths(n: int, share: int, at: int) -> list[PDAG]:
    """Return one DAG of every ``share``-th class, beginning with class ``at``."""
    return [pdag_of(n, dags[0]) for dags in [*naive.all_cpdags(n).values()][at % share :: share]]


@pytest.mark.parametrize("strategy", EVERY, ids=str)
@pytest.mark.parametrize(("n", "share"), SHARES)
def test_every_strategy_returns_the_class_of_every_dag(
    n: int, share: int, strategy: Strategy
) -> None:
    """Without an assumption, and with the true bound on parents."""
    for dag in truths(n, share, EVERY.index(strategy)):
        score, truth = SeparationOracle(dag), dag_to_cpdag(dag)
        assert search(score, strategy=strategy).cpdag == truth
        assert search(score, MaxParents.of(dag), strategy=strategy).cpdag == truth


@pytest.mark.parametrize(("at", "strategy"), [*enumerate(["interleaved", "extended"])])
@pytest.mark.parametrize(("n", "share"), SHARES)
def test_the_other_properties_leave_the_way_to_the_truth(
    n: int, share: int, at: int, strategy: str
) -> None:
    for dag in truths(n, share, at):
        score, truth = SeparationOracle(dag), dag_to_cpdag(dag)
        for kind in PROPERTIES[1:]:
            assert search(score, kind.of(dag), strategy=strategy).cpdag == truth


@pytest.mark.parametrize(("at", "strategy"), [*enumerate(["interleaved", "extended", "turning"])])
@pytest.mark.parametrize("forward", ["poly", "order", "complete"])
@pytest.mark.parametrize("share", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_every_strategy_can_begin_with_another_forward_phase(
    share: int, forward: str, at: int, strategy: str
) -> None:
    """For classes on four nodes, the forward phase does not change the result."""
    for dag in truths(4, share, at):
        result = search(
            SeparationOracle(dag),
            MaxParents.of(dag),
            strategy=strategy,
            forward=forward,  # type: ignore[arg-type]
        )
        assert result.cpdag == dag_to_cpdag(dag)
        assert (result.forward, result.strategy) == (forward, strategy)


def test_the_two_phases_are_those_of_sges(seed: int) -> None:
    score = gaussian_score(10, 20, 300, seed)
    for assume in (None, MaxParents(2)):
        for forward in ("fes", "poly"):
            plain = sges(score, assume, forward=forward)
            found = search(score, assume, forward=forward)
            assert found.steps == plain.steps
            assert found.evaluation_bound == plain.evaluation_bound
            assert found.score_evaluations == plain.score_evaluations


@pytest.mark.parametrize("strategy", EVERY, ids=str)
def test_no_strategy_leaves_an_insert_or_a_delete_that_improves(
    strategy: Strategy, seed: int
) -> None:
    """Except two phases without repetition, after which an insert may improve the score."""
    score = gaussian_score(11, 24, 300, seed)
    result = search(score, strategy=strategy)
    if not strategy.turning or strategy.repeat:
        assert result.certify().optimal
    if strategy.interleaved or strategy.extended or strategy.repeat:
        assert not fes(score, result.cpdag).steps
        assert not turning(score, result.cpdag).steps


@pytest.mark.parametrize("strategy", EVERY, ids=str)
def test_permuted_columns_give_the_permuted_graph(strategy: Strategy, seed: int) -> None:
    _, data = linear_data(9, 16, 400, seed)
    order = np.random.default_rng(seed).permutation(9)
    place = [int(v) for v in np.argsort(order)]
    found = search(GaussianBIC(data), strategy=strategy).cpdag
    again = search(GaussianBIC(data[:, order]), strategy=strategy).cpdag
    assert again == found.relabel(place)


class TestStrategyValue:
    """A strategy is a value with a name, and invalid combinations are errors."""

    def test_words_stand_for_values_and_are_written_so(self) -> None:
        for word, strategy in STRATEGIES.items():
            assert str(strategy) == word
            assert as_strategy(word) is strategy
        assert as_strategy(Strategy(turning=True)) == Strategy(turning=True)
        assert str(Strategy(extended=True, patience=0.1)) == "Strategy(extended=True, patience=0.1)"

    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda: as_strategy("zigzag"), "strategy = 'zigzag' is not one of 'two-phase'"),
            (
                lambda: Strategy(interleaved=True, turning=True),
                "turning=True applies to two-phase search only",
            ),
            (
                lambda: Strategy(interleaved=True, repeat=True),
                "repeat=True applies to two-phase search only",
            ),
            (lambda: Strategy(order=True), "order=True applies to interleaved search only"),
            (lambda: Strategy(extended=True, patience=2), "patience = 2: it must be a share"),
        ],
    )
    def test_what_makes_no_sense_is_refused_in_one_line(
        self, make: Callable[[], Strategy], message: str
    ) -> None:
        with pytest.raises(SgesError, match=message) as caught:
            make()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("edges", [12, 40])
def test_an_order_never_lowers_the_score_of_the_first_climb(edges: int, seed: int) -> None:
    both = Strategy(interleaved=True, order=True)
    for k in range(4):
        score = gaussian_score(14, edges, 500, 10 * seed + k)
        assert search(score, strategy=both).score >= interleaved(score).score - 1e-6


def test_interleaved_search_scores_better_than_two_phases_on_most_dense_problems() -> None:
    """On twenty data sets of 20 variables and 50 edges; ties are not counted."""
    better = worse = 0
    for seed in range(20):
        _, data = linear_data(20, 50, 1000, seed)
        score = GaussianBIC(data)
        ours, plain = interleaved(score).score, ges(score).score
        better += ours > plain + 1e-6
        worse += ours < plain - 1e-6
    assert better > 2 * worse


def test_interleaved_search_obeys_and_profits_from_true_knowledge() -> None:
    """A required arrow directs undirected edges, and a false arrow is forbidden."""
    chain = PDAG.from_edges(4, [(0, 1), (1, 2), (2, 3)])
    score = SeparationOracle(chain)
    known = Knowledge(required=[(0, 1)], forbidden=[(3, 2)]).bind(4)
    result = interleaved(score, constraint=known)
    assert result.cpdag == chain
    assert result.certify().optimal
