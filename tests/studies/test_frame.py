"""The frame of all studies: resumable, reproducible, independent of the processes."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from studies import frame
from studies.__main__ import main
from studies.frame import RESULTS, Options, Progress, Report, Row, StudyError, Task, run
from studies.registry import STUDIES

Measure = Callable[[Task, int], Row]


class Killed(Exception):
    """Raised to simulate that a run is killed."""


def quickly(name: str, out: Path, progress: Callable[[Progress], object] | None = None) -> Report:
    return run(STUDIES[name], out=out, options=Options(quick=True), progress=progress)


def kill_after(count: int) -> Callable[[Progress], None]:
    """Return a progress callback that ends the run after this number of tasks."""

    def progress(now: Progress) -> None:
        if now.row is not None and now.done >= count:
            raise Killed

    return progress


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """Record each task that is measured."""
    recorded: list[Task] = []
    one_by_one = frame.one_by_one

    def recording(tasks: Sequence[Task], measure: Measure, jobs: int) -> Iterator[Row]:
        def recorded_measure(task: Task, seed: int) -> Row:
            recorded.append(task)
            return measure(task, seed)

        return one_by_one(tasks, recorded_measure, jobs)

    monkeypatch.setattr(frame, "one_by_one", recording)
    return recorded


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not save figures, which takes longer than measuring the rows."""
    monkeypatch.setattr(frame, "save", lambda *_: None)


@pytest.mark.usefixtures("undrawn")
def test_a_killed_run_continues_and_measures_nothing_twice(
    tmp_path: Path, measured: list[Task]
) -> None:
    with pytest.raises(Killed):
        quickly("figure-8", tmp_path, progress=kill_after(5))
    assert len(measured) == 5
    report = quickly("figure-8", tmp_path)
    assert report.measured == report.tasks - 5
    assert len(measured) == report.tasks
    assert len({tuple(task.items()) for task in measured}) == report.tasks
    assert quickly("figure-8", tmp_path).measured == 0


@pytest.mark.parametrize("name", STUDIES)
def test_the_tasks_of_a_full_run_are_distinct_and_named_by_the_keys(name: str) -> None:
    study = STUDIES[name]
    tasks = list(study.tasks(Options()))
    assert all(tuple(task) == tuple(study.keys) for task in tasks)
    assert len({study.key(task) for task in tasks}) == len(tasks)


@pytest.mark.parametrize("name", STUDIES)
def test_a_page_is_what_the_rows_beside_it_give(name: str) -> None:
    """If this fails, run ``python -m studies NAME --page``."""
    study = STUDIES[name]
    known = study.latest(study.table(RESULTS).rows())
    keys = [study.key(task) for task in study.tasks(Options())]
    page = study.page([known[key] for key in keys if key in known])
    assert (RESULTS / f"{name}.md").read_text(encoding="utf-8") == page
    for target in re.findall(r"\]\(([^)#:]+)\)", page):
        assert (RESULTS / target).exists(), target


# Damaged tables.

EXAMPLES = (
    ("0,3,bes,0,0,12,8,1,1e999,1.5,0.1", "gain = '1e999', not a finite number"),
    ("0,3,bxs,0,0,12,8,1,0,1.5,0.1", "method = 'bxs', not one of bes, sbes"),
    ("0,3,bes,0,0,12,8,1,0,1.5", "has 10 fields instead of 11"),
    ('0,3,"bes,0,0,12,8,1,0,1.5,0.1', "is not a line of CSV"),
)


@pytest.mark.parametrize(("line", "said"), EXAMPLES)
def test_a_damaged_row_is_refused_with_its_line_and_what_would_be_right(
    line: str, said: str, tmp_path: Path
) -> None:
    study = STUDIES["figure-8"]
    header = ",".join([*study.keys, *study.columns])
    (tmp_path / "figure-8.csv").write_text(f"{header}\n0,3,bes,0,0,12,8,1,0,1.5,0.1\n{line}\n")
    with pytest.raises(StudyError, match="line 3 ") as refusal:
        study.table(tmp_path).rows()
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_the_command_lists_the_studies_and_refuses_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in STUDIES)
    assert main(["figure-9"]) == 2
    assert main(["standard", "--only", "nobody", "--out", str(tmp_path)]) == 2
    (tmp_path / "fes-start.csv").write_text("seed\n1\n")
    assert main(["fes-start", "--quick", "--out", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "study = 'figure-9' is not one of" in said
    assert "there is no peer 'nobody'; the peers are " in said
    assert "has the columns 'seed'" in said
    assert "Traceback" not in said
