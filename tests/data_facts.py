"""The comparison of datasets in the tests of the data layer."""

from sges.data import Dataset


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
