"""Tables that come in parts: large files, folders, Dask frames, and queries of Polars or DuckDB.

``statistics_of`` returns whichever of dataset and moments a score needs of a table.  Each part is
summed up where it is (``sges.data.parts``), and if the sums do not describe the table, its rows are
read.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sges.data.columns import Column
from sges.data.dataset import Dataset, FractionalWeights, dataset_of, dataset_of_columns
from sges.data.moments import Moments
from sges.data.parts import Summary, merged
from sges.data.reading import Reading, Table, is_path
from sges.data.tables import columns_of, comes_in_parts, is_dask, lazy_frame, names_of
from sges.errors import (
    ClusterError,
    DataError,
    InvalidArgument,
    Message,
    SgesError,
    is_cluster_error,
    shown_error,
)

if TYPE_CHECKING:
    from sges.data.files import File


# Tables that come in parts


def statistics_of(table: Table, reading: Reading, *, rows: bool = False) -> Dataset | Moments:
    """Return the statistics of a table: moments, or distinct rows with their weights.

    For scores that take either, this is the same as ``Dataset.of`` with less memory: of a large
    file, a folder of files, a Dask frame or a query, one part at a time is in memory, and on a
    cluster only the statistics of the parts come back.

    Parameters
    ----------
    table
        As in ``Dataset.of``.
    reading
        The options of reading it.
    rows
        Whether the rows are needed if they are continuous.

    Returns
    -------
    Dataset or Moments
        Moments if the table is large or comes in parts and every column is continuous, by
        ``kinds`` or by its type; if every column is discrete, the dataset of its distinct rows.
        The dataset of any other table.

    Raises
    ------
    FileError
        If a file does not exist or cannot be opened.
    DataError
        If the table cannot be used; the message says why and what would help.
    ClusterError
        If a cluster went away.
    """
    if isinstance(table, Dataset) or (rows and is_path(table)):
        return dataset_of(table, reading)
    if not is_path(table) and not comes_in_parts(table):
        return dataset_of(table, reading)
    if not is_path(table) and reading.weights is not None and not isinstance(reading.weights, str):
        raise InvalidArgument("weights of a table in parts must be the name of a column")
    if is_path(table):
        return _statistics_of_files(table, reading)
    summarise = _summary_of_dask if is_dask(table) else _summary_of_query
    summary = None
    if reading.missing != "em":
        with suppress(FractionalWeights):
            summary = summarise(table, reading, with_moments=not rows)
    found = None if summary is None or summary.needs_rows else summary.statistics(reading)
    if found is not None and not (rows and isinstance(found, Moments)):
        return replace(found, notes=(*reading.label_notes(names_of(table)), *found.notes))
    if is_dask(table):
        with _in_one_line("the Dask frame could not be computed", cluster=True):
            return dataset_of(table.compute(), reading)
    noted = reading.label_notes(names_of(table))
    return dataset_of_columns(columns_of(table, reading), reading, noted)


def _statistics_of_files(source: Table, reading: Reading) -> Dataset | Moments:
    """Return the statistics of a file or of several, or their dataset if they are small."""
    from sges.data.files import are_large, open_files, read_files  # pyarrow: only when it is used

    files = open_files(source, reading)
    in_column = reading.weights is None or isinstance(reading.weights, str)
    if in_column and reading.missing != "em" and are_large(files):
        summary = None
        with suppress(FractionalWeights):
            summary = merged(_summary_of_file(file, several=len(files) > 1) for file in files)
        if summary is not None and not summary.needs_rows:
            found = summary.statistics(reading)
            if found is not None:
                return replace(found, notes=(*files[0].notes(), *found.notes))
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
        raise DataError(Message(f"{place}: ", *error.args)) from error


# Dask


MERGED_TOGETHER = 8
"""Summaries that one task of a cluster merges."""


def _summary_of_dask(frame: Table, reading: Reading, *, with_moments: bool) -> Summary | None:
    """Return the summary of a Dask frame: a task for each partition, and a tree of merges."""
    dask: Any = sys.modules["dask"]  # the user has imported it
    found = [str(name) for name in frame.columns]
    places = reading.places(found)
    if reading.names is None and len(places) < len(found):
        frame = frame[[frame.columns[place] for place in places.values()]]
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
        found = {str(name) for name in part.columns}
        if reading.names is None:
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
        places = reading.places(names)
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
