"""``inspect``: a description of any table, from the findings of all checks.

The checks are in ``checks`` (columns and rows) and ``relations`` (functions of other columns,
collinear groups, a common factor, curves).
"""

import math
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from sges.data.columns import (
    Column,
    UnusableColumn,
    are_whole,
    check_finite,
    joined_tables,
    listed,
)
from sges.data.concerns import (
    level_counts,
    observed_values,
    shape,
    some_rows,
    take_rows,
    without_holes,
)
from sges.data.dataset import Dataset, check_levels, dataset_of_columns, effective_notes
from sges.data.decisions import counted_columns, hidden_numbers
from sges.data.em import too_few_pairs
from sges.data.reading import (
    Kind,
    Kinds,
    Missing,
    Reading,
    ReadingOptions,
    Table,
    is_path,
    kinds_asked,
    label_notes,
    reading_of_call,
)
from sges.data.sources import statistics_of
from sges.data.tables import columns_of, comes_in_parts, names_of
from sges.docstrings import documented_like
from sges.errors import DataError, Message
from sges.tools.inspect import checks, relations
from sges.tools.inspect.checks import MAX_PAIR_ROWS, exclude_option
from sges.tools.inspect.description import ColumnFacts, Description, Finding

if TYPE_CHECKING:
    from sges.data.files import File

MAX_SAMPLED_ROWS = 200_000
"""About this many rows of a large table are examined."""

BLOCK_ROWS = 1_000
"""Rows of a large table in memory that stay together, so that neighbors remain neighbors."""


def describe(data: Dataset, asked: frozenset[str] = frozenset(), decimal: str = ".") -> Description:
    """Return the description of a dataset."""
    notes = data.notes
    if data.rows > MAX_SAMPLED_ROWS + BLOCK_ROWS:
        starts = np.linspace(0, data.rows - BLOCK_ROWS, MAX_SAMPLED_ROWS // BLOCK_ROWS)
        rows = (starts.astype(np.int64)[:, None] + np.arange(BLOCK_ROWS)).ravel()
        notes = (_sample_note(data.rows, len(rows)), *notes)
        data = take_rows(data, rows)
    columns = tuple(_facts(data, v, data.names[v] in asked) for v in range(data.n))
    findings = [*checks.numbers_as_levels(data, asked, decimal), *_findings(data)]
    findings = sorted(findings, key=lambda finding: not finding.serious)
    records = replace(data, holes=None).records
    return Description(data.rows, records, columns, tuple(findings), notes)


@documented_like(Dataset.of)
def inspect(
    table: Table,
    *,
    kinds: Kinds = None,
    missing: Missing = "error",
    **reading: Unpack[ReadingOptions],
) -> Description:
    """Describe a table before a search, and point out what matters for it.

    This is the same as ``Dataset.of(table, ...).describe()``, except that missing values and
    columns that cannot be used (dates, infinite values) are described instead of raising an error,
    and that only a part of a large file or folder is held in memory: some 100,000 to 200,000 rows,
    in evenly spaced blocks.

    Parameters
    ----------
    missing
        As in ``Dataset.of``; by default missing values are described.
    **reading : optional
        The other options of ``Dataset.of``.

    Returns
    -------
    Description
        Facts about each column, findings, and notes; ``print`` shows them.

    Raises
    ------
    InvalidArgument, FileError, DataError
        As in ``Dataset.of``.

    Examples
    --------
    >>> table = {"a": [0.5, None, 2.5, 1.5, 4.0], "b": [1.0, 2.5, 2.0, 3.5, 3.0]}
    >>> found = inspect(table)
    >>> [(column.name, column.missing) for column in found.columns]
    [('a', 1), ('b', 0)]
    """
    options = reading_of_call(inspect, kinds, missing, reading)
    is_read = isinstance(table, Dataset)
    undecided = missing == "error" and not is_read
    if undecided:  # describe missing values instead of raising an error
        options = replace(options, missing="em")
    if is_read or comes_in_parts(table):
        whole = statistics_of(table, options, rows=True)
        assert isinstance(whole, Dataset)
        return describe(whole)
    data, asked, unusable = _usable(table, options)
    if data.holes is not None and data.records < 2:
        what, advice = str(too_few_pairs(data.records)).capitalize().split("; ")
        advice = f"No graph can be learned with missing='em': {advice}."
        unusable.append(Finding("missing values", True, (), f"{what}.", advice))
    if undecided:  # leave out the notes on EM, which was not requested
        omitted = effective_notes(replace(data, unit=1.0))
        data = replace(data, notes=tuple(note for note in data.notes if note not in omitted))
    description = describe(data, asked, options.decimal)
    return replace(description, findings=(*unusable, *description.findings))


def _has_weights(name: str, reading: Reading) -> bool:
    """Return whether a column has the weights, which may also be given as numbers."""
    return isinstance(reading.weights, str) and name == reading.weights


def _usable(table: Table, reading: Reading) -> tuple[Dataset, frozenset[str], list[Finding]]:
    """Return the columns that can be used, those whose kind was asked for, and what others are."""
    columns, noted, errors = _readable_columns(table, reading)
    names_read = [column.name for column in columns if not _has_weights(column.name, reading)]
    asked = kinds_asked(reading, [*names_read, *(error.column for error in errors)])
    columns, unusable = _without_unusable(columns, reading, asked, errors)
    asked = {column.name: asked[column.name] for column in columns if column.name in asked}
    data = dataset_of_columns(columns, replace(reading, kinds=asked), noted, is_described=True)
    return data, frozenset(asked), unusable


def _readable_columns(
    table: Table, reading: Reading
) -> tuple[list[Column], list[str], list[UnusableColumn]]:
    """Return the columns of a table, notes, and errors on columns that cannot be used."""
    errors: list[UnusableColumn] = []
    files: list[File] = []
    if is_path(table):
        from sges.data.files import open_files  # pyarrow: only when it is used

        files = open_files(table, reading)
    while True:
        try:
            if files:
                return *_columns_of_files(files), errors
            return columns_of(table, reading), label_notes(reading, names_of(table)), errors
        except UnusableColumn as error:
            if _has_weights(error.column, reading) or (files and len(files[0].places) == 1):
                raise
            errors.append(error)
            reading = replace(reading, exclude=(*(reading.exclude or ()), error.column))
            for file in files:
                file.leave_out(error.column)
        except DataError:
            if errors:  # there is no other column
                raise errors[0] from None
            raise


def _without_unusable(
    columns: list[Column], reading: Reading, asked: Collection[str], errors: list[UnusableColumn]
) -> tuple[list[Column], list[Finding]]:
    """Return the columns that can be used, and findings on those that ``learn`` refuses."""
    usable: list[Column] = []
    empty: list[Column] = []
    named: list[Column] = []
    for column in columns:
        try:
            if not _has_weights(column.name, reading):
                _check(column, reading, column.name in asked)
            is_empty = 0 < len(column) == column.missing_count
            (empty if is_empty else usable).append(column)
        except UnusableColumn as error:
            errors.append(error)
        except DataError:
            named.append(column)
    if all(_has_weights(column.name, reading) for column in usable):
        return columns, []  # the error then says why no column is left
    findings = [
        Finding(
            "unusable columns", True, (error.column,), f"Column {error.column!r} {error.what}.",
            Message("No graph can be learned with it: ", error.remedy, "."),
        )
        for error in errors
    ]  # fmt: skip
    return usable, [*findings, *_left_out(empty, named)]


def _check(column: Column, reading: Reading, is_asked: bool) -> None:
    """Raise the error with which ``learn`` refuses a column."""
    check_finite([column])
    if column.labels is None or is_asked or hidden_numbers(column.labels, len(column)) is not None:
        return
    present = len(column) - column.missing_count
    check_levels(column.name, len(column.distinct()), present, column.labels, reading)


def _left_out(empty: list[Column], identifiers: list[Column]) -> Iterator[Finding]:
    if empty:
        names = tuple(column.name for column in empty)
        what = f"{counted_columns(names, 'has', 'have')} no values: {listed(names)}."
        advice = Message("Such columns must be left out: ", exclude_option(names), ".")
        yield Finding("columns without values", True, names, what, advice)
    if identifiers:
        names = tuple(column.name for column in identifiers)
        what = f"{counted_columns(names, 'has', 'have')} a different text in each "
        what += f"row, like identifiers: {listed(names)}."
        advice = Message("Nothing can be learned from identifiers: ", exclude_option(names), ".")
        yield Finding("identifiers", True, names, what, advice)


def _columns_of_files(files: list["File"]) -> tuple[list[Column], list[str]]:
    """Return the columns of a file or folder and notes; of a large one, only some of the rows."""
    from sges.data.files import are_large, read_files  # pyarrow: only when it is used

    noted, reading = files[0].notes(), files[0].reading
    parts: list[list[Column]] = []
    seen, limit = 0, max(1, MAX_SAMPLED_ROWS // len(files))
    if (reading.weights is None or isinstance(reading.weights, str)) and are_large(files):
        for file in files:
            sample = file.consumed(lambda batches: _sampled(batches, limit))
            if sample is None:  # the file cannot be read in batches
                return read_files(files), noted
            parts, seen = parts + sample[0], seen + sample[1]
    if not parts:
        return read_files(files), noted
    columns = joined_tables(parts, ["a part of the table"] * len(parts))
    if len(columns[0]) < seen:
        noted = [_sample_note(seen, len(columns[0])), *noted]
    return columns, noted


def _sampled(batches: Iterator[list[Column]], limit: int) -> tuple[list[list[Column]], int]:
    """Return evenly spaced batches with about as many rows as allowed, and how many there were."""
    kept: list[list[Column]] = []
    step, seen = 1, 0
    for i, columns in enumerate(batches):
        seen += len(columns[0])
        if i % step == 0 and len(columns[0]):
            kept.append(columns)
            if sum(len(part[0]) for part in kept) > limit and len(kept) > 1:
                kept, step = kept[::2], 2 * step
    return kept, seen


def _sample_note(rows: int, used: int) -> str:
    """Return the note on a large table of which only some rows were examined."""
    return f"of {rows:,} rows, {used:,} in evenly spaced blocks were examined"


def _findings(data: Dataset) -> list[Finding]:
    """Return everything that the checks find in a dataset."""
    odd = [*checks.matrices(data), *checks.cross_table(data)]
    if any(finding.serious for finding in odd):
        return odd  # a row is then not a record, and other findings would be meaningless
    whole = without_holes(data)
    sample = some_rows(whole, MAX_PAIR_ROWS)
    return [
        *odd,
        *checks.missing_values(data),
        *checks.row_numbers(data),
        *checks.stand_ins(data),
        *checks.look_alikes(data),
        *relations.duplicates(sample),
        *relations.determined(sample),
        *relations.linear_relations(whole),
        *checks.tails(data),
        *checks.dependent_rows(whole),
        *checks.nearly_constant(data),
        *checks.piled_up(data),
        *relations.curved(sample),
        *checks.few_rows(data),
        *checks.few_rows_per_cell(data),
        *checks.rare_levels(data),
        *checks.repeated_rows(whole),
    ]


# Facts on one column


def _facts(data: Dataset, v: int, asked: bool) -> ColumnFacts:
    missing = 0 if data.holes is None else int(data.holes[v].sum())
    name, kind, suffix = data.names[v], data.kinds[v], ", as requested" if asked else ""
    if kind is Kind.DISCRETE:
        shares = _shares_of_levels(data, v)
        why = f"{_type_of(data.levels[v] or ())}, {len(shares)} distinct{suffix}"
        return ColumnFacts(name, kind, why, missing, len(shares), levels=shares)
    values, weights = observed_values(data, v)
    if not len(values):
        return ColumnFacts(name, kind, "no values", missing, 0)
    distinct = len(np.unique(values))
    why = f"integers, {distinct:,} distinct" if are_whole(values) else "fractions"
    mean, deviation, skewness, kurtosis = map(float, shape(values, weights))
    records = len(values) if weights is None else float(weights.sum()) * data.unit
    deviation *= math.sqrt(records / max(records - 1, 1))  # estimated, as R and pandas do
    ends = float(values.min()), float(values.max())
    shown = mean, deviation, *ends, skewness, kurtosis
    return ColumnFacts(name, kind, why + suffix, missing, distinct, *shown)


def _shares_of_levels(data: Dataset, v: int) -> tuple[tuple[Any, float], ...]:
    """Return the levels of a discrete column, the most frequent first, and their shares."""
    levels, counts = data.levels[v] or (), level_counts(data, v)
    order = np.argsort(-counts, kind="stable")
    return tuple((levels[i], float(counts[i] / counts.sum())) for i in order if counts[i])


def _type_of(levels: tuple[Any, ...]) -> str:
    """Return what the levels of a discrete column are."""
    present = [level for level in levels if level is not None]
    types = {"truth values": bool, "integers": int, "numbers": int | float, "text": object}
    return next(w for w, t in types.items() if all(isinstance(level, t) for level in present))
