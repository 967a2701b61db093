"""What an experiment is: tasks, how one is measured, and how the rows are shown.

A task is a dict of plain values (n, method, trial, ...).  Measuring it gives one row, which is
written at once: a run that is killed continues where it was, and a larger run reuses the rows
of a smaller one.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sges.errors import SgesError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class ExperimentError(SgesError, ValueError):
    """A study cannot be run as asked, or the table it would resume from is damaged."""


Value: TypeAlias = str | int | float
Row: TypeAlias = Mapping[str, Value]
"""The columns of a task, and what was measured."""

Task: TypeAlias = Mapping[str, Value]
"""One thing to measure: the values of the experiment's ``keys``."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """One experiment: which tasks, how each is measured, and what is made of the rows."""

    name: str
    title: str
    keys: tuple[str, ...]
    """The columns that name a task."""
    columns: tuple[str, ...]
    """The columns that are measured."""
    tasks: Callable[[bool], Iterable[Task]]
    """The tasks in the order in which they are run; few and small ones if True is given."""
    measure: Callable[[Task, int], Row]
    """Measure one task; the second argument is the seed of the whole run."""
    draw: Callable[[list[Row], "Figure"], None]
    """Draw the rows."""
    summary: Callable[[list[Row]], str]
    """Return the findings in markdown, every figure computed from the rows."""

    @property
    def header(self) -> tuple[str, ...]:
        """The columns of the table of rows."""
        return ("seed", *self.keys, *self.columns)

    def key(self, row: Row, seed: Value) -> tuple[str, ...]:
        """Return what names a task or the row of one, as it reads in the table."""
        return (str(seed), *(str(row[key]) for key in self.keys))


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is: what the ``progress`` callback is called with after each task."""

    name: str
    done: int
    total: int
    row: Row | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What a run leaves behind: its files, and how many tasks it had and measured now."""

    rows: Path
    plot: Path
    summary: Path
    tasks: int
    measured: int


def seed_of(*numbers: int) -> int:
    """Return a seed that depends on each of the numbers, such as run, n and trial.

    >>> seed_of(0, 8, 1) != seed_of(0, 1, 8)
    True
    """
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])
