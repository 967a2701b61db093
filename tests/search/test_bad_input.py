"""Invalid arguments of a search, and unusual ones that are valid."""

import warnings
from typing import Any

import numpy as np
import pytest

from sges.errors import InvalidArgument, NotACPDAG, ScoreError, SgesError
from sges.graph import PDAG
from sges.knowledge import Knowledge
from sges.properties import MaxParents, MaxVStructures
from sges.score import GaussianBIC
from sges.search import bes, fes, ges, poly_fes, reference, sbes, search, sges, turning
from worlds import gaussian_score


class Broken:
    """A score that is not finite for larger families."""

    def __init__(self, value: float, size: int) -> None:
        self.value, self.size, self.n = value, size, 4

    def local(self, y: int, parents: int) -> float:
        """Return a score that increases with the parents, but is invalid from some size on."""
        return self.value if parents.bit_count() >= self.size else 10.0 * parents.bit_count() + y


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("size", [0, 1, 2])
def test_a_score_that_is_not_finite_is_refused(value: float, size: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is not score equivalent
        with pytest.raises(ScoreError, match="must be finite"):
            ges(Broken(value, size))


@pytest.mark.parametrize("answer", ["text", [1.0, 2.0]])
def test_gains_that_are_not_one_number_each_name_the_family(answer: object) -> None:
    class Odd(Broken):
        def insert_gains(self, *_: object) -> object:
            return answer

    with pytest.raises(
        ScoreError, match=r"^Odd returned .* of node 0 with parents .*one number for each"
    ):
        search(Odd(0.0, 9))


@pytest.mark.parametrize("value", ["high", None, 1j, np.array([1.0]), np.array([1.0, 2.0])])
def test_a_score_that_is_not_a_number_is_refused_with_its_family(
    value: Any,  # noqa: ANN401
) -> None:
    with pytest.raises(ScoreError, match=r"^local\(0, 0b0\) is .*; a score must be a number"):
        ges(Broken(value, 0))
    for size in (1, 2):
        words = r"^local\(\d, 0b\d+\) is .* must be a number"
        with pytest.raises(ScoreError, match=words):
            ges(Broken(value, size))
        with pytest.raises(ScoreError, match=words):
            reference.ges(Broken(value, size))


class OneSided:
    """A score that is not score equivalent: node 0 pays for its parents."""

    n = 3

    def local(self, y: int, parents: int) -> float:
        """Return one per parent, ten less for node 0."""
        return parents.bit_count() * (1.0 if y else -10.0)


def test_a_score_that_is_not_score_equivalent_is_warned_of_once() -> None:
    with pytest.warns(UserWarning, match="OneSided is not score equivalent") as caught:
        ges(OneSided())
    assert len(caught) == 1


def test_a_dag_is_completed_and_anything_else_refused_as_a_start() -> None:
    score = gaussian_score(4, 4, 200, 1)
    dag = PDAG.from_edges(4, [(0, 1), (1, 2)])
    chain = PDAG.from_edges(4, undirected=[(0, 1), (1, 2)])
    assert fes(score, dag).cpdag == fes(score, chain).cpdag
    half = PDAG.from_edges(4, [(0, 1)], [(1, 2)])
    for run in (fes, bes, poly_fes, turning):
        with pytest.raises(NotACPDAG, match="neither a CPDAG nor a DAG"):
            run(score, half)
    with pytest.raises(NotACPDAG, match="5 nodes, but the score has 4 variables"):
        sges(score, start=PDAG.empty(5))


class AllDependent:
    """A score-equivalent score that every edge improves: f(P ∪ y) − f(P) with f = size²."""

    def __init__(self, n: int) -> None:
        self.n = n

    def local(self, y: int, parents: int) -> float:
        """Return the increase of the squared number of nodes."""
        del y
        return 2.0 * parents.bit_count() + 1.0


@pytest.mark.parametrize("n", [0, 1, 2])
def test_tiny_problems_work(n: int) -> None:
    score = AllDependent(n)
    truth = PDAG.complete(n)
    assert ges(score).cpdag == truth
    for forward in ("fes", "poly", "complete"):
        assert sges(score, MaxParents(1), forward=forward).cpdag == truth
    assert turning(score, truth).cpdag == truth
    assert sbes(score, truth, MaxVStructures(0), exact=True).cpdag == truth


def test_contradictory_or_unknown_options_are_refused() -> None:
    score = gaussian_score(4, 4, 200, 1)
    with pytest.raises(SgesError, match="exact=True needs a property"):
        sges(score, exact=True)
    with pytest.raises(SgesError, match="drop_large=True needs a property"):
        sges(score, drop_large=True)
    with pytest.raises(SgesError, match="needs a bound on cliques"):
        sges(score, MaxVStructures(1), drop_large=True)
    with pytest.raises(SgesError, match="forward = 'backward' is not one of 'fes'"):
        sges(score, forward="backward")  # type: ignore[arg-type]
    with pytest.raises(SgesError, match="assume = 2 is not a property"):
        sges(score, 2)  # type: ignore[arg-type]
    with pytest.raises(SgesError, match="max_t = -1"):
        poly_fes(score, max_t=-1)
    with pytest.raises(SgesError, match="time_limit = -1"):
        ges(score, time_limit=-1)


@pytest.mark.parametrize("strategy", ["auto", "two-phase"])
def test_a_limit_of_no_parents_gives_no_edges(strategy: str) -> None:
    found = search(gaussian_score(4, 4, 500, 0), max_indegree=0, strategy=strategy)
    assert found.cpdag.edge_count() == 0
    assert found.complete


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"forward": "complete"}, "the complete graph, from which this search starts, gives"),
        ({"start": PDAG.from_edges(4, [(0, 3), (1, 3), (2, 3)])}, "the start gives"),
        ({"constraint": Knowledge(required=[(0, 3), (1, 3), (2, 3)]).bind(4)}, "the required"),
    ],
    ids=str,
)
def test_a_start_with_more_parents_than_the_limit_is_refused(
    options: dict[str, Any], what: str
) -> None:
    score = GaussianBIC(np.random.default_rng(0).normal(size=(50, 4)))
    with pytest.raises(InvalidArgument, match=what):
        search(score, max_indegree=2, **options)
    found = search(score, max_indegree=3, **options)
    assert MaxParents.of(found.cpdag).k <= 3
