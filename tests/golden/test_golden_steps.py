"""The engine takes the steps of the predecessor on every golden problem.

``steps.json`` was made with the predecessor, which searched in Python (``golden.make``): each step,
the graph, the score, and the number of evaluated families.  It changes only with the problems.
"""

import json
from pathlib import Path

import pytest

from golden.problems import PROBLEMS
from golden.record import Record, difference

GOLDEN = json.loads(Path(__file__).with_name("steps.json").read_text(encoding="utf-8"))

BUDGET = "the budget of the escapes ends between two questions, and they come in another order"

DEFAULT = "the default strategy is auto: it begins with the best order, and its work is bounded"

NOBODY = "a node without possible parents is not asked about, so its empty family does not count"

CHANGED: dict[str, str] = {
    "knowledge: sges after order, everything": NOBODY,
    "learn: as it comes, Gaussian": DEFAULT,
    "learn: as it comes, discrete": DEFAULT,
    "learn: as it comes, mixed": DEFAULT,
    "strategy: extended, 40 evaluations, 20 columns, 50 edges": BUDGET,
    "strategy: extended, 40 evaluations, discrete": BUDGET,
}
"""Problems that are meant to differ from the predecessor, with the reason.

They are run, and must differ: a problem that does not differ has to be removed.
"""

SLOW = 0.7
"""Problems that took longer with the predecessor, in seconds, run in ``make test-all`` only."""


def golden(name: str) -> Record:
    record: Record = GOLDEN[name]
    return record


def marks(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.slow] if GOLDEN.get(name, {"seconds": 0})["seconds"] > SLOW else []


def test_the_file_and_the_exceptions_are_about_these_problems() -> None:
    assert set(GOLDEN) == {"commit", *PROBLEMS}
    assert set(CHANGED) <= set(PROBLEMS)


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks(name)) for name in PROBLEMS])
def test_the_search_takes_the_steps_that_it_always_took(name: str) -> None:
    told = difference(golden(name), PROBLEMS[name].record())
    if name in CHANGED:
        assert told is not None, f"{name} no longer differs; remove it from CHANGED"
    elif told is not None:
        pytest.fail(f"{name}\n{told}", pytrace=False)


class TestDifference:
    """The description of the difference between two records."""

    name = next(name for name in PROBLEMS if "size: ges, 10 columns, 20 edges" in name)

    def changed(self, **values: object) -> str | None:
        return difference(golden(self.name), {**golden(self.name), **values})

    def test_equal_records_have_no_difference(self) -> None:
        assert self.changed() is None
        assert self.changed(seconds=99.0) is None

    def test_the_first_other_step_is_shown_with_those_before_it(self) -> None:
        steps = [list(step) for step in golden(self.name)["steps"]]
        steps[3][2], steps[3][3] = steps[3][3], steps[3][2]
        said = self.changed(steps=steps)
        assert said is not None
        first, *lines = said.splitlines()
        assert first == f"another step, number 4 of {len(steps)}:"
        assert [line.split()[0] for line in lines] == ["before", "before", "was", "is"]

    def test_a_missing_step_and_other_gains_data_and_counts_are_described(self) -> None:
        steps = golden(self.name)["steps"]
        assert "were expected; missing from" in str(self.changed(steps=steps[:-1]))
        off = [*steps[:-1], [*steps[-1][:-1], steps[-1][-1] + 0.01]]
        assert str(self.changed(steps=off)).startswith("another gain, number")
        assert str(self.changed(empty="1.0")).startswith("other data, or another score")
        assert str(self.changed(score="1.0")).startswith("the score is 1.0, and was")
        assert str(self.changed(evaluations=7)).startswith("evaluations: 7, and was")
        assert "another graph" in str(self.changed(lines=[[0, 1]]))
