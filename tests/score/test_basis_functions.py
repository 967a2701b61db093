"""The functions of each variable that the basis score chooses from the data."""

import warnings

import numpy as np
import pytest
from numpy.typing import NDArray

import sges
from sges.data import Dataset
from sges.graph import PDAG, dag_to_cpdag
from sges.nodeset import nodes
from sges.score import BasisBIC, DegenerateGaussian, check_score
from sges.score.protocol import insert_gains
from sges.search import ges
from sges.tools.curved.additive import choose_functions, has_heavy_tails, sample_of
from sges.tools.curved.functions import Functions

Table = NDArray[np.float64]


def two_curves(seed: int, records: int = 1000) -> dict[str, Table]:
    """Return a, b, their child y = a² + b² + noise, and z, which is independent of them."""
    rng = np.random.default_rng(seed)
    a, b, noise, z = rng.normal(size=(4, records))
    return {"a": a, "b": b, "y": a**2 + b**2 + noise, "z": z}


def ranks_of(column: Table) -> Table:
    ranks: Table = (np.argsort(np.argsort(column)) + 1) / (len(column) + 1)
    return ranks


def test_only_variables_that_predict_others_by_a_curve_have_more_than_one_column(
    seed: int,
) -> None:
    score = BasisBIC(two_curves(seed))
    a, b, y, z = score.widths
    assert min(a, b) > 1
    assert (y, z) == (1, 1)
    assert min(score.degrees[:2]) >= 2
    assert score.degrees[2:] == (1, 1)
    assert score.degree == max(score.degrees)


def test_local_is_a_difference_of_likelihoods_of_the_functions(seed: int) -> None:
    table = two_curves(seed, 500)
    functions = choose_functions(Dataset.of(table), 1.0)
    assert functions is not None
    columns = [f(ranks_of(column)) for f, column in zip(functions, table.values(), strict=True)]

    def likelihood(variables: list[int]) -> float:
        if not variables:
            return 0.0
        block = np.concatenate([columns[v] for v in variables])
        d, m = block.shape
        covariance = np.cov(block, ddof=0).reshape(d, d)
        fit = -m / 2 * (np.linalg.slogdet(covariance)[1] + d * (np.log(2 * np.pi) + 1))
        return float(fit - np.log(m) / 2 * d * (d + 3) / 2)

    score = BasisBIC(table, limit=np.inf)
    for y, parents in [(0, 0), (2, 0b11), (0, 0b1110), (3, 0b101)]:
        given = list(nodes(parents))
        expected = likelihood([*given, y]) - likelihood(given)
        assert score.local(y, parents) == pytest.approx(expected, rel=1e-7)


def test_the_score_keeps_the_contract_with_blocks_of_different_widths(seed: int) -> None:
    table: dict[str, object] = dict(two_curves(seed))
    kind = two_curves(seed)["a"] + np.random.default_rng(seed + 1).normal(size=1000)
    table["kind"] = np.digitize(kind, [-0.5, 0.5]).astype(str)
    score = BasisBIC(table)
    assert len(set(score.widths)) > 1
    check_score(score, seed=seed, pairs=200, tolerance=1e-8)


@pytest.mark.parametrize("records", [2000, 40_000])
def test_jumps_are_found_where_they_are(records: int, seed: int) -> None:
    """Of 40,000 rows a sample is used, but with the ranks among all rows."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=records)
    y = (np.abs(x) > 0.7) + 0.5 * rng.normal(size=records)
    functions = choose_functions(Dataset.of({"x": x, "y": y}), 1.0)
    assert functions is not None
    expected = [np.mean(x <= -0.7), np.mean(x <= 0.7)]
    assert functions[0].jumps == pytest.approx(expected, abs=20 / min(records, 16_384))
    assert functions[1].weights is None
    assert BasisBIC({"x": x, "y": y}).widths == (2, 1)


def test_a_discrete_child_is_predicted_as_well(seed: int) -> None:
    x, noise = np.random.default_rng(seed).normal(size=(2, 2000))
    score = BasisBIC({"x": x, "far": np.where(np.abs(x) + 0.3 * noise > 0.8, "yes", "no")})
    assert score.widths == (2, 1)
    assert score.degrees[1] == 0
    assert insert_gains(score, 1, 0, np.array([0])).item() > 0


def test_on_lines_every_variable_represents_itself(seed: int) -> None:
    table = np.random.default_rng(seed).normal(size=(2000, 5))
    for v in range(1, 5):
        table[:, v] += 0.8 * table[:, v - 1]
    assert choose_functions(Dataset.of(table), 1.0) == []
    score, linear = BasisBIC(table), DegenerateGaussian(table)
    assert score.widths == score.degrees == (1,) * 5
    assert score.records == 2000
    assert score.local(3, 0b101) == linear.local(3, 0b101)


def test_skewed_columns_with_monotone_relations_enter_by_their_normal_scores(seed: int) -> None:
    x, noise = np.random.default_rng(seed).normal(size=(2, 2000))
    functions = choose_functions(Dataset.of({"x": np.exp(2 * x), "y": (x + noise) ** 3}), 1.0)
    assert functions is not None
    assert [f.weights for f in functions] == [None, None]


def test_independent_columns_with_heavy_tails_are_scored_as_their_logarithms(seed: int) -> None:
    table = np.random.default_rng(seed).normal(size=(300, 12))
    lognormal, heavier = BasisBIC(np.exp(table)), BasisBIC(np.exp(2 * table))
    at = np.arange(1, 12)
    assert insert_gains(lognormal, 0, 0, at) == pytest.approx(insert_gains(heavier, 0, 0, at))
    values = insert_gains(DegenerateGaussian(np.exp(table)), 0, 0, at)
    assert insert_gains(lognormal, 0, 0, at) != pytest.approx(values)


@pytest.mark.parametrize("records", [40, 300])
def test_heavy_tails_alone_give_no_edges(records: int) -> None:
    """On the values themselves there are about three edges per table."""
    edges = 0
    for seed in range(5):
        table = np.random.default_rng(seed).lognormal(size=(records, 30))
        edges += sges.learn(table, score="basis", strategy="interleaved").cpdag.edge_count()
    assert edges <= 6


@pytest.mark.parametrize("records", [30, 100, 1000])
def test_light_tails_are_not_heavy(records: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for table in (rng.normal(size=(records, 5)), rng.uniform(size=(records, 5))):
        assert not has_heavy_tails(Dataset.of(table))


def test_tails_are_those_of_the_values_that_occur_with_their_weights() -> None:
    column = np.append(np.arange(30.0), [np.nan, 1000.0])
    table = {"x": column, "y": np.arange(32.0)}
    assert has_heavy_tails(Dataset.of(table, missing="em"))
    times = np.append(np.ones(31, int), 0)
    without = Dataset.of({**table, "times": times}, weights="times", missing="em")
    assert not has_heavy_tails(without)


def test_the_order_of_rows_and_columns_changes_no_gain_even_if_a_sample_is_used(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table: dict[str, object] = dict(two_curves(seed, 40_000))
    table["kind"] = rng.choice(["u", "v"], 40_000)
    names = ["z", "kind", "y", "b", "a"]
    rows = rng.permutation(40_000)
    one = BasisBIC(table)
    other = BasisBIC({name: np.asarray(table[name])[rows] for name in names})
    place = [list(table).index(name) for name in names]
    assert other.widths == tuple(one.widths[v] for v in place)
    at, there = np.array([0, 1, 3, 4]), np.array([place[v] for v in (0, 1, 3, 4)])
    gains = insert_gains(one, place[2], 0, there)
    assert insert_gains(other, 2, 0, at) == pytest.approx(gains, rel=1e-6)


def test_a_sample_contains_a_share_of_rows_that_are_equal(seed: int) -> None:
    codes = np.random.default_rng(seed).choice(3, 30_000, p=[0.6, 0.3, 0.1]).astype(float)
    sample = codes[sample_of(Dataset.of({"x": codes}, kinds="continuous"), 10_000)]
    assert len(sample) == 10_000
    assert [np.mean(sample == v) for v in range(3)] == pytest.approx([0.6, 0.3, 0.1], abs=0.01)


def test_increasing_functions_of_the_columns_change_nothing(seed: int) -> None:
    table = two_curves(seed)
    bent = {**table, "a": np.exp(table["a"]), "y": table["y"] ** 3}
    at = np.array([0, 1, 3])
    one, two = (insert_gains(BasisBIC(t), 2, 0, at) for t in (table, bent))
    assert one == pytest.approx(two, rel=1e-10)


def test_weights_count_rows_as_often_as_they_say(seed: int) -> None:
    table = two_curves(seed, 600)
    times = np.random.default_rng(seed).integers(1, 4, 600)
    weighted = BasisBIC(Dataset.of({**table, "times": times}, weights="times"))
    repeated = BasisBIC({name: np.repeat(column, times) for name, column in table.items()})
    assert weighted.widths == repeated.widths
    at = np.array([0, 1, 3])
    expected = insert_gains(repeated, 2, 0, at)
    assert insert_gains(weighted, 2, 0, at) == pytest.approx(expected, rel=1e-6)


def test_functions_are_found_in_tables_with_holes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = {
        name: np.where(rng.random(2000) < 0.1, np.nan, column)
        for name, column in two_curves(seed, 2000).items()
    }
    score = BasisBIC(Dataset.of(table, missing="em"))
    assert min(score.widths[:2]) > 1
    assert score.widths[2:] == (1, 1)
    check_score(score, seed=seed, pairs=50, tolerance=1e-7)


def test_degenerate_columns_get_one_column_each(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = Dataset.of(
        {
            **two_curves(seed),
            "constant": np.ones(1000),
            "two": rng.integers(0, 2, 1000),
            "huge": 1e150 * rng.normal(size=1000),
        },
        kinds="continuous",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert BasisBIC(table).widths[2:] == (1,) * 5


def test_copies_of_a_parent_do_not_break_the_choice(seed: int) -> None:
    table = two_curves(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        score = BasisBIC({**table, "copy": table["a"], "minus": -table["b"]})
    assert np.isfinite(score.local(2, 0b11))
    assert score.widths[2] == 1


@pytest.mark.parametrize("records", [2, 3, 8, 63])
def test_few_records_leave_lines(records: int, seed: int) -> None:
    table = np.random.default_rng(seed).normal(size=(records, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert BasisBIC(table).widths == (1, 1, 1)


@pytest.mark.parametrize(
    ("records", "degree"), [(64, 2), (215, 2), (216, 3), (999, 4), (1000, 5), (4095, 7), (4096, 8)]
)
def test_polynomials_are_tried_up_to_half_the_cube_root_of_the_records(
    records: int, degree: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def stop(_: object, tried_degree: int, __: float) -> None:
        tried.append(tried_degree)
        raise StopIteration

    monkeypatch.setattr("sges.tools.curved.additive._Additive", stop)
    with pytest.raises(StopIteration):
        BasisBIC(two_curves(0, records))
    assert tried == [degree]


def test_siblings_with_two_curved_parents_are_not_joined() -> None:
    """Their squares share the product of the parents; polynomials of degree 4 add an edge."""
    dag = PDAG.from_edges(4, [(0, 2), (1, 2), (0, 3), (1, 3)])
    found = {"chosen": 0, "degree 4": 0}
    for seed in range(10):
        x = np.random.default_rng(seed).normal(size=(4, 20_000))
        x[2:] = 0.7 * x[2:] + (x[0] ** 2 + x[1] ** 2) / 2
        found["chosen"] += ges(BasisBIC(x.T)).cpdag == dag_to_cpdag(dag)
        found["degree 4"] += ges(BasisBIC(x.T, degree=4)).cpdag == dag_to_cpdag(dag)
    assert found["chosen"] >= 9
    assert found["degree 4"] <= 1


def test_curves_of_curves_are_recovered() -> None:
    dag = PDAG.from_edges(5, [(0, 2), (1, 2), (2, 3), (4, 3)])
    found = 0
    for seed in range(10):
        x = np.random.default_rng(seed).normal(size=(5, 5000))
        x[2] += 2 * np.cos(1.5 * x[0]) + 2 * np.cos(1.5 * x[1])
        x[3] += 2 * np.cos(1.5 * x[2]) + 2 * np.cos(1.5 * x[4])
        found += ges(BasisBIC(x.T)).cpdag == dag_to_cpdag(dag)
    assert found >= 9


def test_functions_without_weights_are_normal_scores() -> None:
    ranks = np.array([0.1, 0.5, 0.9])
    assert Functions()(ranks)[0] == pytest.approx([-1.2815515655, 0.0, 1.2815515655])
