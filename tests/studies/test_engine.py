"""The study of the engine; here the engine is compared with itself, on tiny data."""

import json
from pathlib import Path

import pytest

from studies.peers.engine import (
    Case,
    Data,
    Sort,
    WorkerFailed,
    all_cases,
    measure,
    present_worker,
)
from studies.peers.engine_worker import SEARCHES, facts, prepared
from studies.peers.problems import Spec

TINY = Data(Spec("er", 6, 200, 1))
SEARCH = Case("2d edges", "two-phase", TINY, "search", {"strategy": "two-phase"}, 1.0)


def test_the_package_against_itself_finds_the_same() -> None:
    (found,) = measure([SEARCH], against_itself=True)
    assert found["same_graph"]
    assert found["same_score"]
    assert found["score_change"] == 0.0
    assert 0.05 < found["ratio"] < 20
    assert found["repetitions"] > 1


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
    assert facts(search())["edges"] > 0
