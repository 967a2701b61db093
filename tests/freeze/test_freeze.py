"""Graphs, scores, effects, files, commands, messages and names are those that were frozen."""

import pytest

from freeze.record import differences, facts, kept


def test_the_package_gives_what_was_frozen() -> None:
    found = differences(kept(), facts())
    if found:
        pytest.fail(
            f"{len(found)} differ (cd tests && python -m freeze):\n" + "\n".join(found[:20])
        )
