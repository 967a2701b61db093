"""From any table in memory to columns: frames, Arrow, NumPy, mappings, lists.

Frames go through narwhals, which imports no frame library that the user has not imported.  Lists
and columns of objects have no type, so every entry is examined.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.data.columns import (
    Column,
    complex_numbers,
    label_column,
    leave_out,
    number_column,
    unusable,
    unusable_column,
)
from sges.data.moments import numbered_names
from sges.data.reading import Reading, Table, check_unique_names, places_to_read
from sges.errors import DataError, as_name, shown

Part: TypeAlias = Any
"""One column of a table, as its library holds it."""

Series: TypeAlias = Any
"""A narwhals or pandas series."""

ROWS_TOGETHER = 4096
"""Rows of integers transposed together, so that they stay in the cache."""

LAZY_LIBRARIES = ("polars", "duckdb", "ibis", "pyspark", "sqlframe", "daft", "narwhals")
"""Libraries whose lazy frames narwhals reads."""


def columns_of(table: Table, reading: Reading) -> list[Column]:
    """Return the columns to read of any table in memory that ``Dataset.of`` accepts."""
    if isinstance(table, np.ndarray):
        parts = _numpy_parts(table)
    elif isinstance(table, Mapping):
        parts = [(as_name(name), values) for name, values in table.items()]
    elif (pa := sys.modules.get("pyarrow")) and isinstance(table, pa.Table | pa.RecordBatch):
        parts = list(zip(table.column_names, table.columns, strict=True))
    else:
        parts = _frame_parts(table)
    places = places_to_read(reading, [name for name, _ in parts])
    columns = [column_of(name, parts[place][1]) for name, place in places.items()]
    for column in columns:
        if len(column) != len(columns[0]):
            raise DataError(
                f"column {column.name!r} has {len(column)} row{'' if len(column) == 1 else 's'} "
                f"and {columns[0].name!r} has {len(columns[0])}; all columns need the same number "
                "of rows"
            )
    return columns


def names_of(table: Table) -> list[str]:
    """Return the names of the columns of a table in memory; of an array, which has none, none."""
    if isinstance(table, Mapping):
        return [as_name(name) for name in table]
    names = getattr(table, "column_names", None) or _native_names(table)
    return [as_name(name) for name in names]


def _numpy_parts(table: NDArray[Any]) -> list[tuple[str, Part]]:
    """Return the columns of an array; integers that fit in a byte are stored as bytes."""
    shape = table.shape
    if table.dtype.names is not None:
        if table.ndim != 1:
            what = f"a structured array of shape {shape} is not a table; give a 1-D array"
            raise DataError(what)
        return [(name, table[name]) for name in table.dtype.names]
    if table.ndim != 2:
        raise DataError(f"a NumPy array of shape {shape} is not a table; give rows x columns, 2-D")
    has_integers = type(table) is np.ndarray and table.dtype.kind in "iu" and table.size > 0
    if has_integers and table.min() >= 0 and table.max() <= np.iinfo(np.uint8).max:
        narrow = np.empty(shape, np.uint8, order="F")
        for start in range(0, len(table), ROWS_TOGETHER):
            narrow[start : start + ROWS_TOGETHER] = table[start : start + ROWS_TOGETHER]
        table = narrow
    return list(zip(numbered_names(shape[1]), table.T, strict=True))


def _frame_parts(table: Table) -> list[tuple[str, Part]]:
    """Return the columns of a frame, or of what has the Arrow C stream interface."""
    if not type(table).__module__.startswith("sges."):  # an example needs no other library
        import narwhals as nw

        check_unique_names([as_name(name) for name in _native_names(table)])
        frame = nw.from_native(table, pass_through=True)
        frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        if isinstance(frame, nw.DataFrame):
            # Not frame[name]: where names are numbers, that is a row.
            return list(zip(map(as_name, frame.columns), frame.iter_columns(), strict=True))
    if not hasattr(table, "__arrow_c_stream__") or hasattr(table, "to_frame"):
        raise DataError(
            f"a value of type {type(table).__name__} is not a table; give a pandas, polars or "
            "pyarrow table, a 2-D NumPy array, a mapping of columns, or the path of a file"
        )
    import pyarrow as pa

    whole = pa.RecordBatchReader.from_stream(table).read_all()
    return list(zip(whole.column_names, whole.columns, strict=True))


def is_dask(table: Table) -> bool:
    """Return whether a table is a Dask frame, without importing Dask."""
    dask = sys.modules.get("dask.dataframe")
    return dask is not None and isinstance(table, dask.DataFrame)


def comes_in_parts(table: Table) -> bool:
    """Return whether a table is a Dask frame, or a query that has not been computed."""
    return is_dask(table) or lazy_frame(table) is not None


def lazy_frame(table: Table) -> Any:  # noqa: ANN401 (of narwhals)
    """Return a query as a lazy frame of narwhals; None if a table is something else."""
    module = type(table).__module__.partition(".")[0].lstrip("_")
    if module not in LAZY_LIBRARIES or module not in sys.modules:
        return None
    import narwhals as nw

    check_unique_names([as_name(name) for name in _native_names(table)])
    frame = nw.from_native(table, pass_through=True)
    return frame if isinstance(frame, nw.LazyFrame) else None


def _native_names(table: Table) -> Iterable[Any]:
    """Return the names of a frame's columns: narwhals has a long message for duplicates."""
    if type(table).__name__ == "LazyFrame":
        return ()
    names = getattr(table, "columns", ())
    return names if isinstance(names, Iterable) and not callable(names) else ()


def column_of(name: str, part: Part) -> Column:
    """Return one column, from any library."""
    if isinstance(part, np.ndarray):
        return _numpy_column(name, part)
    if isinstance(part, str | bytes) or not isinstance(part, Iterable):
        raise DataError(
            f"column {name!r} is a single {type(part).__name__}; give one value per row"
        )
    if isinstance(part, list | tuple):
        return list_column(name, list(part))
    pa, pandas = sys.modules.get("pyarrow"), sys.modules.get("pandas")
    if pa is not None and isinstance(part, pa.Array | pa.ChunkedArray):
        from sges.data.arrow import column_of_arrow

        return column_of_arrow(name, part)
    if pandas is not None and isinstance(part, pandas.api.extensions.ExtensionArray | pandas.Index):
        part = pandas.Series(part)  # which keeps its categories
    import narwhals as nw

    series = nw.from_native(part, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return _series_column(name, series)
    return list_column(name, list(part))


def _series_column(name: str, series: Series) -> Column:
    """Return the column held by a narwhals series."""
    import narwhals as nw

    from sges.data.arrow import column_of_arrow

    pandas_like = series.implementation.is_pandas_like()
    if series.dtype == nw.Object:
        return list_column(name, series.to_list())
    if pandas_like and series.dtype in (nw.Categorical, nw.Enum):
        categories = series.to_native().cat  # they may be intervals, or any other type
        levels = [
            level if isinstance(level, str | int | float | bool) else str(level)
            for level in categories.categories.tolist()
        ]
        positions = categories.codes.to_numpy().astype(np.int64)
        missing = positions < 0
        positions[missing] = 0
        return label_column(name, positions, levels, declared=True, missing=missing)
    if series.dtype == nw.Categorical:
        # Its categories belong to a pool shared with other columns: none were declared for it.
        series = series.cast(nw.String)
    native_dtype = getattr(series.to_native(), "dtype", None)
    if getattr(native_dtype, "kind", "") == "c":
        raise complex_numbers(name)
    try:
        array = series.to_arrow()
    except (TypeError, ValueError, NotImplementedError) as error:
        raise unusable(name, str(native_dtype)) from error
    return column_of_arrow(name, array)


def _numpy_column(name: str, values: NDArray[Any]) -> Column:
    missing: NDArray[np.bool_] | None = None
    if isinstance(values, np.ma.MaskedArray):
        missing, values = np.ma.getmaskarray(values), values.data
    kind = values.dtype.kind
    if values.ndim != 1 or kind == "V":
        raise unusable(name, f"{values.dtype}, shape {values.shape}", "nested")
    if kind == "c":
        raise complex_numbers(name)
    if kind in "mM":
        raise unusable(name, str(values.dtype), "dates")
    if kind in "biuf":
        return number_column(name, np.ascontiguousarray(values), missing)
    entries = values.tolist()
    if missing is not None:
        entries = [None if gone else entry for entry, gone in zip(entries, missing, strict=True)]
    return list_column(name, entries)


def list_column(name: str, entries: list[Any]) -> Column:
    """Return a column of Python values, which must all be of one family."""
    missing = np.fromiter(map(_is_missing, entries), np.bool_, len(entries))
    present = [entry for entry, gone in zip(entries, missing, strict=True) if not gone]
    families = {_family(name, entry) for entry in present}
    if len(families) > 1 and families != {"integer", "real"}:
        counts = sorted(Counter(type(entry).__name__ for entry in present).items())
        raise unusable_column(
            name,
            f"mixes types ({', '.join(f'{n} {kind}' for kind, n in counts)})",
            "convert all values to numbers, or all to text",
        )
    if families == {"text"}:
        places: dict[str, int] = {}
        positions = np.zeros(len(entries), np.int64)
        positions[~missing] = [places.setdefault(str(one), len(places)) for one in present]
        return label_column(name, positions, list(places), missing=missing)
    kind: Any = np.bool_ if families == {"truth value"} else np.float64
    if families == {"integer"}:
        kind = _integer_type(name, present)
    values = np.zeros(len(entries), kind)
    try:
        values[~missing] = np.array(present, kind)
    except OverflowError:  # an integer or a fraction
        what = "contains numbers beyond the range of floating-point numbers"
        raise unusable_column(name, what, "rescale it, or ", leave_out(name)) from None
    return number_column(name, values, missing)


def _integer_type(name: str, present: list[Any]) -> type[np.integer[Any]]:
    """Return the type that holds these integers."""
    for kind in (np.int64, np.uint64):
        if np.iinfo(kind).min <= min(present) and max(present) <= np.iinfo(kind).max:
            return kind
    raise unusable_column(
        name,
        f"contains integers beyond 64 bits ({shown(max(present, key=abs))})",
        "give them as text if they are codes, or as floats if they are quantities",
    )


def _is_missing(entry: object) -> bool:
    """Return whether an entry stands for no value: None, NaN, pandas.NA, NaT, numpy.ma.masked."""
    if entry is None or entry is np.ma.masked or type(entry).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(entry, np.datetime64 | np.timedelta64):
        return bool(np.isnat(entry))
    return isinstance(entry, float | np.floating | Decimal) and bool(entry != entry)


def _family(name: str, entry: object) -> str:
    """Return the family of types of an entry; raise an error if there is none."""
    families: list[tuple[Any, str]] = [
        (bool | np.bool_, "truth value"),
        (str, "text"),
        (Integral, "integer"),
        (Real | Decimal | Fraction, "real"),
    ]
    for kind, family in families:
        if isinstance(entry, kind):
            return family
    if isinstance(entry, complex | np.complexfloating):
        raise complex_numbers(name)
    if isinstance(entry, date | time | timedelta | np.datetime64 | np.timedelta64):
        raise unusable(name, type(entry).__name__, "dates")
    if isinstance(entry, Iterable) and not isinstance(entry, bytes):
        raise unusable(name, type(entry).__name__, "nested")
    raise unusable(name, type(entry).__name__, "entry")
