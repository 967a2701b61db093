"""A table as the scores read it: one contiguous array per kind of column."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sges.data.reading import Format, Kind, Kinds, Missing, Reading, Table
from sges.data.rows import merge_rows
from sges.errors import DataError, InvalidArgument


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Dataset:
    """Columns by kind, under their names; ``Dataset.of`` makes one from any common table.

    The constructor trusts its arguments; ``of`` validates.

    >>> data = Dataset.of({"dose": [0.5, 1.5, 2.5], "cured": [False, True, True]})
    >>> data
    Dataset(3 rows: dose continuous, cured discrete)
    >>> data.values.tolist(), data.codes.tolist(), data.levels
    ([[0.5, 1.5, 2.5]], [[0, 1, 1]], (None, (False, True)))
    """

    names: tuple[str, ...]
    """All columns, in the order of the table."""
    kinds: tuple[Kind, ...]
    """Per column, what its values are."""
    levels: tuple[tuple[Any, ...] | None, ...]
    """Per column, the labels that the codes stand for; None for a continuous one."""
    values: NDArray[np.float64]
    """The continuous columns, one row each; a view of the table if it was a large array."""
    codes: NDArray[np.unsignedinteger]
    """The discrete columns, one contiguous row each, in the smallest type that fits."""
    weights: NDArray[np.int64] | None = None
    """How often each row occurs; None means once each."""
    notes: tuple[str, ...] = ()
    """What was decided about the columns, one sentence each."""

    @classmethod
    def of(
        cls,
        table: Table,
        *,
        kinds: Kinds = None,
        missing: Missing = "error",
        names: Sequence[str] | None = None,
        weights: str | Sequence[int] | NDArray[Any] | None = None,
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
            Arrow; ``"-"`` is standard input.  A Dataset is returned as it is.  A large array of
            doubles is not copied: do not write to it while the dataset is in use.
        kinds
            ``{"column": "discrete"}`` for some columns, or one kind for all.  For the others,
            floats are continuous, truth values, text and categories are discrete, and integers
            are discrete if they have few distinct values; ``notes`` says where that was a choice.
        missing
            ``"error"`` refuses missing values (null, NaN); ``"drop"`` drops the rows that have
            one; ``"level"`` makes them one more level, the last, of a discrete column.
        names
            New names for all columns, to which all other options then refer.  The columns of an
            array are named x0, x1, ... by default.
        weights
            How often each row occurs: the name of the column that holds the counts, or the
            counts.
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
            file whose name does not say so.

        Returns
        -------
        Dataset
            The columns by kind; ``notes`` says what was decided about them.

        Raises
        ------
        InvalidArgument
            If an option has a wrong type or is not one of the words allowed.
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
        if isinstance(table, Dataset):
            if given := reading.given():
                raise InvalidArgument(
                    f"{given[0]}= was given with a Dataset, which has been read already; "
                    "give it where the Dataset is made"
                )
            return table
        from sges.data.build import dataset_of

        return dataset_of(table, reading)

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
        """The number of records: each row as often as its weight says."""
        return self.rows if self.weights is None else int(self.weights.sum())

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
        return np.array([len(found) for found in self.levels if found is not None], np.int64)

    def merged(self) -> "Dataset":
        """Return the same records with identical rows stored once, sorted, under weights.

        >>> twice = Dataset.of({"a": ["u", "v", "u"], "b": [True, True, True]}).merged()
        >>> twice.codes.tolist(), twice.weights.tolist(), twice.records
        ([[0, 1], [0, 0]], [2, 1], 3)
        """
        if self.continuous:
            name = self.names[self.continuous[0]]
            raise DataError(
                f"rows can be merged only if all columns are discrete, and {name!r} is continuous"
            )
        codes, weights = merge_rows(self.codes, self.arities.tolist(), self.weights)
        return replace(self, codes=_frozen(codes), weights=_frozen(weights))

    def describe(self) -> str:
        """Return what the columns were taken for, as lines of text for people."""
        width = max(map(len, self.names))
        lines = [self._size()]
        for name, kind, levels in zip(self.names, self.kinds, self.levels, strict=True):
            shown = "" if levels is None else f"  {_show_levels(levels)}"
            lines.append(f"  {name:<{width}}  {kind}{shown}")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _size(self) -> str:
        columns = f"{self.n} column{'' if self.n == 1 else 's'}"
        merged = "" if self.weights is None else f" in {self.rows} distinct rows"
        return f"{self.records} records{merged}, {columns}"

    def __repr__(self) -> str:
        pairs = [f"{n} {k}" for n, k in zip(self.names, self.kinds, strict=True)]
        shown = ", ".join(pairs[:6]) + (", ..." if len(pairs) > 6 else "")
        return f"Dataset({self.rows} rows: {shown})"


def discrete_of_file(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    missing: Missing = "error",
    batch_rows: int | None = None,
) -> Dataset:
    """Return the dataset of a file of discrete columns in one pass, identical rows merged.

    The same as ``Dataset.of(path, kinds="discrete", missing=missing).merged()`` up to notes.
    Memory holds ``batch_rows`` rows at a time and the distinct rows seen so far.
    """
    from sges.data.stream import stream_discrete  # pyarrow: only when it is used

    return stream_discrete(path, columns, missing, batch_rows)


def _show_levels(levels: tuple[Any, ...]) -> str:
    shown = ", ".join("(missing)" if level is None else str(level) for level in levels[:6])
    return f"{len(levels)}: {shown}" + (", ..." if len(levels) > 6 else "")


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
