"""Tables that come in parts: large files, folders, Dask frames, and queries of Polars or DuckDB.

    statistics_of       whichever of dataset and moments a score needs of a table
    moments_of_file     means and covariances of the continuous columns of a file
    discrete_of_file    the distinct rows of a file of discrete columns

``statistics_of`` sums up each part where it is (``sges.data.parts``), and reads the rows if the
sums do not describe the table.  The other two are told the kind of the columns and take one pass:
memory holds one batch of rows, and beside it one matrix of products, or the distinct rows.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sges.data.columns import (
    Column,
    floats,
    numbers_of,
    observed,
    places_in,
    refusal,
)
from sges.data.dataset import (
    Dataset,
    FractionalWeights,
    dataset_of,
    dataset_of_columns,
    merge_rows,
)
from sges.data.decisions import KindNotes, Tally
from sges.data.moments import Block, Moments, block_rows, moments_of_blocks
from sges.data.parts import Codes, Counts, Summary, Weights, merged, noted_dataset, usable_rows
from sges.data.reading import Format, Missing, Reading, Table, is_path, label_notes, places_to_read
from sges.data.tables import columns_of, comes_in_parts, is_dask, lazy_frame, names_of
from sges.errors import (
    Argument,
    ClusterError,
    DataError,
    InvalidArgument,
    SgesError,
    check_number,
    is_cluster_error,
    shown_error,
)

if TYPE_CHECKING:
    from sges.data.files import File


def statistics_of(table: Table, reading: Reading, *, rows: bool = False) -> Dataset | Moments:
    """Return the statistics of a table: moments, or distinct rows with their weights.

    For scores that take either, this is the same as ``Dataset.of`` with less memory: of a large
    file, a folder of files, a Dask frame or a query, one part at a time is in memory, and on a
    cluster only the statistics of the parts come back.  ``rows`` says that the rows are needed if
    they are continuous.  A small table, or one with columns of both kinds, is returned as a
    dataset.
    """
    if isinstance(table, Dataset) or (rows and is_path(table)):
        return dataset_of(table, reading)
    if is_path(table):
        return _statistics_of_files(table, reading)
    if not comes_in_parts(table):
        return dataset_of(table, reading)
    if reading.weights is not None and not isinstance(reading.weights, str):
        raise InvalidArgument("weights of a table in parts must be the name of a column")
    noted = label_notes(reading, names_of(table))
    summary = None
    if reading.missing != "em":
        summarise = _summary_of_dask if is_dask(table) else _summary_of_query
        with suppress(FractionalWeights):
            summary = summarise(table, reading, with_moments=not rows)
    found = _noted_statistics(summary, reading, noted)
    if found is not None and not (rows and isinstance(found, Moments)):
        return found
    if is_dask(table):
        with _in_one_line("the Dask frame could not be computed", cluster=True):
            return dataset_of(table.compute(), reading)
    return dataset_of_columns(columns_of(table, reading), reading, noted)


def _noted_statistics(
    summary: Summary | None, reading: Reading, noted: Sequence[str]
) -> Dataset | Moments | None:
    """Return the statistics of a table by its summary; None if its rows are needed."""
    found = None if summary is None or summary.needs_rows else summary.statistics(reading)
    return None if found is None else replace(found, notes=(*noted, *found.notes))


# Files


def _statistics_of_files(source: Table, reading: Reading) -> Dataset | Moments:
    """Return the statistics of a file or of several, or their dataset if they are small."""
    from sges.data.files import are_large, open_files, read_files  # pyarrow: only when it is used

    files = open_files(source, reading)
    in_column = reading.weights is None or isinstance(reading.weights, str)
    if in_column and reading.missing != "em" and are_large(files):
        with suppress(FractionalWeights):
            summary = merged(_summary_of_file(file, several=len(files) > 1) for file in files)
            found = _noted_statistics(summary, reading, files[0].notes())
            if found is not None:
                return found
    return dataset_of_columns(read_files(files), reading, files[0].notes())


def _summary_of_file(file: "File", *, several: bool) -> Summary:
    """Return the summary of one file, which is read in batches."""

    def parts(batches: Iterator[list[Column]]) -> Iterator[Summary]:
        start = 0
        for columns in batches:
            rows = len(columns[0])
            with _named(file.name if several else None):
                yield Summary.of(columns, file.reading, file.name, start=start)
            start += rows

    summary = file.consumed(lambda batches: merged(parts(batches)))
    if summary is not None:
        return summary
    with _named(file.name if several else None):
        return Summary.of(file.read(), file.reading, file.name)


@contextmanager
def _named(place: str | None) -> Iterator[None]:
    """Name the part of a table in which an error was met."""
    try:
        yield
    except DataError as error:
        if place is None or isinstance(error, FractionalWeights):
            raise
        raise refusal(f"{place}: ", *error.args) from error


def moments_of_file(
    path: str | os.PathLike[str],
    *,
    missing: Missing = "error",
    names: Sequence[str] | None = None,
    weights: str | None = None,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str | None = None,
    missing_words: Sequence[str] | None = None,
    format: Format | None = None,
    batch_rows: int | None = None,
) -> Moments:
    """Return means and covariances of the columns of a file, in one pass over it.

    The same as ``Moments.of(Dataset.of(path, kinds="continuous", ...))`` up to rounding.

    Parameters
    ----------
    path
        A CSV, TSV, Parquet, Feather or Arrow file of numbers.
    missing, names, weights, columns, exclude, delimiter, decimal, encoding, missing_words, format
        As in ``Dataset.of``; ``missing`` is ``"error"`` or ``"drop"``, and ``weights`` the name
        of a column.
    batch_rows
        Rows held in memory at a time; default: 4 MiB of numbers.

    Returns
    -------
    Moments
        The statistics that Gaussian scores need.

    Raises
    ------
    InvalidArgument, FileError, DataError
        As in ``Dataset.of``.
    """
    reading = Reading(
        missing=missing, names=names, weights=weights, columns=columns, exclude=exclude,
        delimiter=delimiter, decimal=decimal, encoding=encoding, missing_words=missing_words,
        format=format,
    )  # fmt: skip
    if missing == "level":
        raise refusal(
            Argument("missing", "level"),
            " is for discrete columns; pass ",
            Argument("missing", "drop"),
        )
    rows = _Rows.of(path, reading, batch_rows, numeric=True)

    def blocks() -> Iterator[Block]:
        for batch, counts in rows.usable():
            yield np.array([floats(column) for column in batch]), counts

    moments = moments_of_blocks(rows.names, blocks())
    return replace(moments, notes=tuple(rows.notes()))


def discrete_of_file(
    path: str | os.PathLike[str],
    *,
    missing: Missing = "error",
    names: Sequence[str] | None = None,
    weights: str | None = None,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str | None = None,
    missing_words: Sequence[str] | None = None,
    format: Format | None = None,
    batch_rows: int | None = None,
) -> Dataset:
    """Return the dataset of a file of discrete columns, in one pass, identical rows merged.

    The same as ``Dataset.of(path, kinds="discrete", ...).merged()`` up to notes.

    Parameters
    ----------
    path
        A CSV, TSV, Parquet, Feather or Arrow file.
    missing, names, weights, columns, exclude, delimiter, decimal, encoding, missing_words, format
        As in ``Dataset.of``; ``weights`` is the name of a column.
    batch_rows
        Rows held in memory at a time, beside the distinct rows seen so far.

    Returns
    -------
    Dataset
        The distinct rows, with the number of times that each occurs as weights.

    Raises
    ------
    InvalidArgument, FileError, DataError
        As in ``Dataset.of``.
    """
    reading = Reading(
        missing=missing, names=names, weights=weights, columns=columns, exclude=exclude,
        delimiter=delimiter, decimal=decimal, encoding=encoding, missing_words=missing_words,
        format=format,
    )  # fmt: skip
    rows = _Rows.of(path, reading, batch_rows, numeric=False)
    levels = [_Levels(name) for name in rows.names]
    distinct: list[tuple[Codes, Weights]] = []  # those of all batches but the last, and of these
    for batch, counts in rows.usable():
        coded = [known.code(column) for known, column in zip(levels, batch, strict=True)]
        arities = [len(known.places) for known in levels]
        codes = np.array(coded, np.min_scalar_type(max(arities) - 1))
        distinct.append(merge_rows(codes, arities, counts))
        if sum(len(own) for _, own in distinct[1:]) > max(len(distinct[0][1]), 1 << 16):
            distinct = [_merged_rows(distinct, arities)]
    codes, counts = _merged_rows(distinct, arities)
    moved, final = zip(*(known.in_order(rows.file) for known in levels), strict=True)
    kind = np.min_scalar_type(max(map(len, final)) - 1)
    codes = np.array([new[old] for new, old in zip(moved, codes, strict=True)], kind)
    codes, counts = merge_rows(codes, [len(labels) for labels in final], counts)
    return noted_dataset(Counts(tuple(rows.names), final, codes, counts), rows.notes(), KindNotes())


@dataclass(slots=True)
class _Rows:
    """The usable rows of a file, batch by batch, and a tally of those seen."""

    file: "File"
    names: list[str]
    batches: Iterator[list[Column]]
    tally: Tally

    @classmethod
    def of(
        cls, path: str | os.PathLike[str], reading: Reading, size: int | None, *, numeric: bool
    ) -> "_Rows":
        """Open a file; the fields of a text file are read as numbers, or as they are."""
        import pyarrow as pa  # slow to import: only when it is used

        from sges.data.files import BATCH_CELLS, open_file

        check_number("batch_rows", size, whole=True, least=1, most=2**31, optional=True)
        if reading.weights is not None and not isinstance(reading.weights, str):
            raise InvalidArgument("weights of a stream must be the name of a column")
        if reading.missing == "em":
            raise InvalidArgument(
                "missing = 'em' needs all rows in memory; read the file with Dataset.of"
            )
        file = open_file(path, reading)
        kind = pa.float64() if numeric else pa.string()
        types = {file.schema.names[place]: kind for place in file.places.values()}
        size = size or block_rows(len(types), BATCH_CELLS)
        names = [name for name in file.places if name != reading.weights]
        return cls(file, names, file.batches(size, types), Tally(missing=dict.fromkeys(names, 0)))

    def usable(self) -> Iterator[tuple[list[Column], Weights | None]]:
        """Yield columns and weights of the usable rows, and refuse what is missing in the end."""
        start, reading = 0, self.file.reading
        for columns in self.batches:
            rows = len(columns[0])
            if reading.weights is not None and columns[-1].labels is not None:  # read as text
                name, values, labels = columns[-1].name, columns[-1].values, columns[-1].labels
                if (numbers := numbers_of(labels)) is not None:
                    missing = columns[-1].missing
                    columns[-1] = Column(name, np.array(numbers)[values], missing=missing)
            columns, weights, tally = usable_rows(columns, reading, start)
            self.tally += tally
            start += rows
            if len(columns[0]):
                yield columns, weights
        self.tally.check(reading.missing)

    def notes(self) -> list[str]:
        """Return the notes on row labels that were left out and on missing values."""
        return self.file.notes() + self.tally.notes(self.file.reading.missing)


@dataclass(slots=True)
class _Levels:
    """The levels of one column so far, in the order of their appearance."""

    name: str
    places: dict[Any, int] = field(default_factory=dict)
    declared: bool = False

    def code(self, column: Column) -> NDArray[np.int64]:
        """Return the place of each value's level, after adding the levels that are new."""
        self.declared = self.declared or column.declared
        found, positions = observed(column)
        if column.declared:
            places_in(self.places, self.name, column.labels or ())
        codes: NDArray[np.int64] = places_in(self.places, self.name, found)[positions]
        if column.missing is None:
            return codes
        everywhere = np.full(len(column), places_in(self.places, self.name, (None,))[0])
        everywhere[~column.missing] = codes
        return everywhere

    def in_order(self, file: "File") -> tuple[NDArray[np.int64], tuple[Any, ...]]:
        """Return the new code of each old one, and the levels in their final order."""
        labels = [label for label in self.places if label is not None]
        meant = file.values_of(labels) if file.is_text else labels
        final = tuple(labels) if self.declared else tuple(sorted(set(meant)))
        if None in self.places:
            final = (*final, None)
        place = {label: i for i, label in enumerate(final)}
        by_label = dict(zip(labels, meant, strict=True))
        return np.array([place[by_label.get(old)] for old in self.places], np.int64), final


def _merged_rows(parts: list[tuple[Codes, Weights]], arities: list[int]) -> tuple[Codes, Weights]:
    """Return the distinct rows of several parts, and their weights."""
    codes = np.concatenate([codes for codes, _ in parts], axis=1)
    return merge_rows(codes, arities, np.concatenate([weights for _, weights in parts]))


# Dask


MERGED_TOGETHER = 8
"""Summaries that one task of a cluster merges."""


def _summary_of_dask(frame: Table, reading: Reading, *, with_moments: bool) -> Summary | None:
    """Return the summary of a Dask frame: a task for each partition, and a tree of merges."""
    dask: Any = sys.modules["dask"]  # the user has imported it
    found = [str(name) for name in frame.columns]
    places = places_to_read(reading, found)
    if reading.names is None and len(places) < len(found):
        frame = frame[[frame.columns[place] for place in places.values()]]
        reading = replace(reading, columns=None, exclude=None)  # which the partitions have not
    names = [name for name in places if name != reading.weights]
    with _in_one_line("the Dask frame could not be computed", cluster=True):
        tasks = [
            dask.delayed(_summary_of_partition)(part, i, names, reading, with_moments)
            for i, part in enumerate(frame.to_delayed())
        ]
        while len(tasks) > 1:
            groups = range(0, len(tasks), MERGED_TOGETHER)
            tasks = [dask.delayed(merged)(tasks[i : i + MERGED_TOGETHER]) for i in groups]
        (summary,) = dask.compute(tasks[0])
    assert isinstance(summary, Summary)
    return summary


def _summary_of_partition(
    part: Table, number: int, names: list[str], reading: Reading, with_moments: bool
) -> Summary:
    """Return the summary of one partition: the work of one task."""
    place = f"partition {number}"
    with _named(place):
        found = names if reading.names is not None else {str(name) for name in part.columns}
        for name in names:
            if name not in found:
                raise DataError(f"has no column {name!r}, which the Dask frame declares")
        return Summary.of(columns_of(part, reading), reading, place, with_moments=with_moments)


# Queries of Polars, DuckDB and others


SAMPLE_ROWS = 10_000
"""Rows of a query that are looked at to decide how the others are summed up."""

BATCH_ROWS = 1 << 16
"""Rows of a query in memory at a time."""


def _summary_of_query(table: Table, reading: Reading, *, with_moments: bool) -> Summary | None:
    """Return the summary of a lazy frame: distinct rows counted by its engine, or batch by batch.

    The first rows decide.  If all columns may be discrete and rows repeat, the engine groups and
    counts them; if they may be continuous, its batches are summed up here, which is faster than
    a query for each product.  None if the rows are needed.
    """
    import narwhals as nw

    frame = lazy_frame(table)
    with _in_one_line("the query could not be run"):
        names = frame.collect_schema().names()
        places = places_to_read(reading, names)
        keys = [names[place] for place in places.values()]
        frame = frame.select(keys)
        sample = _columns_of_arrow(list(places), frame.head(SAMPLE_ROWS).collect("pyarrow"))
        first = Summary.of(sample, reading, with_moments=with_moments)
        if first.needs_rows:
            return None
        if len(sample[0]) < SAMPLE_ROWS:
            return first
        if first.counts is not None and 2 * len(first.counts.weights) <= first.usable:
            count = "count"
            while count in keys:
                count += "_"
            groups = frame.group_by(keys).agg(nw.len().alias(count)).collect("pyarrow")
            *columns, times = _columns_of_arrow([*places, count], groups)
            whole = times.values.astype(np.int64)
            return Summary.of(columns, reading, times=whole, with_moments=with_moments)
        return merged(
            Summary.of(_columns_of_arrow(list(places), batch), reading, with_moments=with_moments)
            for batch in _batches(frame)
        )


def _batches(frame: Any) -> Iterator[Any]:  # noqa: ANN401 (of narwhals and pyarrow)
    """Yield the rows of a lazy frame as Arrow tables, a batch at a time where its engine can."""
    native = frame.to_native()
    if hasattr(native, "collect_batches"):
        for batch in native.collect_batches(chunk_size=BATCH_ROWS):
            yield batch.to_arrow()
    elif hasattr(native, "to_arrow_reader") or hasattr(native, "fetch_record_batch"):
        read = getattr(native, "to_arrow_reader", None) or native.fetch_record_batch
        yield from read(BATCH_ROWS)
    else:
        yield frame.collect("pyarrow").to_arrow()


def _columns_of_arrow(names: list[str], table: Any) -> list[Column]:  # noqa: ANN401 (of pyarrow)
    from sges.data.arrow import column_of_arrow

    table = table.to_arrow() if hasattr(table, "to_arrow") else table
    return [column_of_arrow(name, array) for name, array in zip(names, table.columns, strict=True)]


@contextmanager
def _in_one_line(failure: str, *, cluster: bool = False) -> Iterator[None]:
    """Turn what another library raises into one line; a ``cluster`` may have been lost."""
    try:
        yield
    except SgesError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {shown_error(error)}"
        if cluster and is_cluster_error(error):
            raise ClusterError(
                f"the cluster went away before all partitions were read ({reason}); start it "
                "again, and call again"
            ) from error
        raise DataError(f"{failure} ({reason})") from error
