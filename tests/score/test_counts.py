"""Groups of rows, and their counts."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sges.score.discrete import DENSE_GROUPS, Codes, grouped


def table(seed: int, rows: int, arities: Sequence[int]) -> Codes:
    rng = np.random.default_rng(seed)
    found: Codes = np.array([rng.integers(0, r, rows) for r in arities]).astype(np.uint16)
    return found


def records(codes: Codes) -> list[tuple[int, ...]]:
    return [tuple(row) for row in codes.T.tolist()]


@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 60),
    arities=st.lists(st.integers(1, 40), max_size=5),
)
def test_rows_share_a_group_iff_they_agree_on_every_column(
    seed: int, rows: int, arities: list[int]
) -> None:
    codes = table(seed, rows, arities).reshape(len(arities), rows)
    groups = grouped(codes, arities, range(len(arities)))
    seen: dict[int, tuple[int, ...]] = {}
    for group, row in zip(groups.tolist(), records(codes), strict=False):
        assert seen.setdefault(group, row) == row
    assert len(seen) == max(1, len(set(records(codes))))
    assert groups.min() >= 0


@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 60),
    arities=st.lists(st.integers(1, 1000), min_size=1, max_size=8),
)
def test_there_are_never_many_more_groups_than_rows(
    seed: int, rows: int, arities: list[int]
) -> None:
    groups = grouped(table(seed, rows, arities), arities, range(len(arities)))
    assert groups.max() < max(4 * rows, DENSE_GROUPS)


@pytest.mark.parametrize("arities", [[3, 2], [20, 20], [90, 90, 90]])
def test_groups_are_ordered_by_the_columns_in_turn(arities: list[int]) -> None:
    """The product of the arities is small, close to the number of rows, or much larger."""
    codes = table(1, 300, arities)
    groups = grouped(codes, arities, range(len(arities)))
    pairs = sorted(zip(groups.tolist(), records(codes), strict=True))
    assert [row for _, row in pairs] == sorted(records(codes))
