"""check_score fails for invalid scores, with the reason; valid scores have their own tests."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

import naive_score
from sges.errors import ScoreError
from sges.nodeset import NodeSet, nodes
from sges.score.conformance import check_score
from sges.score.gaussian.bic import GaussianBIC
from sges.score.protocol import Candidates, Gains, gains_by_local


def gaussian(n: int = 6) -> GaussianBIC:
    rng = np.random.default_rng(5)
    table = rng.normal(size=(200, n)) @ rng.normal(size=(n, n))
    return GaussianBIC.from_covariance(np.atleast_2d(np.cov(table.T, ddof=0)), 200)


class K2:
    """Cooper & Herskovits (1992): decomposable, and known not to be score equivalent."""

    def __init__(self, table: NDArray[np.int64]) -> None:
        self.n = table.shape[1]
        self._table = table

    def local(self, y: int, parents: NodeSet) -> float:
        return naive_score.k2(self._table, y, [*nodes(parents)])


class Wrong(GaussianBIC):
    """The BIC with one requirement violated slightly."""

    def __init__(self, broken: str) -> None:
        good = gaussian()
        self._fill(good._moments, 1.0)
        self.broken = broken
        self.calls = 0

    def local(self, y: int, parents: NodeSet) -> float:
        self.calls += 1
        value = super().local(y, parents)
        if self.broken == "equivalence":  # the number of parents alone would not violate it
            return value - 1e-3 * y * parents.bit_count()
        if self.broken == "decomposability":
            return value + 1e-3 * (self.calls % 7)
        if self.broken == "finite" and parents.bit_count() > 3:
            return float("nan")
        return value

    def insert_gains(self, y: int, base: NodeSet, candidates: Candidates) -> Gains:
        gains = gains_by_local(self.local, y, base, candidates)
        return gains + 1e-3 if self.broken == "insert" else gains

    def delete_gains(self, y: int, base: NodeSet, candidates: Candidates) -> Gains:
        gains = gains_by_local(self.local, y, base, candidates)
        return gains[1:] if self.broken == "delete" else gains

    def permuted(self, _: Sequence[int]) -> GaussianBIC:
        return self


def test_k2_fails_because_it_is_not_score_equivalent() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(2, size=(2, 60))
    table = np.column_stack([a, b, (a + b) % 3, rng.integers(2, size=60)])
    with pytest.raises(
        ScoreError, match=r"not score equivalent: .*→.* has the score .* of the same"
    ):
        check_score(K2(table), pairs=50)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("equivalence", "not score equivalent"),
        ("decomposability", "not decomposable"),
        ("finite", r"not finite: local\(\d, .*\) is nan"),
        ("insert", "not consistent: insert_gains"),
        ("delete", "must return one number for each candidate"),
        ("symmetry", "not symmetric"),
    ],
)
def test_a_score_that_breaks_one_promise_fails_for_that_promise(broken: str, message: str) -> None:
    with pytest.raises(ScoreError, match=message):
        check_score(Wrong(broken), pairs=200)


@pytest.mark.parametrize("value", ["high", None, np.array([1.0, 2.0])])
def test_a_score_that_is_not_a_number_fails_with_its_family(value: object) -> None:
    score = gaussian()
    score.local = lambda *_: value  # type: ignore[method-assign, assignment]
    with pytest.raises(ScoreError, match=r"^local\(\d, 0b\d+\) is .*; a score must be a number"):
        check_score(score)


def test_the_score_that_those_were_made_from_passes() -> None:
    check_score(gaussian(), pairs=200)


def test_symmetry_is_tried_with_a_function_where_the_score_has_no_such_method() -> None:
    score = gaussian()

    class Bare:
        n = 6

        def local(self, y: int, parents: NodeSet) -> float:
            return score.local(y, parents)

    covariance = score.moments.covariance

    def permuted(order: Sequence[int]) -> GaussianBIC:
        return GaussianBIC.from_covariance(covariance[np.ix_(order, order)], 200)

    check_score(Bare(), pairs=20, permuted=permuted)
    with pytest.raises(ScoreError, match="not symmetric"):
        check_score(Bare(), pairs=200, permuted=lambda _: Bare())


@pytest.mark.parametrize("n", [1, 2, 3])
def test_scores_of_few_variables_can_be_checked(n: int) -> None:
    check_score(gaussian(n), pairs=20)


def test_a_score_without_variables_is_refused() -> None:
    class Nothing:
        n = 0

        def local(self, y: int, parents: NodeSet) -> float:
            raise AssertionError((y, parents))

    with pytest.raises(ScoreError, match="0 variables"):
        check_score(Nothing())
