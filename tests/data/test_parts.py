"""A table in parts has the statistics of the whole table, in any order of merging."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_data as naive
import sges
from data.test_stream import FORMATS, write
from data_facts import facts
from sges.data import Dataset, Moments, files, sources
from sges.data.parts import Summary, merged_counts
from sges.data.reading import Missing, Reading
from sges.data.sources import statistics_of
from sges.data.tables import columns_of
from sges.errors import DataError, FileError, InvalidArgument, SgesError


def in_a_random_tree(
    parts: list[Any],
    rng: np.random.Generator,
    merge: Callable[[Any, Any], Any],
    *,
    ordered: bool = False,
) -> Any:  # noqa: ANN401
    """Return the parts merged in random pairs, or in random pairs of neighbors if ``ordered``."""
    while len(parts) > 1:
        if ordered:
            i = int(rng.integers(len(parts) - 1))
            j = i + 1
        else:
            i, j = rng.choice(len(parts), 2, replace=False).tolist()
        merged = merge(parts[i], parts[j])
        parts = [merged if k == i else part for k, part in enumerate(parts) if k != j]
    return parts[0]


LABELS = st.sampled_from(["u", "v", "w", "x", "y"])
COLUMNS = {
    "text": LABELS,
    "text with holes": st.none() | LABELS,
    "truth": st.booleans(),
    "few integers": st.integers(0, 4),
    "integers": st.integers(-30, 30),
    "floats": st.floats(-5, 5, width=16),
    "floats with holes": st.none() | st.floats(-5, 5, width=16),
    "few floats": st.sampled_from([0.5, 1.5]),
}


@st.composite
def cut_tables(draw: Any, kinds: list[str]) -> tuple[dict[str, list[Any]], list[int], int]:  # noqa: ANN401
    """Return columns, the positions of the cuts between parts, and a seed for merging."""
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))
    rows = draw(st.integers(4, 40))
    table = {
        f"{i} {kind}": draw(st.lists(COLUMNS[kind], min_size=rows, max_size=rows))
        for i, kind in enumerate(chosen)
    }
    cuts = sorted(draw(st.lists(st.integers(0, rows), max_size=6)))
    return table, cuts, draw(st.integers(0, 1000))


def pieces(table: dict[str, list[Any]], cuts: list[int]) -> list[dict[str, list[Any]]]:
    rows = len(next(iter(table.values())))
    edges = [0, *cuts, rows]
    return [{name: values[a:b] for name, values in table.items()} for a, b in pairwise(edges)]


@given(cut_tables(["text", "truth", "few integers", "text with holes"]))
@settings(max_examples=80, deadline=None)
def test_counts_merged_in_any_tree_are_those_of_the_whole_table(
    cut: tuple[dict[str, list[Any]], list[int], int],
) -> None:
    table, cuts, seed = cut
    options: dict[str, Any] = {"kinds": "discrete", "missing": "level"}
    try:
        whole = Dataset.of(table, **options).merged()
    except DataError:  # a column without values
        return
    found: list[Dataset] = []
    for piece in pieces(table, cuts):
        summary = Summary.of(columns_of(piece, Reading(**options)), Reading(**options))
        if summary.counts is not None:
            found.append(summary.counts)
    merged = in_a_random_tree(found, np.random.default_rng(seed), merged_counts)
    assert facts(merged) == facts(whole)
    assert merged.records == len(next(iter(table.values())))


@pytest.mark.parametrize("seed", range(20))
def test_moments_far_from_zero_lose_no_digits_in_any_tree(seed: int) -> None:
    """The covariance of values at 1e9 with spread 1e-3 is right to 11 digits."""
    rng = np.random.default_rng(seed)
    table = 1e9 + 1e-3 * rng.standard_normal((300, 3)) @ rng.standard_normal((3, 3))
    cuts = np.sort(rng.choice(np.arange(2, 298, 2), 40, replace=False))
    cut = [Moments.of(Dataset.of(part)) for part in np.split(table, cuts)]
    merged = in_a_random_tree(cut, rng, Moments.merge)
    _, exact = naive.exact_moments([column.tolist() for column in table.T])
    assert merged.covariance == pytest.approx(np.array(exact, float), rel=1e-11)


def refused(call: Callable[[], object]) -> str | None:
    """Return the message of the DataError of a call, or None."""
    try:
        call()
    except DataError as error:
        return str(error)
    return None


@given(cut_tables(list(COLUMNS)), st.sampled_from(["error", "drop", "level"]))
@settings(max_examples=150, deadline=None)
def test_a_table_in_parts_has_the_statistics_of_the_whole(
    cut: tuple[dict[str, list[Any]], list[int], int], missing: Missing
) -> None:
    table, cuts, seed = cut
    reading = Reading(missing=missing)
    summaries = [
        Summary.of(columns_of(piece, reading), reading, f"part {i}")
        for i, piece in enumerate(pieces(table, cuts))
    ]
    total = in_a_random_tree(summaries, np.random.default_rng(seed), Summary.merge, ordered=True)
    if (why := refused(lambda: Dataset.of(table, missing=missing))) is not None:
        assert refused(lambda: total.statistics(reading)) in (None, why)
        return
    whole = Dataset.of(table, missing=missing)
    found = total.statistics(reading)
    if whole.continuous and whole.discrete:
        assert found is None
    elif whole.continuous:
        exact = Moments.of(whole)
        assert isinstance(found, Moments)
        assert (found.names, found.records, found.notes) == (
            exact.names,
            exact.records,
            whole.notes,
        )
        assert np.allclose(found.covariance, exact.covariance, rtol=1e-12, atol=1e-14)
    else:
        assert isinstance(found, Dataset)
        assert facts(found) == facts(whole.merged())
        assert [note for note in found.notes if "were merged" not in note] == list(whole.notes)


def test_moments_of_other_columns_are_not_merged() -> None:
    one, other, turned = (
        Moments.of(Dataset.of({name: [0.5, 1.5] for name in names}))
        for names in ("ab", "abc", "ba")
    )
    with pytest.raises(DataError, match="'c' is in only one of them"):
        one.merge(other)
    with pytest.raises(DataError, match="their order differs"):
        one.merge(turned)


# Folders and patterns


def mixed(rows: int, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table({
        "float": rng.normal(size=rows),
        "integer": rng.integers(-1000, 1000, rows),
        "few": rng.integers(0, 3, rows),
        "text": rng.choice(["a", "b", "c"], rows),
        "truth": rng.random(rows) < 0.5,
    })  # fmt: skip


def folder_of(table: pa.Table, folder: Path, kind: str, cuts: list[int]) -> Path:
    folder.mkdir(exist_ok=True)
    edges = [0, *cuts, table.num_rows]
    for i, (a, b) in enumerate(pairwise(edges)):
        write(table.slice(a, b - a), folder / f"part-{i:02}.{kind}")
    return folder


@pytest.fixture
def _all_files_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGE_FILE_BYTES", 0)


SOURCES: dict[str, Callable[[Path, str], object]] = {
    "folder": lambda folder, _: folder,
    "text": lambda folder, _: str(folder),
    "pattern": lambda folder, kind: str(folder / f"part-*.{kind}"),
}


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("source", SOURCES)
def test_a_folder_is_the_table_of_all_its_files(tmp_path: Path, kind: str, source: str) -> None:
    table = mixed(500)
    folder = folder_of(table, tmp_path / "t", kind, [100, 101, 350])
    (folder / "_SUCCESS").write_text("")
    whole = write(table, tmp_path / f"whole.{kind}")
    found = Dataset.of(SOURCES[source](folder, kind))
    assert facts(found) == facts(Dataset.of(whole))
    assert found.notes == Dataset.of(whole).notes


@pytest.mark.usefixtures("_all_files_are_large")
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    "columns", [["float", "integer"], ["few", "text", "truth"], ["float", "text"]]
)
def test_a_large_folder_is_summed_up_file_by_file(
    tmp_path: Path, kind: str, columns: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = mixed(900)
    folder = folder_of(table, tmp_path / "t", kind, [300, 600])
    if "float" not in columns or "text" not in columns:
        monkeypatch.setattr("sges.data.files.read_files", pytest.fail)  # no row is kept
    found = statistics_of(folder, Reading(columns=columns))
    whole = Dataset.of(table, columns=columns)
    if "text" not in columns:
        assert isinstance(found, Moments)
        exact = Moments.of(whole)
        assert found.covariance == pytest.approx(exact.covariance, rel=1e-12)
        assert found.notes == whole.notes
    else:
        assert isinstance(found, Dataset)
        assert facts(found) == facts(whole if "float" in columns else whole.merged())


def test_learning_from_a_folder_is_learning_from_the_table(tmp_path: Path) -> None:
    for name in ("asia", "greenhouse"):
        table = sges.examples.load(name).table
        folder = folder_of(table, tmp_path / name, "parquet", [500, 1000, 1001])
        whole, found = sges.learn(table), sges.learn(folder)
        assert found.cpdag == whole.cpdag
        assert found.score == pytest.approx(whole.score, rel=1e-12)
        assert [s.operator for s in found.steps] == [s.operator for s in whole.steps]


def test_levels_of_all_files_are_levels_of_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "1.csv").write_text("a,b\nu,x\nv,y\nu,x\n")
    (tmp_path / "2.csv").write_text("b,a\ny,w\nz,u\ny,w\n")
    found = Dataset.of(tmp_path)
    assert found.names == ("a", "b")
    assert found.levels == (("u", "v", "w"), ("x", "y", "z"))
    assert found.codes.tolist() == [[0, 1, 0, 2, 0, 2], [0, 1, 0, 1, 2, 1]]
    monkeypatch.setattr(files, "LARGE_FILE_BYTES", 0)
    in_parts = statistics_of(tmp_path, Reading())
    assert isinstance(in_parts, Dataset)
    assert facts(in_parts) == facts(found.merged())


def test_integers_in_one_file_are_floats_if_another_has_floats(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a,b\n1,5\n2,6\n")
    (tmp_path / "2.csv").write_text("a,b\n1.5,\n2.5,8\n")
    (tmp_path / "3.csv").write_text("a,b\n")
    found = Dataset.of(tmp_path, missing="drop", kinds={"b": "continuous"})
    assert found.values.tolist() == [[1.0, 2.0, 2.5], [5.0, 6.0, 8.0]]


@pytest.mark.parametrize("large", [True, False])
@pytest.mark.parametrize("labels", [["u", "v"], [True, False]])
def test_categories_of_different_types_in_two_files_are_refused(
    tmp_path: Path, labels: list[Any], large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGE_FILE_BYTES", 0 if large else 1 << 40)
    for place, categories in enumerate((labels, [1, 2])):
        table = pa.table({"a": pa.array(categories).dictionary_encode()})
        pyarrow.feather.write_feather(table, str(tmp_path / f"{place}.feather"))
    with pytest.raises(DataError, match="column 'a' has levels of different types in two parts"):
        statistics_of(tmp_path, Reading())


@pytest.mark.parametrize("large", [True, False])
def test_files_that_do_not_fit_together_are_refused_in_one_line(
    tmp_path: Path, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGE_FILE_BYTES", 0 if large else 1 << 40)

    def refusal(second: str, name: str = "2.csv", **options: Any) -> str:  # noqa: ANN401
        (tmp_path / "1.csv").write_text("a,b\n1,x\n2,y\n3,x\n")
        (tmp_path / name).write_text(second)
        with pytest.raises(SgesError) as caught:
            statistics_of(tmp_path, Reading(**options))
        (tmp_path / name).unlink()
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert "2.csv: has no column 'b', which" in refusal("a,c\n1,x\n")
    assert "1.csv: has no column 'c', which" in refusal("a,b,c\n1,x,5\n")
    assert "column 'a' contains integers in" in refusal("a,b\nred,x\nblue,y\n")
    assert "2.tsv: is tsv, but" in refusal("a\tb\n1\tx\n", "2.tsv")
    assert "contains 'read.me', which does not have the extension of a table" in refusal(
        "x", "read.me"
    )
    assert "missing values in 1 of 5 rows ('a' 1)" in refusal("a,b\n,x\n1,x\n")
    assert "there is no column 'z'" in refusal("a,b\n1,x\n", columns=["z"])
    (tmp_path / "inner").mkdir()
    assert "contains a folder, 'inner'; give a pattern such as" in refusal("a,b\n1,x\n")


def test_an_infinite_value_is_refused_with_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGE_FILE_BYTES", 0)
    (tmp_path / "1.csv").write_text("a\n1.5\n2.5\n")
    (tmp_path / "2.csv").write_text("a\n1.5\ninf\n")
    with pytest.raises(DataError, match=r"2\.csv: column 'a' contains 1 infinite value, .* row 1"):
        statistics_of(tmp_path, Reading())


def test_an_empty_folder_and_a_pattern_without_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is a folder without tables"):
        Dataset.of(tmp_path)
    with pytest.raises(FileError, match="no file matches this pattern"):
        Dataset.of(tmp_path / "*.csv")
    (tmp_path / "1.csv").write_text("a,b\n")
    (tmp_path / "2.csv").write_text("a,b\n")
    with pytest.raises(DataError, match="the table has 2 columns and no rows"):
        Dataset.of(tmp_path)


def test_a_weight_in_each_file_counts_its_rows(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a,n\nu,2\nv,0\nu,1\n")
    (tmp_path / "2.csv").write_text("a,n\nv,5\n")
    found = Dataset.of(tmp_path, weights="n").merged()
    assert found.weights is not None
    assert (found.levels, found.weights.tolist()) == ((("u", "v"),), [3, 5])
    with pytest.raises(DataError, match="3 weights were given for 4 rows"):
        Dataset.of(tmp_path, columns=["a"], weights=[1, 2, 3])


# Queries


def queries() -> list[str]:
    found = ["polars"]
    try:
        import duckdb  # noqa: F401
    except ImportError:
        return found
    return [*found, "duckdb"]


def query(library: str, table: pa.Table, path: Path) -> Any:  # noqa: ANN401
    pa.parquet.write_table(table, path)
    if library == "polars":
        return pl.scan_parquet(path)
    import duckdb

    return duckdb.sql(f"select * from '{path}'")


@pytest.mark.parametrize("library", queries())
@pytest.mark.parametrize("sample", [10, 10_000])
@pytest.mark.parametrize(
    "columns", [["float", "integer"], ["few", "text", "truth"], ["float", "text"], ["integer"]]
)
def test_a_query_has_the_statistics_of_its_table(
    tmp_path: Path,
    library: str,
    sample: int,
    columns: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sources, "SAMPLE_ROWS", sample)
    monkeypatch.setattr(sources, "BATCH_ROWS", 128)
    table = mixed(1500)
    lazy = query(library, table, tmp_path / "t.parquet")
    found, rows = statistics_of(lazy, Reading(columns=columns)), Dataset.of(lazy, columns=columns)
    whole = Dataset.of(table, columns=columns)
    if "text" not in columns:
        assert isinstance(found, Moments)
        exact = Moments.of(whole)
        assert found.covariance == pytest.approx(exact.covariance, rel=1e-12)
        assert (found.records, found.notes) == (1500, whole.notes)
        assert facts(rows) == facts(whole)
    else:
        assert isinstance(found, Dataset)
        expected = whole if "float" in columns else whole.merged()
        assert facts(found) == facts(expected) == facts(rows)


def test_categories_of_a_query_are_read_as_those_of_its_table() -> None:
    kinds: dict[str, Any] = {"a": pl.Categorical(), "b": pl.Enum(["w", "v", "u"])}
    table = pl.DataFrame({"a": ["z", "y", "x"] * 4, "b": ["u", "v", "v"] * 4}, schema=kinds)
    found = Dataset.of(table.lazy())
    assert found.levels == Dataset.of(table).levels == (("x", "y", "z"), ("w", "v", "u"))
    assert facts(found) == facts(Dataset.of(table).merged())


@pytest.mark.parametrize("library", queries())
def test_integers_that_have_few_values_only_at_first_are_continuous(
    tmp_path: Path, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "SAMPLE_ROWS", 20)
    table = pa.table({"a": np.r_[np.arange(50) % 2, np.arange(50)], "b": np.arange(100) % 2})
    found = statistics_of(query(library, table, tmp_path / "t.parquet"), Reading(columns=["a"]))
    assert isinstance(found, Moments)
    exact = Moments.of(Dataset.of(table, columns=["a"]))
    assert found.covariance == pytest.approx(exact.covariance, rel=1e-12)
    both = statistics_of(query(library, table, tmp_path / "t.parquet"), Reading())
    assert isinstance(both, Dataset)
    assert facts(both) == facts(Dataset.of(table))


@pytest.mark.parametrize("library", queries())
def test_missing_values_and_weights_of_a_query_count_as_in_a_table(
    tmp_path: Path, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "SAMPLE_ROWS", 20)
    table = pa.table({
        "a": ["u", "v", None, "u"] * 30,
        "b": ["x", "x", "y", "y"] * 30,
        "n": [1, 0, 2, 3] * 30,
    })  # fmt: skip
    lazy = query(library, table, tmp_path / "t.parquet")
    for options in (
        {"missing": "drop", "columns": ["a", "b"]},
        {"missing": "level", "columns": ["a", "b"]},
        {"missing": "drop", "weights": "n"},
        {"missing": "level", "weights": "n"},
    ):
        found = Dataset.of(lazy, **options)
        whole = Dataset.of(table, **options)
        assert facts(found) == facts(whole.merged())
        assert [n for n in found.notes if "were merged" not in n] == list(whole.notes)
    with pytest.raises(DataError, match=r"missing values in 30 of 120 rows \('a' 30\)"):
        Dataset.of(lazy, columns=["a", "b"])
    with pytest.raises(InvalidArgument, match="must be the name of a column"):
        Dataset.of(lazy, weights=[1] * 120)


def test_a_query_that_fails_is_a_one_line_error(tmp_path: Path) -> None:
    lazy = pl.scan_parquet(tmp_path / "absent.parquet")
    with pytest.raises(DataError, match=r"the query could not be run \(") as caught:
        sges.learn(lazy)
    assert "\n" not in str(caught.value)


def test_parts_with_other_columns_cannot_be_merged() -> None:
    def part(place: str, *names: str) -> Summary:
        table = {name: [0.5, 1.5, 2.5] for name in names}
        return Summary.of(columns_of(table, Reading()), Reading(), place)

    for one, two in ((("a", "b"), ("a",)), (("a",), ("a", "b"))):
        with pytest.raises(DataError, match="has no column 'b', which"):
            part("first", *one).merge(part("second", *two))
    with pytest.raises(DataError, match="the columns of second are in a different order"):
        part("first", "a", "b").merge(part("second", "b", "a"))


@pytest.mark.usefixtures("_all_files_are_large")
def test_an_identifier_in_a_large_file_is_refused(tmp_path: Path) -> None:
    names = [f"p{i}" for i in range(30)]
    path = write(pa.table({"person": names, "sick": ["yes", "no"] * 15}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="column 'person' has a different level in each of 30"):
        statistics_of(path, Reading())


@pytest.mark.usefixtures("_all_files_are_large")
@pytest.mark.parametrize(
    "column", [[1.0, 2.0, 3.0] * 20, [f"{i / 8}" for i in range(60)]], ids=["codes", "numbers"]
)
def test_codes_as_floats_and_numbers_as_text_are_read_alike_in_parts(
    tmp_path: Path, column: list[object]
) -> None:
    table = pa.table({"a": column, "b": ["x", "y"] * 30})
    found = statistics_of(folder_of(table, tmp_path / "t", "parquet", [20, 30]), Reading())
    whole = Dataset.of(table)
    assert isinstance(found, Dataset)
    assert (found.kinds, found.levels) == (whole.kinds, whole.levels)
