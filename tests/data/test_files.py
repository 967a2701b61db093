"""Files in practice: other encodings, damage, pipes, closed standard input."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from data_facts import batches_of, facts
from sges.data import Dataset, Moments, discrete_of_file, moments_of_file
from sges.errors import DataError, FileError, SgesError, in_shell

TOWNS = "Größe,Ort\n1.5,Köln\n2.5,Ulm\n3.5,Köln\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (TOWNS.encode("latin-1"), "the header is not UTF-8 text; pass encoding='latin-1', or the"),
        (
            b"a,b\nu,1\n" + "München,2\n".encode("latin-1"),
            "column.* is not UTF-8 text; pass encoding='latin-1'",
        ),
        (TOWNS.encode("utf-16"), "is not UTF-8 text; pass encoding='utf-16'"),
        (b"a,b\n1,2\n\0\0,3\n", "contains null bytes and is not csv"),
    ],
)
def test_text_that_is_not_utf8_is_refused_with_the_option_that_helps(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        Dataset.of(path)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8", "utf-8-sig"])
@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_text_of_any_encoding_is_read_when_it_is_named(
    tmp_path: Path, encoding: str, ending: str
) -> None:
    expected = facts(Dataset.of({"Größe": [1.5, 2.5, 3.5], "Ort": ["Köln", "Ulm", "Köln"]}))
    path = tmp_path / f"t{ending}"
    path.write_bytes(TOWNS.replace(",", "," if ending == ".csv" else "\t").encode(encoding))
    assert facts(Dataset.of(path, encoding=encoding)) == expected
    streamed = discrete_of_file(path, columns=["Ort"], encoding=encoding)
    assert streamed.levels == (("Köln", "Ulm"),)
    assert moments_of_file(path, columns=["Größe"], encoding=encoding).mean.tolist() == [2.5]


@pytest.mark.parametrize("encoding", ["ascii", "utf-16"])
def test_text_that_is_not_in_the_encoding_named_is_refused(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(TOWNS.encode("latin-1"))
    message = f"cannot be decoded .*; it is not written in encoding='{encoding}'"
    with pytest.raises(DataError, match=message):
        Dataset.of(path, encoding=encoding)


def run_on_stdin(code: str, **options: object) -> "subprocess.CompletedProcess[str]":
    script = f"from sges.data import Dataset\ntry:\n    {code}\nexcept OSError as e: print(e)"
    done: subprocess.CompletedProcess[str] = subprocess.run(  # type: ignore[call-overload]
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, **options
    )
    return done


def test_standard_input_that_is_closed_is_refused_in_one_line() -> None:
    closed = run_on_stdin("Dataset.of('-')", preexec_fn=lambda: os.close(0))
    assert closed.stdout == "standard input: is closed; give an open file or a path\n"
    later = run_on_stdin("import sys; sys.stdin.close(); Dataset.of('-')")
    assert later.stdout == closed.stdout


def test_a_pipe_is_read_once_and_its_format_seen(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    table = pa.table({"a": [1.5, 2.5], "b": ["x", "y"]})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("a,b\n1.5,x\n2.5,y\n")
    os.mkfifo(pipe)
    for name in ("t.csv", "t.parquet"):
        content = (tmp_path / name).read_bytes()
        writer = threading.Thread(target=pipe.write_bytes, args=(content,))
        writer.start()
        assert facts(Dataset.of(pipe)) == facts(Dataset.of(table))
        writer.join()


@pytest.mark.parametrize("path", ["no\nsuch.csv", "no\0such.csv", "x" * 5000 + ".csv"])
def test_paths_that_no_file_can_have_are_refused_in_one_line(path: str) -> None:
    with pytest.raises(FileError) as caught:
        Dataset.of(path)
    assert len(str(caught.value).splitlines()) == 1


def test_an_empty_path_is_not_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1.5,2.5\n2.5,0.5\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError, match="the path of the table is empty"):
        Dataset.of("")


def test_a_file_that_may_not_be_opened_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n2\n")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may open any file")
    with pytest.raises(FileError, match="cannot be opened"):
        Dataset.of(path)


def damaged_arrow(stream: bool) -> bytes:
    """Return a file with text offsets far outside the buffer, which pyarrow does not check."""
    table = pa.table({"word": ["abcde"] * 1000, "x": np.arange(1000.0)})
    sink = pa.BufferOutputStream()
    if stream:
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    else:
        pyarrow.feather.write_feather(table, sink, compression="uncompressed")  # type: ignore[arg-type]
    content = sink.getvalue().to_pybytes()
    offsets = np.arange(500, 510, dtype=np.int32) * 5
    wrong = offsets + np.int32(2**30)
    assert content.count(offsets.tobytes()) == 1
    return content.replace(offsets.tobytes(), wrong.tobytes())


@pytest.mark.parametrize("stream", [False, True])
def test_damage_within_an_arrow_file_is_an_error_and_not_a_crash(
    tmp_path: Path, stream: bool
) -> None:
    path = tmp_path / "t.arrow"
    path.write_bytes(damaged_arrow(stream))
    script = (
        "from sges.data import Dataset\n"
        f"try: Dataset.of({str(path)!r}, columns=['word'])\n"
        "except ValueError as e: print(e)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert "t.arrow: cannot be read as feather" in done.stdout


def test_a_damaged_page_of_parquet_is_found_at_once(tmp_path: Path) -> None:
    """With a size of 2 GB in the page header, the buffered reader of pyarrow takes a minute."""
    path = tmp_path / "t.parquet"
    table = pa.table({"a": np.arange(100) / 7})
    pyarrow.parquet.write_table(table, path, compression="none", use_dictionary=False)
    content = bytearray(path.read_bytes())
    # A page header of Thrift, compact: type, uncompressed size, compressed size as varints.
    assert content[4:7] == b"\x15\x00\x15"
    assert content[9:10] == b"\x15"
    size = bytes([0xFE, 0xFF, 0xFF, 0xFF, 0x0F])  # zigzag varint of 2**31 - 1
    content[7:9] = size
    content[13:15] = size
    path.write_bytes(content)
    script = (
        "from sges.data import Dataset\n"
        f"try: Dataset.of({str(path)!r})\n"
        "except ValueError as e: print(e)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=15
    )
    assert "t.parquet: cannot be read as parquet" in done.stdout


def test_a_batch_with_nothing_but_missing_values_is_streamed(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table = pa.table({"a": pa.array([None] * 20 + [1.5, 2.5] * 10), "b": ["u", "v"] * 20})
    pyarrow.parquet.write_table(table, path)
    with batches_of(10):
        streamed = discrete_of_file(path, missing="level")
    assert facts(streamed) == facts(Dataset.of(path, kinds="discrete", missing="level").merged())


@pytest.mark.parametrize(
    "weights",
    [[1e19, 1.0], [2**62] * 4, np.array([2**63], np.uint64), [2**53, 1]],
)
def test_weights_beyond_exact_counts_are_refused_with_the_rule(weights: list[int]) -> None:
    table = {"a": ["u", "v", "u", "v"][: len(weights)]}
    with pytest.raises(DataError, match=r"add up to .* records, .* exact only up to 2\*\*53"):
        Dataset.of(table, weights=weights)


def test_the_largest_weights_are_counted(tmp_path: Path) -> None:
    data = Dataset.of({"a": ["u", "v"], "b": ["x", "y"]}, weights=[2**52, 2**52])
    assert data.records == 2**53
    path = tmp_path / "t.csv"
    path.write_text(f"a,times\nu,{2**52}\nv,{2**52}\nu,0\n")
    with batches_of(1):
        streamed = discrete_of_file(path, weights="times")
    assert facts(streamed) == facts(Dataset.of(path, weights="times").merged())
    path.write_text(f"a,times\nu,{2**52}\nv,{2**52}\nu,1\n")
    with batches_of(1), pytest.raises(DataError, match=r"exact only up to 2\*\*53"):
        discrete_of_file(path, weights="times")


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_new_names_do_not_hide_that_a_file_has_a_name_twice(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t{ending}"
    path.write_text("a,a\n1.5,4.5\n2.5,3.5\n3.5,2.5\n")
    if ending == ".parquet":
        table = pa.table([pa.array([1.5, 2.5]), pa.array([3.5, 2.5])], names=["a", "a"])
        pyarrow.parquet.write_table(table, path)
    with pytest.raises(DataError, match="the column name 'a' occurs 2 times"):
        Dataset.of(path, names=["p", "q"])


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".feather"])
def test_columns_are_chosen_left_out_renamed_and_weighted_in_every_source(
    tmp_path: Path, ending: str
) -> None:
    table = pa.table({
        "id": [f"n{i}" for i in range(50)], "x": np.arange(50.0), "y": np.arange(50.0)[::-1] ** 2,
        "day": pa.array([0] * 50, pa.date32()), "times": [1, 2] * 25,
    })  # fmt: skip
    path = tmp_path / f"t{ending}"
    if ending == ".csv":
        path.write_text(table.to_pandas().to_csv(None, index=False))
    elif ending == ".parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        pyarrow.feather.write_feather(table, str(path))
    for source in (path, table, table.to_pandas(), table.to_pydict()):
        chosen = Dataset.of(source, columns=["y", "x"], weights="times")
        assert (chosen.names, chosen.records) == (("y", "x"), 75)
        left = Dataset.of(source, exclude=["id", "day"], weights="times")
        assert left.names == ("x", "y")
        new = Dataset.of(source, names=list("abcde"), exclude=["a", "d", "e"])
        assert new.names == ("b", "c")
        assert new.values.tolist() == left.values.tolist()
        with pytest.raises(DataError, match="exclude: there is no column 'idd'; did you mean 'id'"):
            Dataset.of(source, exclude=["idd"])
        with pytest.raises(DataError, match="no column is left to read"):
            Dataset.of(source, columns=["x"], exclude=["x"])
    with batches_of(7):
        streamed = moments_of_file(path, columns=["y", "x"], weights="times")
    memory = Moments.of(Dataset.of(path, columns=["y", "x"], weights="times"))
    assert streamed.records == memory.records == 75
    assert np.allclose(streamed.covariance, memory.covariance, rtol=1e-12)


def test_advice_is_spelled_for_its_reader(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("my id;x\na;1,5\n")
    cases: list[tuple[dict[str, object], str, str]] = [
        ({}, "pass delimiter=';'", "pass --delimiter ';'"),
        ({"delimiter": ";", "exclude": ["y"]}, "exclude: there is no", "--exclude: there is no"),
    ]
    for options, python, shell in cases:
        with pytest.raises(SgesError) as caught:
            Dataset.of(path, **options)  # type: ignore[arg-type]
        assert python in str(caught.value)
        assert shell in in_shell(caught.value)
    with pytest.raises(DataError) as caught:
        Dataset.of({"my id": [f"n{i}" for i in range(50)]})
    assert "leave it out with exclude=['my id'], or pass kinds={'my id': 'discrete'}" in str(
        caught.value
    )
    assert "leave it out with --exclude 'my id', or pass --kinds 'my id=discrete'" in in_shell(
        caught.value
    )


def test_notes_on_many_columns_are_few_and_spelled_for_their_reader() -> None:
    table = {f"c{i}": [0, 1, 2] * 3 for i in range(24)}
    data = Dataset.of(table | {"same": [0.5] * 9})
    assert [str(note) for note in data.notes] == [
        "24 columns contain integers and are treated as discrete: 'c0' (3 distinct values), "
        "'c1' (3 distinct values), 'c2' (3 distinct values), 'c3' (3 distinct values), "
        "'c4' (3 distinct values) and 19 more; pass kinds={'c0': 'continuous'} to change that",
        "1 column is constant, so it has no edges: 'same'",
    ]
    assert in_shell(data.notes[0]).endswith("pass --kinds c0=continuous to change that")
