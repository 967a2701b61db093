"""A Gaussian score of an array equals that of the array read as a dataset."""

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sges.data import Dataset
from sges.score import GaussianBIC

ROWS = 800


def arrays() -> dict[str, NDArray[Any]]:
    rng = np.random.default_rng(0)
    plain = rng.normal(size=(ROWS, 4))
    plain[:, 1] += plain[:, 0]
    frozen = plain.copy()
    frozen.flags.writeable = False
    constant = np.full((ROWS, 1), 0.1)
    return {
        "plain": plain,
        "by columns": np.asfortranarray(plain),
        "strided": np.repeat(np.repeat(plain, 2, 0), 2, 1)[::2, ::2],
        "backwards": plain[::-1, ::-1],
        "read-only": frozen,
        "single precision": plain.astype(np.float32),
        "big-endian": plain.astype(">f8"),
        "integers": (10 * plain).astype(np.int64),
        "missing": np.where(plain > 2, np.nan, plain),
        "infinite": np.where(plain > 2, np.inf, plain),
        "with a constant": np.hstack([plain, constant]),
        "with a double": np.hstack([plain, plain[:, :1]]),
        "far off": 1e-3 * plain + 1e12,
        "beyond sums": 1e-3 * plain + 1.7e308,
        "tiny": 1e-200 * plain,
        "one row": plain[:1],
        "no row": plain[:0],
        "no column": plain[:, :0],
        "a column": plain[:, 0],
        "a cube": plain[None],
    }


def outcome(make: Any) -> tuple[list[str], tuple[str, ...] | None, list[float]]:  # noqa: ANN401
    """Return the warnings or the error, the names, and some scores."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            score = make()
            names, found = score.names, [score.local(0, 0), score.local(0, (1 << score.n) - 2)]
        except Exception as error:
            return [f"{type(error).__name__}: {error}"], None, []
    return sorted(str(w.message) for w in caught), names, found


@pytest.mark.parametrize("kind", arrays())
def test_an_array_scores_as_the_data_set_of_it(kind: str) -> None:
    array = arrays()[kind]
    said, names, found = outcome(lambda: GaussianBIC(array))
    other = outcome(lambda: GaussianBIC(Dataset.of(array, kinds="continuous")))
    # An error for an array also says where the recommended option can be given.
    assert ([each.partition("; this is an option of")[0] for each in said], names) == other[:2]
    assert found == pytest.approx(other[2], rel=1e-6, abs=1e-6)


def test_a_node_may_be_any_integer() -> None:
    score = GaussianBIC(arrays()["plain"])
    assert score.local(np.int64(1), 0b1) == score.local(1, 0b1)  # type: ignore[arg-type]
