"""The basis score: closed forms, equality with other scores, and curved truths."""

import pickle
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sges.data import Dataset
from sges.errors import DataWarning, ScoreError
from sges.graph import PDAG, dag_to_cpdag
from sges.nodeset import nodes
from sges.score import BasisBIC, DegenerateGaussian, GaussianBIC, check_score
from sges.score.protocol import insert_gains
from sges.search import ges
from sges.search.engines import native_of

Table = NDArray[np.float64]


def curved(seed: int, records: int = 400) -> Table:
    """Return five variables, with curved relations and skewed noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(5, records))
    x[1] += x[0] ** 2
    x[2] += np.sin(2 * x[0])
    x[3] = np.exp(x[3] / 2) + x[2]
    return x.T.copy()


def closed_form(table: Table, degree: int, family: list[int]) -> float:
    """Return L(family) with all polynomials of the ranks as columns."""
    m = len(table)
    if not family:
        return 0.0
    columns = []
    for v in family:
        unit = 2 * (np.argsort(np.argsort(table[:, v])) + 1) / (m + 1) - 1
        columns += [
            np.polynomial.legendre.legval(unit, np.eye(degree + 1)[k]) for k in range(1, degree + 1)
        ]
    covariance = np.cov(np.array(columns), ddof=0).reshape(len(columns), len(columns))
    d = len(columns)
    log_determinant = float(np.linalg.slogdet(covariance)[1])
    fit = -m / 2 * (log_determinant + d * (np.log(2 * np.pi) + 1))
    return float(fit - np.log(m) / 2 * d * (d + 3) / 2)


@pytest.mark.parametrize("degree", [2, 3])
def test_local_is_a_difference_of_likelihoods_of_all_polynomials(degree: int, seed: int) -> None:
    table = curved(seed)
    score = BasisBIC(table, degree=degree, limit=np.inf)
    for y, parents in [(0, 0), (1, 0b1), (3, 0b10101), (2, 0b11011)]:
        given = list(nodes(parents))
        expected = closed_form(table, degree, [*given, y]) - closed_form(table, degree, given)
        assert score.local(y, parents) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("degree", [1, 2, 4])
def test_the_score_keeps_the_contract(degree: int, seed: int) -> None:
    table = {f"v{i}": column for i, column in enumerate(curved(seed).T)}
    table["kind"] = np.digitize(table["v0"], [-0.5, 0.5]).astype(str)
    names = list(table)

    def permuted(order: Sequence[int]) -> BasisBIC:
        return BasisBIC({names[v]: table[names[v]] for v in order}, degree=degree)

    check_score(
        permuted(range(len(names))), seed=seed, pairs=200, tolerance=1e-8, permuted=permuted
    )


@pytest.mark.parametrize("degree", [1, "auto"])
def test_the_score_survives_pickling_and_is_native_but_not_its_subclasses(degree: Any) -> None:  # noqa: ANN401
    class Other(BasisBIC):
        """A score that may differ from the basis score."""

    score = BasisBIC(curved(0), degree=degree)
    again = pickle.loads(pickle.dumps(score))
    assert again.local(1, 0b1) == score.local(1, 0b1)
    assert native_of(again)[0] is not None
    assert native_of(Other(curved(0), degree=degree))[0] is None


def test_at_degree_one_it_is_the_degenerate_gaussian_and_the_gaussian_bic(seed: int) -> None:
    table = curved(seed)
    scores = BasisBIC(table, 2.0, degree=1), DegenerateGaussian(table, 2.0), GaussianBIC(table, 2.0)
    for y, parents in [(0, 0), (1, 0b1), (3, 0b10101)]:
        basis, degenerate, gaussian = (score.local(y, parents) for score in scores)
        assert basis == degenerate
        assert basis == pytest.approx(gaussian, rel=1e-10)


def test_units_and_offsets_do_not_change_a_gain(seed: int) -> None:
    table = curved(seed)
    scaled = table * [1e-150, 1e150, -3.0, 1e9, 1e-9] + [0, 0, 1e3, 1e9, 0]
    at = np.array([1, 2, 4])
    one, two = (insert_gains(BasisBIC(t, degree=3), 3, 0b1, at) for t in (table, scaled))
    assert one == pytest.approx(two, rel=1e-5)


def test_a_column_with_few_values_gets_fewer_polynomials(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = Dataset.of(
        {
            "two": rng.integers(0, 2, 100),
            "three": rng.integers(0, 3, 100),
            "x": rng.normal(size=100),
        },
        kinds="continuous",
    )
    assert BasisBIC(table, degree=4)._blocks.widths.tolist() == [1, 2, 4]


def test_constant_columns_get_no_edges() -> None:
    table = curved(1)
    table[:, 4] = 3.0
    with pytest.warns(DataWarning, match="constant column 'x4'"):
        score = BasisBIC(table, degree=2)
    assert insert_gains(score, 0, 0, np.array([4])).item() < 0


TRUTHS: dict[str, Callable[[Table], Table]] = {
    "quadratic": lambda x: x**2,
    "sine": lambda x: np.sin(1.5 * x + np.pi / 2),
    "threshold": lambda x: (np.abs(x) > 0.7).astype(float),
}


@pytest.mark.parametrize("truth", TRUTHS)
def test_a_curved_collider_is_found_where_the_linear_score_finds_none(truth: str) -> None:
    bend, dag = TRUTHS[truth], PDAG.from_edges(3, [(0, 2), (1, 2)])
    found = {"basis": 0, "linear": 0}
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = rng.uniform(-2, 2, size=(3, 3000))
        x[2] = bend(x[0]) + bend(x[1]) + 0.5 * rng.normal(size=3000)
        found["basis"] += ges(BasisBIC(x.T)).cpdag == dag_to_cpdag(dag)
        found["linear"] += ges(GaussianBIC(x.T)).cpdag == dag_to_cpdag(dag)
    assert found["basis"] >= 9
    assert found["linear"] <= 1


def test_the_degree_is_chosen_from_the_data() -> None:
    degrees = []
    for power in (1, 2, 3):
        rng = np.random.default_rng(power)
        x = rng.normal(size=1000) if power == 1 else rng.uniform(-2, 2, size=1000)
        y = np.polynomial.legendre.legval(x / 2, np.eye(4)[power]) + 0.3 * rng.normal(size=1000)
        degrees.append(BasisBIC(np.array([x, y]).T).degree)
    assert degrees == [1, 2, 3]


def test_on_linear_data_nothing_is_lost(seed: int) -> None:
    table = np.random.default_rng(seed).normal(size=(1000, 6))
    for v in range(1, 6):
        table[:, v] += 0.8 * table[:, v - 1]
    score = BasisBIC(table)
    assert score.degree == 1
    assert ges(score).cpdag == ges(GaussianBIC(table)).cpdag


def test_choosing_the_degree_says_nothing_of_blocks_that_are_not_used(seed: int) -> None:
    """Here degree 5 has more columns than records, but degree 1 does not."""
    table = np.random.default_rng(seed).normal(size=(20, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        assert BasisBIC(table, penalty=4.0).degree == 1


def test_increasing_functions_of_the_columns_change_nothing_from_degree_two_on(seed: int) -> None:
    table = curved(seed)
    bent = table.copy()
    bent[:, 0], bent[:, 2] = np.exp(table[:, 0]), table[:, 2] ** 3
    at = np.array([1, 2, 4])
    one, two = (insert_gains(BasisBIC(t, degree=3), 3, 0b1, at) for t in (table, bent))
    assert one == pytest.approx(two, rel=1e-12)


def test_many_records_count_no_more_than_the_limit() -> None:
    table = np.random.default_rng(0).normal(size=(1000, 3))
    assert BasisBIC(table, degree=2, limit=500).records == round(1000 * 500 / 1500)
    assert BasisBIC(table, degree=2, limit=np.inf).records == 1000
    assert BasisBIC(table, degree=1, limit=500).records == 1000


@pytest.mark.parametrize("limit", [0, -1.0, np.nan, "all"])
def test_a_limit_that_is_not_a_positive_number_is_refused(limit: object) -> None:
    with pytest.raises(ScoreError, match=r"limit .*: it must be a number above 0"):
        BasisBIC(curved(0), limit=limit)  # type: ignore[arg-type]


@pytest.mark.parametrize("degree", [0, -1, 1.5, True, "many"])
def test_a_degree_that_is_not_a_positive_integer_is_refused(degree: object) -> None:
    with pytest.raises(ScoreError, match=r"degree .* an integer of at least 1, or 'auto'"):
        BasisBIC(curved(0), degree=degree)  # type: ignore[arg-type]
