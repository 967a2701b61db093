"""Draws: their sizes and moments, and how rare false edges are in them."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from sges import PDAG, BayesianNetwork, confidence, learn
from sges.data import Dataset, Moments
from sges.errors import DataError, DataWarning, InvalidArgument
from sges.learning import SearchPlan
from sges.network.gaussian import LinearGaussian
from sges.network.structures import random_dag
from sges.score import DiscreteBIC, GaussianBIC
from sges.score.named import make_score
from sges.tools.effects import effect
from sges.uncertainty.draws import DRAWS, Source, edge_cost, permuted
from sges.uncertainty.replicates import Question


def gaussian(n: int = 6, edges: int = 6, records: int = 400, seed: int = 0) -> Dataset:
    return LinearGaussian.random(random_dag(n, edges, seed), seed=seed).sample(records, seed=seed)


def discrete(n: int = 5, edges: int = 5, records: int = 400, seed: int = 0) -> Dataset:
    return BayesianNetwork.random(random_dag(n, edges, seed), seed=seed).sample(records, seed=seed)


def source(data: Dataset | Moments, draw: str) -> Source:
    gaussian = isinstance(data, Moments) or not data.discrete
    return Source.of(data, draw, penalized=True, gaussian=gaussian)


def test_half_of_the_records_are_drawn_without_replacement() -> None:
    data = gaussian(records=401)
    own = source(data, "half")
    drawn = own.drawn(np.random.default_rng(0))
    assert isinstance(drawn, Dataset)
    whole = {tuple(row) for row in data.values.T}
    half = [tuple(row) for row in drawn.values.T]
    assert len(set(half)) == 200
    assert set(half) <= whole


def test_half_of_weighted_rows_is_half_of_their_records() -> None:
    data = discrete()
    drawn = source(data, "half").drawn(np.random.default_rng(0))
    assert isinstance(drawn, Dataset)
    assert drawn.records == 200
    merged = data.merged()
    assert drawn.rows <= merged.rows
    assert merged.weights is not None
    assert drawn.weights is not None
    most = dict(zip(map(tuple, merged.codes.T.tolist()), merged.weights.tolist(), strict=True))
    for row, count in zip(drawn.codes.T.tolist(), drawn.weights.tolist(), strict=True):
        assert count <= most[tuple(row)]


def test_half_of_more_records_than_numpy_draws_from_is_drawn_by_chance() -> None:
    data = Dataset.of({"a": ["x", "y"], "b": ["u", "v"]}, weights=[3 * 10**9, 10**9])
    drawn = source(data, "half").drawn(np.random.default_rng(0))
    assert isinstance(drawn, Dataset)
    assert drawn.weights is not None
    assert drawn.weights / [3e9, 1e9] == pytest.approx([0.5, 0.5], rel=1e-3)


def test_random_weights_score_like_fractional_counts() -> None:
    """Gains are computed from the fractional counts, with twice the penalty."""
    data = discrete(3, 3, seed=4)
    own = source(data, "bayesian")
    drawn = own.drawn(np.random.default_rng(3))
    assert isinstance(drawn, Dataset)
    assert drawn.weights is not None
    weights = drawn.weights * (data.records / drawn.weights.sum())
    counts = np.zeros((2, 2))
    np.add.at(counts, (drawn.codes[0], drawn.codes[1]), weights)
    margins = counts.sum(axis=1)[:, None] * counts.sum(axis=0) / counts.sum()
    fit = float((counts * np.log(np.where(counts > 0, counts / margins, 1.0))).sum())
    expected = fit - 2.0 * np.log(data.records) / 2
    score = DiscreteBIC(drawn, penalty=own.correction)
    gain = score.local(1, 0b001) - score.local(1, 0)
    assert gain == pytest.approx(expected, abs=1e-6)


def test_random_weights_have_the_moments_of_a_dirichlet() -> None:
    data = gaussian(records=50)
    own, rng = source(data, "bayesian"), np.random.default_rng(1)
    shares = []
    for _ in range(400):
        drawn = own.drawn(rng)
        assert isinstance(drawn, Dataset)
        assert drawn.weights is not None
        shares.append(drawn.weights[0] / drawn.weights.sum())
    assert np.mean(shares) == pytest.approx(1 / 50, rel=0.2)
    assert np.var(shares) == pytest.approx(49 / 50**2 / 51, rel=0.3)


@pytest.mark.parametrize("draw", ["half", "bootstrap", "bayesian"])
def test_equal_rows_of_a_survey_are_drawn_one_by_one(draw: str) -> None:
    """The share of a level varies like that of 400 people, not like that of two distinct rows."""
    rng = np.random.default_rng(0)
    weights, is_high = rng.uniform(0.5, 2.0, size=400), rng.random(400) < 0.4
    data = Dataset.of({"level": np.where(is_high, "high", "low")}, weights=weights)
    own, shares = source(data, draw), list[float]()
    for _ in range(500):
        drawn = own.drawn(rng)
        assert isinstance(drawn, Dataset)
        assert drawn.weights is not None
        shares.append(float(drawn.weights @ (drawn.codes[0] == 0) / drawn.weights.sum()))
    share = float(weights @ is_high / weights.sum())
    deviation = float(np.linalg.norm(weights * (is_high - share)) / weights.sum())
    assert np.mean(shares) == pytest.approx(share, abs=0.01)
    assert np.std(shares) == pytest.approx(deviation, rel=0.15)


def test_wishart_draws_agree_with_resampled_rows_in_distribution() -> None:
    """Mean and standard deviation of every covariance, over many draws of each kind."""
    data = gaussian(4, 4, 300, seed=2)
    both = {}
    for draw in ("bootstrap", "wishart"):
        own, rng = source(data, draw), np.random.default_rng(0)
        found = []
        for _ in range(1500):
            drawn = own.drawn(rng)
            moments = drawn if isinstance(drawn, Moments) else Moments.of(drawn)
            found.append(moments.covariance)
        both[draw] = np.array(found)
    deviation = both["bootstrap"].std(axis=0)
    shift = both["wishart"].mean(axis=0) - both["bootstrap"].mean(axis=0)
    assert np.abs(shift / deviation).max() < 0.15
    # The fourth moments of a sample of 300 normal records are known to about a fifth.
    assert both["wishart"].std(axis=0) == pytest.approx(deviation, rel=0.3)


def test_wishart_draws_have_the_variance_of_a_wishart() -> None:
    """The variance of S_ij is (m − 1)(Σ_ij² + Σ_ii Σ_jj) / m²."""
    sigma = np.array([[2.0, 0.6], [0.6, 1.0]])
    moments = Moments(("a", "b"), 40, np.zeros(2), sigma)
    own, rng = source(moments, "wishart"), np.random.default_rng(0)
    draws = np.array([own.drawn(rng).covariance for _ in range(6000)])  # type: ignore[union-attr]
    assert draws.mean(axis=0) == pytest.approx(sigma * 39 / 40, rel=0.02, abs=0.01)
    diagonal = np.diagonal(sigma)
    variance = 39 / 40**2 * (sigma**2 + np.outer(diagonal, diagonal))
    assert draws.var(axis=0) == pytest.approx(variance, rel=0.08)


def test_wishart_draws_of_few_records_or_singular_columns_keep_their_rank() -> None:
    rng = np.random.default_rng(0)
    few = Moments.of(Dataset.of(rng.standard_normal((5, 8))))
    drawn = source(few, "wishart").drawn(rng)
    assert isinstance(drawn, Moments)
    assert np.linalg.matrix_rank(drawn.covariance, tol=1e-9) == 4
    x = rng.standard_normal((100, 2))
    table = np.column_stack([x, x.sum(axis=1), np.ones(100)])
    drawn = source(Moments.of(Dataset.of(table)), "wishart").drawn(rng)
    assert isinstance(drawn, Moments)
    assert np.linalg.matrix_rank(drawn.covariance, tol=1e-9) == 2
    assert drawn.covariance[3].tolist() == [0.0] * 4


def test_false_edges_are_rare_in_replicates() -> None:
    """All 190 pairs are independent; the uncorrected bootstrap finds many more edges."""
    found = {}
    for draw, penalty in (
        *((draw, 1.0) for draw in ("half", "bootstrap", "bayesian", "wishart")),
        ("bootstrap", 0.5),  # after doubling, the bootstrap without a correction
    ):
        edges = [
            graph.edge_count()
            for seed in range(4)
            for graph in confidence(
                gaussian(20, 0, 1000, seed), 10, draw=draw, penalty=penalty, strategy="two-phase"
            ).graphs
        ]
        found[draw, penalty] = np.mean(edges)
    assert max(share for (_, penalty), share in found.items() if penalty == 1.0) < 4
    assert found["bootstrap", 0.5] > 9


@pytest.mark.parametrize("levels", [2, 3, 4])
def test_replicates_of_independent_levels_have_hardly_an_edge(levels: int) -> None:
    """A plain bootstrap connects 12 to 36 of the 190 pairs."""
    rng, edges = np.random.default_rng(levels), list[int]()
    for _ in range(3):
        table = rng.integers(levels, size=(200, 20)).astype(str)
        found = confidence(table, 15, strategy="two-phase")
        edges += (graph.edge_count() for graph in found.graphs)
    assert np.mean(edges) < 9


@pytest.mark.parametrize("draw", ["bootstrap", "bayesian", "wishart"])
def test_with_the_prior_of_edges_a_draw_has_a_third_of_the_noise(draw: str) -> None:
    data, rng = gaussian(2, 1, 100), np.random.default_rng(0)
    variances = []
    for prior in (True, False):
        own = Source.of(data, draw, penalized=True, gaussian=True, prior=prior)
        drawn = [own.drawn(rng) for _ in range(1000)]
        moments = [x if isinstance(x, Moments) else Moments.of(x) for x in drawn]
        variances.append(np.var([x.covariance[0, 1] for x in moments]))
    assert variances[0] == pytest.approx(variances[1] / 3, rel=0.3)


@pytest.mark.parametrize("score", ["discrete-bic", "qnml", "bdeu"])
def test_a_table_drawn_three_times_at_a_third_scores_like_itself(score: str) -> None:
    data = discrete().merged()
    assert data.weights is not None
    thrice = replace(data, weights=3 * data.weights, unit=1 / 3)
    plain, other = make_score(score, data), make_score(score, thrice)
    for y, parents in ((0, 0), (1, 0b100), (4, 0b1011)):
        assert other.local(y, parents) == pytest.approx(plain.local(y, parents), rel=1e-9)


def test_the_prior_of_replicates_expects_the_edges_of_the_estimate() -> None:
    assert edge_cost(190, 0) > edge_cost(190, 1) > np.log(20) > edge_cost(190, 20)
    assert edge_cost(10, 3) == pytest.approx(np.log(7.5 / 3.5))
    assert edge_cost(10, 9) == 0  # most pairs are adjacent: no edge is favored


def test_pairs_that_knowledge_decides_do_not_change_the_prior_of_replicates() -> None:
    """The edges that are required are not expected elsewhere; excluded pairs are not counted."""
    table, pairs = gaussian(6, 0, 200), [("x0", "x1"), ("x0", "x2"), ("x3", "x4")]
    both = [*pairs, *((b, a) for a, b in pairs)]
    for knowledge in ({"required": pairs}, {"forbidden": both}):
        result = learn(table, knowledge=knowledge)
        assert isinstance(result.plan, SearchPlan)
        own = Question.of(table, "auto", "auto", result.plan, "auto", seed=0).with_cost(inf)
        assert own is not None
        found = result.cpdag.edge_count() - len(knowledge.get("required", ()))
        assert own.cost == edge_cost(12, found)


def test_columns_are_permuted_with_all_that_belongs_to_them() -> None:
    table = {"x": [0.5, 1.5, 2.5], "d": ["u", "v", "u"], "y": [3.5, 1.0, 2.0], "e": [True] * 3}
    data = Dataset.of(table)
    order = np.array([3, 2, 0, 1])
    moved = permuted(data, order)
    assert isinstance(moved, Dataset)
    direct = Dataset.of({name: table[name] for name in ("e", "y", "x", "d")})
    assert (moved.names, moved.kinds, moved.levels) == (direct.names, direct.kinds, direct.levels)
    assert moved.values.tolist() == direct.values.tolist()
    assert moved.codes.tolist() == direct.codes.tolist()
    moments = Moments.of(gaussian(4, 4))
    swapped = permuted(moments, order)
    assert isinstance(swapped, Moments)
    assert swapped.covariance[0, 1] == moments.covariance[3, 2]


def test_the_moments_of_a_score_are_without_the_ridge_of_a_singular_table() -> None:
    """With it, a column and its copy would each have an effect, and others would lose digits."""
    a, b, _ = gaussian(3, 3).values
    table = {"a": a, "b": b, "copy": a, "one": np.full(400, 0.5)}
    with pytest.warns(DataWarning):
        score = GaussianBIC(table)
    direct = Moments.of(Dataset.of(table)).covariance
    assert score.moments.covariance == pytest.approx(direct, rel=1e-14)
    graph = PDAG.from_edges(3, [(0, 1), (2, 1), (2, 0)], names=["a", "b", "copy"])
    with pytest.raises(DataError, match="linear combinations of others"):
        effect(graph, "a", "b", score.moments)


@pytest.mark.parametrize(
    ("data", "score", "draw", "advice"),
    [
        (discrete(), "auto", "wishart", {"draw": "half"}),
        (gaussian(), "rank", "wishart", {"draw": "half"}),
        (gaussian(), "bge", "wishart", {"draw": "half"}),
        (Moments.of(gaussian()), "bge", "wishart", {"score": "bic"}),
        (Moments.of(gaussian()), "auto", "half", {"draw": "wishart"}),
    ],
)
def test_the_advice_of_a_refused_way_to_draw_works(
    data: Dataset | Moments, score: str, draw: str, advice: dict[str, str]
) -> None:
    given = {"score": score, "draw": draw}
    ((word, value),) = advice.items()
    with pytest.raises(InvalidArgument, match=rf"; use .*{word}='{value}'"):
        confidence(data, 2, **given)  # type: ignore[arg-type]
    assert confidence(data, 2, **given | advice).done == 2  # type: ignore[arg-type]


def test_too_few_records_or_distinct_rows_are_refused() -> None:
    with pytest.raises(DataError, match="needs at least 4 records, but the table has 3"):
        source(Dataset.of({"a": [0.5, 1.5, 2.5]}), "half")
    same = Dataset.of({"a": ["u"] * 9, "b": ["v"] * 9})
    with pytest.raises(DataError, match="all records are the same row"):
        source(same, "bootstrap")


@pytest.mark.parametrize("draw", ["half", "bootstrap", "bayesian"])
def test_curves_are_found_in_replicates_however_they_are_drawn(draw: str) -> None:
    """A basis score limits the number of records, and chooses functions depending on it."""
    rng = np.random.default_rng(1)
    a = rng.normal(size=1000)
    table = {"a": a, "b": a**2 + 0.5 * rng.normal(size=1000), "c": rng.normal(size=1000)}
    found = confidence(table, 5, score="basis", draw=draw, strategy="two-phase")
    assert found.strength("a", "b") == 1.0


@pytest.mark.parametrize(
    ("data", "penalized", "prior", "draw"),
    [
        (gaussian(), True, True, "bayesian"),
        (gaussian(), True, False, "bayesian"),
        (gaussian(), False, True, "bootstrap"),
        (gaussian(), False, False, "half"),
        (discrete(), False, True, "bootstrap"),
        (discrete(), True, True, "bootstrap"),
        (discrete(), True, False, "half"),
        (Moments.of(gaussian()), True, True, "wishart"),
    ],
)
def test_the_default_way_to_draw_depends_on_the_score_and_the_table(
    data: Dataset | Moments, penalized: bool, prior: bool, draw: str
) -> None:
    own = Source.of(data, "auto", penalized=penalized, gaussian=True, prior=prior)
    assert own.draw == draw


def test_random_weights_of_a_survey_keep_its_records_and_its_weights_on_average() -> None:
    rng = np.random.default_rng(3)
    given = rng.uniform(0.5, 3.0, 40)
    data = Dataset.of(rng.normal(size=(40, 2)), weights=given)
    survey, shares = source(data, "bayesian"), np.zeros(40)
    for _ in range(500):
        drawn = survey.drawn(rng)
        assert isinstance(drawn, Dataset)
        assert drawn.weights is not None
        assert drawn.records == data.records
        place = [int(np.flatnonzero(data.values[0] == x)[0]) for x in drawn.values[0]]
        shares[place] += drawn.weights / drawn.weights.sum() / 500
    assert shares == pytest.approx(given / given.sum(), abs=0.01)


def test_random_weights_do_not_change_what_holes_leave_of_the_records() -> None:
    """Missing values in a survey reduce the effective records once, and not twice."""
    rng = np.random.default_rng(4)
    values = rng.normal(size=(500, 3))
    values[rng.random(values.shape) < 0.3] = np.nan
    for weights in (None, rng.uniform(0.5, 3.0, 500)):
        data = Dataset.of(values, missing="em", weights=weights)
        drawn = source(data, "bayesian").drawn(rng)
        assert drawn.records == pytest.approx(data.records, rel=0.15)


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("prior", [True, False])
def test_a_replicate_has_the_records_of_the_table_or_half_of_them(draw: str, prior: bool) -> None:
    """Without the prior of edges, draws with the noise of the table have twice the penalty."""
    own = Source.of(gaussian(), draw, penalized=True, gaussian=True, prior=prior)
    drawn, is_half = own.drawn(np.random.default_rng(0)), draw == "half"
    expected = (200 if is_half else 400, 1.0 if prior or is_half else 2.0)
    assert (drawn.records, own.correction) == expected
