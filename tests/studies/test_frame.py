"""The frame of all experiments: resumable, reproducible, the same on one process or two."""

from collections.abc import Callable
from pathlib import Path

import pytest

from studies.frame import ExperimentError, Progress, Row, Task
from studies.registry import EXPERIMENTS, measure, run
from studies.table import Table


class Killed(Exception):
    """Stands for a run that is killed."""


def without_seconds(path: Path) -> list[Row]:
    rows = Table(path, tuple(path.read_text().splitlines()[0].split(","))).rows()
    return [{k: v for k, v in row.items() if not k.endswith("seconds")} for row in rows]


def kill_after(count: int) -> Callable[[Progress], None]:
    """Return a progress callback that kills the run once so many tasks are done."""

    def progress(now: Progress) -> None:
        if now.row is not None and now.done >= count:
            raise Killed

    return progress


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """Note each task that is measured."""
    noted: list[Task] = []

    def noting(name: str, task: Task, seed: int) -> Row:
        noted.append(task)
        return measure(name, task, seed)

    monkeypatch.setattr("studies.registry.measure", noting)
    return noted


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the pictures, which take longer than quick rows."""
    monkeypatch.setattr("studies.registry.save", lambda *_: None)


@pytest.mark.usefixtures("undrawn")
def test_a_killed_run_continues_and_measures_nothing_twice(
    tmp_path: Path, measured: list[Task]
) -> None:
    with pytest.raises(Killed):
        run("figure-8", out=tmp_path, quick=True, progress=kill_after(5))
    assert len(measured) == 5
    report = run("figure-8", out=tmp_path, quick=True)
    assert report.measured == report.tasks - 5
    assert len(measured) == report.tasks
    assert len({tuple(task.items()) for task in measured}) == report.tasks
    assert run("figure-8", out=tmp_path, quick=True).measured == 0


@pytest.mark.usefixtures("undrawn")
def test_the_rows_of_a_killed_run_are_those_of_one_that_was_not(tmp_path: Path) -> None:
    with pytest.raises(Killed):
        run("polytrees", out=tmp_path / "a", quick=True, progress=kill_after(7))
    resumed = run("polytrees", out=tmp_path / "a", quick=True)
    whole = run("polytrees", out=tmp_path / "b", quick=True)
    assert without_seconds(resumed.rows) == without_seconds(whole.rows)


@pytest.mark.usefixtures("undrawn")
def test_a_line_that_was_not_written_to_its_end_is_measured_again(tmp_path: Path) -> None:
    report = run("fes-start", out=tmp_path, quick=True)
    before = without_seconds(report.rows)
    text = report.rows.read_text()
    report.rows.write_text(text[:-9])
    again = run("fes-start", out=tmp_path, quick=True)
    assert again.measured == 1
    assert without_seconds(again.rows) == before


@pytest.mark.usefixtures("undrawn")
def test_two_processes_give_the_rows_of_one(tmp_path: Path) -> None:
    one = run("fes-start", out=tmp_path / "one", quick=True)
    two = run("fes-start", out=tmp_path / "two", quick=True, jobs=2)

    def key(row: Row) -> tuple[object, ...]:
        return (row["n"], row["trial"])

    rows = sorted(without_seconds(two.rows), key=key)
    assert rows == sorted(without_seconds(one.rows), key=key)


@pytest.mark.usefixtures("undrawn")
def test_another_seed_gives_other_rows_in_the_same_table(tmp_path: Path) -> None:
    first = run("fes-start", out=tmp_path, quick=True, seed=0)
    second = run("fes-start", out=tmp_path, quick=True, seed=1)
    assert second.measured == second.tasks
    rows = without_seconds(first.rows)
    by_seed = [[{**r, "seed": 0} for r in rows if r["seed"] == s] for s in (0, 1)]
    assert len(by_seed[0]) == len(by_seed[1])
    assert by_seed[0] != by_seed[1]


def test_the_same_rows_give_the_same_plot_and_page(tmp_path: Path) -> None:
    report = run("figure-8", out=tmp_path, quick=True)
    before = report.plot.read_bytes(), report.summary.read_bytes()
    again = run("figure-8", out=tmp_path, quick=True)
    assert (again.plot.read_bytes(), again.summary.read_bytes()) == before


@pytest.mark.usefixtures("undrawn")
def test_progress_counts_up_to_the_number_of_tasks(tmp_path: Path) -> None:
    seen: list[Progress] = []
    report = run("fes-start", out=tmp_path, quick=True, progress=seen.append)
    assert [p.done for p in seen] == list(range(report.tasks + 1))
    assert {p.total for p in seen} == {report.tasks}


def test_a_table_with_other_columns_is_refused(tmp_path: Path) -> None:
    (tmp_path / "figure-8.csv").write_text("seed,n\n0,3\n")
    with pytest.raises(ExperimentError, match="has the columns seed, n"):
        run("figure-8", out=tmp_path, quick=True)


def test_an_unknown_name_and_no_processes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="figure-8"):
        run("figure-9", out=tmp_path)
    with pytest.raises(ExperimentError, match="1 or more"):
        run("figure-8", out=tmp_path, jobs=0)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_full_run_s_tasks_are_distinct_and_named_by_the_keys(name: str) -> None:
    experiment = EXPERIMENTS[name]
    tasks = list(experiment.tasks(False))
    assert all(tuple(task) == experiment.keys for task in tasks)
    assert len({experiment.key(task, 0) for task in tasks}) == len(tasks)
