"""Fixtures for all tests.  Seeds are fixed, but tests must pass with any (SGES_TEST_SEEDS=0-99)."""

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

for name, examples in (("gate", 50), ("all", 100)):  # unless a test sets its own number
    settings.register_profile(
        name,
        deadline=None,
        derandomize=True,
        max_examples=examples,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.register_profile("wide", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("SGES_HYPOTHESIS", "gate"))


def _seeds() -> list[int]:
    low, _, high = os.environ.get("SGES_TEST_SEEDS", "42").partition("-")
    return list(range(int(low), int(high or low) + 1))


@pytest.fixture(params=_seeds())
def seed(request: pytest.FixtureRequest) -> int:
    """Return a seed for random data; the claim of the test must hold for any seed."""
    return int(request.param)


@pytest.fixture(autouse=True)
def _ctrl_c_can_be_pressed() -> Iterator[None]:
    """Let SIGINT raise KeyboardInterrupt, also if the tests run in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
