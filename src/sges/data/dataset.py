"""A table as the scores read it, and the steps from any table to it.

``Dataset.of`` finds the columns (``tables``, ``files``), separates the weights, deals with
missing values and chooses the kind of each column (``decisions``), and encodes them (``columns``).
"""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from math import inf, prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sges.data.columns import (
    LEADING_ROWS,
    Column,
    check_finite,
    codes_and_levels,
    data_error,
    floats,
    is_constant,
    leave_out,
    listed,
    numbers_of,
    packed,
    unusable_column,
)
from sges.data.decisions import (
    MAX_INTEGER_LEVELS,
    KindNotes,
    Tally,
    Values,
    continuous_holes,
    numbers_in_text,
    stacked_holes,
)
from sges.data.em import too_few_pairs
from sges.data.moments import Moments, is_plain, numbered_names
from sges.data.reading import (
    Format,
    Kind,
    Kinds,
    Missing,
    Reading,
    Table,
    kinds_asked,
    label_notes,
    places_to_read,
)
from sges.data.tables import column_of
from sges.display import printable
from sges.errors import Argument, DataError, Message, SgesError, Spelling, as_name
from sges.toolbox import tool

if TYPE_CHECKING:
    from sges.tools.inspect import Description

Array = TypeVar("Array", bound="NDArray[Any] | None")

MAX_ROWS_OF_LABELS = 20
"""In a table of more rows than this, a column with a level per row is taken for an identifier."""

COPIED_CELLS = 1 << 16
"""An array of doubles of at most this size is copied, so that later changes have no effect."""

MAX_RECORDS = 2**53
"""The largest sum of weights: up to here, counts are exact as doubles."""

SURVEY_TOTAL = 2**31
"""Survey weights are stored as whole numbers that add up to about this, or to 2**16 per row."""

LEAST_OBSERVED = 0.1
"""A column with at most this share of the records of the fullest one is not counted."""

_MAX_KEY = 2**62  # row keys stay below this, so that they fit into 64 bits with a sign


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Dataset:
    """A table as the scores read it: one contiguous array per kind of column.

    ``Dataset.of`` makes one from any common table or file and validates it; the constructor
    trusts its arguments.

    Parameters
    ----------
    names : tuple of str
        All columns, in the order of the table.
    kinds : tuple of Kind
        The kind of each column.
    levels : tuple
        For each discrete column the labels of its codes; None for a continuous one.
    values : ndarray of float64
        The continuous columns, one row each; a view of the table if it was a large array.
    codes : ndarray of unsigned integers
        The discrete columns, one contiguous row each, in the smallest type that fits.
    weights : ndarray of int64, optional
        How often each row of the table occurs; None means once each.
    notes : tuple of str
        What was decided about the table, one sentence each.  ``sges.errors.in_shell`` puts a note
        in the terms of the command line.
    unit : float
        How many records a weight of one stands for: 1 if weights are counts.  Survey weights are
        stored as large whole numbers, with a small unit.
    holes : ndarray of bool, optional
        Which values are missing (columns x rows); None means none.  There, ``values`` are NaN and
        ``codes`` are zero.

    Examples
    --------
    >>> data = Dataset.of({"dose": [0.5, 1.5, 2.5], "cured": [False, True, True]})
    >>> data
    Dataset(3 rows: dose continuous, cured discrete)
    >>> data.values.tolist(), data.codes.tolist(), data.levels
    ([[0.5, 1.5, 2.5]], [[0, 1, 1]], (None, (False, True)))
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    levels: tuple[tuple[Any, ...] | None, ...]
    values: NDArray[np.float64]
    codes: NDArray[np.unsignedinteger]
    weights: NDArray[np.int64] | None = None
    notes: tuple[str, ...] = ()
    unit: float = 1.0
    holes: NDArray[np.bool_] | None = None

    @classmethod
    def of(
        cls,
        table: Table,
        *,
        kinds: Kinds = None,
        missing: Missing = "error",
        names: Sequence[str] | None = None,
        weights: str | Sequence[float] | NDArray[Any] | None = None,
        columns: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        delimiter: str | None = None,
        decimal: str = ".",
        encoding: str | None = None,
        missing_words: Sequence[str] | None = None,
        format: Format | None = None,
    ) -> "Dataset":
        """Return the dataset of a table or a file.

        Parameters
        ----------
        table
            A pandas, polars or pyarrow table, a NumPy array (2-D or structured), a mapping of
            columns, or the path of (or an open binary file of) CSV, TSV, Parquet, Feather or
            Arrow; ``"-"`` is standard input.  A folder, or a pattern such as
            ``"data/*.parquet"``, stands for the rows of all its files.  A Dask frame, a Polars
            LazyFrame or a DuckDB relation; if all its columns are discrete, only its distinct
            rows are fetched.  A Dataset is returned as it is.  A large array of doubles is not
            copied: do not write to it while the dataset is in use.
        kinds
            ``{"column": "discrete"}`` for some columns, or one kind for all.  For the others,
            floats are continuous, truth values, text and categories are discrete, and whole
            numbers are discrete if they have few distinct values; ``notes`` says where that was a
            choice.
        missing
            ``"error"`` raises an error for missing values (null, NaN); ``"drop"`` drops the rows
            that have one; ``"level"`` makes them one more level, the last, of a discrete column;
            ``"em"`` keeps them as ``holes``, and scores are computed from the observed values
            (``sges.data.em``), which assumes that values are missing at random.
        names
            New names for all columns, to which all other options then refer.  The columns of an
            array are named x0, x1, ... by default.
        weights
            The weights of the rows, or the name of the column that holds them.  Whole numbers say
            how often each row occurs.  If any weight has a fraction, all are survey weights: only
            their ratios matter, and the table counts as (Σw)² / Σw² records (Kish 1965).
        columns
            The columns to read, in this order; default: all.
        exclude
            Columns to leave out.
        delimiter
            CSV and TSV: the character between fields; default: a comma, or a tab in TSV.
        decimal
            CSV and TSV: the decimal mark.
        encoding
            CSV and TSV: the encoding of the text; default: UTF-8.
        missing_words
            CSV and TSV: the fields that mean a missing value; default: the empty field, "NA",
            "NaN", "null" and their usual variants.  "None" is not one of them.
        format
            ``"csv"``, ``"tsv"``, ``"parquet"`` or ``"feather"`` (which includes Arrow), for a
            file whose extension does not show it.

        Returns
        -------
        Dataset
            The columns by kind; ``notes`` says what was decided about them.

        Raises
        ------
        InvalidArgument
            If an option has a wrong type or is not one of the allowed words.
        FileError
            If a file does not exist or cannot be opened.
        DataError
            If the table cannot be used; the message says why and what would help.

        Examples
        --------
        >>> Dataset.of({"dose": [0.5, 1.5, 2.5], "id": ["a", "b", "c"]}, exclude=["id"])
        Dataset(3 rows: dose continuous)
        """
        reading = Reading(
            kinds=kinds, missing=missing, names=names, weights=weights, columns=columns,
            exclude=exclude, delimiter=delimiter, decimal=decimal, encoding=encoding,
            missing_words=missing_words, format=format,
        )  # fmt: skip
        from sges.data.sources import statistics_of  # which needs this class

        data = statistics_of(table, reading, rows=True)
        assert isinstance(data, Dataset)
        return data

    @property
    def n(self) -> int:
        """The number of columns."""
        return len(self.names)

    @property
    def rows(self) -> int:
        """The number of rows stored."""
        return int((self.values if len(self.values) else self.codes).shape[1])

    @property
    def records(self) -> int:
        """The number of records: each row as often as its weight says.

        With survey weights or holes, the effective number that scores use.  Holes reduce it to
        the mean, over all pairs of columns, of the records in which both are observed; columns
        that contain next to no information (``nearly_empty``) are not counted.
        """
        if self.holes is None:
            total = self.rows if self.weights is None else int(self.weights.sum())
            return total if self.unit == 1 else round(total * self.unit)
        counted = np.delete(~self.holes, nearly_empty(self), axis=0)
        n = len(counted)
        by_count = np.bincount(counted.sum(axis=0), self.weights, n + 1).tolist()
        # In integers: a sum of doubles, and so its rounding, would depend on the order of the rows.
        pairs = sum(int(total) * (k * (k - 1) if n > 1 else k) for k, total in enumerate(by_count))
        return round(Fraction(pairs, max(n * (n - 1), 1)) * Fraction(self.unit))

    @property
    def continuous(self) -> tuple[int, ...]:
        """The columns that are rows of ``values``, in that order."""
        return tuple(i for i, kind in enumerate(self.kinds) if kind is Kind.CONTINUOUS)

    @property
    def discrete(self) -> tuple[int, ...]:
        """The columns that are rows of ``codes``, in that order."""
        return tuple(i for i, kind in enumerate(self.kinds) if kind is Kind.DISCRETE)

    @property
    def arities(self) -> NDArray[np.int64]:
        """The number of levels of each discrete column, unobserved ones included."""
        return np.array([len(labels) for labels in self.levels if labels is not None], np.int64)

    @property
    def records_per_cell(self) -> float:
        """Records per combination of levels of the two discrete columns with the most levels."""
        largest = sorted(self.arities.tolist())[-2:]
        return self.records / max(prod(largest), 1) if len(largest) > 1 else inf

    def merged(self) -> "Dataset":
        """Return the same records with each distinct row stored once, sorted and weighted.

        Give ``confidence`` a survey as it is: it draws rows, and merged rows are people no more.

        Raises
        ------
        DataError
            If a column is continuous.

        Examples
        --------
        >>> twice = Dataset.of({"a": ["u", "v", "u"], "b": [True, True, True]}).merged()
        >>> twice.codes.tolist(), twice.weights.tolist(), twice.records
        ([[0, 1], [0, 0]], [2, 1], 3)
        """
        check_no_missing(self, "merging rows")
        if self.continuous:
            name = self.names[self.continuous[0]]
            raise DataError(
                f"rows can be merged only if all columns are discrete, but {name!r} is continuous"
            )
        codes, weights = merge_rows(self.codes, self.arities.tolist(), self.weights)
        values = _frozen(np.empty((0, len(weights))))
        return replace(self, values=values, codes=_frozen(codes), weights=_frozen(weights))

    def describe(self) -> "Description":
        """Return facts and findings about the table that matter for a search; ``print`` shows them.

        The findings are about missing values, columns that are copies or functions of others,
        collinear groups, skew, curved relations, rows that depend on each other, and too few
        rows, each with the option that helps.

        Examples
        --------
        >>> table = {"weight": [2.1, 2.9, 3.4, 1.8] * 20, "light": [True, False, False, True] * 20}
        >>> found = Dataset.of(table).describe()
        >>> [finding.topic for finding in found.serious]
        ['deterministic columns']
        >>> found.columns[1].kind, found.columns[1].levels
        (<Kind.DISCRETE: 'discrete'>, ((False, 0.5), (True, 0.5)))
        """
        return tool("describe")(self)

    def __repr__(self) -> str:
        pairs = [f"{printable(n)} {k}" for n, k in zip(self.names, self.kinds, strict=True)]
        shown = ", ".join(pairs[:6]) + (", ..." if len(pairs) > 6 else "")
        return f"Dataset({self.rows} rows: {shown})"


def usable_rows(
    columns: list[Column],
    reading: Reading,
    start: int = 0,
    times: NDArray[np.int64] | None = None,
) -> tuple[list[Column], NDArray[Any] | None, Tally]:
    """Return the columns and weights of the rows with a weight and, unless kept, without holes."""
    check_finite(columns, start)
    weights: NDArray[Any] | None = times
    if reading.weights is not None:
        columns, weights = _separated(columns, reading.weights)
        kept = _count(weights)
        columns, weights = [column.take(kept) for column in columns], weights[kept]
        if times is not None:
            times = times[kept]
            weights = weights * times
    tally = Tally.of(columns, times)
    if tally.incomplete and reading.missing != "level":
        # EM uses every row with at least one observed value.
        is_unusable = np.all if reading.missing == "em" else np.any
        kept = ~is_unusable(stacked_holes(columns), axis=0)
        if not kept.all():
            columns = [column.take(kept) for column in columns]
            weights = None if weights is None else weights[kept]
    return columns, weights, tally


def _separated(columns: list[Column], weights: Any) -> tuple[list[Column], NDArray[Any]]:  # noqa: ANN401 (a table's)
    """Return the columns without the weights, and the weights: the last column, or given apart."""
    if isinstance(weights, str):
        return columns[:-1], checked_weights(columns[-1])
    found = checked_weights(column_of("weights", weights))
    if len(found) != len(columns[0]):
        raise DataError(
            f"{len(found)} weights were given for {len(columns[0])} rows; each row needs one"
        )
    return columns, found


def dataset_of_columns(
    columns: list[Column],
    reading: Reading,
    noted: Sequence[str] = (),
    *,
    is_described: bool = False,
) -> Dataset:
    """Return the dataset of columns; ``noted`` are the notes on how they were read."""
    given_rows = len(columns[0])
    columns, weights, tally = usable_rows(columns, reading)
    if given_rows and not tally.rows:
        raise DataError(f"the weights of all {given_rows} rows are zero, so no row is left")
    tally.check(reading.missing)
    counts, unit = in_units(weights) if weights is not None and len(weights) else (None, 1.0)
    check_records(len(columns[0]) if counts is None else int(counts.sum()))
    notes = KindNotes(decimal=reading.decimal)
    # In a table of counts, each row often has a level of its own.
    are_records = counts is None or unit != 1 or bool((counts == 1).all())
    meant, kinds = _decided(columns, reading, notes, are_records)
    del columns  # so that each column is freed when it has been copied
    with_holes = reading.missing == "em" and any(column.missing is not None for column in meant)
    dataset = replace(assembled(meant, kinds, counts, with_holes=with_holes), unit=unit)
    rows = zip(dataset.names, _observed(dataset), strict=True)
    notes.constant = [name for name, values in rows if is_constant(values)]
    if dataset.records < 2 and not (with_holes and is_described):
        if with_holes:
            raise too_few_pairs(dataset.records)
        raise DataError(
            "the survey weights count as 1 effective record, because nearly all of the weight is "
            "on one row; at least two are needed"
        )
    missing_notes = tally.notes(reading.missing) + effective_notes(dataset)
    return replace(dataset, notes=(*noted, *missing_notes, *notes.notes()))


def _decided(
    columns: list[Column], reading: Reading, notes: KindNotes, are_records: bool
) -> tuple[list[Column], list[Kind]]:
    """Return the columns converted to what their values represent, and their kinds."""
    asked = kinds_asked(reading, [column.name for column in columns])
    meant: list[Column] = []
    kinds: list[Kind] = []
    for given in columns:
        column, kind = given, asked.get(given.name)
        if kind is None:
            column, known = notes.as_meant(given)
            kind = known.kind()
            notes.add(known, kind)
        meant.append(column)
        kinds.append(kind)
        if kind is Kind.CONTINUOUS and column.missing is not None and reading.missing == "level":
            raise continuous_holes(column)
        if kind is Kind.DISCRETE and are_records:
            rows = len(column) - column.missing_count
            check_levels(column.name, len(column.distinct()), rows, column.labels, reading)
        if column.labels is not None and not column.declared and column.name not in asked:
            times = np.bincount(column.present(), minlength=len(column.labels))
            notes.add_text(column.name, column.labels, times)
    return meant, kinds


def _observed(data: Dataset) -> Iterator[NDArray[Any]]:
    """Yield the values or codes of each column that are not missing."""
    rows: dict[int, NDArray[Any]] = dict(zip(data.continuous, data.values, strict=True))
    rows |= zip(data.discrete, data.codes, strict=True)
    for v in range(data.n):
        yield rows[v] if data.holes is None else rows[v][~data.holes[v]]


def nearly_empty(data: Dataset) -> list[int]:
    """Return the columns of a table with holes that contain next to no information.

    All their observed values are equal, or they have at most ``LEAST_OBSERVED`` of the observed
    records of the column with the most.  None if fewer than two columns would be left.
    """
    if data.holes is None:
        return []
    seen = ~data.holes
    counts = seen.sum(axis=1) if data.weights is None else seen @ data.weights
    few = counts <= LEAST_OBSERVED * counts.max()
    found = [v for v, row in enumerate(_observed(data)) if few[v] or is_constant(row)]
    return found if len(found) <= data.n - 2 else []


def effective_notes(dataset: Dataset) -> list[str]:
    """Return notes on survey weights and on holes, with the number of records they leave."""
    notes = []
    if dataset.unit != 1:
        size = f"{dataset.rows:,} rows count as {replace(dataset, holes=None).records:,} records"
        notes.append(f"weights with fractions are survey weights: {size}")
    if dataset.holes is not None:
        count = int(dataset.holes.sum())
        empty = [dataset.names[v] for v in nearly_empty(dataset)]
        without = f", not counting columns with next to no information ({listed(empty)})"
        notes.append(
            f"{count:,} of {dataset.holes.size:,} values are missing "
            f"({count / dataset.holes.size:.1%}): scores are estimated from the observed values "
            f"(EM) and count {dataset.records:,} effective records{without if empty else ''}; this "
            "assumes that values are missing at random, given those observed"
        )
    return notes


def selected(data: Dataset, columns: Sequence[int]) -> Dataset:
    """Return some columns of a dataset, in the given order."""
    chosen = list(columns)
    if chosen == list(range(data.n)):
        return data

    def rows(kind: Sequence[int]) -> list[int]:
        row = {v: i for i, v in enumerate(kind)}
        return [row[v] for v in chosen if v in row]

    return replace(
        data,
        names=tuple(data.names[v] for v in chosen),
        kinds=tuple(data.kinds[v] for v in chosen),
        levels=tuple(data.levels[v] for v in chosen),
        values=np.ascontiguousarray(data.values[rows(data.continuous)]),
        codes=np.ascontiguousarray(data.codes[rows(data.discrete)]),
        holes=None if data.holes is None else data.holes[chosen],
    )


def check_continuous(dataset: Dataset) -> None:
    """Raise an error if a dataset has a discrete column."""
    if dataset.discrete:
        name = dataset.names[dataset.discrete[0]]
        what = f"column {name!r} is discrete and has no covariance; "
        kind = Argument("kinds", {name: "continuous"})
        raise data_error(what, leave_out(name), ", or pass ", kind, " if it contains quantities")


def as_dataset(
    table: Table, *, columns: Sequence[str] | None = None, kinds: Kinds = None
) -> Dataset:
    """Return a table as a dataset, for a function without options on how a table is read."""
    if isinstance(table, Dataset):
        return table
    try:
        return Dataset.of(table, columns=columns, kinds=kinds)
    except SgesError as error:
        message = error.args[0] if len(error.args) == 1 else None
        if isinstance(message, Message) and message.recommends_arguments:
            where = "; this is an option of sges.data.Dataset.of, whose result can be given instead"
            error.args = (Message(message, Spelling(where, "")),)
        raise


def check_no_missing(dataset: Dataset, what: str) -> None:
    """Raise an error if a table has missing values, where all values are needed."""
    if dataset.holes is not None:
        count = int(dataset.holes.sum())
        problem = f"{what} needs all values, but {count:,} {'is' if count == 1 else 'are'} missing"
        raise data_error(f"{problem}; read the table with ", Argument("missing", "drop"))


def dataset_of_floats(data: Table, reading: Reading) -> Dataset | None:
    """Return the dataset of finite doubles, all continuous, without a copy; else None."""
    table, header = _floats_of(data)
    if not is_plain(table):
        return None
    places = places_to_read(reading, header)
    names, asked = tuple(places), kinds_asked(reading, list(places))
    if Kind.DISCRETE in asked.values():
        return None
    if list(places.values()) != list(range(len(header))):
        table = table[:, list(places.values())]
    leading = np.sort(table[:LEADING_ROWS], axis=0)
    repeats = (leading[1:] != leading[:-1]).sum(axis=0) < MAX_INTEGER_LEVELS
    notes = KindNotes()
    for i in np.flatnonzero(repeats).tolist():
        if names[i] not in asked:
            known = Values.of(Column(names[i], table[:, i]))
            if known.kind() is Kind.DISCRETE:
                return None
            notes.add(known, Kind.CONTINUOUS)
        if is_constant(table[:, i]):
            notes.constant.append(names[i])
    values = _frozen(np.array(table.T, order="C") if table.size <= COPIED_CELLS else table.T)
    codes = _frozen(np.empty((0, len(table)), np.uint8))
    kinds, levels = (Kind.CONTINUOUS,) * len(names), (None,) * len(names)
    all_notes = (*label_notes(reading, header), *notes.notes())
    return Dataset(names, kinds, levels, values, codes, None, all_notes)


def _floats_of(data: Table) -> tuple[object, list[str]]:
    """Return an array, or a frame of doubles as one, and the names of its columns."""
    if type(data) is np.ndarray:
        return data, numbered_names(data.shape[1]) if data.ndim == 2 else []
    pandas = sys.modules.get("pandas")  # None if it was not imported: then it made no table
    if pandas is None or type(data) is not pandas.DataFrame:
        return None, []
    are_floats = all(kind == np.float64 for kind in data.dtypes)
    return data.to_numpy() if are_floats else None, [as_name(name) for name in data.columns]


def checked_weights(column: Column) -> NDArray[Any]:
    """Return weights as counts, or as they are if they have fractions."""
    values = column.values
    usable = column.labels is None and column.missing is None and values.dtype.kind in "iuf"
    if not usable or np.any(values < 0) or not np.isfinite(values).all():
        rule = "must be finite numbers, 0 or more, one for each row"
        raise DataError(f"weights {column.name!r} {rule}")
    if np.any(values != np.floor(values)):
        return values
    records = float(values.sum(dtype=np.float64))
    if records < 2 * MAX_RECORDS:  # near the limit, only integers are exact
        records = int(values.astype(np.int64).sum())
    if records > MAX_RECORDS:
        raise DataError(
            f"weights {column.name!r} add up to {records:.3g} records, but counts are exact only "
            f"up to 2**53, about {MAX_RECORDS:.3g}; scale them down"
        )
    return values.astype(np.int64)


def _count(weights: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which rows count: weights above zero, and in a survey above zero as whole numbers."""
    if weights.dtype == np.int64:
        return weights > 0
    shares = weights / weights.max()
    counting: NDArray[np.bool_] = shares * SURVEY_TOTAL > shares.sum()
    return counting


def in_units(weights: NDArray[Any]) -> tuple[NDArray[np.int64] | None, float]:
    """Return weights as whole numbers, and how many records a weight of one stands for."""
    if weights.dtype == np.int64:
        return weights, 1.0
    if is_constant(weights):
        return None, 1.0
    shares = weights / weights.max()
    shares /= shares.sum()
    counts = np.rint(shares * max(SURVEY_TOTAL, len(weights) << 16)).astype(np.int64)
    return counts, round(1 / float(shares @ shares)) / int(counts.sum())


def check_records(records: int) -> None:
    """Raise an error for fewer than two records, and for more than can be counted exactly."""
    if records < 2:
        rows = f"{records} usable row{'' if records == 1 else 's'}"
        raise DataError(f"the table has {rows}; it needs at least two")
    if records > MAX_RECORDS:
        raise DataError(
            f"the table has {records:.3g} records, but counts are exact only up to 2**53, "
            f"about {MAX_RECORDS:.3g}"
        )


def check_levels(
    name: str, levels: int, rows: int, labels: Sequence[Any] | None, reading: Reading
) -> None:
    """Raise an error if a column that was not named as discrete has a level for each row."""
    is_named = isinstance(reading.kinds, dict) and name in reading.kinds
    if levels < rows or rows <= MAX_ROWS_OF_LABELS or is_named:
        return
    what = f"column {name!r} has a different level in each of {rows} rows, so it looks like "
    numbers = labels and numbers_in_text(labels, np.ones(len(labels)), reading.decimal)
    if numbers:
        raise unusable_column(name, f"is text, although {numbers[0]}", numbers[1])
    kind, aim = "discrete", "to keep it"
    if labels is not None and numbers_of(labels) is not None:
        kind, aim = "continuous", "if these texts are numbers"
    advice = [leave_out(name)]
    if not isinstance(reading.kinds, Kind):  # one kind for all, where others cannot be added
        advice.append(Message(", or pass ", Argument("kinds", {name: kind}), f" {aim}"))
    raise data_error(what, "an identifier: ", *advice)


def assembled(
    columns: list[Column],
    kinds: list[Kind],
    weights: NDArray[np.int64] | None,
    *,
    with_holes: bool = False,
) -> Dataset:
    """Return the columns as arrays; the list is emptied."""
    rows = len(columns[0])
    names = tuple(column.name for column in columns)
    holes = _frozen(stacked_holes(columns)) if with_holes else None
    values = np.empty((kinds.count(Kind.CONTINUOUS), rows))
    coded: list[NDArray[np.unsignedinteger]] = []
    levels: list[tuple[Any, ...] | None] = []
    row = 0
    for kind in kinds:
        column = columns.pop(0)  # and removed: a large table is not in memory twice
        if kind is Kind.CONTINUOUS:
            values[row] = floats(column)
            if column.missing is not None:
                values[row, column.missing] = np.nan
            levels.append(None)
            row += 1
        else:
            codes, labels = codes_and_levels(column)
            if with_holes and column.missing is not None:
                codes[column.missing] = 0
                labels = labels[:-1]  # missing values are not a level
            coded.append(codes)
            levels.append(labels)
    arrays = _frozen(values), _frozen(packed(coded, rows, levels)), _frozen(weights)
    return Dataset(names, tuple(kinds), tuple(levels), *arrays, holes=holes)


def merge_rows(
    codes: NDArray[np.unsignedinteger],
    arities: Sequence[int],
    weights: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.unsignedinteger], NDArray[np.int64]]:
    """Return the distinct rows of ``codes`` (columns x rows), sorted, and their weights."""
    keys, cells = _row_keys(codes, arities), prod(arities)
    if weights is None and cells <= codes.shape[1]:
        counts = np.bincount(keys, minlength=cells)
        present = np.flatnonzero(counts)
        rows = np.empty((len(codes), len(present)), codes.dtype)
        for place in range(len(codes) - 1, -1, -1):
            rest, rows[place] = np.divmod(present, arities[place])
            present = rest
        return rows, counts[counts > 0].astype(np.int64)
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    merged = np.bincount(group, weights, len(first)).astype(np.int64)  # doubles are exact so far
    return np.ascontiguousarray(codes[:, first]), merged


def _row_keys(codes: NDArray[np.unsignedinteger], arities: Sequence[int]) -> NDArray[np.int64]:
    """Return one number per row, equal for equal rows and in the order of the rows."""
    keys = np.zeros(codes.shape[1], np.int64)
    size = 1
    for column, arity in zip(codes, arities, strict=True):
        if size * arity > _MAX_KEY:
            distinct, keys = np.unique(keys, return_inverse=True)
            size = len(distinct)
        keys = keys * arity + column.astype(np.int64)
        size *= arity
    return keys


def digest_of(data: Dataset | Moments) -> str:
    """Return a digest of all that a table contributes to a search."""
    digest = sha256(json.dumps([data.records, *data.names]).encode("utf-8", "surrogatepass"))
    if isinstance(data, Moments):
        arrays: list[NDArray[Any]] = [data.mean, data.covariance]
    else:
        kinds = [str(kind) for kind in data.kinds]
        digest.update(repr((kinds, data.levels)).encode("utf-8", "surrogatepass"))
        arrays = [data.values, data.codes]
        arrays += [values for values in (data.weights, data.holes) if values is not None]
    for array in arrays:
        digest.update(repr((array.shape, array.dtype.str)).encode())
        rows = np.atleast_2d(array)
        parts = [_sums(rows)] if array.dtype.itemsize == 8 else rows
        for part in parts:  # a row at a time, as it is copied
            digest.update(part.tobytes())
    return digest.hexdigest()


def _sums(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a sum of the 64-bit words of each row, in a fifth of the time of a SHA-256.

    The weights are odd, so that any change of one word changes the sum; numbers with few digits
    differ in their upper halves only, which therefore enter the lower halves too.
    """
    words = rows.view(np.uint64)
    weights = np.arange(1, words.shape[1] + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    weights |= np.uint64(1)
    sums = np.empty(len(words), np.uint64)
    for i in range(0, len(words), 64):  # in parts, as each is copied
        folded = words[i : i + 64] >> np.uint64(32)
        folded ^= words[i : i + 64]
        sums[i : i + 64] = np.einsum("ij,j->i", folded, weights)
    return sums


def _frozen(array: Array) -> Array:
    if array is not None:
        array.flags.writeable = False
    return array
