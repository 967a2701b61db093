"""Gaussian scores of wide tables have the values and warnings of the whole covariance."""

import re
import warnings

import numpy as np
import pytest
from numpy.typing import NDArray

import sges.search
from sges.data import Dataset, Moments
from sges.errors import DataWarning, ScoreError
from sges.score import GaussianBIC, check_score
from sges.score.gaussian import matrix as module
from sges.score.gaussian.matrix import copies


def told(*arguments: object, **options: object) -> tuple[GaussianBIC, list[str]]:
    """Return a score and its warnings, all of which point to this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        score = GaussianBIC(*arguments, **options)  # type: ignore[arg-type]
    assert all(warning.filename == __file__ for warning in caught)
    assert all(warning.category is DataWarning for warning in caught)
    return score, [str(warning.message) for warning in caught]


def unnamed(line: str) -> tuple[str, list[str]]:
    """Return a warning with its columns replaced, and the sorted columns."""
    return re.sub(r"'x\d'", "...", line), sorted(re.findall(r"'x\d'", line))


def tables(seed: int) -> list[NDArray[np.float64]]:
    """Return regular tables, and tables with constants, copies, sums or too few records."""
    rng = np.random.default_rng(seed)
    plain = rng.normal(size=(60, 9)) @ rng.normal(size=(9, 9)) * 1e3 + 1e7
    constant, copied, summed = plain.copy(), plain.copy(), plain.copy()
    constant[:, [2, 5]] = [7.0, 1e9]
    copied[:, 6] = -3 * copied[:, 1]
    summed[:, 4] = summed[:, 0] + summed[:, 8]
    return [plain, constant, copied, summed, plain[:6], copied[:9], constant[:8], constant[:7]]


@pytest.mark.parametrize("weighted", [False, True])
def test_a_wide_table_has_the_scores_and_warnings_of_its_moments(
    weighted: bool, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ONE_PASS_COLUMNS", 0)
    for table in tables(seed):
        weights = [1 + i % 3 for i in range(len(table))] if weighted else None
        data = Dataset.of(table, kinds="continuous", weights=weights)
        wide, said = told(data)
        usual, expected = told(Moments.of(data))
        # Rounding decides which of several columns is named as the function of the others.
        assert [unnamed(line) for line in said] == [unnamed(line) for line in expected]
        assert wide.names == usual.names
        assert np.abs(wide._correlation - usual._correlation).max() < 1e-12
        assert wide.local(3, 0) == pytest.approx(usual.local(3, 0), rel=1e-12)
        if not weighted:
            assert np.abs(told(table)[0]._correlation - wide._correlation).max() < 1e-13


def test_too_few_records_give_a_warning_without_a_factorization(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ONE_PASS_COLUMNS", 0)
    monkeypatch.delattr(module, "_is_definite")
    table = np.random.default_rng(seed).normal(size=(9, 9))
    assert told(table)[1][0].startswith("9 columns and only 9 records: the correlations are")


def test_copies_are_found_panel_by_panel(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(30, 50))
    values[[7, 19, 29]] = values[3], -values[3], values[28]
    matrix = np.asarray(np.corrcoef(values))
    everywhere = copies(matrix)
    monkeypatch.setattr(
        "sges.score.gaussian.matrix.panels",
        lambda n: [slice(low, min(low + 10, n)) for low in range(0, n, 10)],
    )
    assert copies(matrix) == everywhere
    assert [(r.dependent, r.on) for r in everywhere] == [(7, (3,)), (19, (3,)), (29, (28,))]


def test_single_precision_finds_the_graph_of_double_precision(seed: int) -> None:
    rng = np.random.default_rng(seed)
    chain = rng.normal(size=(2000, 8))
    for i in range(1, 8):
        chain[:, i] += 0.8 * chain[:, i - 1]
    double, single = GaussianBIC(chain * 1e25), GaussianBIC(chain * 1e25, dtype="float32")
    found, expected = sges.search.ges(single), sges.search.ges(double)
    assert found.cpdag == expected.cpdag
    assert found.score == pytest.approx(expected.score, rel=1e-7)


def test_a_score_in_single_precision_is_a_score(seed: int) -> None:
    table = np.random.default_rng(seed).normal(size=(100, 6))
    check_score(GaussianBIC(table, dtype="float32"))


def test_single_precision_has_a_ridge_of_its_own(seed: int) -> None:
    table = np.random.default_rng(seed).normal(size=(50, 60))
    table[:, 41] = table[:, 5]
    score, (line,) = told(table, dtype="float32")
    assert "60 columns and only 50 records ('x41' of 'x5')" in line
    assert "a ridge of 0.000244141 keeps" in line
    family = (1 << 40) - 1
    assert np.isfinite(score.local(41, family))


def test_progress_is_reported_for_wide_tables_only(seed: int) -> None:
    calls: list[tuple[int, int]] = []
    table = np.random.default_rng(seed).normal(size=(700, 600))
    GaussianBIC(table[:, :5], progress=lambda *at: calls.append(at))
    assert not calls
    GaussianBIC(table, progress=lambda *at: calls.append(at))
    assert calls[-1][0] == calls[-1][1]


def test_an_unknown_precision_is_refused() -> None:
    with pytest.raises(ScoreError, match="dtype 'float16': it must be 'float64' or 'float32'"):
        GaussianBIC(np.eye(3), dtype="float16")
    moments = Moments.of(Dataset.of(np.eye(3), kinds="continuous"))
    with pytest.raises(ScoreError, match="Moments are stored as float64; give the table itself"):
        GaussianBIC(moments, dtype="float32")
