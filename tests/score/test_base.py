"""The contract of scores: totals, default gains from ``local``, and the family counter."""

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import sges.score
from sges import confidence, learn
from sges.data import Dataset
from sges.errors import DataWarning, ScoreError
from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, nodes
from sges.score.gaussian.bic import GaussianBIC
from sges.score.protocol import (
    Candidates,
    CountingScore,
    EdgePrior,
    Gains,
    Score,
    dag_score,
    delete_gains,
    gains_by_local,
    insert_gains,
    total_score,
)
from sges.search import ges


class Plain:
    """A score with only the required methods, which counts its calls."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.asked = 0

    def local(self, y: int, parents: NodeSet) -> float:
        self.asked += 1
        return float(y + 2 * sum(nodes(parents)))


def gaussian(n: int = 5, records: int = 200) -> GaussianBIC:
    rng = np.random.default_rng(11)
    table = rng.normal(size=(records, n)) @ rng.normal(size=(n, n))
    return GaussianBIC.from_covariance(np.cov(table.T, ddof=0), records)


def test_every_public_name_of_the_scores_can_be_imported() -> None:
    for name in sges.score.__all__:
        assert getattr(sges.score, name).__name__ == name


def test_the_package_of_scores_does_not_load_scipy_before_it_is_used() -> None:
    code = "import sys, sges.score; print([m for m in sys.modules if m.startswith('scipy')])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_the_total_of_a_dag_is_the_sum_of_its_families() -> None:
    dag = PDAG.from_edges(3, [(0, 2), (1, 2)])
    assert dag_score(Plain(3), dag) == total_score(Plain(3), dag) == 0 + 1 + (2 + 2 * 1)


def test_the_total_of_a_cpdag_is_that_of_every_member() -> None:
    score = gaussian(3)
    chains = [[(0, 1), (1, 2)], [(1, 0), (1, 2)], [(2, 1), (1, 0)]]
    cpdag = PDAG.from_edges(3, undirected=[(0, 1), (1, 2)])
    for edges in chains:
        member = dag_score(score, PDAG.from_edges(3, edges))
        assert total_score(score, cpdag) == pytest.approx(member, rel=1e-12)


def test_a_graph_of_another_size_is_refused() -> None:
    with pytest.raises(ScoreError, match="4 nodes, but the score has 3 variables"):
        total_score(Plain(3), PDAG.empty(4))


def test_the_default_gains_are_differences_of_local() -> None:
    assert insert_gains(Plain(5), 0, 0b100, np.array([1, 3, 4])).tolist() == [2, 6, 8]
    assert delete_gains(Plain(5), 0, 0b11010, np.array([1, 3, 4])).tolist() == [-2, -6, -8]
    assert insert_gains(Plain(5), 0, 0b100, np.array([], dtype=np.intp)).shape == (0,)


@st.composite
def questions(draw: st.DrawFn, n: int) -> tuple[str, int, NodeSet, NDArray[np.intp]]:
    """Draw a call of a score on n variables: the method, y, the base and the candidates."""
    kind = draw(st.sampled_from(["local", "insert_gains", "delete_gains"]))
    y = draw(st.integers(0, n - 1))
    base = draw(st.integers(0, 2**n - 1)) & draw(st.integers(0, 2**n - 1)) & ~(1 << y)
    inside = [*nodes(base)]
    outside = [x for x in range(n) if x != y and x not in inside]
    among = outside if kind == "insert_gains" else inside
    chosen = draw(st.lists(st.sampled_from(among), unique=True)) if among else []
    return kind, y, base, np.array(chosen, dtype=np.intp)


def families_of(
    kind: str, y: int, base: NodeSet, candidates: NDArray[np.intp]
) -> set[tuple[int, frozenset[int]]]:
    own = frozenset(nodes(base))
    asked = {(y, own)}
    if kind != "local":
        asked |= {(y, own ^ {int(x)}) for x in candidates}
    return asked


@pytest.mark.parametrize("batched", [True, False])
@given(asked=st.lists(questions(4), max_size=40) | st.lists(questions(9), max_size=25))
def test_the_counter_counts_what_a_plain_set_of_families_holds(
    batched: bool, asked: list[tuple[str, int, NodeSet, NDArray[np.intp]]]
) -> None:
    counter = CountingScore(gaussian(9) if batched else Plain(9))
    plain: set[tuple[int, frozenset[int]]] = set()
    for kind, y, base, candidates in asked:
        if kind == "local":
            counter.local(y, base)
        else:
            getattr(counter, kind)(y, base, candidates)
        plain |= families_of(kind, y, base, candidates)
        assert counter.evaluations == len(plain)


def test_a_family_asked_as_insert_delete_and_base_is_one_family() -> None:
    counter = CountingScore(gaussian())
    counter.insert_gains(0, 0b0010, np.array([2]))  # {1}, {1, 2}
    counter.insert_gains(0, 0b0100, np.array([1]))  # {2}, {1, 2} again
    counter.delete_gains(0, 0b0110, np.array([1, 2]))  # all three again
    counter.local(0, 0b0110)
    assert counter.evaluations == 3


@pytest.mark.parametrize("batched", [True, False])
def test_the_counting_score_answers_what_its_score_answers(batched: bool) -> None:
    score = gaussian() if batched else Plain(5)
    counter = CountingScore(score)
    at = np.array([1, 3])
    assert counter.n == 5
    assert counter.local(0, 0b100) == counter.local(0, 0b100) == score.local(0, 0b100)
    assert counter.insert_gains(0, 0b100, at).tolist() == insert_gains(score, 0, 0b100, at).tolist()
    assert (
        counter.delete_gains(0, 0b1010, at).tolist() == delete_gains(score, 0, 0b1010, at).tolist()
    )


def test_a_counter_that_is_switched_off_says_none_and_answers_all_the_same() -> None:
    counter = CountingScore(Plain(3), counting=False)
    assert counter.local(2, 0b01) == 2.0
    assert counter.insert_gains(2, 0, np.array([0, 1])).tolist() == [0, 2]
    assert counter.delete_gains(2, 0b10, np.array([1])).tolist() == [-2]
    assert counter.evaluations is None


def test_a_counting_score_has_the_names_of_its_score() -> None:
    named = GaussianBIC.from_covariance(np.eye(2), 10, names=["a", "b"])
    assert CountingScore(named).names == ("a", "b")
    assert CountingScore(Plain(2)).names is None


@pytest.mark.parametrize("search", [learn, ges])
@pytest.mark.parametrize("n", ["4", 4.0, -1, None])
def test_the_number_of_variables_must_be_a_number(search: Callable[..., object], n: object) -> None:
    score = Plain(n)  # type: ignore[arg-type]
    with pytest.raises(ScoreError, match=r"^Plain\.n is .*; it must be the number of variables$"):
        search(score=score)


@pytest.mark.parametrize("strategy", ["auto", "two-phase", "interleaved"])
@pytest.mark.parametrize("value", ["much", None])
def test_what_local_returns_must_be_a_number(strategy: str, value: object) -> None:
    class Odd(Plain):
        def local(self, y: int, parents: NodeSet) -> float:  # noqa: ARG002
            return value  # type: ignore[return-value]

    with pytest.raises(ScoreError, match=r"^local\(0, 0b0\) is .*; a score must be a number$"):
        learn(score=Odd(4), strategy=strategy)


@pytest.mark.parametrize("wrap", [lambda score: score, EdgePrior, CountingScore])
@pytest.mark.parametrize("method", ["insert_gains", "delete_gains"])
@pytest.mark.parametrize("gains", ["much", None, 1.5, ["1.5"], [[1.5], [2.5, 3.5]], [1.5j], []])
def test_gains_must_be_one_number_for_each_candidate(
    wrap: Callable[[Score], Score], method: str, gains: object
) -> None:
    class Odd(GaussianBIC):
        pass

    setattr(Odd, method, lambda *_: gains)
    score = Odd.from_covariance([[1.0, 0.8], [0.8, 1.0]], records=100)
    told = r"^Odd returned .* as the gains of node \d with parents \{.*\}; it must return one"
    with pytest.raises(ScoreError, match=told):
        ges(wrap(score))


def test_gains_may_be_a_list_or_an_array_that_cannot_be_written() -> None:
    class Listed(GaussianBIC):
        def insert_gains(self, y: int, base: NodeSet, candidates: Candidates) -> Gains:
            return gains_by_local(self.local, y, base, candidates).tolist()  # type: ignore[no-any-return]

    class Frozen(GaussianBIC):
        def insert_gains(self, y: int, base: NodeSet, candidates: Candidates) -> Gains:
            gains = gains_by_local(self.local, y, base, candidates)
            gains.flags.writeable = False
            return gains

    for kind in (Listed, Frozen):
        score = kind.from_covariance([[1.0, 0.8], [0.8, 1.0]], records=100)
        assert ges(score).cpdag == ges(EdgePrior(score)).cpdag == PDAG.complete(2)


@pytest.mark.parametrize("missing", ["error", "em"])
def test_a_warning_about_a_table_is_about_the_line_of_the_user(missing: str) -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(60, 4))
    table[:, 3] = table[:, 0] + table[:, 1]
    if missing == "em":
        table[5, 2] = np.nan
    for call in (
        lambda: learn(table, missing=missing),  # type: ignore[arg-type]
        lambda: confidence(table, 2, missing=missing),  # type: ignore[arg-type]
        lambda: GaussianBIC(Dataset.of(table, missing=missing)),  # type: ignore[arg-type]
    ):
        with pytest.warns(DataWarning, match="collinear|linear function") as told:
            call()
        assert {warning.filename for warning in told} == {__file__}
