"""The entry point for all tables, also those in parts: large files, folders, Dask, queries.

``statistics_of`` summarizes each part where it is (``sges.data.parts``), and reads the rows if
summaries do not describe the table.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack
from uuid import uuid4

import numpy as np

from sges.data.columns import Column, data_error
from sges.data.dataset import (
    Dataset,
    dataset_of_columns,
    dataset_of_floats,
)
from sges.data.moments import Moments
from sges.data.parts import FractionalWeights, Summary, merged
from sges.data.reading import (
    Missing,
    Reading,
    ReadingOptions,
    Table,
    is_path,
    label_notes,
    places_to_read,
    reading_of_call,
)
from sges.data.tables import columns_of, comes_in_parts, is_dask, lazy_frame, names_of
from sges.docstrings import documented_like
from sges.errors import (
    ClusterError,
    DataError,
    InvalidArgument,
    SgesError,
    cluster_failure,
    shown_error,
)

if TYPE_CHECKING:
    from sges.data.files import File


def statistics_of(table: Table, reading: Reading, *, rows: bool = False) -> Dataset | Moments:
    """Return the statistics of a table: moments, or distinct rows with their weights.

    For scores that accept both, this is the same as ``Dataset.of`` with less memory: only one part
    of a large file, a folder of files, a Dask frame or a query is in memory at a time, and a
    cluster returns only the statistics of the parts.  ``rows`` says that the rows are needed if
    they are continuous.  A small table, or one with columns of both kinds, is returned as a
    dataset.
    """
    if isinstance(table, Dataset):
        if options := reading.given():
            raise InvalidArgument(
                f"{options[0]}= cannot be combined with a Dataset, which has already been read; "
                "give it where the Dataset is made"
            )
        return table
    if is_path(table):
        noted, summarize, read = _in_files(table, reading, rows)
    elif comes_in_parts(table):
        noted, summarize, read = _in_partitions(table, reading, rows)
    else:
        found = dataset_of_floats(table, reading) if reading.weights is None else None
        noted = label_notes(reading, names_of(table)) if found is None else []
        return found or dataset_of_columns(columns_of(table, reading), reading, noted)
    with suppress(FractionalWeights):
        summary = None if reading.missing == "em" else summarize()
        if summary is not None and (statistics := summary.statistics(reading)) is not None:
            return replace(statistics, notes=(*noted, *statistics.notes))
    return dataset_of_columns(read(), reading, noted)


Source: TypeAlias = tuple[list[str], Callable[[], Summary | None], Callable[[], list[Column]]]
"""Notes on how a table is read, and what computes its summary, or reads its rows."""


# Files


def _in_files(source: Table, reading: Reading, rows: bool) -> Source:
    from sges.data import files  # pyarrow: only when it is used

    opened = files.open_files(source, reading)
    in_parts = not rows and reading.has_weight_column and files.are_large(opened)
    summarize = partial(_summary_of_files, opened if in_parts else [])
    return opened[0].notes(), summarize, partial(files.read_files, opened)


def _summary_of_files(files: Sequence["File"]) -> Summary | None:
    """Return the summary of files, each read in batches."""

    def summaries(file: "File", batches: Iterable[list[Column]]) -> Iterator[Summary]:
        start = 0
        for columns in batches:
            read = len(columns[0])
            with _named(file.name if len(files) > 1 else None):
                yield Summary.of(columns, file.reading, file.name, start=start)
            start += read

    def summary_of(file: "File") -> Summary:
        summary = file.consumed(lambda batches: merged(summaries(file, batches)))
        return summary or next(summaries(file, [file.read()]))

    return merged(map(summary_of, files))


@contextmanager
def _named(place: str | None) -> Iterator[None]:
    """Name the part of a table in which an error was met."""
    try:
        yield
    except DataError as error:
        if place is None or isinstance(error, FractionalWeights):
            raise
        raise data_error(f"{place}: ", *error.args) from error


@documented_like(Dataset.of)
def moments_of_file(
    path: str | os.PathLike[str], *, missing: Missing = "error", **reading: Unpack[ReadingOptions]
) -> Moments:
    """Return means and covariances of the columns of a file; a large one is read in batches.

    The same as ``Moments.of(Dataset.of(path, kinds="continuous", ...))`` up to rounding.

    Parameters
    ----------
    path
        A CSV, TSV, Parquet, Feather or Arrow file of numbers, or a folder or pattern of files.
    **reading : optional
        The other options of ``Dataset.of``, except ``kinds``.

    Returns
    -------
    Moments
        The statistics that Gaussian scores need.
    """
    options = reading_of_call(moments_of_file, "continuous", missing, reading)
    statistics = statistics_of(path, options)
    return Moments.of(statistics) if isinstance(statistics, Dataset) else statistics


@documented_like(Dataset.of)
def discrete_of_file(
    path: str | os.PathLike[str], *, missing: Missing = "error", **reading: Unpack[ReadingOptions]
) -> Dataset:
    """Return the dataset of a file of discrete columns, identical rows merged.

    The same as ``Dataset.of(path, kinds="discrete", ...).merged()`` up to notes.  A large file is
    read in batches.

    Parameters
    ----------
    path
        A CSV, TSV, Parquet, Feather or Arrow file, or a folder or pattern of files.
    **reading : optional
        The other options of ``Dataset.of``, except ``kinds``.

    Returns
    -------
    Dataset
        The distinct rows, with the number of times that each occurs as weights.
    """
    statistics = statistics_of(
        path, reading_of_call(discrete_of_file, "discrete", missing, reading)
    )
    assert isinstance(statistics, Dataset)
    return statistics.merged()


# Dask frames, and queries of Polars, DuckDB and others


def _in_partitions(table: Table, reading: Reading, rows: bool) -> Source:
    if not reading.has_weight_column:
        raise InvalidArgument("weights of a table in parts must be the name of a column")
    of_source = _summary_of_dask if is_dask(table) else _summary_of_query
    summarize = partial(of_source, table, reading, with_moments=not rows)
    return label_notes(reading, names_of(table)), summarize, partial(_rows_of, table, reading)


MERGED_TOGETHER = 8
"""Summaries that one task of a cluster merges."""


def _summary_of_dask(frame: Table, reading: Reading, *, with_moments: bool) -> Summary | None:
    """Return the summary of a Dask frame: a task for each partition, and a tree of merges."""
    dask: Any = sys.modules["dask"]  # the user has imported it
    columns = [str(name) for name in frame.columns]
    places = places_to_read(reading, columns)
    if reading.names is None and len(places) < len(columns):
        frame = frame[[frame.columns[place] for place in places.values()]]
        reading = replace(reading, columns=None, exclude=None)  # which the partitions do not have
    names = [name for name in places if name != reading.weights]
    with _in_one_line("the Dask frame could not be computed", cluster=True):
        run = f"sges-{uuid4().hex}"  # no two calls have the same tasks
        tasks = [
            dask.delayed(_summary_of_partition)(
                part, i, names, reading, with_moments, dask_key_name=(run, i)
            )
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
        columns = names if reading.names is not None else {str(name) for name in part.columns}
        for name in names:
            if name not in columns:
                raise DataError(f"has no column {name!r}, which the Dask frame declares")
        return Summary.of(columns_of(part, reading), reading, place, with_moments=with_moments)


SAMPLE_ROWS = 10_000
"""Rows of a query that are examined to decide how the others are summarized."""

BATCH_ROWS = 1 << 16
"""Rows of a query in memory at a time."""


def _summary_of_query(table: Table, reading: Reading, *, with_moments: bool) -> Summary | None:
    """Return the summary of a lazy frame; None if its rows are needed.  The first rows decide."""
    import narwhals as nw
    from narwhals import selectors

    frame = lazy_frame(table)
    with _in_one_line("the query could not be run"):
        names = frame.collect_schema().names()
        places = places_to_read(reading, names)
        keys = [names[place] for place in places.values()]
        # Categories declare no levels, as in a frame in memory; those of an enum do.
        frame = frame.select(keys).with_columns(selectors.categorical().cast(nw.String))
        sample = _columns_of_arrow(list(places), frame.head(SAMPLE_ROWS).collect("pyarrow"))
        first = Summary.of(sample, reading, with_moments=with_moments)
        if first.needs_rows:
            return None
        if len(sample[0]) < SAMPLE_ROWS:
            return first
        if first.counts is not None and 2 * first.counts.rows <= first.usable:
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


def _rows_of(table: Table, reading: Reading) -> list[Column]:
    """Return the columns of a Dask frame or a query, computed."""
    if not is_dask(table):
        with _in_one_line("the query could not be run"):
            return columns_of(table, reading)
    with _in_one_line("the Dask frame could not be computed", cluster=True):
        return columns_of(table.compute(), reading)


@contextmanager
def _in_one_line(failure: str, *, cluster: bool = False) -> Iterator[None]:
    """Turn the error of another library into one line; a ``cluster`` may have been lost."""
    try:
        yield
    except SgesError:
        raise
    except Exception as error:
        if cluster and (lost := cluster_failure(error)):
            what, remedy = lost
            raise ClusterError(
                f"{what} before all partitions were read; {remedy} and repeat the call"
            ) from error
        reason = f"{type(error).__name__}: {shown_error(error)}"
        raise DataError(f"{failure} ({reason})") from error
