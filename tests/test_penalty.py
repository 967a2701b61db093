"""Choosing the penalty: the interface, special cases, and data with known answers."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray

from sges.data import Dataset, Moments
from sges.errors import DataError, InvalidArgument, ScoreError
from sges.knowledge import Knowledge
from sges.network import BayesianNetwork, LinearGaussian, random_dag
from sges.properties import MaxParents
from sges.result import Result
from sges.score import GaussianBIC
from sges.score.protocol import Score
from sges.search import ges, sges
from sges.tools.penalty import choose_penalty, extended_bic, rule_of_thumb
from sges.tools.penalty.criteria import Candidate
from sges.tools.penalty.selection import CANDIDATES, CriterionResult, PenaltyChoice


def gaussian(seed: int, n: int = 6, edges: int = 6, records: int = 200) -> Dataset:
    return LinearGaussian.random(random_dag(n, edges, seed=seed), seed=seed).sample(records, seed)


def binary(seed: int, n: int = 5, edges: int = 4, records: int = 200) -> Dataset:
    return BayesianNetwork.random(random_dag(n, edges, seed=seed), seed=seed).sample(records, seed)


def mixed(seed: int, records: int = 300) -> Dataset:
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=records)
    effect = group + rng.normal(size=records)
    return Dataset.of({"group": [f"g{g}" for g in group], "x": effect, "y": effect - group})


def plain(choice: PenaltyChoice) -> tuple[object, ...]:
    """Return all of a choice that must be reproducible."""
    verdicts = [
        (one.method, one.penalty, [(t.penalty, t.values, t.edges) for t in one.curve])
        for one in choice.criteria
    ]
    return choice.penalty, verdicts, choice.searches, choice.complete


def curve_of(choice: PenaltyChoice) -> tuple[Candidate, ...]:
    """Return the curve of the first criterion."""
    return choice.criteria[0].curve


@pytest.mark.parametrize("make", [gaussian, binary, mixed])
def test_the_same_seed_gives_the_same_choice_for_every_kind_of_table(
    make: Callable[[int], Dataset], seed: int
) -> None:
    data = make(seed)
    first, again = (choose_penalty(data, seed=seed) for _ in range(2))
    assert plain(first) == plain(again) != plain(choose_penalty(data, seed=seed + 1))
    assert first.complete
    assert first.searches == sum(len(one.values) for v in first.criteria for one in v.curve)
    for verdict in first.criteria:
        assert [one.penalty for one in verdict.curve] == sorted(CANDIDATES)[-len(verdict.curve) :]
        assert verdict.chosen in verdict.curve


@pytest.mark.parametrize("make", [gaussian, binary, mixed])
def test_both_is_the_larger_of_the_two_and_asks_for_no_more_than_they_do(
    make: Callable[[int], Dataset], seed: int
) -> None:
    data = make(seed)
    both, *apart = (
        choose_penalty(data, method=method, seed=seed)
        for method in ("both", "held-out", "stability")
    )
    assert both.penalty == max(choice.penalty for choice in apart)
    assert both.searches <= sum(choice.searches for choice in apart)
    assert both.criteria[0].penalty == apart[0].penalty


def test_noise_is_not_fitted(seed: int) -> None:
    """Without a penalty every edge improves the score, but the columns are independent."""
    values = np.random.default_rng(seed).normal(size=(100, 6))
    assert choose_penalty(Dataset.of(values), candidates=[0, 6]).penalty == 6


def test_the_complete_graph_is_stable_and_fools_stability(seed: int) -> None:
    """As the documentation warns: without a penalty, all pairs are adjacent in every subsample."""
    values = np.random.default_rng(seed).normal(size=(100, 6))
    data = Dataset.of(values)
    assert choose_penalty(data, candidates=[0, 6], method="stability").penalty == 0


def test_a_penalty_that_hides_the_strongest_edge_is_not_chosen(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=300)
    data = Dataset.of({"x": x, "y": x + 0.1 * rng.normal(size=300)})
    assert choose_penalty(data, candidates=[1, 1e6]).penalty == 1


def test_every_search_is_the_one_given_and_is_counted(seed: int) -> None:
    asked: list[float] = []

    def search(score: Score) -> Result:
        assert isinstance(score, GaussianBIC)
        asked.append(score.penalty)
        return sges(score, MaxParents(1))

    choice = choose_penalty(gaussian(seed), search=search, candidates=[2, 1, 4], method="held-out")
    assert len(asked) == choice.searches
    assert asked[:5] == [4.0] * 5  # the largest penalty first, as its searches are the fastest
    assert [one.penalty for one in curve_of(choice)] == sorted(set(asked))


def test_knowledge_is_respected_through_the_search(seed: int) -> None:
    bound = Knowledge(required=[(0, 5)]).bind(6)
    search = partial(ges, constraint=bound)
    data = Dataset.of(np.random.default_rng(seed).normal(size=(100, 6)))
    choice = choose_penalty(data, search=search, candidates=[8])
    assert min(curve_of(choice)[0].edges) >= 1


def test_names_of_scores_stand_for_their_classes(seed: int) -> None:
    data = gaussian(seed)
    named = choose_penalty(data, score="gaussian-bic", candidates=[1, 2], seed=seed)
    assert plain(named) == plain(choose_penalty(data, candidates=[1, 2], seed=seed))
    indicators = choose_penalty(data, score="degenerate-gaussian", candidates=[1, 2], seed=seed)
    for one, other in zip(curve_of(named), curve_of(indicators), strict=True):
        assert one.edges == other.edges
        assert one.values == pytest.approx(other.values, rel=1e-9)


def test_without_time_the_rule_of_thumb_is_used(seed: int) -> None:
    choice = choose_penalty(gaussian(seed), time_limit=0)
    assert not choice.complete
    assert choice.criteria == ()
    assert choice.searches == 0
    assert choice.penalty == extended_bic(6, 200)
    assert "rule of thumb" in choice.note
    assert "rule of thumb" in repr(choice)
    assert choose_penalty(binary(seed), time_limit=0).penalty == 1


def test_a_search_that_does_not_end_ends_the_choice_with_what_was_tried(seed: int) -> None:
    data = gaussian(seed)

    def search(score: Score, *, time_limit: float) -> Result:
        assert isinstance(score, GaussianBIC)
        return ges(score, time_limit=0 if score.penalty < 2 else time_limit)

    choice = choose_penalty(
        data, search=search, candidates=[1, 2, 4], method="held-out", time_limit=1e9
    )
    assert [one.penalty for one in curve_of(choice)] == [2, 4]
    assert not choice.complete
    assert choice.searches == 11
    assert "stopped early" in choice.note


def test_a_choice_shows_its_curve_and_its_cost() -> None:
    curve = (Candidate(1.0, (-2.0, -4.0), (3, 4), 0.5), Candidate(2.0, (-2.0, -3.0), (2, 2), 0.25))
    verdict = CriterionResult("held-out", curve[1], curve)
    choice = PenaltyChoice(2.0, "GaussianBIC", (verdict,), 4, 0.75)
    assert repr(choice) == "PenaltyChoice(2: held-out 2; 4 searches, 0.75 s)"
    assert choice.note == "penalty 2: chosen by held-out (2), with 4 searches in 0.75 s"
    rows = choice.rows()
    assert [row["chosen"] for row in rows] == [False, True]
    assert (rows[0]["difference"], rows[0]["error"]) == (-0.5, 0.5)
    assert [line[0] for line in choice.as_table().splitlines()[1:3]] == [" ", "→"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "aic"}, "not one of 'both', 'held-out', 'stability'"),
        ({"score": "bdeu"}, "has no penalty; scores with a penalty are"),
    ],
)
def test_invalid_arguments_are_refused_in_one_line(options: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidArgument, match=says) as told:
        choose_penalty(gaussian(0), **options)  # type: ignore[arg-type]
    assert "\n" not in str(told.value)


def test_moments_have_no_records_to_set_aside() -> None:
    with pytest.raises(InvalidArgument, match="rule_of_thumb"):
        choose_penalty(Moments.of(gaussian(0)))


@pytest.mark.parametrize("method", ["held-out", "stability"])
def test_too_few_records_are_refused(method: str) -> None:
    data = Dataset.of(np.arange(4.0).reshape(2, 2))
    with pytest.raises(DataError, match="too few"):
        choose_penalty(data, method=method)


def test_a_score_that_does_not_fit_the_columns_says_so_itself() -> None:
    with pytest.raises(DataError, match="is discrete"):
        choose_penalty(mixed(0), score="gaussian-bic")
    with pytest.raises(ScoreError, match="is continuous"):
        choose_penalty(mixed(0), score="discrete-bic")


def test_constant_columns_are_accepted(seed: int) -> None:
    """Pytest turns warnings into errors, so this also tests that parts do not warn."""
    values: NDArray[np.float64] = np.random.default_rng(seed).normal(size=(60, 3))
    values[:, 1] = 7.0
    assert choose_penalty(Dataset.of(values), candidates=[1, 2]).complete
    rare = Dataset.of({"a": ["u"] * 59 + ["v"], "x": values[:, 0]})
    assert np.isfinite(curve_of(choose_penalty(rare, candidates=[1, 2]))[0].value)


def test_the_rule_of_thumb_is_the_extended_bic() -> None:
    """−2·log-likelihood + k log m + 4γ k log n, per edge and divided by log m."""
    for n, m, gamma in ((10, 100, 0.5), (500, 300, 1.0), (1, 50, 0.25)):
        expected = (np.log(m) + 4 * gamma * np.log(n)) / np.log(m)
        assert extended_bic(n, m, gamma) == pytest.approx(expected)
    assert extended_bic(100, 1000, gamma=0) == 1


def test_the_rule_of_thumb_leaves_discrete_columns_at_the_bic() -> None:
    assert rule_of_thumb(gaussian(0)) == rule_of_thumb(Moments.of(gaussian(0))) > 1
    assert rule_of_thumb(binary(0)) == rule_of_thumb(mixed(0)) == 1


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_the_choice_is_the_same_for_any_number_of_jobs(seed: int, backend: str) -> None:
    import joblib

    for data in (gaussian(seed), binary(seed)):
        alone = choose_penalty(data, candidates=[1, 2, 4])
        with joblib.parallel_config(backend):
            several = choose_penalty(data, candidates=[1, 2, 4], n_jobs=3)
        assert several.penalty == alone.penalty
        assert several.searches == alone.searches
        strip = [{k: v for k, v in row.items() if k != "seconds"} for row in alone.rows()]
        assert strip == [{k: v for k, v in row.items() if k != "seconds"} for row in several.rows()]


def test_a_wrong_number_of_jobs_is_refused(seed: int) -> None:
    with pytest.raises(InvalidArgument, match="n_jobs = 0"):
        choose_penalty(gaussian(seed), n_jobs=0)
