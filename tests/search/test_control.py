"""Progress, time limits, Ctrl-C, certificates, and the contents of a result."""

import pickle
import signal
import time
from collections.abc import Iterator

import numpy as np
import pytest

from sges.certificate import Certificate, certify
from sges.errors import SgesError
from sges.graph import PDAG, is_cpdag
from sges.knowledge import Knowledge
from sges.knowledge.indexed import IndexedKnowledge
from sges.operators import all_deletes, all_inserts
from sges.properties import MaxParents, MaxVWidth
from sges.result import Result
from sges.score import GaussianBIC
from sges.score.protocol import total_score
from sges.search import STRATEGIES, Progress, bes, fes, ges, search, sges
from sges.search.bounds import poly_fes_bound, sbes_bound
from sges.search.run import Selection
from worlds import gaussian_score


class Interrupting:
    """A score that raises SIGINT, or waits, at the k-th family."""

    def __init__(self, score: GaussianBIC, at: int, act: str) -> None:
        self.score, self.at, self.act, self.asked = score, at, act, 0
        self.n = score.n

    def local(self, y: int, parents: int) -> float:
        """Return the score; act at one call."""
        self.asked += 1
        if self.asked == self.at:
            if self.act == "signal":
                signal.raise_signal(signal.SIGINT)
            else:
                time.sleep(0.2)
        return float(self.score.local(y, parents))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("known", [False, True])
def test_interrupted_at_any_report_the_best_class_by_then_is_returned(
    strategy: str, known: bool, seed: int
) -> None:
    """Also between two climbs, on the way to another order, and during escapes."""
    score, reports = gaussian_score(6, 10, 100, seed), list[Progress]()
    bound = Knowledge(tiers=[[0, 1, 2], [3, 4, 5]], required=[(1, 4)]).bind(6) if known else None
    start = PDAG.empty(6) if bound is None else bound.start(6)
    search(score, strategy=strategy, progress=reports.append, constraint=bound)
    best = float("-inf")
    for last in range(len(reports)):
        left = iter(range(last))

        def interrupt(_: Progress, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise KeyboardInterrupt

        result = search(score, strategy=strategy, progress=interrupt, constraint=bound)
        assert result.stopped == "interrupted"
        assert_complete_state(result, score, start, bound)
        assert result.score >= best - 1e-6
        best = result.score


@pytest.mark.parametrize("strategy", ["two-phase", "extended", "auto"])
def test_interrupted_at_any_family_the_best_class_by_then_is_returned(strategy: str) -> None:
    """Even while the result is scored."""
    inner, best = gaussian_score(4, 4, 200, 3), float("-inf")
    whole = Interrupting(inner, 0, "signal")
    search(whole, strategy=strategy)
    for at in range(1, whole.asked + 1):
        result = search(Interrupting(inner, at, "signal"), strategy=strategy)
        assert (result.stopped, result.complete) == ("interrupted", False)
        assert_complete_state(result, inner, PDAG.empty(4))
        assert result.score >= best - 1e-6
        best = result.score


def assert_complete_state(
    result: Result, score: GaussianBIC, start: PDAG, bound: IndexedKnowledge | None = None
) -> None:
    """Check that the steps lead to the graph, which is admissible and has its score."""
    cpdag = start
    for step in result.steps:
        cpdag = step.operator.apply(cpdag)
    if bound is not None:
        assert bound.admits(cpdag)
        cpdag = bound.refine(cpdag)
    assert cpdag == result.cpdag
    assert result.score == pytest.approx(total_score(score, cpdag))


def test_ctrl_c_that_is_pressed_again_while_the_result_is_scored_is_raised() -> None:
    class Impatient(Interrupting):
        def local(self, y: int, parents: int) -> float:
            if self.asked >= self.at:
                signal.raise_signal(signal.SIGINT)
            return super().local(y, parents)

    with pytest.raises(KeyboardInterrupt):
        ges(Impatient(gaussian_score(4, 4, 200, 3), 10, "none"))


@pytest.mark.parametrize("at", [5, 100, 300])
def test_a_time_limit_ends_with_a_valid_cpdag_and_says_so(at: int, seed: int) -> None:
    score = Interrupting(gaussian_score(12, 20, 500, seed), at, "sleep")
    result = ges(score, time_limit=0.15)
    assert not result.complete
    assert result.stopped == "time limit"
    assert is_cpdag(result.cpdag)


def test_no_time_at_all_returns_the_start() -> None:
    score = gaussian_score(6, 8, 300, 1)
    result = bes(score, PDAG.complete(6), time_limit=0)
    assert result.cpdag == PDAG.complete(6)
    assert result.stopped == "time limit"


def test_progress_is_reported_at_each_phase_and_step(seed: int) -> None:
    seen: list[Progress] = []
    result = ges(gaussian_score(10, 16, 400, seed), progress=seen.append)
    assert [p.phase for p in seen if p.step == 0] == ["fes"]
    assert {p.phase for p in seen} == {"fes", "bes"}
    assert len(seen) == len(result.steps) + 2
    assert [p.step for p in seen] == sorted(p.step for p in seen)
    last = seen[-1]
    assert last.edges == result.cpdag.edge_count()
    assert last.score == pytest.approx(result.score, rel=1e-9)


def test_a_result_states_its_cost(seed: int) -> None:
    result = sges(gaussian_score(8, 10, 400, seed), MaxParents(2), forward="poly")
    assert set(result.seconds) == {"poly-fes", "sbes"}
    assert all(0 <= seconds < 60 for seconds in result.seconds.values())
    assert result.operators_considered > 0
    assert result.score_evaluations is not None
    assert result.evaluation_bound == poly_fes_bound(8) + (
        sbes_bound(8, Selection(MaxParents(2))) or 0
    )
    assert result.score_evaluations <= result.evaluation_bound
    assert (result.assume, result.forward) == ("MaxParents(k=2)", "poly")
    assert ges(gaussian_score(8, 10, 400, seed)).evaluation_bound is None


def test_results_survive_pickle_and_json_without_the_data(seed: int) -> None:
    result = sges(gaussian_score(8, 10, 400, seed), MaxVWidth(2))
    for again in (pickle.loads(pickle.dumps(result)), Result.from_json(result.to_json())):
        assert again == result
        assert again.scorer is None
        assert again.names == result.names
        assert again.seconds == result.seconds


def test_names_of_the_score_reach_the_result() -> None:
    covariance = np.array([[1.0, 0.7], [0.7, 1.0]])
    score = GaussianBIC.from_covariance(covariance, 1000, names=("rain", "wet"))
    assert repr(ges(score).cpdag) == "PDAG(2 nodes: rain—wet)"


class TestCertificate:
    """Certificates: whether an operator that the search left out improves the score."""

    def test_the_result_of_ges_is_certified(self, seed: int) -> None:
        result = ges(gaussian_score(8, 12, 400, seed))
        certificate = result.certify()
        assert certificate.optimal
        assert certificate.exhaustive
        assert f"none of the {certificate.checked:,} deletes improves the score" in str(certificate)

    def test_a_wrong_assumption_is_found_out(self) -> None:
        """Two causes of one effect: with v-width 0, no delete leads out of the triangle."""
        covariance = np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.6], [0.6, 0.6, 1.0]])
        score = GaussianBIC.from_covariance(covariance, 1000)
        stuck = sges(score, MaxVWidth(0), forward="complete")
        certificate = stuck.certify()
        assert certificate.optimal is False
        assert str(certificate.better) == "Delete(0, 1, {2})"
        assert sges(score, MaxVWidth(1), forward="complete").certify().optimal

    def test_a_certificate_states_that_it_is_limited(self, seed: int) -> None:
        result = fes(gaussian_score(8, 12, 400, seed))
        certificate = result.certify(limit=0)
        assert certificate.optimal is None
        assert (certificate.checked, certificate.exhaustive) == (0, False)
        assert "the others were not scored" in str(certificate)

    def test_all_operators_are_counted(self) -> None:
        graph = PDAG.complete(3)
        certificate = certify(graph, gaussian_score(3, 2, 100, 0))
        assert certificate.checked == len(list(all_deletes(graph)))
        text = str(Certificate(True, 1234, True))
        assert text == "none of the 1,234 deletes improves the score"

    def test_inserts_are_examined_too(self) -> None:
        score = gaussian_score(8, 12, 400, 1)
        certificate = bes(score, PDAG.empty(8)).certify()
        assert certificate.optimal
        assert certificate.inserts is not None
        assert certificate.inserts.optimal is False
        best = max(op.gain(score, PDAG.empty(8)) for op in all_inserts(PDAG.empty(8)))
        assert certificate.inserts.gain == best
        assert f"{certificate.inserts.better} would gain" in str(certificate)

    def test_what_the_bounded_default_left_out_is_examined(self) -> None:
        """Large cliques have more subsets than the default examines."""
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(2000, 1)) + 0.5 * rng.normal(size=(2000, 11))
        result = search(GaussianBIC(rows), strategy="auto")
        assert any("was selective" in note for note in result.notes)
        certificate = result.certify()
        assert certificate.checked > 0
        assert certificate.inserts is not None
        assert certificate.inserts.exhaustive

    def test_a_stored_result_needs_its_score_again(self) -> None:
        score = gaussian_score(5, 6, 300, 3)
        stored = Result.from_json(ges(score).to_json())
        with pytest.raises(SgesError, match="pass it as certify"):
            stored.certify()
        assert stored.certify(score).optimal
