"""Inspection of a table before a search: ``inspect``, ``Dataset.describe``, and notes of ``learn``.

The checks are in ``sges.data.checks`` (columns and rows) and ``sges.data.relations`` (functions of
other columns, collinear groups, a common factor, curves).
"""

import math
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from sges.data import checks, relations
from sges.data.checks import (
    MAX_PAIR_ROWS,
    exclude_option,
    level_counts,
    observed_values,
    some_rows,
    take_rows,
    without_holes,
)
from sges.data.columns import (
    Column,
    UnusableColumn,
    are_whole,
    check_finite,
    joined_tables,
    listed,
    unusable_column,
)
from sges.data.dataset import (
    MAX_ROWS_OF_LABELS,
    Dataset,
    dataset_of_columns,
    effective_notes,
)
from sges.data.decisions import counted_columns, hidden_numbers, numbers_in_text
from sges.data.description import ColumnFacts, Description, Finding
from sges.data.em import too_few_pairs
from sges.data.moments import Moments
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

if TYPE_CHECKING:
    from sges.data.files import File

MAX_SAMPLED_ROWS = 200_000
"""About this many rows of a large table are examined."""

BLOCK_ROWS = 1_000
"""Rows of a large table in memory that stay together, so that neighbors remain neighbors."""

GLANCE_ROWS = 1_000
"""The rows on which ``glance`` compares columns, and the fewest of which it examines the tails."""

GLANCE_VALUES = 1 << 21
"""It examines the tails of more rows if these have no more values than this in all."""

GLANCE_COLUMNS = 60
"""In wider tables, of all relations between columns it searches only for linear ones."""


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
    in_column = options.weights if isinstance(options.weights, str) else None
    readable, noted, errors = _readable_columns(table, options, in_column)
    names_read = [column.name for column in readable if column.name != in_column]
    asked = kinds_asked(options, [*names_read, *(error.column for error in errors)])
    usable, unusable = _without_unusable(readable, in_column, asked, errors, options.decimal)
    names_used = {column.name for column in usable}
    asked = {name: kind for name, kind in asked.items() if name in names_used}
    data = dataset_of_columns(usable, replace(options, kinds=asked), noted, is_described=True)
    if data.holes is not None and data.records < 2:
        what, advice = str(too_few_pairs(data.records)).capitalize().split("; ")
        advice = f"No graph can be learned with missing='em': {advice}."
        unusable.append(Finding("missing values", True, (), f"{what}.", advice))
    if undecided:  # leave out the notes on EM, which was not requested
        omitted = effective_notes(replace(data, unit=1.0))
        data = replace(data, notes=tuple(note for note in data.notes if note not in omitted))
    description = describe(data, frozenset(asked), options.decimal)
    return replace(description, findings=(*unusable, *description.findings))


def _readable_columns(
    table: Table, reading: Reading, weights: str | None
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
            if error.column == weights or (files and len(files[0].places) == 1):
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
    columns: list[Column],
    weights: str | None,
    asked: Collection[str],
    errors: list[UnusableColumn],
    decimal: str,
) -> tuple[list[Column], list[Finding]]:
    """Return the columns that can be used, and findings on those that ``learn`` refuses."""
    rows, empty, named = len(columns[0]), [], []
    for column in columns:
        try:
            check_finite([column] if column.name != weights else [])
        except UnusableColumn as error:
            errors.append(error)
            continue
        present = rows - column.missing_count
        if rows and not present:
            empty.append(column.name)
        elif column.labels is not None and column.name != weights and column.name not in asked:
            is_different = present > MAX_ROWS_OF_LABELS and len(column.distinct()) == present
            if is_different and hidden_numbers(column.labels, rows) is None:
                if mixed := numbers_in_text(column.labels, np.ones(present), decimal):
                    errors.append(
                        unusable_column(column.name, f"is text, although {mixed[0]}", mixed[1])
                    )
                else:
                    named.append(column.name)
    gone = {*empty, *named, *(error.column for error in errors)}
    usable = [column for column in columns if column.name not in gone]
    if len(usable) <= (weights is not None):
        return columns, []  # the error then says why no column is left
    findings = [
        Finding(
            "unusable columns", True, (error.column,), f"Column {error.column!r} {error.what}.",
            Message("No graph can be learned with it: ", error.remedy, "."),
        )
        for error in errors
    ]  # fmt: skip
    if empty:
        what = f"{counted_columns(empty, 'has', 'have')} no values: {listed(empty)}."
        advice = Message("Such columns must be left out: ", exclude_option(empty), ".")
        findings.append(Finding("columns without values", True, tuple(empty), what, advice))
    if named:
        what = f"{counted_columns(named, 'has', 'have')} a different text in each "
        what += f"row, like identifiers: {listed(named)}."
        advice = Message("Nothing can be learned from identifiers: ", exclude_option(named), ".")
        findings.append(Finding("identifiers", True, tuple(named), what, advice))
    return usable, findings


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
        *checks.repeated_rows(whole),
    ]


def glance(data: Dataset | Moments) -> tuple[str, ...]:
    """Return the topics of serious findings, from checks that take a few hundredths of a second."""
    if isinstance(data, Moments):
        findings = relations.linear_relations_of(
            list(data.names), data.covariance, data.records, brief=True
        )
    else:
        rows = some_rows(data, GLANCE_ROWS)
        sample = without_holes(rows)
        is_narrow = data.n <= GLANCE_COLUMNS
        is_wide = data.n > relations.MAX_CORRELATIONS
        has_few_rows = data.rows <= GLANCE_ROWS or data.records_per_cell < checks.MIN_PER_CELL
        findings = [
            *checks.cross_table(data),
            *checks.stand_ins(rows),
            *(relations.duplicates(sample) if is_narrow else ()),
            *(relations.determined(sample) if is_narrow else ()),
            *(() if is_wide else relations.linear_relations(sample, brief=True)),
            *checks.tails(some_rows(data, max(GLANCE_ROWS, GLANCE_VALUES // data.n))),
            *checks.dependent_rows(without_holes(take_rows(data, slice(0, GLANCE_ROWS)))),
            *(checks.few_rows_per_cell(data) if has_few_rows else ()),
        ]
    findings += checks.few_rows(data)
    return tuple(dict.fromkeys(finding.topic for finding in findings if finding.serious))


# Facts on one column


def _facts(data: Dataset, v: int, asked: bool) -> ColumnFacts:
    missing = 0 if data.holes is None else int(data.holes[v].sum())
    name, kind, levels = data.names[v], data.kinds[v], data.levels[v]
    suffix = ", as requested" if asked else ""
    if kind is Kind.DISCRETE and levels is not None:
        counts = level_counts(data, v)
        order = np.argsort(-counts, kind="stable")
        shares = tuple((levels[i], float(counts[i] / counts.sum())) for i in order if counts[i])
        present = [level for level in levels if level is not None]
        types = {"truth values": bool, "integers": int, "numbers": int | float, "text": object}
        what = next(w for w, t in types.items() if all(isinstance(level, t) for level in present))
        why = f"{what}, {len(shares)} distinct{suffix}"
        return ColumnFacts(name, kind, why, missing, len(shares), levels=shares)
    values, weights = observed_values(data, v)
    if not len(values):
        return ColumnFacts(name, kind, "no values", missing, 0)
    distinct = len(np.unique(values))
    why = f"integers, {distinct:,} distinct" if are_whole(values) else "fractions"
    mean, deviation, skewness, kurtosis = map(float, checks.shape(values, weights))
    records = len(values) if weights is None else float(weights.sum()) * data.unit
    deviation *= math.sqrt(records / max(records - 1, 1))  # estimated, as R and pandas do
    ends = float(values.min()), float(values.max())
    shown = mean, deviation, *ends, skewness, kurtosis
    return ColumnFacts(name, kind, why + suffix, missing, distinct, *shown)
