"""A resumed search has the steps, counts and notes of an uninterrupted one."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sges
from engines import needs_compiled
from known import required_edges
from sges.checkpoint import name_of
from sges.data import Dataset, Moments
from sges.errors import DataError, FileError, InvalidArgument
from sges.knowledge import Knowledge
from sges.network import BayesianNetwork, LinearGaussian, random_dag
from sges.properties import MaxParents
from sges.result import Result
from sges.score import BDeu, DiscreteBIC, GaussianBIC
from sges.score.protocol import Score
from sges.search import Strategy, engines, replay, search
from sges.search.auto import auto_bound
from sges.search.replay import Replay


@pytest.fixture(autouse=True)
def _saved_after_every_act(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "SECONDS_BETWEEN", -1.0)
    monkeypatch.setattr(replay, "SHARE_OF_SAVING", 1e9)


def gaussian(n: int = 8, edges: int = 14) -> GaussianBIC:
    model = LinearGaussian.random(random_dag(n, edges=edges, seed=1), seed=1)
    return GaussianBIC(Moments.of(model.sample(300, seed=1)))


def discrete() -> DiscreteBIC:
    return DiscreteBIC(BayesianNetwork.random(random_dag(6, edges=9, seed=3), seed=3).sample(300))


class Asked:
    """A score in Python without batch methods."""

    def __init__(self, score: Score) -> None:
        self.n, self.local = score.n, score.local


def facts(result: Result) -> tuple[object, ...]:
    """Return everything in a result except its times."""
    steps = [(s.phase, s.operator, s.gain, s.score, s.edges, s.separator) for s in result.steps]
    counts = result.score_evaluations, result.operators_considered, result.evaluation_bound
    return result.cpdag, result.score, steps, counts, result.notes, result.complete


KNOWN = Knowledge(forbidden=[("x0", "x1"), ("x2", "x5")], tiers=[["x0", "x3"], ["x4", "x5", "x6"]])
SEARCHES: dict[str, dict[str, Any]] = {
    **{word: {"strategy": word} for word in ("auto", "extended", "two-phase", "low-order")},
    "conservative": {"strategy": "conservative", "forward": "order"},
    "poly": {"strategy": "two-phase", "forward": "poly", "assume": MaxParents(2)},
    "budget": {"strategy": Strategy(interleaved=True, extended=True, max_evaluations=400)},
    "exact": {"strategy": Strategy(interleaved=True, extended=True, exact=True),
              "assume": MaxParents(2)},
    "few sets": {"strategy": Strategy(interleaved=True, extended=True, sets_per_clique=1)},
    "exact, few sets": {
        "strategy": Strategy(interleaved=True, extended=True, sets_per_clique=1, exact=True),
        "assume": MaxParents(2),
    },
    "not counted": {"strategy": Strategy(interleaved=True, extended=True, counting=False)},
    "knowledge": {"strategy": "extended", "constraint": KNOWN.bind([f"x{i}" for i in range(8)])},
    "low-order with knowledge": {
        "strategy": "low-order", "constraint": KNOWN.bind([f"x{i}" for i in range(8)])
    },
}  # fmt: skip


def acts_of(state: str) -> list[dict[str, Any]]:
    """Return the acts of a saved search, with only the first two counters.

    The others differ, as paths that exclude an operator are searched for again.
    """
    acts: list[dict[str, Any]] = json.loads(state)["acts"]
    return [{**act, "counters": act["counters"][:2]} for act in acts]


def rounded(result: Result) -> tuple[object, ...]:
    """Return the facts with ten digits: the rounding of a native score depends on its history."""
    steps = [
        (s.phase, s.operator, float(f"{s.gain:.10g}"), s.edges, s.separator) for s in result.steps
    ]
    return (*facts(result)[:1], steps, *facts(result)[3:])


def check(run: Callable[..., Result], most: int) -> int:
    """Resume a search from some of its saved states; return the number of saved states."""
    whole = run(replay=None)
    states: list[str] = []
    recorded = run(replay=Replay(None, lambda state: states.append(json.dumps(state))))
    assert rounded(recorded) == rounded(whole)
    for at in sorted(set(np.linspace(0, len(states) - 1, most).astype(int).tolist())):
        saved: list[object] = []
        resumed = run(replay=Replay(json.loads(states[at]), saved.append))
        assert facts(resumed) == facts(recorded), json.loads(states[at])["acts"][-1]["act"]
        if saved:
            assert acts_of(json.dumps(saved[-1])) == acts_of(states[-1])
    return len(states)


@needs_compiled
@pytest.mark.parametrize("most", [8, pytest.param(25, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SEARCHES)
def test_a_resumed_search_ends_like_an_uninterrupted_one(name: str, most: int) -> None:
    def run(**more: Any) -> Result:  # noqa: ANN401
        return search(gaussian(), **SEARCHES[name], **more)

    assert check(run, most) > 1


@needs_compiled
def test_a_race_is_resumed_where_knowledge_has_rejected_a_delete() -> None:
    dag = random_dag(12, 24, seed=500)
    known = required_edges(dag, np.random.default_rng(500)).bind(12)
    score = BDeu(BayesianNetwork.random(dag, seed=500).sample(300, seed=500))
    strategy = Strategy(interleaved=True, extended=True)

    def run(**more: Any) -> Result:  # noqa: ANN401
        return search(score, strategy=strategy, constraint=known, n_jobs=2, **more)

    assert check(run, 25) > 1


@pytest.mark.parametrize(
    "name", ["auto", "low-order", "knowledge", "budget", "few sets", "exact, few sets"]
)
def test_the_reference_engine_resumes_its_searches(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "IS_USED", False)
    how = SEARCHES[name]
    names = [f"x{i}" for i in range(7)]
    if "constraint" in how:
        how = {**how, "constraint": KNOWN.bind(names)}
    score = gaussian(7, 9)
    assert check(lambda **more: search(score, **how, **more), most=4) > 1


@needs_compiled
@pytest.mark.parametrize("name", ["auto", "low-order"])
def test_searches_with_other_scores_are_resumed(name: str) -> None:
    for score in (discrete(), Asked(gaussian(7, 10))):
        run = partial(search, score, strategy=name)
        assert check(run, most=8) > 1


@needs_compiled
def test_a_bound_that_is_being_chosen_is_resumed() -> None:
    def run(**more: Any) -> Result:  # noqa: ANN401
        return auto_bound(gaussian(), strategy="extended", **more).result

    assert check(run, most=8) > 1


@needs_compiled
def test_a_search_may_be_resumed_with_another_number_of_jobs() -> None:
    score = gaussian(12, 24)
    whole = facts(search(score, strategy="extended"))
    for jobs, others in ((2, None), (None, 2), (2, 3)):
        states: list[str] = []
        keep = Replay(None, lambda state: states.append(json.dumps(state)))  # noqa: B023
        assert facts(search(score, strategy="extended", n_jobs=jobs, replay=keep)) == whole
        for state in states:
            again = Replay(json.loads(state), lambda _: None)
            found = search(score, strategy="extended", n_jobs=others, replay=again)
            assert facts(found) == whole


@needs_compiled
def test_a_search_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    data, path = gaussian(20, 50).moments, tmp_path / "run.json"
    whole = sges.learn(data, strategy="extended", checkpoint=tmp_path / "whole.json")
    assert rounded(whole) == rounded(sges.learn(data, strategy="extended"))
    parts = 0
    while not (
        found := sges.learn(data, strategy="extended", checkpoint=path, time_limit=0.15)
    ).complete:
        assert found.stopped == "time limit"
        parts += 1
        assert parts < 500
    assert facts(found) == facts(whole)
    assert facts(sges.learn(data, strategy="extended", checkpoint=path)) == facts(whole)


SCRIPT = """
import sys
import numpy as np
import sges
from sges.search import replay
replay.SECONDS_BETWEEN, replay.SHARE_OF_SAVING = 0.0, 1.0  # kills are to meet writes
result = sges.learn(np.load(sys.argv[1]), strategy=sys.argv[3], checkpoint=sys.argv[2])
print(result.to_json())
"""


@needs_compiled
@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("strategy", ["extended", "low-order"])
def test_searches_killed_at_random_moments_all_end_in_the_same_result(
    tmp_path: Path, strategy: str, kills: int
) -> None:
    n, edges = (24, 60) if strategy == "extended" else (9, 18)
    model = LinearGaussian.random(random_dag(n, edges=edges, seed=1), seed=1)
    table, path = tmp_path / "table.npy", tmp_path / "run.json"
    rows = model.sample(400, seed=1).values.T
    np.save(table, rows)
    command = [sys.executable, "-c", SCRIPT, os.fspath(table), os.fspath(path), strategy]
    whole = tmp_path / "whole.json"
    expected = facts(sges.learn(rows, strategy=strategy, checkpoint=whole))
    whole.unlink()
    rng = random.Random(0)

    def acts() -> int:
        return len(json.loads(path.read_text())["state"]["acts"]) if path.exists() else 0

    for _ in range(kills):
        before = acts()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        more = rng.randrange(25)
        while process.poll() is None and acts() < before + more:
            time.sleep(0.01)
        time.sleep(rng.random() / 50)
        process.send_signal(signal.SIGKILL)
        output, _ = process.communicate()
        assert acts() >= before
        if process.returncode == 0:  # it finished before the signal
            assert facts(Result.from_json(output)) == expected
            path.unlink()
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    found = Result.from_json(output)
    assert facts(found) == expected
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.json", "table.npy"]


def small() -> Dataset:
    return LinearGaussian.random(random_dag(5, edges=6, seed=2), seed=2).sample(200, seed=2)


def test_other_data_or_settings_are_refused_by_name(tmp_path: Path) -> None:
    path, data = tmp_path / "run.json", small()
    sges.learn(data, checkpoint=path)
    kept = path.read_bytes()

    def refusal(data: Dataset = data, **options: Any) -> str:  # noqa: ANN401
        with pytest.raises(DataError, match=r"^checkpoint ") as caught:
            sges.learn(data, checkpoint=path, **options)
        assert "\n" not in str(caught.value)
        assert path.read_bytes() == kept
        return str(caught.value)

    other = LinearGaussian.random(random_dag(5, edges=6, seed=2), seed=2).sample(200, seed=3)
    assert "it was made from other data" in refusal(other)
    assert "made with penalty = 'auto', and this run has '2.0'" in refusal(penalty=2.0)
    assert "made with score = 'auto'" in refusal(score="bge")
    assert "made with strategy = 'auto', and this run has 'extended'" in refusal(
        strategy="extended"
    )
    assert "made with assume = 'None'" in refusal(assume=MaxParents(1))
    assert "made with max_indegree = 'None'" in refusal(max_indegree=2)
    assert "it was made with other background knowledge than this run has;" in refusal(
        knowledge={"forbidden": [["x0", "x1"]]}
    )
    assert "it was made with another graph to start from than this run has;" in refusal(
        start=sges.PDAG.empty(5)
    )
    with pytest.raises(DataError, match="it was made by another kind of run"):
        sges.confidence(data, 2, checkpoint=path)
    with pytest.raises(InvalidArgument, match="checkpoint= needs a table"):
        sges.learn(score=GaussianBIC(data), checkpoint=path)
    with pytest.raises(InvalidArgument, match="checkpoint = 5 is not the path of a file"):
        sges.learn(data, checkpoint=5)  # type: ignore[arg-type]
    with pytest.raises(FileError):
        sges.learn(data, checkpoint=tmp_path)


def test_a_cut_off_or_changed_checkpoint_is_refused(tmp_path: Path) -> None:
    path, data = tmp_path / "run.json", small()
    whole = facts(sges.learn(data, checkpoint=path))
    content, rng = path.read_bytes(), random.Random(1)
    for _ in range(40):
        damaged = bytearray(content)
        if rng.random() < 0.3:
            del damaged[rng.randrange(len(damaged) - 1) :]
        else:
            damaged[rng.randrange(len(damaged) - 1)] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"^checkpoint ") as caught:
            sges.learn(data, checkpoint=path)
        assert "\n" not in str(caught.value)
    path.write_bytes(content)
    assert facts(sges.learn(data, checkpoint=path)) == whole
    record = json.loads(content)
    record.pop("checksum")
    record["version"] = 99
    path.write_text(json.dumps(record))
    with pytest.raises(DataError, match="it has version 99, but sges reads version"):
        sges.learn(data, checkpoint=path)


def test_a_state_that_no_run_has_stored_is_refused(tmp_path: Path) -> None:
    """With the right checksum, as somebody might forge it."""
    path, data = tmp_path / "run.json", small()
    sges.learn(data, checkpoint=path)
    original = json.loads(path.read_text())

    def refused(change: Callable[[dict[str, Any]], object]) -> None:
        record = json.loads(json.dumps(original))
        record.pop("checksum")
        change(record["state"])
        body = json.dumps(record, sort_keys=True)
        record["checksum"] = sha256(body.encode()).hexdigest()
        path.write_text(json.dumps(record))
        with pytest.raises(DataError) as caught:
            sges.learn(data, checkpoint=path)
        assert "\n" not in str(caught.value)

    def first_steps(state: dict[str, Any]) -> list[Any]:
        return next(act["steps"] for act in state["acts"] if "steps" in act)

    refused(lambda state: state.clear())
    refused(lambda state: state.update(acts=[{}]))
    refused(lambda state: state["acts"].insert(0, {"act": "dance"}))
    refused(lambda state: state["acts"].reverse())
    refused(lambda state: state["acts"][0].pop("counters"))
    refused(lambda state: state["acts"][0].update(counters=["a"]))
    refused(lambda state: state["acts"][0].update(value="zz"))
    refused(lambda state: first_steps(state)[0].pop())
    refused(lambda state: first_steps(state)[0].__setitem__(2, 99))
    refused(lambda state: first_steps(state)[0].__setitem__(1, "jump"))
    refused(lambda state: state.update(memory=[["<i4", "!"]]))
    refused(lambda state: state.update(memory=7))


@needs_compiled
def test_a_memory_that_does_not_fit_is_refused_not_read() -> None:
    from engines import compiled

    score = gaussian()
    states: list[Any] = []
    search(score, strategy="extended", replay=Replay(None, states.append))
    ints, floats, words = replay._unpacked(states[-1]["memory"])
    rng = np.random.default_rng(0)
    for _ in range(300):
        changed = ints.copy()
        at = rng.integers(len(changed), size=3)
        changed[at] = rng.choice([-1, 0, 7, 8, 64, 2**31 - 1, -(2**31)], 3)
        engine = compiled(score)
        try:
            engine.remember(changed, floats, words)
        except InvalidArgument:
            continue
        engine.memory()
    for cut in (1, 5, len(ints) // 2):
        with pytest.raises(InvalidArgument, match="do not match the variables"):
            compiled(score).remember(ints[:-cut], floats[: len(floats) // 2], words)
    engine = compiled(score)
    engine.remember(ints, floats, words)
    again: tuple[Any, ...] = engine.memory()
    assert all(np.array_equal(a, b) for a, b in zip(again, (ints, floats, words), strict=True))
    with pytest.raises(sges.errors.SgesError, match="only before the score is first evaluated"):
        engine.remember(ints, floats, words)


def test_a_checkpoint_of_another_function_that_makes_scores_is_refused(tmp_path: Path) -> None:
    """Lambdas have the same name, but different code, constants or references."""
    path, data = tmp_path / "run.json", sges.examples.load("asia")

    def made_with(ess: float) -> Callable[[Dataset], BDeu]:
        return lambda data: BDeu(data, ess=ess)

    def learned(score: Callable[[Dataset], object]) -> Result:
        return sges.learn(data, score=score, checkpoint=path)  # type: ignore[arg-type]

    first = learned(made_with(1.0))
    assert facts(learned(made_with(1.0))) == facts(first)
    others = (made_with(10.0), lambda data: BDeu(data, ess=1.0), lambda data: BDeu(data, ess=2.0))
    for other in others:
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

        def __call__(self, data: object) -> object:
            return data

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
        "an object": Maker(),
        "a method": Maker().make,
        "arguments": partial(by_keyword, ess=ess),
    }


@pytest.mark.parametrize("kind", makers(1.0))
def test_makers_of_scores_are_told_apart_by_what_they_use(kind: str) -> None:
    assert name_of(makers(1.0)[kind]) == name_of(makers(1.0)[kind])
    assert name_of(makers(1.0)[kind]) != name_of(makers(2.0)[kind])


def test_a_run_with_a_property_without_a_text_is_resumed_in_another_process(
    tmp_path: Path,
) -> None:
    """Its default text contains its address in memory, which differs between processes."""
    program = """
import sys, sges

class FewEdges:
    def __init__(self, most):
        self.most = most
    def holds(self, graph):
        return graph.edge_count() <= self.most

table, padding = sges.examples.load("asia"), [FewEdges(k) for k in range(int(sys.argv[2]))]
print(sges.learn(table, assume=FewEdges(int(sys.argv[3])), checkpoint=sys.argv[1]).score)
"""

    def learned(padding: int, most: int) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", program, str(tmp_path / "run.json")]
        command += [str(padding), str(most)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    first, again, other = learned(0, 9), learned(5000, 9), learned(0, 8)
    assert first.returncode == again.returncode == 0, again.stderr
    assert first.stdout == again.stdout
    assert "it was made with assume" in other.stderr
