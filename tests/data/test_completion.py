"""Discrete tables with missing values: their rows are completed, and the order does not matter."""

import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import naive_data
from sges import learn
from sges.data import Dataset, completion, em
from sges.data.completion import completed
from sges.errors import DataWarning

Table = dict[str, list[Any]]


def with_holes(
    rows: int = 400, share: float = 0.2, seed: int = 0, columns: int = 3, levels: int = 3
) -> Table:
    """Return a chain of columns from which values are removed; the last column has two levels."""
    rng = np.random.default_rng(seed)
    last = rng.integers(levels, size=rows)
    table: Table = {}
    for name in "abcdefghij"[:columns]:
        last = np.where(rng.random(rows) < 0.7, last, rng.integers(levels, size=rows))
        codes = last > 0 if len(table) == columns - 1 else last
        holes = rng.random(rows) < share
        table[name] = [
            None if hole else f"{code:d}" for code, hole in zip(codes, holes, strict=True)
        ]
    kept = [i for i in range(rows) if any(column[i] for column in table.values())]
    return {name: [column[i] for i in kept] for name, column in table.items()}


def counts(data: Dataset, names: str | None = None) -> dict[tuple[int, ...], float]:
    """Return how many records each complete row has."""
    full = completed(data)
    assert full.weights is not None
    rows = full.codes[[full.names.index(name) for name in names or full.names]].T.tolist()
    found: Counter[tuple[int, ...]] = Counter()
    for row, weight in zip(rows, full.weights.tolist(), strict=True):
        found[tuple(row)] += weight
    return {row: weight * full.unit for row, weight in found.items()}


def read(table: Table, **options: Any) -> Dataset:  # noqa: ANN401
    return Dataset.of(table, missing="em", **options)


# --- the order does not matter ------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1_000, 3])
def test_the_order_of_rows_and_columns_and_their_names_do_not_matter(
    limit: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(completion, "MAX_COMPLETIONS", limit)
    table = with_holes(150, 0.2, seed, columns=4)
    rng = np.random.default_rng(seed)
    expected = counts(read(table))
    for _ in range(3):
        rows, columns = rng.permutation(len(table["a"])), rng.permutation(list(table)).tolist()
        moved = {name: [table[name][i] for i in rows] for name in columns}
        assert counts(read(moved), "abcd") == expected
        names = dict(zip(columns, "wxyz", strict=True))
        renamed = {names[name]: column for name, column in moved.items()}
        assert counts(read(renamed), "".join(names[name] for name in "abcd")) == expected


def test_the_graph_does_not_depend_on_the_order(seed: int) -> None:
    table = with_holes(200, 0.15, seed, columns=8)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(table["a"])), rng.permutation(list(table)).tolist()
    moved = {name: [table[name][i] for i in rows] for name in columns}
    first, second = learn(read(table)), learn(read(moved))
    assert second.score == pytest.approx(first.score, rel=1e-12)
    assert second.cpdag.edge_count() == first.cpdag.edge_count() > 0
    for x, y in second.cpdag.directed_edges() + second.cpdag.undirected_edges():
        assert second.cpdag.name(x) in first.cpdag.adjacent(second.cpdag.name(y))


def test_columns_with_the_same_contents_may_be_exchanged() -> None:
    table = with_holes(100, 0.3, columns=3)
    table["x"] = list(table["a"])
    moved = {name: table[name] for name in "xcba"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # they are collinear
        assert counts(read(moved), "abcx") == counts(read(table), "abcx")


def test_a_row_counts_as_often_as_its_weight_says(seed: int) -> None:
    table = with_holes(150, 0.2, seed)
    times = np.random.default_rng(seed).integers(1, 5, len(table["a"]))
    repeated = {name: np.repeat(np.array(column), times).tolist() for name, column in table.items()}
    weighted = counts(read(table, weights=times))
    assert weighted == pytest.approx(counts(read(repeated)), abs=1e-2)


# --- the completions ----------------------------------------------------------------------------


def test_observed_values_survive_and_every_record_keeps_its_weight(seed: int) -> None:
    """So the counts of the observed levels are at least those of the table."""
    data = read(with_holes(seed=seed))
    full = completed(data)
    assert data.holes is not None
    assert full.holes is None
    assert full.weights is not None
    assert full.records == data.records
    per_row = full.weights.sum() // data.rows
    assert full.weights.sum() == per_row * data.rows
    for codes, holes, own in zip(data.codes, data.holes, full.codes, strict=True):
        lost = np.bincount(own, full.weights, 3) - per_row * np.bincount(codes[~holes], minlength=3)
        assert (lost >= 0).all()
        assert lost.sum() == per_row * holes.sum()


def test_the_counts_of_two_columns_are_those_of_maximum_likelihood(seed: int) -> None:
    table = with_holes(200, 0.2, seed, columns=2)
    rows = [[code and int(code) for code in row] for row in zip(*table.values(), strict=True)]
    data = read(table)
    expected = naive_data.em_of_counts(rows, [3, 2], 100) * data.records / len(rows)
    found = np.zeros((3, 2))
    for row, count in counts(data).items():
        found[row] = count
    assert found == pytest.approx(expected, abs=0.2)


def test_the_counts_are_those_of_the_slow_twin(seed: int) -> None:
    """The twin fills columns in from left to right; so the left one has the fewest levels."""
    rng = np.random.default_rng(seed)
    a = rng.integers(2, size=60)
    b = np.where(rng.random(60) < 0.6, a, rng.integers(3, size=60))
    c = np.where(rng.random(60) < 0.6, b, rng.integers(4, size=60))
    rows = np.array([a, b, c]).T.astype(object)
    rows[rng.random(rows.shape) < 0.15] = None
    listed = [row for row in rows.tolist() if any(value is not None for value in row)]
    data = read(
        {name: [row[v] for row in listed] for v, name in enumerate("abc")}, kinds="discrete"
    )
    twin = naive_data.completions(listed, [2, 3, 4], 40)
    scale = data.records / len(listed)
    found = counts(data)
    assert {row for row, count in found.items() if count > 0.1} <= set(twin)
    expected = {row: twin.get(row, 0.0) * scale for row in found}
    assert found == pytest.approx(expected, abs=0.05)


def test_beyond_the_limit_completions_are_sampled_in_proportion(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a limit of four instead of a thousand, counts of pairs differ by a few records."""
    data = read(with_holes(600, 0.3, seed, columns=5))
    exact = counts(data)
    monkeypatch.setattr(completion, "MAX_COMPLETIONS", 4)
    sampled = counts(data)
    assert len(sampled) < len(exact)
    for x in range(5):
        for y in range(x):
            pairs = np.zeros((2, 3, 3))
            for k, found in enumerate((exact, sampled)):
                for row, count in found.items():
                    pairs[k, row[x], row[y]] += count
            assert pairs[1] == pytest.approx(pairs[0], abs=10)


def test_the_completed_table_is_bounded(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completion, "MIN_COMPLETIONS", 5)
    monkeypatch.setattr(completion, "COMPLETED_ROWS", 500)
    monkeypatch.setattr(em, "MAX_ITERATIONS", 5)
    data = read(with_holes(200, 0.4, seed, columns=8, levels=5))
    with pytest.warns(DataWarning, match="EM was stopped"):
        full = completed(data)
    assert data.rows < full.rows <= 5 * data.rows
    assert (full.codes < data.arities[:, None]).all()


def test_imputations_keep_the_dependence_of_two_columns() -> None:
    """The columns agree in nine of ten records, among the imputed as among the observed ones."""
    rng = np.random.default_rng(0)
    a = rng.integers(2, size=4000)
    b = np.where(rng.random(4000) < 0.8, a, rng.integers(2, size=4000))
    words: NDArray[Any] = np.array(["u", "v"])
    table = {
        "a": words[a].tolist(),
        "b": [None if i % 3 == 0 else w for i, w in enumerate(words[b].tolist())],
    }
    found = counts(read(table))
    agree = sum(count for (x, y), count in found.items() if x == y)
    assert agree / sum(found.values()) == pytest.approx(0.9, abs=0.015)
