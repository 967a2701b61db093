"""Parts, likelihoods and choices, compared with slow code that treats one record at a time."""

from collections import Counter
from collections.abc import Callable
from itertools import combinations, product
from math import log

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from sges.data import Dataset
from sges.graph import PDAG, members
from sges.network import BayesianNetwork, LinearGaussian, random_dag
from sges.nodeset import nodeset
from sges.tools.penalty.criteria import (
    ESS,
    Candidate,
    Counts,
    DiscreteFolds,
    HeldOut,
    NormalFolds,
    Stability,
    folds,
    sampled,
)
from sges.uncertainty.draws import taken


def weighted(seed: int) -> Dataset:
    rng = np.random.default_rng(seed)
    table = {"a": rng.normal(size=30), "b": rng.normal(size=30), "w": rng.integers(1, 9, 30)}
    return Dataset.of(table, weights="w")


def gaussian(seed: int) -> Dataset:
    return LinearGaussian.random(random_dag(5, 6, seed=seed), seed=seed).sample(60, seed)


def ternary(seed: int) -> Dataset:
    network = BayesianNetwork.random(random_dag(4, 4, seed=seed), arity=3, seed=seed)
    return network.sample(60, seed)


@pytest.mark.parametrize("make", [weighted, gaussian, ternary])
def test_folds_are_a_partition_of_the_records_into_nearly_equal_parts(
    make: Callable[[int], Dataset], seed: int
) -> None:
    data = make(seed)
    parts = folds(data, 7, np.random.default_rng(seed))
    weights = np.ones(data.rows) if data.weights is None else data.weights
    assert sum(parts).tolist() == weights.tolist()  # type: ignore[union-attr]
    sizes = [int(part.sum()) for part in parts]
    assert max(sizes) - min(sizes) <= 1
    assert all(taken(data, part).records == size for part, size in zip(parts, sizes, strict=True))


@pytest.mark.parametrize("make", [weighted, gaussian])
def test_a_subsample_takes_no_record_twice(make: Callable[[int], Dataset], seed: int) -> None:
    data = make(seed)
    part = sampled(data.weights, data.rows, 25, np.random.default_rng(seed))
    assert part.sum() == 25
    assert (part <= (1 if data.weights is None else data.weights)).all()


def test_weighted_records_are_drawn_as_likely_as_written_out_ones(seed: int) -> None:
    """A row with 90% of the records has 90% of a subsample, on average."""
    data = Dataset.of({"a": [0.0, 1.0]}, weights=[900, 100])
    rng = np.random.default_rng(seed)
    drawn = np.mean([sampled(data.weights, data.rows, 100, rng)[0] for _ in range(400)])
    assert drawn == pytest.approx(90, abs=1)  # seven standard errors


def halves(data: Dataset, seed: int) -> list[Counts]:
    return folds(data, 2, np.random.default_rng(seed))


def test_normal_families_are_judged_as_by_regression_record_by_record(seed: int) -> None:
    data = gaussian(seed)
    parts = halves(data, seed)
    judge = NormalFolds(data, parts)
    for fold, y in product((0, 1), range(5)):
        test = parts[fold] == 1
        for parents in ([], [(y + 1) % 5], [(y + 2) % 5, (y + 4) % 5]):
            design = np.column_stack([np.ones(data.rows), data.values[parents].T])
            weights, *_ = np.linalg.lstsq(design[~test], data.values[y, ~test], rcond=None)
            errors = data.values[y] - design @ weights
            spread = np.sqrt(np.mean(errors[~test] ** 2))
            expected = norm.logpdf(errors[test], scale=spread).mean()
            found = judge.family(fold, y, nodeset(parents))
            assert found == pytest.approx(expected, abs=1e-4)


def test_an_offset_changes_no_likelihood(seed: int) -> None:
    """The values are multiples of the precision of doubles at the offset."""
    rng = np.random.default_rng(seed)
    near = rng.integers(-2, 3, size=(40, 2)) * 2.0**-12
    parts = folds(Dataset.of(near, kinds="continuous"), 4, rng)
    families = [
        [NormalFolds(data, parts).family(fold, 1, 0b01) for fold in range(4)]
        for data in (Dataset.of(near + at, kinds="continuous") for at in (0.0, 2.0**40))
    ]
    assert families[1] == pytest.approx(families[0], rel=1e-9)


def test_mixed_families_are_judged_by_the_joint_density_of_indicators(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kind = rng.permutation(np.arange(80) % 3)
    x = kind + rng.normal(size=80)
    data = Dataset.of({"kind": [f"k{k}" for k in kind], "x": x, "z": rng.normal(size=80) + x})
    parts = halves(data, seed)
    judge = NormalFolds(data, parts)
    written = np.array([kind == 0, kind == 1, data.values[0], data.values[1]], dtype=float)
    columns = {0: [0, 1], 1: [2], 2: [3]}
    scale = written.std(axis=1)
    ridge = np.diag(scale**2 * [1 / 80, 1 / 80, 1e-8, 1e-8])
    for fold in (0, 1):
        test = parts[fold] == 1
        center = written[:, ~test].mean(axis=1)
        covariance = np.cov(written[:, ~test], bias=True) + ridge

        for y, parents in ((0, [1]), (1, [0]), (2, [0, 1]), (0, [1, 2]), (0, [])):
            given = [c for v in parents for c in columns[v]]
            expected = 0.0
            for rows, sign in ((columns[y] + given, 1), (given, -1)):
                if rows:
                    model = multivariate_normal(center[rows], covariance[np.ix_(rows, rows)])
                    expected += sign * float(model.logpdf(written[rows][:, test].T).mean())
            assert judge.family(fold, y, nodeset(parents)) == pytest.approx(expected, abs=1e-6)


def test_discrete_families_are_judged_as_by_counting_in_a_dictionary(seed: int) -> None:
    data = ternary(seed)
    parts = halves(data, seed)
    judge = DiscreteFolds(data, parts)
    rows = data.codes.T.tolist()
    for fold, y, size in product((0, 1), range(4), (0, 1, 2)):
        for parents in combinations([v for v in range(4) if v != y], size):
            joint, margin = Counter[object](), Counter[object]()
            for row, held in zip(rows, parts[fold].tolist(), strict=True):
                if not held:
                    given = tuple(row[v] for v in parents)
                    joint[given, row[y]] += 1
                    margin[given] += 1
            prior = ESS / 3**size
            logs = []
            for row, held in zip(rows, parts[fold].tolist(), strict=True):
                if held:
                    given = tuple(row[v] for v in parents)
                    share = (joint[given, row[y]] + prior / 3) / (margin[given] + prior)
                    logs.append(log(share))
            expected = sum(logs) / len(logs)
            assert judge.family(fold, y, nodeset(parents)) == pytest.approx(expected)


@pytest.mark.parametrize("make", [gaussian, ternary])
def test_all_members_of_a_class_predict_alike(make: Callable[[int], Dataset], seed: int) -> None:
    data = make(seed)
    parts = halves(data, seed)
    judge = NormalFolds(data, parts) if data.continuous else DiscreteFolds(data, parts)
    clique = PDAG.from_edges(data.n, undirected=list(combinations(range(3), 2)))
    found = [
        sum(judge.family(0, y, dag.parents(y)) for y in range(dag.n)) for dag in members(clique)
    ]
    assert len(found) == 6
    np.testing.assert_allclose(found, found[0], rtol=1e-9)


@pytest.mark.parametrize("make", [gaussian, ternary])
def test_weights_and_rows_written_out_are_judged_alike(
    make: Callable[[int], Dataset], seed: int
) -> None:
    data = make(seed)
    rng = np.random.default_rng(seed)
    times = [rng.integers(1, 4, data.rows) for _ in range(2)]
    table = data.values.T if data.continuous else data.codes.T
    kinds = "continuous" if data.continuous else "discrete"
    merged = Dataset.of(table, kinds=kinds, weights=times[0] + times[1])
    written = Dataset.of(np.concatenate([np.repeat(table, t, axis=0) for t in times]), kinds=kinds)
    first = np.arange(written.rows) < times[0].sum()
    both = [(merged, times), (written, [first.astype(np.int64), (~first).astype(np.int64)])]
    one, other = (
        (NormalFolds(d, p) if d.continuous else DiscreteFolds(d, p)).family(1, 0, 6)
        for d, p in both
    )
    assert one == pytest.approx(other, rel=1e-9)


def tried(*curve: tuple[float, list[float]]) -> list[Candidate]:
    """Return candidates with these penalties and values."""
    return [Candidate(p, tuple(v), (0,) * len(v), 0.0) for p, v in curve]


def held_out() -> HeldOut:
    return HeldOut(gaussian(0), 2, np.random.default_rng(0))


def test_the_largest_penalty_within_one_standard_error_is_held_out_s_choice() -> None:
    far, near, likeliest = (4.0, [1.0, 2.0, 3.0]), (2.0, [4.0, 5.9, 8.0]), (1.0, [5.0, 6.0, 7.0])
    assert held_out().best(tried(far, near, likeliest)).penalty == 2.0
    assert held_out().best(tried(far, likeliest)).penalty == 1.0
    assert held_out().best(tried(far, (3.0, [5.0, 6.0, 7.0]), likeliest)).penalty == 3.0


def test_held_out_stops_after_two_candidates_in_a_row_that_are_clearly_behind() -> None:
    best, behind, level = [5.0, 6.0, 7.0], [4.0, 5.1, 6.0], [4.0, 5.9, 8.0]
    assert not held_out().settled(tried((4, best)))
    assert not held_out().settled(tried((4, best), (2, behind)))
    assert held_out().settled(tried((4, best), (2, behind), (1, behind)))
    assert not held_out().settled(tried((4, best), (2, behind), (1, level)))


def stability() -> Stability:
    return Stability(gaussian(0), 4, np.random.default_rng(0))


def test_stability_takes_the_last_penalty_before_the_threshold_is_passed() -> None:
    steps = [(4.0, [0.01, 0.0]), (2.0, [0.05, 0.05]), (1.0, [0.1, 0.1]), (0.5, [0.0, 0.0])]
    assert stability().best(tried(*steps)).penalty == 2.0
    assert not stability().settled(tried(*steps[:2]))
    assert stability().settled(tried(*steps[:3]))
    assert stability().best(tried((4.0, [0.2, 0.2]))).penalty == 4.0


def test_instability_is_that_of_stars(seed: int) -> None:
    graphs = [random_dag(6, 5, seed=seed + k) for k in range(4)]
    shares = [
        sum(bool(graph.adjacent(x) >> y & 1) for graph in graphs) / 4
        for x, y in combinations(range(6), 2)
    ]
    expected = np.mean([2 * share * (1 - share) for share in shares]) * 4 / 3
    assert np.mean(stability().values(graphs)) == pytest.approx(expected)


@pytest.mark.parametrize(("records", "size"), [(1000, 316), (60, 48)])
def test_subsamples_have_ten_roots_of_the_records_or_most_of_few(records: int, size: int) -> None:
    data = Dataset.of(np.random.default_rng(0).normal(size=(records, 2)))
    samples = Stability(data, 2, np.random.default_rng(0)).samples()
    assert [part.records for part in samples] == [size, size]
