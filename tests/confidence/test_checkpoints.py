"""An interrupted run is resumed; a file that does not fit is an error that names the reason."""

import json
import random
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from sges import Confidence, confidence
from sges.data import Dataset, Moments
from sges.data.dataset import digest_of
from sges.errors import DataError, FileError, InvalidArgument
from sges.network.gaussian import LinearGaussian
from sges.network.structures import random_dag
from sges.uncertainty import replicates
from sges.uncertainty.replicates import ReplicateProgress

DATA = LinearGaussian.random(random_dag(8, 10, 1), (0.2, 0.9), seed=1).sample(300, seed=1)


def interrupted(path: Path, after: int, data: Dataset = DATA) -> Confidence:
    """Return the confidence of a run that is interrupted."""

    def stop(progress: ReplicateProgress) -> None:
        if progress.done == after:
            raise KeyboardInterrupt

    return confidence(data, 12, checkpoint=path, progress=stop)


def put(path: Path, state: object) -> None:
    """Put another state into a checkpoint, with the check sum that fits."""
    record = {**json.loads(path.read_text(encoding="utf-8")), "state": state}
    del record["checksum"]
    checksum = sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps({**record, "checksum": checksum}), encoding="utf-8")


def test_an_interrupted_run_goes_on_to_the_result_of_an_uninterrupted_one(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    whole = confidence(DATA, 12)
    for after in (1, 4, 9):
        assert interrupted(path, after).done == after
    seen: list[ReplicateProgress] = []
    assert confidence(DATA, 12, checkpoint=path, progress=seen.append) == whole
    assert [one.done for one in seen] == [10, 11, 12]
    assert confidence(DATA, 12, checkpoint=path, progress=seen.append) == whole
    assert len(seen) == 3  # every replicate was in the checkpoint
    assert confidence(DATA, 5, checkpoint=path).graphs == whole.graphs[:5]
    assert confidence(DATA, 15, checkpoint=path, n_jobs=2) == confidence(DATA, 15)


def test_progress_does_not_count_replicates_that_were_not_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    whole = confidence(DATA, 12, checkpoint=path)
    state = json.loads(path.read_text(encoding="utf-8"))["state"]
    put(path, {key: state[key] for key in ("0", "9", "10", "11")})
    seen: list[ReplicateProgress] = []
    found = confidence(DATA, 4, checkpoint=path, progress=seen.append)
    assert found.graphs == whole.graphs[:4]
    assert [(one.done, one.total) for one in seen] == [(2, 4), (3, 4), (4, 4)]
    assert all(one.remaining >= 0 for one in seen)


def test_other_data_or_settings_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    interrupted(path, 2)
    before = path.read_bytes()
    other = LinearGaussian.random(random_dag(8, 10, 2), seed=1).sample(300, seed=1)
    with pytest.raises(DataError, match="it was made from other data"):
        confidence(other, 12, checkpoint=path)
    for name, value, shown in (
        ("seed", 1, "seed = '0', and this run has '1'"),
        ("penalty", 2.0, "penalty = 'auto', and this run has '2.0'"),
        ("max_indegree", 2, "max_indegree = 'None', and this run has '2'"),
        ("knowledge", {"forbidden": [["x0", "x1"]]}, "other background knowledge than this run"),
        ("strategy", "interleaved", "strategy = "),
        ("draw", "bootstrap", "draw = 'bayesian', and this run has 'bootstrap'"),
    ):
        data = Dataset.of(DATA.values.T)
        own = tmp_path / f"{name}.json"
        interrupted(own, 1, data)
        with pytest.raises(DataError, match=shown) as caught:
            confidence(data, 12, checkpoint=own, **{name: value})  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)
    assert path.read_bytes() == before  # a refused file is not changed


def test_a_cut_off_or_changed_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    interrupted(path, 3)
    whole = path.read_bytes()
    rng = random.Random(0)
    damaged = [whole[:end] for end in range(0, len(whole) - 1, 97)]
    for _ in range(150):
        at = rng.randrange(len(whole) - 1)
        damaged.append(whole[:at] + bytes([whole[at] ^ 1 << rng.randrange(8)]) + whole[at + 1 :])
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"checkpoint .* remove the file") as caught:
            confidence(DATA, 12, checkpoint=path)
        assert "\n" not in str(caught.value)
    path.write_text('{"format": "sges-checkpoint", "version": 9}', encoding="utf-8")
    with pytest.raises(DataError, match="it has version 9, but sges reads version 1"):
        confidence(DATA, 12, checkpoint=path)
    path.write_text('{"format": "sges-result"}', encoding="utf-8")
    with pytest.raises(DataError, match="it is not a checkpoint of sges"):
        confidence(DATA, 12, checkpoint=path)


@pytest.mark.parametrize(
    "state", [[], 5, {"x": []}, {"-1": []}, {"": []}, {"0": 5}, {"0": [[0, 99, "->"]]}], ids=str
)
def test_a_checkpoint_whose_checksum_fits_is_checked_all_the_same(
    tmp_path: Path, state: object
) -> None:
    path = tmp_path / "run.json"
    interrupted(path, 2)
    put(path, state)
    with pytest.raises(DataError, match=r"checkpoint .* remove the file"):
        confidence(DATA, 12, checkpoint=path)


def test_a_place_that_cannot_be_a_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="checkpoint = 3 is not the path of a file"):
        confidence(DATA, 2, checkpoint=3)  # type: ignore[arg-type]
    with pytest.raises(FileError):
        confidence(DATA, 2, checkpoint=tmp_path)


def test_an_error_in_the_middle_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.json"
    search, asked = replicates.Question.replicate, [0]

    def fails(self: replicates.Question, number: int, seconds: float) -> object:
        asked[0] += 1
        if asked[0] == 6:
            raise RuntimeError("the cluster went away")
        return search(self, number, seconds)

    monkeypatch.setattr(replicates.Question, "replicate", fails)
    with pytest.raises(RuntimeError, match="went away"):
        confidence(DATA, 12, checkpoint=path)
    assert confidence(DATA, 12, checkpoint=path) == confidence(DATA, 12)
    assert asked[0] == 6 + 7 + 12


def test_the_digest_tells_tables_apart() -> None:
    table: dict[str, list[object]] = {"a": [0.5, 1.5, 2.5], "b": ["u", "v", "u"]}
    data = Dataset.of(table)
    same = Dataset.of({name: list(values) for name, values in table.items()})
    assert digest_of(data) == digest_of(same)
    others = [
        Dataset.of({"a": [0.5, 1.5, 2.25], "b": ["u", "v", "u"]}),
        Dataset.of({"a": [0.5, 1.5, 2.5], "b": ["u", "w", "u"]}),
        Dataset.of({"a": [0.5, 1.5, 2.5], "c": ["u", "v", "u"]}),
        Dataset.of(table, weights=[1, 1, 2]),
    ]
    moments = [
        Moments(("a",), 10, np.zeros(1), np.eye(1)),
        Moments(("a",), 11, np.zeros(1), np.eye(1)),
        Moments(("a",), 10, np.zeros(1), 2 * np.eye(1)),
    ]
    every: list[Dataset | Moments] = [data, *others, *moments]
    digests = [digest_of(one) for one in every]
    assert len(set(digests)) == len(digests)
