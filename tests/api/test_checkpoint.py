"""``learn(checkpoint=)`` goes on from the best graph that a run has saved."""

import contextlib
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sges
from sges import checkpoint, learning
from sges.checkpoint import name_of
from sges.data import Dataset
from sges.errors import DataError, FileError, InvalidArgument
from sges.knowledge import Knowledge
from sges.nodeset import NodeSet
from sges.properties import MaxParents
from sges.records import graph_of_record, graph_record
from sges.result import Result
from sges.score import BDeu, GaussianBIC
from sges.search import Strategy
from sges.search.strategy import Forward
from worlds import linear_data

TABLE = linear_data(8, 16, 300, 1)[1]
"""Several escapes of an extended search improve its score."""

KNOWN = Knowledge(forbidden=[("x0", "x1"), ("x2", "x5")], tiers=[["x0", "x3"], ["x4", "x5", "x6"]])
RUNS: list[dict[str, Any]] = [
    {"strategy": Strategy(interleaved=True, extended=True), "penalty": 1.0},
    {"strategy": "auto"},
    {"strategy": "auto", "knowledge": KNOWN},
    {"forward": "order"},
    {"forward": "complete"},
    {"strategy": "two-phase", "start": sges.PDAG.complete(8)},
    {"strategy": "interleaved", "assume": "auto"},
]


@pytest.fixture(autouse=True)
def _saved_after_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "SECONDS_BETWEEN", -1.0)


class Killed(BaseException):
    """Ends a run from within, after the state that it had reached was saved."""


def killed_at(save: int, path: Path, options: dict[str, Any]) -> list[float] | None:
    """Run until a graph was saved so often; return the saved scores, None if it ended before."""
    scores: list[float] = []
    write = checkpoint.Checkpoint.save

    def save_and_count(file: checkpoint.Checkpoint, state: object) -> None:
        write(file, state)
        if isinstance(state, dict) and "score" in state:
            scores.append(state["score"])
            if len(scores) == save:
                raise Killed

    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(Killed):
        patch.setattr(checkpoint.Checkpoint, "save", save_and_count)
        sges.learn(TABLE, **options, checkpoint=path)
        return None
    return scores


@pytest.mark.parametrize("options", RUNS, ids="-".join)
def test_a_killed_run_goes_on_from_the_best_graph_so_far(
    options: dict[str, Any], tmp_path: Path
) -> None:
    whole = sges.learn(TABLE, **options)
    known = KNOWN.bind([f"x{v}" for v in range(8)])
    for save in (1, 2, 5):
        path = tmp_path / f"{save}.json"
        if (scores := killed_at(save, path, options)) is None:
            break
        state = json.loads(path.read_text())["state"]
        graph = graph_of_record(state["graph"])
        if "knowledge" in options:
            assert known.admits(graph.named(None))
        else:
            assert state["score"] == pytest.approx(max(scores))
        stopped = sges.learn(TABLE, **options, checkpoint=path, time_limit=0.0)
        assert stopped.stopped == "time limit"
        found = sges.learn(TABLE, **options, checkpoint=path)
        for result in (stopped, found):
            assert result.score >= state["score"] - 1e-6
            assert f"continued from a graph with {graph.edge_count()} edges" in " ".join(
                result.notes
            )
        assert found.complete
        assert found.names == whole.names
        assert found.certify().optimal == whole.certify().optimal


def saved_by_hand(path: Path, table: object, state: object, forward: Forward | None = None) -> None:
    """Write a checkpoint with this state for a search with the default score."""
    data = Dataset.of(table)
    plan = learning.SearchPlan.of(data.names, None, None, "auto", forward, None, None, None)
    learning._checkpoint(path, "auto", "auto", plan, data).save(state)


def test_the_saved_graph_is_returned_where_another_search_from_it_ends_lower(
    tmp_path: Path,
) -> None:
    """The search for an order may leave the graph that it begins with."""
    path, table = tmp_path / "run.json", linear_data(10, 28, 200, 5)[1]
    best = sges.learn(table, strategy="extended")
    lower = sges.learn(table, forward="order", start=best.cpdag)
    assert lower.score < best.score - 1.0
    state = {"graph": graph_record(best.cpdag), "score": best.score}
    saved_by_hand(path, table, state, forward="order")
    found = sges.learn(table, forward="order", checkpoint=path)
    assert found.complete
    assert found.score >= best.score - 1e-6


class Counted(GaussianBIC):
    """A score that counts its calls."""

    calls = 0

    def local(self, y: int, parents: NodeSet, /) -> float:
        """Return the score of a family."""
        Counted.calls += 1
        return super().local(y, parents)


def test_a_finished_run_returns_its_result_at_once(tmp_path: Path) -> None:
    options: dict[str, Any] = {"score": Counted, "checkpoint": tmp_path / "run.json"}
    first, calls = sges.learn(TABLE, **options), Counted.calls
    again = sges.learn(TABLE, **options)
    assert Counted.calls == calls > 0
    assert again == first
    assert again.certify().optimal == first.certify().optimal


def test_a_file_that_cannot_be_written_is_an_error_before_the_search(tmp_path: Path) -> None:
    calls = Counted.calls
    for place in (tmp_path, tmp_path / "missing" / "run.json"):
        with pytest.raises(FileError):
            sges.learn(TABLE, score=Counted, checkpoint=place)
    assert Counted.calls == calls


def test_other_data_or_settings_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    sges.learn(TABLE, checkpoint=path)
    kept = path.read_bytes()

    def refusal(table: object = TABLE, **options: Any) -> str:  # noqa: ANN401
        with pytest.raises(DataError, match=r"^checkpoint ") as caught:
            sges.learn(table, checkpoint=path, **options)
        assert "\n" not in str(caught.value)
        assert path.read_bytes() == kept
        return str(caught.value)

    assert "it was made from other data" in refusal(TABLE[1:])
    assert "made with penalty = 'auto', and this run has '2.0'" in refusal(penalty=2.0)
    assert "made with score = 'auto'" in refusal(score="bge")
    assert "made with strategy = 'auto'" in refusal(strategy="extended")
    assert "made with assume = 'None'" in refusal(assume=MaxParents(1))
    assert "made with max_indegree = 'None'" in refusal(max_indegree=2)
    assert "made with other background knowledge than this run has;" in refusal(knowledge=KNOWN)
    assert "made with another graph to start from than this run has;" in refusal(
        start=sges.PDAG.empty(8)
    )
    with pytest.raises(DataError, match="it was made by another kind of run"):
        sges.confidence(TABLE, 2, checkpoint=path)
    with pytest.raises(InvalidArgument, match="checkpoint= needs a table"):
        sges.learn(score=GaussianBIC(TABLE), checkpoint=path)


def test_a_state_that_no_run_has_saved_is_refused(tmp_path: Path) -> None:
    """With the right checksum, as somebody might forge it."""
    path = tmp_path / "run.json"
    assert killed_at(1, path, {})
    saved = json.loads(path.read_text())["state"]
    forged: list[object] = [{}, [], 7, {"result": {}}]
    for wrong in [*forged, {**saved, "graph": 1}, {**saved, "score": "much"}]:
        saved_by_hand(path, TABLE, wrong)
        with pytest.raises(DataError, match="it does not contain the graph of a search"):
            sges.learn(TABLE, checkpoint=path)


def test_a_checkpoint_of_another_function_that_makes_scores_is_refused(tmp_path: Path) -> None:
    """Lambdas have the same name, but different code, constants or references."""
    path, data = tmp_path / "run.json", sges.examples.load("asia")

    def made_with(ess: float) -> Callable[[Dataset], BDeu]:
        return lambda data: BDeu(data, ess=ess)

    def learned(score: Callable[[Any], Any]) -> Result:
        return sges.learn(data, score=score, checkpoint=path)

    assert learned(made_with(1.0)) == learned(made_with(1.0))
    for other in (made_with(10.0), lambda data: BDeu(data, ess=1.0)):
        with pytest.raises(DataError, match="it was made with score"):
            learned(other)


def makers(ess: float) -> dict[str, Callable[..., object]]:
    """Return functions and objects that make scores and depend on a number."""

    def by_keyword(data: object, *, ess: float = ess) -> object:
        return data, ess

    def by_list(data: object, numbers: list[float] = [ess]) -> object:  # noqa: B006
        return data, numbers

    def recursive(data: object, depth: int = 3) -> object:
        return (data, settings) if depth == 0 else recursive(data, depth - 1)

    class Maker:
        def __init__(self) -> None:
            self.ess, self._made = ess, object()

        def make(self, data: object) -> object:
            return data

    settings = {"ess": ess, "prior": np.array([1.0, ess])}
    inner = {
        1.0: lambda data: sorted(data, key=lambda x: x * 1.0),
        2.0: lambda data: sorted(data, key=lambda x: x * 2.0),
    }
    return {
        "a keyword": by_keyword,
        "a list": by_list,
        "a mapping": recursive,
        "an inner function": inner[ess],
        "a method": Maker().make,
        "arguments": partial(by_keyword, ess=ess),
    }


@pytest.mark.parametrize("kind", makers(1.0))
def test_makers_of_scores_are_told_apart_by_what_they_use(kind: str) -> None:
    assert name_of(makers(1.0)[kind]) == name_of(makers(1.0)[kind])
    assert name_of(makers(1.0)[kind]) != name_of(makers(2.0)[kind])
