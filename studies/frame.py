"""The frame of every study: its tasks, its resumable table, its figures and its page.

A task is a row that has only its keys (n, method, trial, ...).  Measuring it gives the whole row,
which is written immediately: a killed run continues where it stopped, and a larger run reuses the
rows of a smaller one.  The page is a template filled with numbers computed from the rows.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from math import isfinite
from multiprocessing import get_context
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sges.errors import SgesError
from studies.charts import new_figure, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = Path(__file__).parent
RESULTS = HERE / "results"
TEMPLATES = HERE / "pages"


class StudyError(SgesError, ValueError):
    """A study cannot be run with these options, or its table is damaged."""


# Columns: each is named together with the function that reads its text.

Read: TypeAlias = Callable[[str], Any]
Row: TypeAlias = Mapping[str, Any]
Task: TypeAlias = Mapping[str, Any]
Key: TypeAlias = tuple[Any, ...]


def natural(text: str) -> int:
    """Read a non-negative integer."""
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise ValueError("a whole number, 0 or more")
    return int(text)


def positive(text: str) -> int:
    """Read a positive integer."""
    if not re.fullmatch(r"[1-9][0-9]{0,17}", text):
        raise ValueError("a whole number, 1 or more")
    return int(text)


def real(text: str) -> float:
    """Read a finite number."""
    if not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?", text) or not isfinite(float(text)):
        raise ValueError("a finite number")
    return float(text)


def amount(text: str) -> float:
    """Read a finite non-negative number, such as seconds or megabytes."""
    if (value := real(text)) < 0:
        raise ValueError("a finite number, 0 or more")
    return value


def duration(text: str) -> float:
    """Read a finite positive number, such as a time that others are divided by."""
    if (value := real(text)) <= 0:
        raise ValueError("a finite number above 0")
    return value


def boolean(text: str) -> bool:
    """Read True or False."""
    if text not in ("True", "False"):
        raise ValueError("True or False")
    return text == "True"


def words(text: str) -> str:
    """Read printable, nonempty text."""
    if not text.isprintable() or not text.strip():
        raise ValueError("printable text")
    return text


def one_of(*allowed: str) -> Read:
    """Return a reader that accepts only these words."""

    def read(text: str) -> str:
        if text not in allowed:
            some = ", ".join(allowed[:12])
            raise ValueError(f"one of {some}" if len(allowed) <= 12 else f"one of {some}, ...")
        return text

    return read


def optional(read: Read) -> Read:
    """Return a reader that reads an empty field as None: not measured, or not applicable."""
    return lambda text: read(text) if text else None


Needs: TypeAlias = Callable[[Row], Iterable[str]]
"""Which of the optional columns a row must have, given the others."""


def no_needs(_: Row) -> Iterable[str]:
    """Require no optional column."""
    return ()


class Table:
    """A CSV file of rows with fixed columns, to which rows are appended one by one.

    An incomplete last line, as a killed run may leave it, is removed.  Any other damage is an
    error that states the line.
    """

    def __init__(self, path: Path, columns: Mapping[str, Read], needs: Needs = no_needs) -> None:
        self.path, self.columns, self.needs = path, columns, needs

    def rows(self) -> list[Row]:
        """Return all rows, or an empty list if the file does not exist."""
        lines = self._lines()
        if not lines:
            return []
        if lines[0] != ",".join(self.columns):
            raise StudyError(
                f"{self.path} has the columns {lines[0][:200]!r}, but this study writes "
                f"{','.join(self.columns)}: choose another folder, or remove the file"
            )
        return [self._row(line, place) for place, line in enumerate(lines[1:], 2)]

    def append(self, row: Row) -> None:
        """Append one row."""
        lines = self._lines()
        text = "" if lines else ",".join(self.columns) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8", newline="") as file:
            file.write(text + self._line(row))

    def _lines(self) -> list[str]:
        """Return the lines of the file, after removing an incomplete last line."""
        if not self.path.exists():
            return []
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if whole != data:
            self.path.write_bytes(whole)
        try:
            return whole.decode("utf-8").split("\n")[:-1]
        except UnicodeDecodeError as error:
            line = whole.count(b"\n", 0, error.start) + 1
            raise self._damaged(line, "is not UTF-8 text") from None

    def _row(self, line: str, place: int) -> Row:
        try:
            (fields,) = csv.reader([line], strict=True)
        except (csv.Error, ValueError):
            raise self._damaged(place, "is not a line of CSV") from None
        if len(fields) != len(self.columns):
            said = f"has {len(fields)} fields instead of {len(self.columns)}"
            raise self._damaged(place, said)
        row = {}
        for (name, read), text in zip(self.columns.items(), fields, strict=True):
            try:
                row[name] = read(text)
            except ValueError as error:
                raise self._damaged(place, f"has {name} = {text[:60]!r}, not {error}") from None
        if missing := [name for name in self.needs(row) if row[name] is None]:
            raise self._damaged(place, f"has no {missing[0]}, which such a row needs")
        return row

    def _damaged(self, line: int, what: str) -> StudyError:
        return StudyError(
            f"{self.path}, line {line} {what}: the table is damaged; remove the line to measure "
            "it again"
        )

    def _line(self, row: Row) -> str:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(
            [written(row[name]) for name in self.columns]
        )
        return text.getvalue()


def written(value: object) -> str:
    """Return the text of a value in a table: None is empty, floats have twelve digits.

    >>> [written(value) for value in (None, 12, 1 / 3, "a  b", True)]
    ['', '12', '0.333333333333', 'a b', 'True']
    """
    if value is None:
        return ""
    return f"{value:.12g}" if isinstance(value, float) else " ".join(str(value).split())


# A study, and how to run it.


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the command line; each study uses those that apply to it."""

    quick: bool = False
    """Few and small tasks: seconds or minutes instead of hours."""
    seed: int = 0
    jobs: int = 1
    """Processes that share the tasks of an experiment."""
    only: tuple[str, ...] = ()
    """Programs, or groups of cases, to measure; empty means all."""
    limit: float | None = None
    """The time limit of a run of a program, in seconds."""
    again: bool = False
    """Whether existing rows are measured again."""
    large: bool = False
    """Whether to include cases that need 12 GB and minutes each."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run, passed to the ``progress`` callback after each task."""

    name: str
    done: int
    total: int
    row: Row | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The files of a run, its number of tasks, and how many of them it measured."""

    table: Path
    figures: tuple[Path, ...]
    page: Path
    tasks: int
    measured: int


Draw: TypeAlias = Callable[[list[Row], "Figure"], None]
Measure: TypeAlias = Callable[[list[Task], Mapping[Key, Row], Options], Iterator[Row]]


@dataclass(frozen=True, slots=True)
class Study:
    """One study: its tasks, how they are measured, and how the page is made from the rows."""

    name: str
    title: str
    keys: Mapping[str, Read]
    """The columns that identify a task."""
    columns: Mapping[str, Read]
    """The measured columns."""
    tasks: Callable[[Options], Iterable[Task]]
    """The tasks, in the order in which they are measured and shown."""
    measure: Measure
    """A function that yields the rows of the tasks that have no valid row yet."""
    facts: Callable[[list[Row]], Mapping[str, object]]
    """The tables and numbers that fill the template of the page."""
    figures: Mapping[str, Draw] = field(default_factory=dict)
    """The function for each figure, by suffix: "" is for NAME.svg, "-bic" for NAME-bic.svg."""

    needs: Needs = no_needs
    """Which of the optional columns a row must have, given the others."""

    def table(self, folder: Path) -> Table:
        """Return the table of rows in a folder."""
        return Table(folder / f"{self.name}.csv", {**self.keys, **self.columns}, self.needs)

    def key(self, row: Row) -> Key:
        """Return the key of a task or of its row."""
        return tuple(row[name] for name in self.keys)

    def latest(self, rows: Iterable[Row]) -> dict[Key, Row]:
        """Return the last row of each key."""
        return {self.key(row): row for row in rows}

    def page(self, rows: list[Row], *, quick: bool = False) -> str:
        """Return the page: the template, filled with values computed from the rows."""
        text = Template((TEMPLATES / f"{self.name}.md").read_text(encoding="utf-8"))
        facts = {name: str(value) for name, value in self.facts(rows).items()}
        made = (
            f"Made by `python -m studies {self.name}{' --quick' * quick}` from the "
            f"{len(rows):,} rows in [{self.name}.csv]({self.name}.csv)."
        )
        return f"# {self.title}\n\n{text.substitute(facts).strip()}\n\n{made}\n"


def run(
    study: Study,
    *,
    out: Path,
    options: Options | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Report:
    """Measure the tasks that have no row yet, then draw the figures and write the page.

    Writes NAME.csv, NAME.md and the figures (NAME.svg, or NAME-FIGURE.svg) to ``out``.
    """
    options = options or Options()
    if options.jobs < 1:
        raise StudyError(f"jobs = {options.jobs}: the number of processes must be 1 or more")
    table, tasks = study.table(out), list(study.tasks(options))
    known = study.latest(table.rows())
    done = sum(study.key(task) in known for task in tasks)
    tell = progress or (lambda _: None)
    tell(Progress(study.name, done, len(tasks)))
    measured = 0
    for measured, row in enumerate(study.measure(tasks, known, options), 1):
        table.append(row)
        tell(Progress(study.name, min(done + measured, len(tasks)), len(tasks), row))
    return write(study, out, options, measured)


def write(study: Study, out: Path, options: Options, measured: int = 0) -> Report:
    """Draw the figures and write the page from the rows of the table."""
    table, tasks = study.table(out), list(study.tasks(options))
    known = study.latest(table.rows())
    rows = [known[key] for task in tasks if (key := study.key(task)) in known]
    if not rows:
        raise StudyError(f"{table.path} has no rows of {study.name}: measure some first")
    paths = []
    for end, draw in study.figures.items():
        figure = new_figure()
        draw(rows, figure)
        paths.append(out / f"{study.name}{end}.svg")
        save(figure, paths[-1])
    page = out / f"{study.name}.md"
    page.write_text(study.page(rows, quick=options.quick), encoding="utf-8")
    return Report(table.path, tuple(paths), page, len(tasks), measured)


def experiment(
    name: str,
    title: str,
    *,
    keys: Mapping[str, Read],
    columns: Mapping[str, Read],
    tasks: Callable[[bool], Iterable[Task]],
    measure: Callable[[Task, int], Row],
    facts: Callable[[list[Row]], Mapping[str, object]],
    draw: Draw,
) -> Study:
    """Return a study whose tasks are measured one by one, in ``jobs`` processes.

    ``tasks`` is called with True for few and small tasks, ``measure`` with a task and the seed of
    the run.  Apart from measured times, a row depends only on the seed and the task.
    """

    def seeded(options: Options) -> Iterator[Task]:
        return ({"seed": options.seed, **task} for task in tasks(options.quick))

    def missing(all_tasks: list[Task], known: Mapping[Key, Row], options: Options) -> Iterator[Row]:
        names = ("seed", *keys)
        left = [t for t in all_tasks if options.again or tuple(t[k] for k in names) not in known]
        return one_by_one(left, measure, options.jobs)

    every_key = {"seed": natural, **keys}
    return Study(name, title, every_key, columns, seeded, missing, facts, {"": draw})


def one_by_one(
    tasks: Sequence[Task], measure: Callable[[Task, int], Row], jobs: int
) -> Iterator[Row]:
    """Yield the row of each task once it is measured, in this process or in several."""
    if jobs == 1 or len(tasks) < 2:
        yield from ({**task, **measure(task, int(task["seed"]))} for task in tasks)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        asked = {pool.submit(measure, task, int(task["seed"])): task for task in tasks}
        try:
            yield from ({**asked[future], **future.result()} for future in as_completed(asked))
        finally:
            pool.shutdown(cancel_futures=True)


def seed_of(*numbers: int) -> int:
    """Return a seed that depends on each of the numbers, such as run, n and trial.

    >>> seed_of(0, 8, 1) != seed_of(0, 1, 8)
    True
    """
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])
