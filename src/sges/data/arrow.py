"""From Arrow arrays to columns.

Buffers are read directly: ``pyarrow.array`` and ``to_numpy`` import pandas if it is installed,
which would slow down users who do not use pandas.
"""

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sges.data.columns import (
    Column,
    label_column,
    number_column,
    unusable,
    unusable_column,
)

ArrowArray: TypeAlias = Any
"""A ``pyarrow`` array or chunked array; the type stubs of pyarrow are incomplete."""

ArrowType: TypeAlias = Any
"""A ``pyarrow`` data type."""


def column_of_arrow(name: str, array: ArrowArray) -> Column:
    """Return the column held by a ``pyarrow`` array or chunked array."""
    if isinstance(array, pa.ChunkedArray) and array.num_chunks != 1:
        if pa.types.is_dictionary(array.type):
            array = array.unify_dictionaries()
        array = array.combine_chunks() if array.num_chunks else pa.nulls(0, array.type)
    if isinstance(array, pa.ChunkedArray):  # combine_chunks would copy even a single chunk
        array = array.chunk(0)
    kind = array.type
    is_dictionary = pa.types.is_dictionary(kind)
    _check_type(name, kind.value_type if is_dictionary else kind)
    try:
        if is_dictionary:
            return _labels(name, array, declared=True)
        if pa.types.is_string_view(kind):
            array = pc.cast(array, pa.large_string())
        if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
            return _labels(name, array.dictionary_encode(), declared=False)
        return number_column(name, _numbers(array), _nulls(array))
    except pa.ArrowException as error:  # a cast that this version of pyarrow does not know
        raise unusable(name, str(kind)) from error


def _check_type(name: str, kind: ArrowType) -> None:
    """Raise an error if values of a type cannot be used."""
    if isinstance(kind, pa.BaseExtensionType):
        raise unusable(name, str(kind))
    if pa.types.is_temporal(kind):
        raise unusable(name, str(kind), "dates")
    if pa.types.is_nested(kind):
        raise unusable(name, str(kind), "nested")
    if "binary" in str(kind):  # of any size
        what = f"contains bytes ({kind}), not text"
        raise unusable_column(name, what, "decode it, as UTF-8 if it is text")


def _nulls(array: ArrowArray) -> NDArray[np.bool_] | None:
    if not array.null_count:
        return None
    return _buffer(pc.cast(pc.is_null(array), pa.uint8()), np.uint8).view(np.bool_)


def _numbers(array: ArrowArray) -> NDArray[Any]:
    kind = array.type
    if pa.types.is_null(kind):
        return np.full(len(array), np.nan)
    if pa.types.is_boolean(kind):
        return _buffer(pc.cast(array, pa.uint8()), np.uint8).view(np.bool_)
    if pa.types.is_uint64(kind):
        return _buffer(array, np.uint64)
    if pa.types.is_integer(kind):
        return _buffer(pc.cast(array, pa.int64()), np.int64)
    return _buffer(pc.cast(array, pa.float64(), safe=False), np.float64)


def _buffer(array: ArrowArray, dtype: type[np.generic]) -> NDArray[Any]:
    """Return the values of a primitive array, sharing its memory."""
    data = array.buffers()[1]
    if data is None:
        return np.zeros(len(array), dtype)
    return np.frombuffer(data, dtype, len(array), array.offset * np.dtype(dtype).itemsize)


def _labels(name: str, encoded: ArrowArray, *, declared: bool) -> Column:
    missing = _nulls(encoded.indices)
    positions = _buffer(pc.cast(encoded.indices, pa.int64()), np.int64)
    if missing is not None:
        positions = np.where(missing, 0, positions)
    return label_column(name, positions, encoded.dictionary, declared=declared, missing=missing)
