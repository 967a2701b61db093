"""A Dask cluster gives the results of one machine, even if workers die.

The cluster is a real one: a scheduler and two workers, each a process, on the loopback interface.
"""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest

import sges
from data_facts import facts
from sges.data import Dataset, Moments
from sges.data.reading import Reading
from sges.data.sources import statistics_of
from sges.errors import ClusterError, DataError, InvalidArgument, SgesError
from sges.network import LinearGaussian, random_dag

distributed: Any = pytest.importorskip("distributed", reason="distributed is not installed")
dask: Any = pytest.importorskip("dask", reason="dask is not installed")
dd: Any = pytest.importorskip("dask.dataframe", reason="dask is not installed")

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.filterwarnings("default"),  # Dask warns about its own dependencies
]


@dataclass(frozen=True)
class Cluster:
    """A scheduler and its workers, as processes, and a client."""

    client: Any
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]


@contextmanager
def started(folder: Path) -> Iterator[Cluster]:
    """Start a scheduler and two workers, and end them."""
    file = folder / "scheduler.json"
    where = ["--scheduler-file", str(file), "--no-dashboard"]
    silent: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    run = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1"]
    scheduler = subprocess.Popen([*run, "--port", "0", *where], **silent)
    run = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny"]
    workers: list[subprocess.Popen[bytes]] = []
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    try:
        while not file.exists():
            assert scheduler.poll() is None, "the scheduler did not start"
            time.sleep(0.05)
        for i in range(2):
            here = folder / f"worker {i}"
            command = [*run, *where, "--host", "127.0.0.1", "--local-directory", str(here)]
            workers.append(subprocess.Popen(command, env=environment, **silent))
        lost_after = {"distributed.comm.timeouts.connect": "2s", "distributed.comm.retry.count": 0}
        with dask.config.set(lost_after), distributed.Client(scheduler_file=str(file)) as client:
            client.wait_for_workers(2, timeout=60)
            yield Cluster(client, scheduler, workers)
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with started(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.fixture
def own_cluster(tmp_path: Path) -> Iterator[Cluster]:
    with started(tmp_path) as found:
        yield found


def example(name: str) -> pd.DataFrame:
    return sges.examples.load(name).table.to_pandas()


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("name", ["greenhouse", "asia"])
@pytest.mark.parametrize("partitions", [1, 11])
def test_learning_on_a_cluster_is_learning_on_one_machine(name: str, partitions: int) -> None:
    table = example(name)
    found, whole = sges.learn(dd.from_pandas(table, npartitions=partitions)), sges.learn(table)
    assert found.cpdag == whole.cpdag
    assert [step.operator for step in found.steps] == [step.operator for step in whole.steps]
    assert found.score_evaluations == whole.score_evaluations
    assert found.score == pytest.approx(whole.score, rel=1e-10)


@pytest.mark.usefixtures("cluster")
def test_nothing_but_statistics_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dd.DataFrame, "compute", pytest.fail)
    for name, kind in (("greenhouse", Moments), ("asia", Dataset)):
        frame = dd.from_pandas(example(name), npartitions=5)
        found = statistics_of(frame, Reading())
        assert isinstance(found, kind)
        assert found.records == len(frame.index)
        if isinstance(found, Dataset):
            assert facts(found) == facts(Dataset.of(example(name)).merged())
            assert facts(Dataset.of(frame)) == facts(found)


@pytest.mark.usefixtures("cluster")
def test_columns_of_a_frame_are_left_out() -> None:
    table = example("greenhouse")
    left_out = list(table.columns[:2])
    found = statistics_of(dd.from_pandas(table, npartitions=3), Reading(exclude=left_out))
    assert found.names == tuple(table.columns[2:])


@pytest.mark.usefixtures("cluster")
def test_the_rows_are_fetched_where_they_are_needed() -> None:
    table = example("greenhouse")
    frame = dd.from_pandas(table, npartitions=3)
    assert facts(Dataset.of(frame)) == facts(Dataset.of(table))
    both = table.assign(warm=np.where(table[table.columns[0]] > 0, "yes", "no"))
    frame = dd.from_pandas(both, npartitions=3)
    assert facts(statistics_of(frame, Reading())) == facts(Dataset.of(both))  # type: ignore[arg-type]


@pytest.mark.usefixtures("cluster")
def test_replicates_on_the_cluster_are_those_of_one_machine() -> None:
    import joblib

    frame = dd.from_pandas(example("greenhouse"), npartitions=4)
    here = sges.confidence(frame, 30, seed=3)
    assert here.draw == "wishart"
    with joblib.parallel_config("dask"):
        there = sges.confidence(frame, 30, seed=3)
    assert there.graphs == here.graphs


def from_parts(make: Callable[[int], pd.DataFrame], count: int) -> Any:  # noqa: ANN401
    """Return a Dask frame with partitions made by a function."""
    return dd.from_map(make, range(count), meta=make(0).iloc[:0])


@pytest.mark.usefixtures("cluster")
def test_partitions_that_do_not_fit_together_are_refused_in_one_line() -> None:
    def numbers(i: int) -> pd.DataFrame:
        return pd.DataFrame({"a": np.arange(9.0) + i, "b": np.arange(9.0) ** 2})

    def refusal(change: Callable[[pd.DataFrame], pd.DataFrame], **options: Any) -> str:  # noqa: ANN401
        def make(i: int) -> pd.DataFrame:
            return change(numbers(i)) if i == 2 else numbers(i)

        frame = dd.from_map(make, range(4), meta=numbers(0).iloc[:0], enforce_metadata=False)
        with pytest.raises(SgesError) as caught:
            sges.learn(frame, **options)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert "partition 2: has no column 'b'" in refusal(lambda part: part.drop(columns="b"))
    text = refusal(lambda part: part.assign(b=["x", "y", "z"] * 3))
    assert re.match(r"column 'b' contains (floats|text) in partition \d and (floats|text) in", text)
    holes = refusal(lambda part: part.assign(b=np.nan))
    assert "missing values in 9 of 36 rows ('b' 9)" in holes
    assert "partition 2: column 'a' contains 9 infinite" in refusal(
        lambda part: part.assign(a=np.inf)
    )
    assert "could not be computed (ZeroDivisionError" in refusal(lambda part: part.assign(a=1 // 0))
    assert "there is no column 'c'" in refusal(lambda part: part, columns=["c"])
    with pytest.raises(InvalidArgument, match="must be the name of a column"):
        sges.learn(from_parts(numbers, 2), weights=[1] * 18)
    empty = from_parts(lambda i: numbers(i).iloc[:0], 3)
    with pytest.raises(DataError, match="has 2 columns and no rows"):
        sges.learn(empty)


@pytest.mark.usefixtures("cluster")
def test_empty_partitions_and_levels_of_some_partitions_are_part_of_the_table() -> None:
    def make(i: int) -> pd.DataFrame:
        rng = np.random.default_rng(i)
        labels = ["u", "v", f"w{i}"]
        part = pd.DataFrame({"a": rng.choice(labels, 60), "b": rng.choice(labels, 60)})
        return part.astype("category").iloc[: 0 if i == 1 else 60]

    frame = from_parts(make, 4)
    found = Dataset.of(frame)
    whole = pd.concat([make(i).astype(str) for i in range(4)])
    assert found.levels == (("u", "v", "w0", "w2", "w3"),) * 2
    assert facts(found) == facts(Dataset.of(whole).merged())


def test_a_worker_killed_in_the_middle_of_the_pass_changes_nothing(
    own_cluster: Cluster, tmp_path: Path
) -> None:
    mark = str(tmp_path / "killed")
    model = LinearGaussian.random(random_dag(8, edges=12, seed=1), seed=1)
    table = pd.DataFrame(model.sample(2400, seed=1).values.T)
    table.columns = [f"v{i}" for i in range(8)]

    def part(i: int) -> pd.DataFrame:
        time.sleep(0.05)
        if i == 9:
            try:
                os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass  # the second attempt succeeds
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return table.iloc[100 * i : 100 * (i + 1)]

    frame = dd.from_map(part, range(24), meta=table.iloc[:0])
    found, whole = sges.learn(frame), sges.learn(table)
    assert Path(mark).exists()
    assert sum(worker.poll() is not None for worker in own_cluster.workers) == 1
    assert found.cpdag == whole.cpdag
    assert found.score == pytest.approx(whole.score, rel=1e-10)


def test_a_worker_killed_in_the_middle_of_the_replicates_changes_nothing(
    own_cluster: Cluster,
) -> None:
    import joblib

    model = LinearGaussian.random(random_dag(20, edges=30, seed=2), seed=2)
    moments = Moments.of(model.sample(2000, seed=2))
    killer = threading.Timer(0.1, own_cluster.workers[0].kill)

    def begin(_: object) -> None:
        if killer.ident is None:  # not started yet
            killer.start()

    with joblib.parallel_config("dask"):
        found = sges.confidence(moments, 60, progress=begin)
    killer.join()
    assert own_cluster.workers[0].wait() == -signal.SIGKILL
    assert found.graphs == sges.confidence(moments, 60).graphs


def test_a_cluster_that_goes_away_is_a_one_line_error(own_cluster: Cluster) -> None:
    def part(i: int) -> pd.DataFrame:
        time.sleep(0.2)
        return pd.DataFrame({"a": np.arange(9.0) + i, "b": np.arange(9.0) ** 2})

    frame = dd.from_map(part, range(40), meta=pd.DataFrame({"a": [0.0], "b": [0.0]}).iloc[:0])
    threading.Timer(1.0, own_cluster.scheduler.kill).start()
    with pytest.raises(
        ClusterError, match=r"the connection to the cluster was lost .* before all partitions"
    ) as caught:
        sges.learn(frame)
    assert "\n" not in str(caught.value)


def test_a_partition_that_kills_its_workers_is_named(own_cluster: Cluster) -> None:
    def part(i: int, fatal: int) -> pd.DataFrame:
        if i == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return pd.DataFrame({"a": np.arange(9.0) + i, "b": np.arange(9.0) ** 2})

    own_cluster.client.run_on_scheduler(
        lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0)
    )
    frame = dd.from_map(part, range(4), fatal=2, meta=part(0, 2).iloc[:0])
    with pytest.raises(ClusterError) as caught:
        sges.learn(frame)
    assert str(caught.value) == (
        "one worker of the cluster after another died at partition 2 (probably for lack of memory) "
        "before all partitions were read; give the workers more memory, or smaller partitions, "
        "and repeat the call"
    )


def test_replicates_that_were_done_are_not_lost_with_the_cluster(
    own_cluster: Cluster, tmp_path: Path
) -> None:
    import joblib

    moments = Moments.of(
        LinearGaussian.random(random_dag(20, edges=30, seed=2), seed=2).sample(2000, seed=2)
    )

    def kill(_: object) -> None:
        own_cluster.scheduler.kill()

    with joblib.parallel_config("dask"):
        found = sges.confidence(moments, 60, progress=kill, checkpoint=tmp_path / "c.json")
    assert 0 < found.done < 60
    assert found.stopped is not None
    assert found.stopped.startswith("the connection to the cluster was lost")
    whole = sges.confidence(moments, 60, checkpoint=tmp_path / "c.json")
    assert whole.graphs == sges.confidence(moments, 60).graphs


def test_sges_does_not_import_dask() -> None:
    script = "import sys, sges; sges.learn({'a': [1.5, 2.5], 'b': [2.5, 1.0]}); "
    script += "assert not {'dask', 'distributed', 'polars', 'duckdb'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)
