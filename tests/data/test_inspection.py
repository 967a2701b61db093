"""Findings about a table before a search; ordinary tables give no false alarm."""

import io
import json
import re
import runpy
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest

from sges import learn
from sges.data import Dataset, Description, Finding, Moments, inspect
from sges.data.concerns import concerns, some_rows
from sges.errors import DataError, DataWarning, in_shell
from sges.network import BayesianNetwork, LinearGaussian, random_dag
from sges.tools.inspect import inspection
from sges.tools.inspect.checks import dependent_rows

ROWS = 400


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def finding(table: object, topic: str, **options: object) -> Finding:
    """Return the only finding on a topic."""
    found = [f for f in inspect(table, **options).findings if f.topic == topic]  # type: ignore[arg-type]
    assert len(found) == 1, [f.topic for f in inspect(table, **options).findings]  # type: ignore[arg-type]
    return found[0]


def topics(table: object) -> list[str]:
    return [found.topic for found in inspect(table).findings]


def independent(*names: str, rows: int = ROWS, seed: int = 0) -> dict[str, np.ndarray]:
    draw = rng(seed)
    return {name: draw.normal(size=rows) for name in names}


# No false alarms


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("kind", ["gaussian", "discrete"])
def test_ordinary_tables_give_nothing_serious(seed: int, kind: str) -> None:
    draw = rng(seed)
    n, rows = int(draw.integers(3, 15)), int(draw.integers(60, 800))
    dag = random_dag(n, n, seed)
    if kind == "gaussian":
        data = LinearGaussian.random(dag, seed=seed).sample(rows, seed)
    else:
        data = BayesianNetwork.random(dag, arity=2 + seed % 3, seed=seed).sample(rows, seed)
    assert data.describe().serious == ()
    assert concerns(data) == ()


def test_a_table_of_independent_columns_gives_nothing_at_all() -> None:
    table = {**independent("a", "b", "c"), "d": rng(1).integers(0, 2, ROWS)}
    found = inspect(table)
    assert found.findings == ()
    assert str(found).endswith("Nothing unusual was found.")


def test_values_deleted_at_random_depend_on_nothing() -> None:
    draw = rng(1)
    table = {}
    for i in range(30):  # up to 58 levels, most of them rare
        arity = int(draw.integers(2, 59))
        column = np.array([f"L{k}" for k in range(arity)], object)
        column = column[draw.choice(arity, 800, p=draw.dirichlet(np.full(arity, 0.5)))]
        column[draw.random(800) < 0.05] = None
        table[f"c{i}"] = column
    table["heavy"] = np.exp(3 * draw.normal(size=800))
    assert "depends" not in finding(table, "missing values").what
    few = pd.DataFrame(table)[["c0", "c1"]]
    merged = few.groupby(["c0", "c1"], dropna=False).size().reset_index(name="w")
    assert "depends" not in finding(merged, "missing values", weights="w").what


def test_one_of_many_levels_on_which_holes_depend_is_named() -> None:
    draw = rng(2)
    table = {f"c{i}": draw.integers(0, 58, 800).astype(str).astype(object) for i in range(20)}
    gone = draw.random(800) < np.where(table["c3"] == "7", 0.9, 0.05)
    table["c5"][gone] = None
    assert "'c5' is missing more often where 'c3' is 7." in finding(table, "missing values").what


def test_whole_numbers_pile_up_and_agree_by_chance() -> None:
    draw = rng(3)
    many = dict(zip("abc", draw.integers(0, 60, (3, 20_000)), strict=True))
    assert "repeated rows" not in topics(many)
    again = {name: np.append(column, column[:9]) for name, column in many.items()}
    one = {**again, "d": np.append(draw.normal(size=20_000), np.zeros(9))}
    assert "repeated rows" not in topics(one)
    one["d"][-9:] = one["d"][:9]
    assert "9 rows are exact copies" in finding(one, "repeated rows").what
    assert "piled-up values" not in topics({"events": draw.poisson(draw.gamma(2, 3, 2_000))})


@pytest.mark.parametrize("wide", [46, 47])
def test_nearly_as_many_columns_as_records_are_not_collinear_by_chance(wide: int) -> None:
    for seed in range(5):
        found = topics(rng(seed).normal(size=(50, wide)))
        assert found == ["few rows per column"]


def test_numbered_rows_of_a_wide_table_are_no_time_series() -> None:
    found = 0
    for seed in range(40):
        table = np.column_stack([np.arange(120), rng(seed).normal(size=(120, 199))])
        found += len(list(dependent_rows(Dataset.of(table))))
    assert found <= 1


def test_rare_records_of_two_columns_may_be_the_same_by_chance() -> None:
    table = np.zeros((50, 40), int)
    table[rng().integers(0, 50, 40), np.arange(40)] = 1
    assert "duplicated columns" not in topics(table)


# Columns that are functions of others


def test_copies_of_discrete_columns_are_found_whatever_their_labels() -> None:
    codes = rng().integers(0, 3, ROWS)
    table = {
        "a": codes,
        "b": np.array(["u", "v", "w"])[2 - codes],
        "c": rng(1).integers(0, 3, ROWS),
    }
    found = finding(table, "duplicated columns")
    assert found.serious
    assert found.columns == ("a", "b")
    assert in_shell(found.advice).endswith("keep one: --exclude b.")


def test_a_coarser_discrete_column_is_a_function_of_the_finer_one() -> None:
    town = rng().integers(0, 6, ROWS)
    table = {"town": town, "land": town // 2, "other": rng(1).integers(0, 3, ROWS)}
    found = finding(table, "deterministic columns")
    assert found.columns == ("land",)
    assert "'land' is a function of 'town'" in found.what
    table["land"] = np.where(np.arange(ROWS) == 7, (table["land"] + 1) % 3, table["land"])
    assert "'land' is nearly a function of 'town'" in finding(table, "deterministic columns").what


def test_a_threshold_of_a_continuous_column_is_found() -> None:
    """For example ``low`` in birthwt, which is true if ``bwt`` is below 2500."""
    weight = rng().normal(2945, 727, 189).round()
    table = {"low": weight < 2500, "bwt": weight, "age": rng(1).normal(size=189)}
    found = finding(table, "deterministic columns")
    assert found.columns == ("low",)
    below, above = weight[weight < 2500].max(), weight[weight >= 2500].min()
    assert (
        f"'low' is a function of 'bwt' (True up to {below:g}, False from {above:g})" in found.what
    )
    assert in_shell(found.advice).endswith("--exclude low.")
    table["bwt"] = np.where(np.arange(189) == weight.argmin(), 4000.0, weight)
    assert "deterministic columns" not in topics(table)


def test_every_interval_of_a_few_is_named() -> None:
    x = np.arange(400) * 0.5
    for cuts, said in (
        ([80.3, 120.3], "(g0 up to 80, g1 from 80.5 to 120, g2 from 120.5)"),
        (
            [40.3, 80.3, 120.3, 160.3],
            "(g0 up to 40, g1 from 40.5 to 80, g2 from 80.5 to 120, ..., g4 from 160.5)",
        ),
    ):
        grade = [f"g{level}" for level in np.digitize(x, cuts)]
        table = {"x": rng().permutation(x), "grade": rng().permutation(grade)}
        assert said in finding(table, "deterministic columns").what


def test_a_continuous_column_with_one_value_per_level_is_found() -> None:
    model = rng().integers(0, 4, ROWS)
    table = {"model": model, "price": np.array([9.5, 12.25, 15.1, 30.7])[model]}
    found = finding(table, "deterministic columns")
    assert found.columns == ("price", "model")
    assert "exclude=['price']" in found.advice


def test_persons_in_order_and_rising_series_determine_nothing() -> None:
    """For example the treatment of the first patients of a trial, and the population by year."""
    table = independent("size", rows=200)
    table["subject"] = np.repeat(np.arange(50), 4)
    table["treated"] = np.repeat([0, 1], 100)
    assert "deterministic columns" not in topics(table)
    rising = {"time": np.arange(200) / 7, "people": rng().random(200).cumsum()}
    assert "deterministic columns" not in topics(rising)


def test_declared_levels_that_do_not_occur_hide_no_function_and_make_none() -> None:
    fine = rng().integers(3, size=ROWS)
    coarse = pd.Categorical(np.where(fine > 0, "high", "low"), ["low", "high", "p", "q", "r"])
    found = finding(pd.DataFrame({"fine": fine, "coarse": coarse}), "deterministic columns")
    assert "'coarse' is a function of 'fine'" in found.what
    copy = pd.DataFrame({"coarse": coarse, "copy": coarse.remove_unused_categories()})
    assert "duplicated columns" in topics(copy)
    assert "deterministic columns" not in topics(copy)


def test_a_monotone_function_is_found() -> None:
    table = independent("a", "b")
    table["log"] = np.exp(table["a"])
    table["square"] = table["b"] ** 2  # not monotone
    found = finding(table, "deterministic columns")
    assert found.columns == ("log",)
    assert "'log' is an increasing function of 'a'" in found.what


def test_chance_is_not_taken_for_a_function() -> None:
    few = {"many": rng().integers(0, 10, 24), "two": rng(1).integers(0, 2, 24)}
    few["many"] = np.arange(24) // 2
    few["two"] = np.repeat(rng(2).integers(0, 2, 12), 2)
    assert "'two' is a function" not in "".join(f.what for f in inspect(few).findings)
    tiny = {"x": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "y": [0, 0, 0, 1, 1, 1]}
    assert "deterministic columns" not in topics(tiny)


def test_collinear_columns_are_grouped() -> None:
    """For example radius, perimeter and area in the breast cancer table."""
    table = independent("a", "b", "c", "d")
    table["a again"] = 3 * table["a"] + 0.01 * rng(1).normal(size=ROWS)
    table["sum"] = table["b"] + table["c"] + 0.01 * rng(2).normal(size=ROWS)
    found = finding(table, "collinear columns")
    assert found.serious
    assert set(found.columns) == {"a", "a again", "b", "c", "sum"}
    assert "'a' and 'a again'" in found.what
    assert "'sum' of 'b', 'c'" in found.what
    assert "R² up to 0.99" in found.what
    assert "exclude=['a again']" in found.advice


def test_copies_of_continuous_columns_are_not_called_almost_functions() -> None:
    table = independent("a", "b", "c")
    found = finding({**table, "copy": table["a"]}, "collinear columns")
    assert (
        found.what
        == "2 of 4 numeric columns are linear functions of others (R² 1): 'a' and 'copy'."
    )
    assert "is then arbitrary" in found.advice
    noisy = {**table, "copy": table["a"] + 0.01 * rng(1).normal(size=ROWS)}
    assert "almost linear functions" in finding(noisy, "collinear columns").what


def test_a_small_difference_is_named_with_the_columns_it_is_of() -> None:
    table = independent("a", "b", "c", "d")
    table["e"] = 2 * table["a"] + 0.001 * table["b"]
    found = finding(table, "collinear columns")
    assert set(found.columns) == {"a", "b", "e"}
    assert "'a' and 'e'; 'b' of 'a', 'e'" in found.what


def test_an_exact_function_of_codes_is_found_and_not_called_linear() -> None:
    kind = rng().integers(0, 3, ROWS)
    table = {f"is {k}": (kind == k).astype(int) for k in range(3)}
    found = finding({**table, **independent("x")}, "nearly determined columns")
    assert set(found.columns) == set(table)
    assert "3 of 4 columns are almost functions of others (R² 1)" in found.what


def test_strong_relations_that_are_not_nearly_exact_are_not_serious() -> None:
    table = independent("a", "b")
    table["c"] = table["a"] + 0.2 * rng(1).normal(size=ROWS)
    found = finding(table, "strongly related columns")
    assert not found.serious
    assert set(found.columns) == {"a", "c"}


def test_a_sum_is_left_out_and_of_copies_one_is_kept() -> None:
    table = independent("a", "b")
    total = finding({**table, "total": table["a"] + table["b"]}, "collinear columns")
    assert in_shell(total.advice).endswith("Leave one of them out: --exclude total.")
    copy = finding(
        {**table, "c": table["a"] + 1e-6 * rng(9).normal(size=ROWS)}, "collinear columns"
    )
    assert in_shell(copy.advice).endswith("Keep one column of each group: --exclude c.")


@pytest.mark.parametrize(
    ("columns", "rows", "noise"), [(15, 5000, 0.5), (6, 300, 1), (40, 1000, 1)]
)
def test_columns_behind_one_unmeasured_quantity_are_found(
    columns: int, rows: int, noise: float
) -> None:
    draw = rng()
    hidden = draw.normal(size=(rows, 1))
    items = hidden * draw.choice([-1, 1], columns) + noise * draw.normal(size=(rows, columns))
    table = Dataset.of(items)
    (finding,) = table.describe().findings
    assert (finding.topic, finding.serious) == ("common factor", True)
    assert finding.columns == table.names
    answers = Dataset.of(
        {f"q{i}": levels for i, levels in enumerate(np.digitize(items.T, [-1, 1]))}
    )
    assert "common factor" in topics(answers)


def test_a_measured_common_cause_or_a_sparse_graph_is_not_a_common_factor() -> None:
    draw = rng()
    cause = draw.normal(size=(3000, 1))
    assert "common factor" not in topics(np.hstack([cause, cause + draw.normal(size=(3000, 9))]))
    chain = [draw.normal(size=3000)]
    for _ in range(9):
        chain.append(0.95 * chain[-1] + 0.3 * draw.normal(size=3000))
    assert "common factor" not in topics(np.column_stack(chain))
    for seed in range(20):
        n = 6 + 3 * seed
        dag = random_dag(n, min((1 + seed % 3) * n, n * (n - 1) // 2), seed)
        table = LinearGaussian.random(dag, seed=seed).sample(1000, seed)
        assert "common factor" not in topics(table), seed


# Shapes


def test_skew_and_heavy_tails_are_found() -> None:
    table = independent("plain", "other")
    table["income"] = np.exp(1.5 * rng(1).normal(size=ROWS))
    table["tails"] = rng(2).standard_t(2, ROWS)
    found = finding(table, "skew and heavy tails")
    assert set(found.columns) == {"income", "tails"}
    assert "score='rank'" in found.advice
    assert "--score rank" in in_shell(found.advice)
    mixed = {**table, "code": rng(3).integers(0, 2, ROWS)}
    assert "rank'" not in finding(mixed, "skew and heavy tails").advice  # not for codes


@pytest.mark.parametrize(("rows", "columns"), [(200, 500), (1_000, 100)])
def test_heavy_tails_are_noted_in_tables_of_any_width(rows: int, columns: int) -> None:
    counts = np.floor(np.exp(3 + 1.2 * rng().normal(size=(rows, columns))))
    assert concerns(Dataset.of(counts)) == ("skew and heavy tails",)
    assert finding(counts, "skew and heavy tails").serious
    for table in (rng(1).normal(size=(rows, columns)), rng(1).exponential(size=(rows, columns))):
        assert concerns(Dataset.of(table)) == ()


def test_tails_are_those_of_the_observed_values() -> None:
    table = rng().normal(size=(ROWS, 3))
    table[20:, 0] = np.nan
    assert concerns(Dataset.of(table, missing="em")) == ()


def test_ranks_have_no_heavy_tails() -> None:
    table = np.exp(2 * rng().normal(size=(ROWS, 3)))
    assert [note for note in learn(table).notes if "heavy tails" in note]
    assert not [note for note in learn(table, score="rank").notes if "heavy tails" in note]


def test_a_sample_of_rows_has_no_period() -> None:
    sample = some_rows(Dataset.of({"a": np.arange(100_000) % 100}), 2_000)
    assert sample.rows == 2_000
    assert len(np.unique(sample.values)) == 100


@pytest.mark.parametrize("codes", [(99,), (999,), (-9,), (98, 99)])
def test_codes_beside_a_scale_are_found(codes: tuple[int, ...]) -> None:
    answers = rng().integers(1, 6, ROWS)
    for code, start in zip(codes, (0, 5), strict=False):
        answers[start::40] = code
    for kind in ("discrete", "continuous"):
        found = finding(
            {"a": answers, **independent("b")}, "codes for missing values", kinds={"a": kind}
        )
        assert found.what.endswith(f"'a' ({' and '.join(map(str, codes))}).")
    assert "codes for missing values" not in topics({"a": answers.clip(1, 6)})


# Rows


def test_a_time_series_is_found_and_a_sorted_table_is_not() -> None:
    steps = rng().normal(size=(ROWS, 2)).cumsum(axis=0)
    found = finding({"a": steps[:, 0], "b": steps[:, 1]}, "dependent rows")
    assert found.serious
    draw = independent("x", "y")
    draw["y"] = draw["x"] + 0.3 * draw["y"]
    order = np.argsort(draw["x"])
    by_number = {name: column[order] for name, column in draw.items()}
    assert "dependent rows" not in topics(by_number)
    group = np.repeat(["u", "v", "w"], [100, 150, 150])
    shift = np.repeat([0.0, 5.0, 9.0], [100, 150, 150])
    by_group = {"group": group, **{name: column + shift for name, column in draw.items()}}
    assert "dependent rows" not in topics(by_group)


def test_rows_in_blocks_of_equal_values_may_be_sorted() -> None:
    table = {"parent": np.repeat(rng().normal(size=20), 20), **independent("child")}
    found = finding(table, "dependent rows")
    assert not found.serious
    assert found.columns == ("parent",)
    design = {"dose": np.repeat([0.5, 1.0, 2.0, 0.5, 1.0, 2.0], [60, 60, 60, 60, 60, 100])}
    assert "dependent rows" not in topics({**design, **independent("length")})


def test_a_time_series_with_missing_values_is_found() -> None:
    table = {"flow": rng().normal(size=ROWS).cumsum(), **independent("b", seed=1)}
    holed = with_holes(table, "b", rng(2).random(ROWS) < 0.1)
    assert finding(holed, "dependent rows").serious


def test_a_numbered_series_is_found_with_few_rows() -> None:
    rows = 40
    noise = rng(3).normal(size=rows)
    level = np.zeros(rows)
    for i in range(1, rows):
        level[i] = 0.8 * level[i - 1] + noise[i]
    assert "dependent rows" in topics({"year": np.arange(1900, 1900 + rows), "flow": level})


def test_few_rows_are_pointed_out() -> None:
    assert finding(rng().normal(size=(8, 10)), "fewer rows than columns").serious
    assert not finding(rng().normal(size=(60, 10)), "few rows per column").serious
    assert "only 40 rows" in finding(rng().normal(size=(40, 2)), "few rows").what
    assert "a correlation of about" in finding(rng().normal(size=(40, 2)), "few rows").advice
    words = {"a": ["u", "v"] * 20, "b": ["u"] * 20 + ["v"] * 20}
    assert "correlation" not in finding(words, "few rows").advice


def test_few_effective_records_are_not_called_rows() -> None:
    table = independent("a", "b", rows=60)
    table["a"][::2] = np.nan
    found = Dataset.of(table, missing="em").describe()
    (few,) = [finding for finding in found.findings if finding.topic == "few rows"]
    assert re.fullmatch(r"The table has only \d+ records\.", few.what)


def test_few_rows_per_cell_and_rare_levels_are_found() -> None:
    towns = rng().integers(0, 30, 200)
    table = {"town": np.char.add("t", towns.astype(str)), "sick": rng(1).integers(0, 2, 200)}
    found = finding(table, "few rows per cell")
    assert found.columns == ("town",)
    assert found.advice.endswith("Merge levels.")
    visits = np.repeat([0, 1, 2, 6], [150, 100, 48, 2])
    rare = finding({"visits": visits, "sick": rng(1).integers(0, 2, 300)}, "rare levels")
    assert "'visits' (2)" in rare.what
    assert "--kinds visits=continuous" in in_shell(rare.advice)


def test_a_cross_table_is_found_and_weights_settle_it() -> None:
    table = {
        "class": ["1st", "2nd", "3rd", "crew"] * 2,
        "sex": ["m"] * 4 + ["f"] * 4,
        "Freq": [180, 179, 510, 862, 145, 106, 196, 23],
    }
    found = inspect(table)
    assert [f.topic for f in found.findings] == ["counts"]
    assert "--weights Freq" in in_shell(found.findings[0].advice)
    counted = inspect(table, weights="Freq")
    assert (counted.rows, counted.records) == (8, 2201)
    assert counted.findings == ()


def test_all_combinations_with_a_number_may_also_be_an_experiment() -> None:
    table = {"wool": list("ab") * 9, "tension": [i // 2 % 3 for i in range(18)]}
    table["loom"] = [i // 6 for i in range(18)]
    found = finding({**table, "breaks": [26 + i * 7 % 31 for i in range(18)]}, "counts")
    assert not found.serious


@pytest.mark.parametrize(
    ("name", "values", "found"),
    [
        ("Unnamed: 0", range(30), True),
        ("year", range(1947, 1963), True),
        ("id", [3 * i + i % 2 for i in range(30)], True),
        ("patientId", [3 * i + i % 2 for i in range(30)], True),
        ("age", [20, 31, 42, 53, 64, 75, 86, 19, 28, 37], False),
        ("week", [1, 2, 3], False),
        ("acid", [3 * i for i in range(30)], False),
        ("id", [i // 2 for i in range(20)], False),
    ],
)
def test_columns_that_number_the_rows_are_found(
    name: str, values: Sequence[int], found: bool
) -> None:
    table = {name: values, "other": rng().normal(size=len(values))}
    for source in (table, {name: np.array(values, float), "other": table["other"]}):
        assert ("row numbers" in topics(source)) == found


# Missing values


def with_holes(table: dict[str, np.ndarray], name: str, gone: np.ndarray) -> pd.DataFrame:
    frame = pd.DataFrame(table)
    frame.loc[gone, name] = np.nan
    return frame


def test_missing_values_are_described_and_not_refused() -> None:
    gone = rng(5).random(ROWS) < 0.1
    table = with_holes(independent("a", "b", "c"), "a", gone)
    table.loc[gone, "b"] = np.nan
    found = finding(table, "missing values")
    assert found.serious
    assert found.columns == ("a", "b")
    count = int(gone.sum())
    assert f"'a' {count / ROWS:.1%}, 'b' {count / ROWS:.1%}" in found.what
    assert f"{ROWS - count} of {ROWS} rows are complete" in found.what
    assert f"'a', 'b' together ({count} rows)" in found.what
    assert "depends" not in found.what
    assert "missing='em'" in found.advice
    assert f"lose {count / ROWS:.0%} of the rows" in found.advice
    described = inspect(table)
    assert [column.missing for column in described.columns] == [count, count, 0]
    assert (described.rows, described.records, described.notes) == (ROWS, ROWS, ())


def test_values_that_are_missing_depending_on_others_are_reported() -> None:
    table = independent("income", "age")
    sick = rng(6).integers(0, 2, ROWS)
    by_age = with_holes(table, "income", table["age"] > 1)
    found = finding(by_age, "missing values")
    assert "'income' is missing more often where 'age' is high" in found.what
    assert "would bias" in found.advice
    by_code = with_holes({**table, "sick": sick}, "income", (sick == 1) & (table["age"] > 0))
    assert "where 'sick' is 1" in finding(by_code, "missing values").what


def test_few_missing_values_are_not_serious() -> None:
    table = with_holes(independent("a", "b"), "a", np.arange(ROWS) == 7)
    assert not finding(table, "missing values").serious
    assert "level" not in finding(table, "missing values").advice
    labels = [None if i == 3 else "uv"[i % 2] for i in range(ROWS)]
    assert "missing='level'" in finding({"a": labels, **independent("b")}, "missing values").advice


def test_relations_are_found_in_spite_of_missing_values() -> None:
    table = independent("a", "b")
    table["c"] = 2 * table["a"]
    table["low"] = table["a"] < 0
    for share in (0.05, 0.6):
        frame = with_holes(table, "b", rng(7).random(ROWS) < share)
        found = topics(frame)
        assert "collinear columns" in found
        assert "deterministic columns" in found


def test_a_dataset_says_what_was_done_about_missing_values() -> None:
    table = with_holes(independent("a", "b"), "a", rng(8).random(ROWS) < 0.2)
    kept = Dataset.of(table, missing="em").describe()
    assert kept.findings[0].topic == "missing values"
    assert "values are missing" in kept.notes[0]
    dropped = inspect(table, missing="drop")
    assert dropped.findings == ()
    assert "rows were dropped" in dropped.notes[0]


# Columns that learn would refuse


def test_columns_that_cannot_be_used_are_findings_and_not_errors() -> None:
    table = {
        **independent("a", "b"),
        "name": [f"person {i}" for i in range(ROWS)],
        "empty": [None] * ROWS,
    }
    found = inspect(table)
    assert [column.name for column in found.columns] == ["a", "b"]
    assert [f.topic for f in found.serious] == ["columns without values", "identifiers"]
    assert found.serious[1].columns == ("name",)


# Well-known tables


def test_the_breast_cancer_table_has_a_collinear_group() -> None:
    sklearn = pytest.importorskip("sklearn.datasets")
    table = sklearn.load_breast_cancer(as_frame=True).frame
    found = finding(table, "collinear columns")
    assert {"mean radius", "mean perimeter", "mean area", "worst radius"} <= set(found.columns)
    assert "R² up to 0.9997" in found.what
    assert finding(table, "skew and heavy tails").serious
    assert any("(collinear columns" in note for note in learn(table, time_limit=1).notes)


@pytest.mark.parametrize("name", ["iris", "wine", "diabetes", "linnerud"])
def test_other_tables_of_scikit_learn_give_nothing_serious(name: str) -> None:
    sklearn = pytest.importorskip("sklearn.datasets")
    table = getattr(sklearn, f"load_{name}")(as_frame=True).frame
    assert inspect(table).serious == ()


@pytest.mark.parametrize(
    ("name", "serious"),
    [
        ("anes96", {"deterministic columns", "skew and heavy tails"}),  # logpopul of popul
        ("ccard", {"deterministic columns"}),  # INCOMESQ of INCOME
        ("longley", {"collinear columns", "dependent rows"}),
        ("macrodata", {"collinear columns", "dependent rows"}),
        ("sunspots", {"dependent rows"}),
        ("nile", {"dependent rows"}),
        ("grunfeld", {"dependent rows"}),
        ("star98", {"collinear columns", "skew and heavy tails"}),
        ("spector", set()),
        ("stackloss", set()),
        ("statecrime", set()),
        ("engel", set()),
    ],
)
def test_the_tables_of_statsmodels_show_what_they_are_known_for(
    name: str, serious: set[str]
) -> None:
    datasets = pytest.importorskip("statsmodels.datasets")
    table = getattr(datasets, name).load_pandas().data
    assert {found.topic for found in inspect(table).serious} == serious


# The description


def test_a_description_is_a_value_that_can_be_shown_and_stored() -> None:
    table = {**independent("a\nb"), "<i>": rng().integers(0, 2, ROWS)}
    table["low"] = table["a\nb"] < 0
    found = inspect(table)
    assert isinstance(found, Description)
    document = json.loads(json.dumps(found.to_dict()))
    assert (document["format"], document["version"], document["rows"]) == (
        "sges-description",
        1,
        400,
    )
    assert [column["kind"] for column in document["columns"]] == ["continuous", *["discrete"] * 2]
    assert sum(level["share"] for level in document["columns"][1]["levels"]) == pytest.approx(1)
    assert document["findings"][0]["topic"] == "deterministic columns"
    assert "a\\nb" in str(found)
    assert "&lt;i&gt;" in found._repr_html_()
    assert "kinds={'<i>'" in str(found)
    assert "--kinds '<i>=continuous'" in found.text(shell=True)


def test_names_in_characters_of_two_columns_do_not_shift_the_others() -> None:
    text = str(Dataset.of(independent("圧力", "size")).describe())
    assert "\n  圧力  continuous" in text
    assert "\n  size  continuous" in text


def test_long_names_that_differ_in_the_middle_are_told_apart() -> None:
    names = [f"How often during the past four weeks have you felt {how}?" for how in ("a", "b")]
    text = str(Dataset.of(independent(*names)).describe())
    assert "  …a…  continuous" in text
    assert "  …b…  continuous" in text


def test_the_ends_of_a_range_look_different() -> None:
    seconds = 1.7e9 + np.arange(60.0) * 600
    text = str(inspect({"time": rng().permutation(seconds), "x": rng().normal(size=60)}))
    assert "\n                    60 integers" in text
    text = " ".join(text.split())
    assert "1.7e+09 to 1.70004e+09, mean 1.70002e+09, sd 1.05e+04, 60 integers" in text


@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_number_of_a_column_is_cut(width: int) -> None:
    table = {"a rather long name of a column": [1000.5, -22250.25, 3e-7], "b": [1.5, 2.5, 0.5]}
    facts = inspect(table).columns[0]
    text = " ".join(inspect(table).text(width).split())
    assert f"mean {facts.mean:.4g}, sd {facts.deviation:.3g} b" in text
    assert not re.search(r"(mean|sd)$", inspect(table).text(width), re.MULTILINE)


@pytest.mark.parametrize("width", [40, 60, 70, 80, 100])
def test_lines_are_as_wide_as_the_terminal(width: int) -> None:
    table = {**independent("a rather long name of a column", "b"), "c": rng().integers(0, 9, ROWS)}
    table["d"] = table["b"] * 2
    lines = inspect(table).text(width).splitlines()
    assert max(map(len, lines)) <= width


def test_many_columns_are_counted() -> None:
    assert "  and 10 more columns" in str(inspect(rng().normal(size=(ROWS, 50))))


def test_facts_are_those_of_the_values() -> None:
    values = rng().normal(3, 2, ROWS)
    weights = rng(1).integers(1, 5, ROWS)
    table = {"a": values, "b": [True, False] * 200}
    a, b = Dataset.of(table, weights=weights).describe().columns
    assert inspect(table, weights=weights).columns == (a, b)
    whole = np.repeat(values, weights)
    centered = whole - whole.mean()
    assert a.mean == pytest.approx(whole.mean())
    assert a.deviation == pytest.approx(whole.std(ddof=1))
    assert a.skewness == pytest.approx((centered**3).mean() / whole.std() ** 3)
    assert a.kurtosis == pytest.approx((centered**4).mean() / whole.std() ** 4 - 3)
    assert (a.minimum, a.maximum, a.distinct) == (values.min(), values.max(), ROWS)
    assert dict(b.levels)[True] == pytest.approx(weights[::2].sum() / weights.sum())


# Large tables


def test_only_a_part_of_a_large_file_is_inspected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sges.data import files

    rows = 40_000
    table = pd.DataFrame(independent("a", "b", rows=rows))
    table["c"] = table["a"] * 2 + 1
    monkeypatch.setattr(files, "LARGE_FILE_BYTES", 1000)
    monkeypatch.setattr(files, "BATCH_CELLS", 3 * 1024)
    monkeypatch.setattr(inspection, "MAX_SAMPLED_ROWS", 5000)
    for path in (tmp_path / "t.parquet", tmp_path / "t.csv"):
        table.to_parquet(path) if path.suffix == ".parquet" else table.to_csv(path, index=False)
        found = inspect(path)
        assert 2000 <= found.rows <= 6000
        assert found.notes[0] == (
            f"of 40,000 rows, {found.rows:,} in evenly spaced blocks were examined"
        )
        assert found.findings[0].topic == "collinear columns"
    in_memory = inspect(table)
    assert in_memory.rows == 5000
    assert "of 40,000 rows" in in_memory.notes[0]


# Notes of learn


def test_learn_points_in_one_line_to_what_changes_the_meaning_of_an_edge() -> None:
    table = independent("a", "b")
    table["copy"] = table["a"] + 0.01 * rng(1).normal(size=ROWS)
    table["low"] = table["a"] < 0  # a finding of inspect only
    notes = [note for note in learn(table).notes if "inspect the table" in note]
    assert notes == [
        "inspect the table before interpreting the edges (collinear columns): sges.inspect(table)"
    ]
    assert in_shell(notes[0]).endswith("(collinear columns): sges inspect")
    assert not [note for note in learn(independent("a", "b")).notes if "inspect" in note]
    codes = {name: rng(seed).integers(0, 3, ROWS) for seed, name in enumerate("ab")}
    assert concerns(Dataset.of({**codes, "again": codes["a"]}))[0] == "duplicated columns"


def test_learn_notes_few_rows_if_they_make_many_edges_false() -> None:
    data = Dataset.of(independent(*"abcdefgh", rows=8))
    assert concerns(data) == concerns(Moments.of(data)) == ("fewer rows than columns",)
    assert concerns(Dataset.of(independent(*"abcdefgh", rows=9))) == ("few rows per column",)
    assert concerns(Dataset.of(independent(*"abcdefgh", rows=16))) == ()


def test_more_columns_than_rows_are_not_serious_if_most_edges_are_right() -> None:
    dag = random_dag(150, 150, 0)
    data = LinearGaussian.random(dag, seed=0).sample(100, 0)
    with pytest.warns(DataWarning, match="150 columns and only 100 records") as told:
        result = learn(data)
    truth = {frozenset(edge) for edge in dag.directed_edges()}
    found = [*result.cpdag.directed_edges(), *result.cpdag.undirected_edges()]
    assert sum(frozenset(edge) in truth for edge in found) > 0.85 * len(found)
    assert not [note for note in result.notes if "inspect" in note]
    assert not [warning for warning in told if "unreliable" in str(warning.message)]
    assert not finding(data, "fewer rows than columns").serious


def test_moments_are_checked_for_collinear_columns() -> None:
    table = independent("a", "b")
    table["c"] = table["a"] + table["b"] + 0.001 * rng(5).normal(size=ROWS)
    assert concerns(Moments.of(Dataset.of(table))) == ("collinear columns",)
    assert concerns(Moments.of(Dataset.of(independent("a", "b", "c")))) == ()


def test_what_learn_looks_for_takes_little_time() -> None:
    continuous = Dataset.of(rng().normal(size=(100_000, 50)))
    discrete = Dataset.of(rng().integers(0, 3, (100_000, 50)))
    for data in (continuous, discrete):
        concerns(data)
        started = time.process_time()
        concerns(data)
        assert time.process_time() - started < 0.5


# Numbers in text, and columns that cannot be used


def measured(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    draw = rng(seed)
    a = np.round(draw.normal(20, 5, size=100), 1)
    return a, a + draw.normal(size=100)


@pytest.mark.parametrize(
    ("texts", "what", "advice"),
    [
        (
            lambda a: ["?" if i % 10 == 3 else str(x) for i, x in enumerate(a)],
            "90 of the 100 values are numbers; the others are '?'",
            "--missing-words '?'",
        ),
        (
            lambda a: ["unknown" if i % 10 == 3 else f"{10 * x:.0f}" for i, x in enumerate(a)],
            "90 of the 100 values are numbers; the others are 'unknown'",
            "--missing-words unknown",
        ),
        (lambda a: [f"{x}%" for x in a], "all 100 values are numbers written with '%'", "remove"),
        (lambda a: [f"$ {x}" for x in a], "all 100 values are numbers written with '$'", "remove"),
        (lambda a: [f"{x * 100:,.2f}" for x in a], "numbers written with ','", "remove ','"),
        (lambda a: [f"{int(x)},{(i % 7) + 100}" for i, x in enumerate(a)], "','", "--decimal ,"),
    ],
)
def test_numbers_that_are_read_as_levels_are_pointed_out(
    tmp_path: Path, texts: Callable[[np.ndarray], list[str]], what: str, advice: str
) -> None:
    a, b = measured()
    path = tmp_path / "table.csv"
    table = pd.DataFrame({"a": texts(a), "b": b})
    table.to_csv(path, index=False)
    for source in (path, table):
        found = finding(source, "numbers read as levels")
        assert found.serious
        assert what in found.what
        assert advice in in_shell(found.advice)
        (note,) = [note for note in learn(source).notes if "although" in note]
        assert note.startswith("column 'a' is read as discrete, although ")
        assert what in note
        assert advice in in_shell(note)
    asked = Dataset.of(path, kinds={"a": "discrete"})
    assert not [note for note in asked.notes if "although" in note]


def test_a_decimal_mark_that_was_given_is_not_advised(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    lines = [f"{'?' if i % 9 == 3 else f'{i % 20},5'};{i % 2}" for i in range(400)]
    path.write_text("a;b\n" + "\n".join(lines))
    options: dict[str, Any] = {"delimiter": ";", "decimal": ","}
    (note,) = [note for note in learn(path, **options).notes if "although" in note]
    for advice in (finding(path, "numbers read as levels", **options).advice, note):
        assert "decimal" not in advice
        assert "missing_words=['?']" in advice
    (note,) = [note for note in learn(path, delimiter=";").notes if "although" in note]
    assert "decimal=','" in note


def test_a_note_on_numbers_does_not_depend_on_how_a_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.csv"
    lines = [f"{'?' if i % 9 == 3 else i % 20},{'xy'[i % 2]}" for i in range(400)]
    path.write_text("a,b\n" + "\n".join(lines))
    whole = [note for note in learn(path).notes if "although" in note]
    monkeypatch.setattr("sges.data.files.LARGE_FILE_BYTES", 1)
    assert [note for note in learn(path).notes if "although" in note] == whole
    assert len(whole) == 1


def test_codes_and_levels_that_begin_with_letters_are_not_taken_for_numbers() -> None:
    codes = [f"{i:03}" for i in rng().integers(0, 30, ROWS)]
    diagnoses = [f"{'V' * (i % 9 == 0)}{i % 50}.{i % 3}" for i in range(ROWS)]
    rooms = [f"A{i}" for i in rng().integers(0, 30, ROWS)]
    table = {"code": codes, "diagnosis": diagnoses, "room": rooms}
    assert "numbers read as levels" not in topics(table)


def test_numbers_with_signs_that_differ_in_every_row_are_not_called_identifiers() -> None:
    prices = [f"${100 + i}.{i % 10}0" for i in range(60)]
    table = {"price": prices, "b": rng().normal(size=60)}
    assert "written with '$'" in finding(table, "unusable columns").what
    with pytest.raises(
        DataError, match=r"all 60 values are numbers written with '\$'; remove '\$'"
    ):
        learn(table)


@pytest.mark.parametrize("source", ["frame", "csv", "parquet", "standard input"])
def test_dates_and_infinite_values_are_described_and_not_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    days = pd.date_range("2020-01-01", periods=50)
    table: Any = pd.DataFrame({"day": days, **independent("a", "b", rows=50)})
    table["c"] = table["a"] * 2 + 1
    table.loc[7, "c"] = np.inf
    if source == "parquet":
        table.to_parquet(tmp_path / "t.parquet")
        table = tmp_path / "t.parquet"
    elif source != "frame":
        table["day"] = table["day"].dt.strftime("%Y-%m-%d")
        table.to_csv(tmp_path / "t.csv", index=False)
        table = tmp_path / "t.csv"
    if source == "standard input":
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(table.read_bytes())))
        table = "-"
    found = inspect(table, kinds={"day": "discrete"})
    assert [column.name for column in found.columns] == ["a", "b"]
    told = [f for f in found.serious if f.topic == "unusable columns"]
    assert [f.columns for f in told] == [("day",), ("c",)]
    assert "dates" in told[0].what
    assert "--exclude day" in in_shell(told[0].advice)
    assert "1 infinite value, the first in row 7" in told[1].what


def test_a_discrete_column_with_nearly_a_level_per_row_is_pointed_out() -> None:
    table = {"x": rng().normal(size=100), "k": [f"l{i % 70}" for i in range(100)]}
    found = finding(table, "nearly a level per row")
    assert found.serious
    assert "'k' (70 levels)" in found.what
    assert any("nearly a level per row" in note for note in learn(table).notes)


def test_many_levels_are_noted_whatever_the_number_of_rows(seed: int) -> None:
    table = rng(seed).integers(0, 100, (2000, 5)).astype(str)
    frame = {f"c{j}": np.char.add("l", column) for j, column in enumerate(table.T)}
    found = finding(frame, "few rows per cell")
    assert "qNML may find some between independent columns" in found.advice
    assert any("(few rows per cell)" in note for note in learn(frame).notes)


# Boundary cases of the rules


def test_a_near_copy_is_found_in_a_table_with_fewer_records_than_columns() -> None:
    table = rng().normal(size=(10, 20))
    table[:, 7] = table[:, 3] + 1e-3 * rng(1).normal(size=10)
    assert finding(table, "collinear columns").columns == ("x3", "x7")


@pytest.mark.parametrize(("rows", "found"), [(19, False), (20, True)])
def test_one_value_per_level_is_a_finding_from_five_rows_per_level_on(
    rows: int, found: bool
) -> None:
    model = np.arange(rows) % 4
    table = {"model": [f"m{k}" for k in model], "price": np.array([9.5, 12.25, 15.1, 30.7])[model]}
    data = Dataset.of(table, kinds={"price": "continuous"})
    assert ("deterministic columns" in topics(data)) == found


def test_a_function_between_columns_with_equally_many_levels_need_not_be_one_to_one() -> None:
    """The derived column has a level that does not occur."""
    town = rng().integers(0, 3, ROWS)
    land = pd.Categorical(town // 2, categories=[0, 1, 2])
    frame = pd.DataFrame({"town": town, "land": land})
    for table in (frame, frame[["land", "town"]]):
        assert finding(table, "deterministic columns").columns == ("land",)


def test_cells_are_those_with_the_other_column_that_has_the_fewest_levels() -> None:
    """With b, a has 60 cells of 5 records; with c it would have 100."""
    draw, rows = rng(), 320
    table = {name: draw.integers(0, k, rows) for name, k in (("a", 20), ("c", 5), ("b", 3))}
    assert "few rows per cell" not in topics({k: v.astype(str) for k, v in table.items()})


@pytest.mark.parametrize(("rows", "found"), [(49, False), (50, True)])
def test_values_pile_up_in_no_fewer_than_fifty_rows(rows: int, found: bool) -> None:
    table = independent("a", "rain", rows=rows)
    table["rain"] = np.maximum(table["rain"], 0.0)
    assert ("piled-up values" in topics(table)) == found


# The measurement of false alarms and power

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "findings.py"))


@pytest.mark.parametrize("topic", SCRIPT["DEFECTS"])
def test_every_finding_is_made_where_its_defect_is(topic: str) -> None:
    _, make = SCRIPT["DEFECTS"][topic]
    assert any(topic in SCRIPT["topics"](make(rng(seed)))[0] for seed in range(3))


@pytest.mark.parametrize("kind", SCRIPT["CLEAN"])
def test_clean_tables_have_few_findings(kind: str) -> None:
    true = {"missing values"} | SCRIPT["TRUE"].get(kind, set())
    alarms = [SCRIPT["topics"](SCRIPT["CLEAN"][kind](rng(seed)))[0] - true for seed in range(4)]
    assert sum(map(len, alarms)) <= 1


def test_every_finding_is_documented_and_measured() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "data.md").read_text("utf-8")
    measured = re.findall(r"^\| ([^|]*) \| [\d.]+% \|", page, re.MULTILINE)
    assert measured == [*SCRIPT["DEFECTS"], "any serious finding"]
