"""The study of the engine; here the engine is compared with itself, on tiny data."""

import json
from pathlib import Path
from typing import Any

import pytest

from sges.search.engines import IS_USED
from studies.frame import Options
from studies.peers.engine import (
    COLUMNS,
    STUDY,
    Case,
    Data,
    Sort,
    WorkerFailed,
    all_cases,
    chosen_cases,
    facts,
    measure,
    population_covariance,
    present_worker,
    rows_of,
    sparse_gaussian,
)
from studies.peers.engine_worker import SEARCHES, prepared
from studies.peers.engine_worker import facts as found_facts
from studies.peers.problems import Spec
from studies.peers.processes import digest_of

TINY = Data(Spec("er", 6, 200, 1))
SEARCH = Case("2d edges", "two-phase", TINY, "search", {"strategy": "two-phase"}, 8.0)
FLOOR = Case("floor", "interleaved", TINY, "floor", {"strategy": "interleaved"})
GROWTH = Case("growth", "two-phase, 10,000 rows", TINY, "learn", {"strategy": "two-phase"})


def row(**given: Any) -> Any:  # noqa: ANN401 (a row, whatever is in it)
    known = {"same_graph": True, "same_score": True, "same_count": True, "repetitions": 1}
    where = {"sources": "x", "machine": "m", "date": "d"}
    return dict.fromkeys(COLUMNS) | known | where | given


def test_the_package_against_itself_finds_the_same() -> None:
    (found,) = measure([SEARCH], against_itself=True)
    assert found["same_graph"]
    assert found["same_score"]
    assert found["same_count"]
    assert 0.05 < found["ratio"] < 20
    assert found["repetitions"] > 1


def test_the_present_package_alone_has_a_peak_of_memory() -> None:
    (found,) = measure([GROWTH], against_itself=True)
    assert found["megabytes"] > 1
    assert found["ratio"] is None


@pytest.mark.skipif(not IS_USED, reason="there is no compiled engine to record")
def test_the_questions_are_asked_again() -> None:
    pytest.importorskip("Cython")
    (found,) = measure([FLOOR], against_itself=True)
    assert found["questions"] >= TINY.spec.d
    assert found["ratio"] > 0


def test_the_throughput_of_threads_is_compared_with_one() -> None:
    case = Case("threads", "interleaved", TINY, "throughput", {"strategy": "interleaved"})
    (found,) = measure([case], against_itself=True)
    assert found["present"] > 0
    assert 0.01 < found["ratio"] < 100


def test_a_request_that_fails_says_why() -> None:
    wrong = Case("2d edges", "two-phase", TINY, "search", {"strategy": "none"})
    with present_worker() as worker, pytest.raises(WorkerFailed, match="no-such-table"):
        worker.ask(wrong, Path("no-such-table.npz"))


@pytest.mark.parametrize("do", sorted({case.do for case in all_cases(large=True)} & set(SEARCHES)))
def test_every_kind_of_search_runs(do: str, tmp_path: Path) -> None:
    case = next(case for case in all_cases(large=True) if case.do == do)
    sort: Sort = "covariance" if do == "complete" else "suite"
    options = {name: value for name, value in case.options.items() if name != "kinds"}
    options |= {"score": "auto"} if "score" in options else {}
    data = Data(Spec("er", 6, 200, 1), sort)
    search = prepared(do, str(data.write(0, tmp_path)), json.dumps(options))
    assert found_facts(search())["edges"] > 0


def test_names_of_cases_are_unique_and_chosen_by_their_beginning() -> None:
    cases = all_cases(large=True)
    assert len({(case.group, case.what, case.n) for case in cases}) == len(cases)
    chosen = chosen_cases(cases, ["floor", "2d edges: extended"])
    assert {case.group for case in chosen} == {"floor", "2d edges"}
    assert all(case.n <= 50 for case in all_cases(quick=True))


def test_made_data_have_the_shape_that_was_asked_for(seed: int) -> None:
    assert sparse_gaussian(7, 30, seed).shape == (30, 7)
    covariance = population_covariance(5, seed)
    assert covariance == pytest.approx(covariance.T)


def test_a_row_measured_again_replaces_the_first_and_a_low_ratio_is_bold(tmp_path: Path) -> None:
    first = row(group="2d edges", what="two-phase", n=25, predecessor=1.0, present=0.5, ratio=2.0)
    again = {**first, "target": 8.0, "ratio": 4.0, "same_count": False}
    table = STUDY.table(tmp_path)
    table.append(first)
    table.append(again)
    (known,) = STUDY.latest(table.rows()).values()
    assert known == again
    shown = str(facts([known])["groups"])
    assert "| two-phase | 25 | 1.00 | 0.500 | **4.0×** | 1 | not count |" in shown


def test_cases_measured_with_the_present_sources_are_not_measured_again() -> None:
    keys = [(case.group, case.what, case.n) for case in all_cases(quick=True)]
    known = {key: row(sources=digest_of()) for key in keys}
    assert list(rows_of([], known, Options(quick=True))) == []


def test_growth_has_local_exponents() -> None:
    rows = [
        row(group="growth", what="w", n=n, present=n * n / 1e4, megabytes=2.0 * n) for n in (10, 40)
    ]
    assert "| w | 40 | 0.160 | 2.00 | 80 |" in str(facts(rows)["groups"])
