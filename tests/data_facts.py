"""The comparison of datasets in the tests of the data layer, and files in small batches."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sges.data import Dataset, files


@contextmanager
def batches_of(rows: int) -> Iterator[None]:
    """Take all files for large ones, and read this many rows at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "LARGE_FILE_BYTES", 0)
        patch.setattr(files, "BATCH_CELLS", 1)
        patch.setattr(files, "MIN_BATCH_ROWS", rows)
        yield


def facts(data: Dataset) -> dict[str, object]:
    """Return the contents of a dataset without its notes, comparable with ==."""
    return {
        "names": data.names,
        "kinds": data.kinds,
        "levels": data.levels,
        "level types": [None if v is None else [type(x) for x in v] for v in data.levels],
        "values": data.values.tolist(),
        "codes": data.codes.tolist(),
        "code type": data.codes.dtype,
        "weights": None if data.weights is None else data.weights.tolist(),
    }
