"""Groupings, cells and batched tables against dictionaries of counts."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_counts import counts
from sges.score import columns as laid_out
from sges.score.columns import Columns
from sges.score.counts import (
    SMALL,
    Cells,
    Codes,
    Grouping,
    Ints,
    Weights,
    leave_one_out,
    margin_of,
    occupied_cells,
    refine,
    tally,
    together,
)
from sges.score.recent import Recent


def table(seed: int, rows: int, arities: Sequence[int]) -> Codes:
    rng = np.random.default_rng(seed)
    found: Codes = np.array([rng.integers(0, r, rows) for r in arities]).astype(np.uint16)
    return found


def grouped(codes: Codes, arities: Sequence[int], columns: Sequence[int]) -> Grouping:
    groups = together(codes.shape[1])
    for c in columns:
        groups = refine(groups, codes[c], arities[c])
    return groups


def records(codes: Codes) -> list[tuple[int, ...]]:
    return [tuple(row) for row in codes.T.tolist()]


def positive(found: Ints) -> Counter[int]:
    """How often each count above zero occurs: all that a score sees of a table."""
    return Counter(n for n in found.ravel().tolist() if n)


# ------------------------------------------------------------------ groupings


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
    for group, row in zip(groups.ids.tolist(), records(codes), strict=False):
        assert seen.setdefault(group, row) == row
    assert len(seen) == max(1, len(set(records(codes))))
    assert 0 <= groups.ids.min() <= groups.ids.max() < groups.size
    assert not groups.full or len(seen) == groups.size


@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 60),
    arities=st.lists(st.integers(1, 1000), min_size=1, max_size=8),
)
def test_there_are_never_many_more_groups_than_rows(
    seed: int, rows: int, arities: list[int]
) -> None:
    groups = grouped(table(seed, rows, arities), arities, range(len(arities)))
    assert groups.size <= max(rows, SMALL)


@pytest.mark.parametrize("arities", [[3, 2], [20, 20], [90, 90, 90]])
def test_groups_are_ordered_by_the_columns_in_turn(arities: list[int]) -> None:
    """On small products, on products near the rows, and far beyond them."""
    codes = table(1, 300, arities)
    groups = grouped(codes, arities, range(len(arities)))
    pairs = sorted(zip(groups.ids.tolist(), records(codes), strict=True))
    assert [row for _, row in pairs] == sorted(records(codes))


@pytest.mark.parametrize("weights", [None, np.array([2, 0, 5, 1])])
def test_a_tally_counts_every_row_as_often_as_its_weight(weights: Weights) -> None:
    groups = Grouping(np.array([1, 0, 1, 3]), 4, full=False)
    expected = [1, 2, 0, 1] if weights is None else [0, 7, 0, 1]
    assert tally(groups, weights).tolist() == expected


# ------------------------------------------------------------------ cells


@pytest.mark.parametrize("base", [[], [0], [0, 1], [0, 1, 2, 3]])
@pytest.mark.parametrize("y", [4, 5, 6])
def test_cells_hold_the_counts_of_the_family_and_their_margin_those_of_the_parents(
    base: list[int], y: int, seed: int
) -> None:
    arities = [3, 4, 20, 7, 2, 1, 60]
    codes = table(seed, 400, arities)
    cells = Cells.of(grouped(codes, arities, base), codes[y], arities[y], None)
    rows = records(codes)
    assert positive(cells.counts) == Counter(counts(rows, [*base, y]).values())
    margin = margin_of(cells.counts, cells.starts)
    assert positive(margin) == Counter(counts(rows, base).values())
    assert margin_of(cells.counts[:, None], cells.starts).tolist() == [[n] for n in margin]


def test_an_occupied_cell_is_shown_by_one_of_its_rows(seed: int) -> None:
    arities = [5, 9, 11]
    codes = table(seed, 50, arities)
    cells = Cells.of(grouped(codes, arities, [0, 1]), codes[2], 11, None)
    examples, found = occupied_cells(cells)
    shown = {records(codes)[e]: n for e, n in zip(examples.tolist(), found.tolist(), strict=True)}
    assert shown == counts(records(codes), range(3))


@given(
    seed=st.integers(0, 2**32 - 1),
    arities=st.lists(st.integers(1, 9), min_size=1, max_size=7),
    data=st.data(),
)
def test_leaving_one_out_groups_by_all_the_others(
    seed: int, arities: list[int], data: st.DataObject
) -> None:
    codes = table(seed, 40, arities)
    wanted = data.draw(st.sets(st.sampled_from(range(len(arities)))))
    split = lambda groups, c: refine(groups, codes[c], arities[c])  # noqa: E731
    found = dict(leave_one_out(together(40), range(len(arities)), wanted.__contains__, split))
    assert set(found) == wanted
    for left, groups in found.items():
        others = [c for c in range(len(arities)) if c != left]
        expected = Counter(counts(records(codes), others).values())
        assert positive(tally(groups, None)) == expected


# ------------------------------------------------------------------ every candidate at once


def check_tables(codes: Codes, arities: Sequence[int], weights: Weights = None) -> set[int]:
    """Compare all tables of two families with dictionaries; return how many came at a time."""
    columns = Columns(codes, np.array(arities), weights)
    widths = set()

    def expected(chosen: list[int]) -> Counter[int]:
        times = None if weights is None else weights.tolist()
        return Counter(n for n in counts(records(codes), chosen, times).values() if n)

    for base, y in (([], 0), ([0, 1], 2), ([0, 1, 3], 2)):
        cells = Cells.of(grouped(codes, arities, base), codes[y], arities[y], weights)
        candidates = np.array([x for x in range(len(arities)) if x != y and x not in base])
        at: list[int] = []
        for part in columns.counted(cells, candidates):
            at += part.at.tolist()
            widths.add(len(part.at))
            for some, joint, margin in part.tables():
                for k, x in enumerate(candidates[part.at[some]].tolist()):
                    assert positive(joint[:, k]) == expected([*base, y, x]), (base, y, x)
                    assert positive(margin[:, k]) == expected([*base, x]), (base, y, x)
        assert sorted(at) == list(range(len(candidates)))
    return widths


ARITIES = [3, 2, 3, 4, *[3] * 9, *[2] * 5, 1, 16, 17, 40]


@pytest.mark.parametrize("memory", [laid_out.MEMORY, 0], ids=["integers", "packed"])
@pytest.mark.parametrize("heaviest", [None, 4, 3000], ids=["once", "weights", "heavy"])
def test_every_table_of_a_batch_equals_a_dictionary_count(
    memory: int, heaviest: int | None, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(laid_out, "MEMORY", memory)
    rng = np.random.default_rng(seed)
    weights = None if heaviest is None else rng.integers(0, heaviest, 80)
    widths = check_tables(table(seed, 80, ARITIES), ARITIES, weights)
    assert max(widths) > 1, "some columns were counted together"
    assert min(widths) == 1, "and some alone"


def test_blocks_and_packed_steps_end_anywhere(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns beyond one block, and more rows than one packed step."""
    monkeypatch.setattr(laid_out, "BLOCK", 6)
    monkeypatch.setattr(laid_out, "MEMORY", 0)
    check_tables(table(seed, 4100, ARITIES), ARITIES)


def joints(codes: Codes, arities: Ints, cells: Cells, weights: Weights) -> Counter[int]:
    """Count the cells with the second column."""
    (part,) = Columns(codes, arities, weights).counted(cells, np.array([1]))
    ((_, joint, _),) = part.tables()
    return positive(joint)


def test_counts_beyond_sixteen_bits_are_exact() -> None:
    """All rows in one cell and level: 70,000 does not fit the lanes, nor do heavy weights."""
    codes = np.zeros((2, 70_000), dtype=np.uint8)
    codes[1, 1:] = 1
    arities = np.array([2, 2])
    cells = Cells.of(together(70_000), codes[0], 2, None)
    assert joints(codes, arities, cells, None) == {1: 1, 69_999: 1}

    weights = np.array([2**33, 70_000, 3])
    cells = Cells.of(together(3), codes[0, :3], 2, weights)
    assert joints(codes[:, :3], arities, cells, weights) == {2**33: 1, 70_003: 1}


@pytest.mark.parametrize("limit", ["LARGEST", "PAYS"])
def test_counting_alone_and_together_agree(
    limit: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(laid_out, limit, 0)
    assert check_tables(table(seed, 80, ARITIES), ARITIES) == {1}


# ------------------------------------------------------------------ what is kept


def test_recent_forgets_what_was_not_used_for_longest() -> None:
    recent = Recent[str, int](2)
    recent.put("a", 1)
    recent.put("b", 2)
    assert recent.get("a") == 1
    recent.put("c", 3)
    assert (recent.get("a"), recent.get("b"), recent.get("c")) == (1, None, 3)
    assert len(recent) == 2


def test_recent_keeps_one_value_whatever_its_size() -> None:
    recent = Recent[str, int](0)
    recent.put("a", 1)
    assert recent.get("a") == 1
