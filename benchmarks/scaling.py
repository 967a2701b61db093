"""How our own time and memory grow, where the time goes, and how far the limit is.

    growth     seconds and memory against variables, rows, edges and arity, with the exponents of
               power laws fitted by least squares on logarithmic axes
    floor      the time of the scoring questions alone, and the run as a multiple of it
    flame      a flame graph of a Gaussian and of a discrete search

Run: python -m benchmarks.scaling [--largest 1000] [--only growth floor flame]
Writes scaling.json, scaling.md, scaling.svg and flame-*.svg into benchmarks/results.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.contract import Table
from benchmarks.flame import boxes_of, sample, within, write_flame
from benchmarks.floor import distance
from benchmarks.machine import digest_of, machine, today
from benchmarks.measure import measure
from benchmarks.medians import REFERENCE
from benchmarks.problems import make_problem
from benchmarks.registry import peer_named
from benchmarks.rows import RESULTS
from benchmarks.runner import install
from benchmarks.suite import Spec
from benchmarks.worker import write_table

Point = dict[str, Any]

SWEEPS: dict[str, list[tuple[float, Spec]]] = {
    "variables, Gaussian": [(d, Spec("er", d, 10_000, 2)) for d in (50, 100, 200, 500, 1000)],
    "edges per variable, Gaussian, d = 100": [
        (e, Spec("er", 100, 10_000, e)) for e in (1, 2, 3, 4)
    ],
    "rows, Gaussian, d = 100": [(m, Spec("er", 100, m, 2)) for m in (500, 2_000, 10_000, 50_000)],
    "variables, discrete": [(d, Spec("cpt", d, 5_000)) for d in (20, 50, 100, 200)],
    "rows, discrete, d = 50": [(m, Spec("cpt", 50, m)) for m in (1_000, 5_000, 20_000, 50_000)],
    "arity, discrete, d = 50": [(a, Spec("cpt", 50, 5_000, arity=a)) for a in (2, 3, 4, 6)],
}
"""What is varied, and the data sets at each of its values."""

FLOORS = [
    *(Spec("er", d, 10_000, 2) for d in (50, 100, 200, 500, 1000)),
    *(Spec("cpt", d, 5_000) for d in (20, 50, 100)),
]
FLAMES = {"gaussian": Spec("er", 200, 10_000, 2), "discrete": Spec("cpt", 50, 5_000)}


def exponent(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    """Return the k of the power law y ~ x^k that fits best on logarithmic axes.

    >>> round(exponent([1, 2, 4], [3, 12, 48]), 6)
    2.0
    """
    if len(xs) < 2:
        return None
    slope, _ = np.polyfit(np.log(xs), np.log(ys), 1)
    return float(slope)


def grow(largest: int, limit: float) -> dict[str, list[Point]]:
    """Measure every sweep, each data set in a process of its own."""
    found: dict[str, list[Point]] = {}
    for name, points in SWEEPS.items():
        found[name] = [_point(x, spec, limit) for x, spec in points if spec.d <= largest]
        print(name, *(f"{p['x']:g}: {p['seconds']}" for p in found[name]), flush=True)
    return found


def _point(x: float, spec: Spec, limit: float) -> Point:
    """Return the median seconds of three seeds at one value of what is varied, and the memory."""
    ready = install(peer_named(REFERENCE))
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{seed}.npz" for seed in range(3)]
        for seed, path in enumerate(paths):
            write_table(make_problem(spec, seed).table, path)
        outcomes = measure(REFERENCE, ready.python, paths, limit)
    done = [outcome.answer for outcome in outcomes if outcome.failed is None]
    failed = next((outcome.failed for outcome in outcomes if outcome.failed), None)
    seconds = float(np.median([answer["seconds"] for answer in done])) if done else None
    # Of the first run only: later ones reuse what it left to the process.
    memory = {name: done[0][name] if done else None for name in ("megabytes", "megabytes_before")}
    return {"x": x, "dataset": spec.name, "seconds": seconds, **memory, "failed": failed}


def floors(largest: int) -> list[Point]:
    """Return the distance to the floor on each data set."""
    found = []
    for spec in FLOORS:
        if spec.d <= largest:
            apart = distance(builder(make_problem(spec, 0).table), search)
            found.append({"dataset": spec.name, **asdict(apart), "distance": apart.ratio})
            print(f"{spec.name:28} run {apart.run_seconds:8.3f} s, {apart.ratio:5.1f} × floor")
    return found


def builder(table: Table) -> Callable[[], Any]:
    """Return what builds the score of a table, as the adapter of ours does."""
    from sges.data import Dataset
    from sges.score import DiscreteBIC, GaussianBIC

    if table.kind == "gaussian":
        return lambda: GaussianBIC(table.values)
    data = Dataset.of(table.values, kinds="discrete")
    return lambda: DiscreteBIC(data)


def search(score: Any) -> Any:  # noqa: ANN401
    """Run the search whose growth is measured."""
    from sges.search import ges

    return ges(score)


def _build_and_search(build: Callable[[], Any]) -> None:
    search(build())


def flames(largest: int, folder: Path) -> list[str]:
    """Draw the flame graphs, and return their names."""
    names = []
    for kind, spec in FLAMES.items():
        spec = Spec(spec.source, min(spec.d, largest), spec.rows, spec.edges_per_node)
        build = builder(make_problem(spec, 0).table)
        search(build())  # what is imported on first use is not the hot path
        stacks = sample(partial(_build_and_search, build))
        name = f"flame-{kind}.svg"
        title = f"{REFERENCE} on {spec.name}: {stacks.total()} samples"
        write_flame(boxes_of(within(stacks, "sges")), title, folder / name)
        names.append(name)
    return names


def page(found: dict[str, Any]) -> str:
    """Return what was found as a page of Markdown."""
    from benchmarks.tables import digits, markdown

    parts = ["# How our own time and memory grow", f"{found['machine']}; {found['date']}."]
    if "growth" in found:
        parts += ["## Growth", "![Growth](scaling.svg)", _growth_table(found["growth"])]
    if "floor" in found:
        body = [
            [
                point["dataset"],
                f"{point['calls']:,}",
                f"{point['candidates']:,}",
                digits(point["statistics_seconds"]),
                digits(point["floor_seconds"]),
                digits(point["run_seconds"]),
                f"{point['distance']:.1f}×",
            ]
            for point in found["floor"]
        ]
        head = ["data set", "questions", "families", "statistics, s", "floor, s", "run, s"]
        parts += ["## Distance to the floor", FLOOR, markdown([*head, "distance"], body)]
    for name in found.get("flames", []):
        parts += [f"![Flame graph]({name})"]
    return "\n\n".join(parts) + "\n"


FLOOR = """\
The floor is a replay of exactly the questions that the run asked the score, batched as they were,
on a fresh score, with building its sufficient statistics: the batched linear algebra, or the passes
over the counts, alone."""


def _growth_table(growth: dict[str, list[Point]]) -> str:
    """Return what was measured; memory is what the search adds to what the process held."""
    from benchmarks.tables import MISSING, digits, markdown

    body = []
    for name, points in growth.items():
        done = _done(points)
        xs, ys = [p["x"] for p in done], [p["seconds"] for p in done]
        added = [max(p["megabytes"] - p["megabytes_before"], 0.1) for p in done]
        powers = [exponent(xs, values) for values in (ys, added)]
        shown = ", ".join(f"{x:g}: {digits(y)}" for x, y in zip(xs, ys, strict=True))
        memory = ", ".join(f"{value:.1f}" for value in added)
        words = [MISSING if power is None else f"{power:.2f}" for power in powers]
        body.append([name, shown, words[0], memory, words[1]])
    return markdown(["varied", "seconds", "exponent", "MB added", "exponent"], body)


def draw(growth: dict[str, list[Point]], path: Path) -> None:
    """Draw every sweep that was measured, with its fitted power law."""
    import matplotlib as mpl

    from sges.experiments import charts

    shown = {name: done for name, points in growth.items() if (done := _done(points))}
    figure = charts.new_figure(10.5, 3.1 * -(-len(shown) // 3))
    with mpl.rc_context(charts.STYLE):
        axes = figure.subplots(-(-len(shown) // 3), 3, squeeze=False).ravel()
    for axis in axes[len(shown) :]:
        axis.set_visible(False)
    for axis, (name, points) in zip(axes, shown.items(), strict=False):
        _draw_sweep(axis, name, points)
    charts.save(figure, path)


def _draw_sweep(axis: Any, name: str, points: list[Point]) -> None:  # noqa: ANN401 (of matplotlib)
    from benchmarks.tables import digits
    from sges.experiments import charts

    xs, ys = [p["x"] for p in points], [p["seconds"] for p in points]
    axis.loglog(xs, ys, "o", color=charts.BLUE, label="_seconds")
    power = exponent(xs, ys)
    if power is not None:
        fit = np.exp(np.mean(np.log(ys)) + power * (np.log(xs) - np.mean(np.log(xs))))
        axis.loglog(xs, fit, "-", color=charts.BLUE, alpha=0.4, label="_fit")
        axis.text(0.05, 0.9, f"exponent {power:.2f}", transform=axis.transAxes)
    charts.plain_ticks(axis, xs)
    axis.set_yticks([min(ys), max(ys)], [digits(min(ys)), digits(max(ys))])
    axis.yaxis.minorticks_off()
    what, _, where = name.partition(", ")
    axis.set_title(where, fontsize=10.5, fontweight="bold")
    axis.set_xlabel(what)
    axis.set_ylabel("seconds")


def _done(points: list[Point]) -> list[Point]:
    """Return the points at which a run came to an end."""
    return [point for point in points if point["seconds"] is not None]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is asked for, and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=1000, help="no more variables than this")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds per run")
    parts = ("growth", "floor", "flame")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    asked.out.mkdir(parents=True, exist_ok=True)
    kept = asked.out / "scaling.json"  # what is not asked for stays as it was measured
    found: dict[str, Any] = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    found |= {"machine": machine(), "date": today(), "sources": digest_of()}
    if "growth" in asked.only:
        found["growth"] = grow(asked.largest, asked.limit)
        draw(found["growth"], asked.out / "scaling.svg")
    if "floor" in asked.only:
        found["floor"] = floors(asked.largest)
    if "flame" in asked.only:
        found["flames"] = flames(asked.largest, asked.out)
    kept.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    (asked.out / "scaling.md").write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
