"""Exponents are those of power laws, the floor asks what the run asked, and boxes hold samples."""

from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from benchmarks import flame
from benchmarks.flame import boxes_of, sample, within, write_flame
from benchmarks.floor import Recorder, distance, replay
from benchmarks.problems import make_problem
from benchmarks.scaling import builder, exponent, page, search
from benchmarks.suite import Spec
from hypothesis import given
from hypothesis import strategies as st

SPECS = [Spec("er", 8, 300, 2), Spec("cpt", 6, 300)]


@given(st.floats(-3, 3), st.floats(0.01, 100))
def test_the_exponent_of_a_power_law_is_found(power: float, factor: float) -> None:
    xs = [1.0, 3.0, 10.0, 40.0]
    found = exponent(xs, [factor * x**power for x in xs])
    assert found == pytest.approx(power, abs=1e-6)


def test_one_point_has_no_exponent() -> None:
    assert exponent([5.0], [1.0]) is None


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.kind)
def test_a_recorded_search_finds_the_same_and_its_replay_asks_the_same(
    spec: Spec, seed: int
) -> None:
    build = builder(make_problem(spec, seed).table)
    recorder = Recorder(build())
    assert search(recorder).cpdag == search(build()).cpdag
    again = Recorder(build())
    replay(again, recorder.calls)
    assert [name for name, _ in again.calls] == [name for name, _ in recorder.calls]
    assert len(recorder.calls) > 0
    for (_, mine), (_, theirs) in zip(again.calls, recorder.calls, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True))


def test_the_distance_is_the_run_over_the_floor(seed: int) -> None:
    apart = distance(builder(make_problem(SPECS[0], seed).table), search)
    assert apart.ratio == apart.run_seconds / apart.floor_seconds
    assert apart.calls > 0
    assert apart.candidates > apart.calls


def test_boxes_add_up_and_stand_on_their_callers() -> None:
    root = boxes_of(Counter({("a", "b"): 3, ("a", "c"): 2, ("a",): 1, ("d",): 4}))
    assert root.samples == 10
    assert {name: box.samples for name, box in root.inner.items()} == {"a": 6, "d": 4}
    assert {name: box.samples for name, box in root.inner["a"].inner.items()} == {"b": 3, "c": 2}
    assert root.depth == 3


def test_stacks_begin_where_the_package_does() -> None:
    stacks = Counter({("main", "sges.a", "numpy.b", "sges.c"): 2, ("x", "sges.a"): 1, ("y",): 5})
    assert within(stacks, "sges") == {("sges.a", "numpy.b", "sges.c"): 2, ("sges.a",): 1}


def test_sampling_sees_the_function_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def busy() -> int:
        return sum(i * i for i in range(2_000_000))

    monkeypatch.setattr(flame, "LEAST_SECONDS", 0.2)
    stacks = sample(busy, interval=0.001)
    assert stacks.total() > 0
    assert any("busy" in name for stack in stacks for name in stack)


def test_a_flame_graph_is_an_svg_with_a_box_per_function(tmp_path: Path) -> None:
    path = tmp_path / "flame.svg"
    root = boxes_of(
        Counter({("sges.search.climb", "sges.score.<gains>"): 3, ("sges.search.climb",): 1})
    )
    write_flame(root, "a & b", path)
    tree = ElementTree.parse(path)
    titles = [each.text for each in tree.iter("{http://www.w3.org/2000/svg}title")]
    assert titles == ["all: 100.0%", "sges.search.climb: 100.0%", "sges.score.<gains>: 75.0%"]


def test_the_page_shows_exponents_and_distances() -> None:
    points = [
        {"x": x, "seconds": x**2 / 100, "megabytes": 50 + 10 * x, "megabytes_before": 50.0}
        for x in (10.0, 20.0)
    ]
    floor = {
        "dataset": "gaussian-er2-d50-m10000",
        "calls": 1000,
        "candidates": 20000,
        "statistics_seconds": 0.1,
        "floor_seconds": 0.5,
        "run_seconds": 1.0,
        "distance": 2.0,
    }
    text = page({"machine": "m", "date": "d", "growth": {"rows": points}, "floor": [floor]})
    assert "| rows | 10: 1.00, 20: 4.00 | 2.00 | 100.0, 200.0 | 1.00 |" in text
    assert "| 1,000 | 20,000 | 0.100 | 0.500 | 1.00 | 2.0× |" in text
