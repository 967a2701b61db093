"""GaussianBIC compared with least squares, and degenerate data."""

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_score
from naive_score import Table
from sges.data.dataset import Dataset
from sges.data.moments import Moments
from sges.errors import DataError, DataWarning, ScoreError
from sges.graph.pdag import PDAG
from sges.nodeset import nodes
from sges.score.conformance import check_score
from sges.score.gaussian.bic import GaussianBIC
from sges.score.gaussian.matrix import RIDGE, linear_relations
from sges.score.protocol import delete_gains, insert_gains, total_score


def linear(n: int = 6, records: int = 300, seed: int = 3) -> Table:
    """Return correlated columns of very different scales and offsets."""
    rng = np.random.default_rng(seed)
    # Unit triangular weights: far from singular for every seed.
    mixed = rng.normal(size=(records, n)) @ (np.eye(n) + np.triu(rng.uniform(-1, 1, (n, n)), 1))
    table: Table = mixed * 10.0 ** rng.integers(-3, 4, n) + rng.normal(size=n) * 100
    return table


def quietly(make: Callable[[], GaussianBIC]) -> GaussianBIC:
    """Make a score without warnings about its data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return make()


# --- values ------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [0.0, 1.0, 2.5])
def test_local_is_the_bic_of_least_squares_on_the_raw_data(penalty: float) -> None:
    table = linear()
    score = GaussianBIC(table, penalty)
    for parents in range(2**6):
        for y in range(6):
            if not parents >> y & 1:
                twin = naive_score.gaussian_bic(table, y, [*nodes(parents)], penalty)
                assert score.local(y, parents) == pytest.approx(twin, rel=1e-9)


def test_one_family_worked_by_hand() -> None:
    """Records (0, 0), (1, 1), (2, 1): var y = 2/9, weight 1/2, residual variance 1/18."""
    score = GaussianBIC(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 1.0]]))
    fit = -3 / 2 * (np.log(2 * np.pi / 18) + 1)
    assert score.local(1, 0b01) == pytest.approx(fit - np.log(3) / 2 * 3, rel=1e-12)


def test_tables_moments_and_covariances_give_the_same_score() -> None:
    table = linear()
    dataset = Dataset.of(table, names=list("abcdef"))
    scores = [
        GaussianBIC(table),
        GaussianBIC(dataset),
        GaussianBIC(Moments.of(dataset)),
        GaussianBIC.from_covariance(np.cov(table.T, ddof=0), 300, names=list("abcdef")),
    ]
    assert len({round(score.local(2, 0b110001), 6) for score in scores}) == 1
    assert scores[1].names == scores[2].names == scores[3].names == tuple("abcdef")


def test_repeated_rows_count_as_often_as_their_weights_say() -> None:
    table = linear(3, 20)
    weights = np.arange(1, 21)
    weighted = GaussianBIC(Dataset.of(table, weights=weights))
    repeated = GaussianBIC(np.repeat(table, weights, axis=0))
    assert weighted.records == repeated.records == 210
    assert weighted.local(0, 0b110) == pytest.approx(repeated.local(0, 0b110), rel=1e-12)


def test_integer_columns_of_a_bare_table_are_quantities() -> None:
    table = np.random.default_rng(0).integers(0, 3, size=(50, 3))
    twin = naive_score.gaussian_bic(table.astype(float), 0, [1, 2])
    assert GaussianBIC(table).local(0, 0b110) == pytest.approx(twin, rel=1e-9)


def test_the_score_conforms(seed: int) -> None:
    table = linear(8, seed=seed)
    check_score(GaussianBIC(table), seed=seed, permuted=lambda order: GaussianBIC(table[:, order]))


# --- degenerate data ---------------------------------------------------------------------


def test_huge_offsets_and_tiny_spreads_lose_nothing() -> None:
    """1e9 ± 1e-3 has about four digits; the score is that of the stored digits."""
    table = linear(4, 200)
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    shifted = table * 1e-3 + 1e9
    stored = (shifted - 1e9) / 1e-3  # the table after rounding
    score, plain = GaussianBIC(shifted), GaussianBIC(stored)
    at = np.array([2, 3])
    assert insert_gains(score, 0, 0b10, at) == pytest.approx(insert_gains(plain, 0, 0b10, at))


def test_gains_do_not_depend_on_units() -> None:
    table = linear()
    scaled = table * np.array([1e-100, 1e100, 1.0, 1e9, 1e-9, 3.0])
    at = np.array([3, 4, 5])
    plain = insert_gains(GaussianBIC(table), 0, 0b110, at)
    assert insert_gains(GaussianBIC(scaled), 0, 0b110, at) == pytest.approx(plain, rel=1e-9)


def test_a_constant_column_is_named_and_gets_no_edges() -> None:
    table = linear()
    table[:, 2] = 1e9
    with pytest.warns(DataWarning, match="constant column 'x2': no edges"):
        score = GaussianBIC(table)
    price = -np.log(300) / 2
    as_child = insert_gains(score, 2, 0b1001, np.array([1, 4, 5]))
    as_parent = insert_gains(score, 0, 0b1000, np.array([2]))
    assert [*as_child, *as_parent] == pytest.approx([price] * 4)
    assert delete_gains(score, 0, 0b1100, np.array([2])) == pytest.approx([-price])
    check_score(score, pairs=200)


def test_constant_columns_do_not_touch_the_scores_of_others() -> None:
    table = linear()
    plain = GaussianBIC(table).local(0, 0b10)
    table[:, 2] = 0.0
    assert quietly(lambda: GaussianBIC(table)).local(0, 0b10) == pytest.approx(plain, rel=1e-12)


def collinear() -> Table:
    table: Table = linear(7)
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    table[:, 3] = 2 * table[:, 0] - table[:, 1] + 5
    table[:, 6] = table[:, 4]
    return table


def test_collinear_and_duplicated_columns_are_named() -> None:
    with pytest.warns(
        DataWarning, match=r"2 columns are linear .*'x3' of 'x0', 'x1'; 'x6' of 'x4'"
    ):
        GaussianBIC(collinear())


def test_warnings_point_at_the_line_that_made_the_score() -> None:
    table = collinear()
    table[:, 5] = 0.0
    with pytest.warns(DataWarning) as told:
        GaussianBIC(table)
    with pytest.warns(DataWarning) as told_again:
        GaussianBIC.from_covariance(np.cov(table.T), 300)
    files = [Path(warning.filename).name for warning in (*told, *told_again)]
    assert files == [Path(__file__).name] * 4


def test_where_no_column_is_quite_determined_the_weakest_direction_is_named() -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(500, 6))
    table[:, 4] = table[:, 1] - table[:, 2] + 1e-2 * table[:, 4]
    (relation,) = linear_relations(np.asarray(np.corrcoef(table.T)))
    assert {relation.dependent, *relation.on} == {1, 2, 4}


def test_a_family_that_determines_its_child_has_a_large_finite_score() -> None:
    score = quietly(lambda: GaussianBIC(collinear()))
    (copy,) = insert_gains(score, 6, 0, np.array([4]))
    assert copy == pytest.approx(-150 * np.log(2 * RIDGE) - np.log(300) / 2, rel=1e-6)
    assert 1000 < insert_gains(score, 3, 0b01, np.array([1])).item() < 300 * 10


def test_a_copy_of_a_parent_is_not_worth_its_price() -> None:
    table = collinear()
    table[:, 5] = table[:, 4] + 0.5 * table[:, 5]
    score = quietly(lambda: GaussianBIC(table))
    assert insert_gains(score, 5, 0, np.array([4, 6])).min() > 100
    assert insert_gains(score, 5, 1 << 4, np.array([6])).item() < 0
    assert delete_gains(score, 5, 1 << 4 | 1 << 6, np.array([4, 6])).min() > 0


def test_the_ridge_hardly_moves_families_that_are_not_degenerate() -> None:
    table = collinear()
    score = quietly(lambda: GaussianBIC(table))
    plain = GaussianBIC(table[:, [0, 1, 2, 4, 5]])
    assert score.local(5, 0b10110) == pytest.approx(plain.local(4, 0b01110), rel=1e-7)


def test_a_score_with_a_ridge_is_still_score_equivalent(seed: int) -> None:
    """All families use one positive definite matrix: see sges.score.gaussian.matrix."""
    check_score(quietly(lambda: GaussianBIC(collinear())), seed=seed, tolerance=1e-7)


@pytest.mark.parametrize("records", [2, 3, 5, 8])
def test_too_few_records_give_a_warning_and_finite_scores(records: int, seed: int) -> None:
    table = linear(8, records, seed)
    with pytest.warns(DataWarning, match=f"8 columns and only {records} records"):
        score = GaussianBIC(table)
    check_score(score, pairs=200, width=8, tolerance=1e-6)


def test_copies_are_named_even_where_there_are_few_records() -> None:
    table = linear(8, 6)
    table[:, 5], table[:, 7] = table[:, 2], -table[:, 2]
    with pytest.warns(DataWarning, match=r"only 6 records \('x5' of 'x2'; 'x7' of 'x2'\)"):
        GaussianBIC(table)


@given(seed=st.integers(0, 10**6))
def test_no_degenerate_table_gives_nan_or_a_crash(seed: int) -> None:
    """Copies, sums, constants, near copies, outliers, tiny and huge scales, few records."""
    rng = np.random.default_rng(seed)
    records, n = int(rng.integers(2, 12)), int(rng.integers(1, 7))
    table = rng.normal(size=(records, n))
    for v in range(n):
        u, w = rng.integers(n, size=2)
        changed = [
            table[:, v],
            table[:, u].copy(),
            table[:, u] + table[:, w],
            np.full(records, 10.0 ** rng.integers(-9, 10)),
            table[:, u] * (1 + 1e-9 * rng.normal(size=records)),
            1e9 + 1e-3 * table[:, v],
            table[:, v] * 10.0 ** rng.integers(-140, 140),
            np.where(np.arange(records) == 0, 1e12, table[:, v]),
        ]
        table[:, v] = changed[int(rng.integers(len(changed)))]
    score = quietly(lambda: GaussianBIC(table))
    for y in range(n):
        base = int(rng.integers(2**n)) & ~(1 << y)
        for family in [base, *(base ^ 1 << x for x in range(n) if x != y)]:
            assert np.isfinite(score.local(y, family))


# --- invalid input -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("covariance", "records", "message"),
    [
        ([[1.0, 0.5]], 10, r"square and not empty; this one is \(1, 2\)"),
        (np.empty((0, 0)), 10, "square and not empty"),
        ([[1.0, 0.5], [0.4, 1.0]], 10, "covariance of 0 and 1 is 0.5, and of 1 and 0 0.4"),
        ([[1.0, np.nan], [np.nan, 1.0]], 10, "column '0' is not a finite number"),
        ([[1.0, 0.0], [0.0, np.inf]], 10, "column '1' is not a finite number"),
        ([[1.0, 0.0], [0.0, -2.0]], 10, "variance of column '1' is -2"),
        ([[1.0, 2.0], [2.0, 1.0]], 10, "semidefinite: an eigenvalue of its correlations is -1;"),
        ([[1, 0.9, 0.9], [0.9, 1, -0.9], [0.9, -0.9, 1]], 10, "eigenvalue .* is -0.8;"),
        ([[1.0]], 1, "1 records: a variance needs at least two"),
        ([[1.0]], np.inf, "inf records"),
    ],
)
def test_a_matrix_that_is_not_a_covariance_is_refused(
    covariance: Table, records: float, message: str
) -> None:
    with pytest.raises(ScoreError, match=message):
        GaussianBIC.from_covariance(covariance, records)


@pytest.mark.parametrize("penalty", [-1.0, np.nan, np.inf])
def test_an_invalid_penalty_is_refused(penalty: float) -> None:
    with pytest.raises(ScoreError, match=r"penalty .* 0 or more"):
        GaussianBIC(linear(), penalty)


def test_names_must_be_as_many_as_columns() -> None:
    with pytest.raises(ScoreError, match="1 names were given for 2 columns"):
        GaussianBIC.from_covariance(np.eye(2), 10, names=["a"])


def test_discrete_columns_are_refused_by_name() -> None:
    with pytest.raises(DataError, match="'kind' is discrete"):
        GaussianBIC(Dataset.of({"x": [0.5, 1.5, 2.5], "kind": ["a", "b", "a"]}))


# --- a peer ------------------------------------------------------------------------------


def test_totals_are_those_of_the_package_ges_up_to_its_constants() -> None:
    """The package omits log 2π, and does not count the intercept as a parameter."""
    peer = pytest.importorskip("ges.scores.gauss_obs_l0_pen")
    table = linear(6, 250)
    ours, theirs = GaussianBIC(table), peer.GaussObsL0Pen(table)
    constant = 6 * (-250 / 2 * np.log(2 * np.pi) - np.log(250) / 2)
    rng = np.random.default_rng(0)
    for _ in range(50):
        matrix = np.triu(rng.random((6, 6)) < rng.random(), 1)[np.ix_(*[rng.permutation(6)] * 2)]
        dag = PDAG.from_edges(6, [(int(x), int(y)) for x, y in np.argwhere(matrix)])
        expected = theirs.full_score(matrix.astype(int)) + constant
        assert total_score(ours, dag) == pytest.approx(expected, rel=1e-9)
