"""What a newcomer compares: our default and other programs, each as its documentation says.

Beside time and distance to the truth: false edges in tables of independent columns, the time from
the start of a process to the first graph, the size of the installation, and what a program does
with missing values, text, a constant column and a copied column.
"""

import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, TypeAlias

from studies.charts import Looks, label, line, panels, plain_ticks
from studies.frame import Key, Options, Read, Row, Study, Task, amount, optional
from studies.peers.adapters import chosen_peers, documented_peers
from studies.peers.contract import Environment
from studies.peers.problems import COLD, PRESETS, SPECS, Preset
from studies.peers.processes import FOLDER, ROOT, SOURCES, interpreter, measure
from studies.peers.quality import plain_reason
from studies.peers.runner import COLUMNS, KEYS, Bench, Installed, Runner, needs
from studies.peers.standard import circumstances
from studies.summary import MISSING, distinct, grid, number, pick, seconds, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OURS = "sges.learn"
EXTRA: dict[str, Read] = {"cold_seconds": optional(amount), "installed_megabytes": optional(amount)}
"""The columns of the table ``COLD``, on which each run is a process of its own."""
SOURCE_FILES = {".c", ".cpp", ".h", ".pxd", ".pyx"}
Show: TypeAlias = Callable[[float], str]


class WhyRunner(Runner):
    """Runs the table ``COLD`` in a new process per seed, and everything else as usual."""

    def _on(self, benches: list[Bench], ready: Installed) -> Iterator[Row]:
        if benches[0].spec != COLD:
            yield from ({**row, **dict.fromkeys(EXTRA)} for row in super()._on(benches, ready))
            return
        size = None if ready.failed else megabytes(ready.peer.environment)
        for bench in benches:
            if not self._settled(ready, bench):
                yield {**self._cold(ready, bench), "installed_megabytes": size}

    def _cold(self, ready: Installed, bench: Bench) -> Row:
        path, begun = bench.path, time.perf_counter()
        (outcome,) = measure(ready.peer.name, ready.python, [path], self.preset.limit, once=True)
        took = time.perf_counter() - begun
        return {**self._row(ready, bench, outcome), "cold_seconds": took}


def megabytes(environment: Environment | None) -> float:
    """Return the size of a program and the packages that it needs, as installed by pip."""
    if environment is None:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        needed = Environment("sges", tuple(project["dependencies"]), "numpy")
        interpreter(needed)
        ours = (path for path in SOURCES.rglob("*") if path.suffix not in SOURCE_FILES)
        return megabytes(needed) + _size(ours)
    (home,) = (FOLDER / environment.name / "lib").glob("python*/site-packages")
    every = (each for each in home.iterdir() if not each.name.startswith(("pip", "setuptools")))
    return _size(path for each in every for path in (each, *each.rglob("*")))


def _size(paths: Iterator[Path]) -> float:
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


def _preset(options: Options) -> Preset:
    return PRESETS["why-quick" if options.quick else "why"]


def _tasks(options: Options) -> Iterator[Task]:
    for spec, seeds in _preset(options).problems:
        for peer in documented_peers():
            for seed in range(seeds):
                yield {"peer": peer.name, "dataset": spec.name, "seed": seed}


def _measure(_: list[Task], known: Mapping[Key, Row], options: Options) -> Iterator[Row]:
    preset = _preset(options)
    if options.limit is not None:
        preset = replace(preset, limit=options.limit, total=options.limit)
    runner = WhyRunner(preset, {} if options.again else known)
    return runner.run(chosen_peers(options.only, documented_peers()))


# The page.


def facts(rows: list[Row]) -> dict[str, object]:
    """Return the tables of the page, our losses first."""
    sound = [name for name in distinct(rows, "dataset") if not SPECS[name].flaw]
    null = [name for name in sound if SPECS[name].source == "null"]
    true = [name for name in sound if name not in null and name != COLD.name]
    cold = {name: pick(rows, dataset=COLD.name) for name in STARTS}
    sections = {
        "seconds": ({name: pick(rows, dataset=name) for name in true}, "seconds", seconds),
        "shd": ({name: pick(rows, dataset=name) for name in true}, "shd", number),
        "null": ({name: pick(rows, dataset=name) for name in null}, "edges", number),
    }
    programs = distinct(rows, "peer")
    lost: list[tuple[str, ...]] = []
    told: dict[str, object] = {}
    for section, (groups, column, show) in sections.items():
        told[section] = _table("table", groups, programs, column, show)
        lost += _lost(TITLES[section], groups, column, show)
    lines = []
    for title, column in STARTS.items():
        lines += _lines({title: cold[title]}, programs, column, number)
        lost += _lost(title, {"10 columns": cold[title]}, column, number)
    flaws = [name for name in distinct(rows, "dataset") if SPECS[name].flaw]
    first: dict[tuple[str, str], str] = {}
    for row in rows:
        if row["failed"] and row["failed"].startswith(("error", "crash")):
            where = SPECS[row["dataset"]].flaw or row["dataset"]
            first.setdefault((row["peer"], where), plain_reason(row["failed"]))
    said: dict[tuple[str, str], list[str]] = {}
    for (peer, where), why in first.items():
        said.setdefault((peer, why), []).append(where)
    return told | {
        "losses": grid(("what", "table", "program", "its median", "ours"), lost, left=3),
        "starts": grid(("", *_ticked(programs)), lines),
        "flaws": grid(
            ("table", *_ticked(programs)),
            [(SPECS[f].flaw, *(_outcome(rows, program, f) for program in programs)) for f in flaws],
        ),
        "said": grid(
            ("program", "table", "message"),
            [(f"`{peer}`", ", ".join(at), why) for (peer, why), at in sorted(said.items())],
            left=3,
        ),
        "calls": grid(
            ("program", "version", "method", "call"),
            [
                (f"`{p.name}`", pick(rows, peer=p.name)[-1]["version"], p.method, p.penalty)
                for p in documented_peers()
                if p.name in programs
            ],
            left=4,
        ),
        "seeds": len(distinct(rows, "seed")),
        "circumstances": circumstances(rows),
    }


TITLES = {"seconds": "seconds", "shd": "SHD", "null": "false edges"}
STARTS = {
    "seconds to import": "import_seconds",
    "seconds from start to first graph": "cold_seconds",
    "megabytes installed": "installed_megabytes",
}


def _ticked(programs: Sequence[str]) -> list[str]:
    return [f"`{program}`" for program in programs]


def _table(
    head: str, groups: Mapping[str, list[Row]], programs: Sequence[str], column: str, show: Show
) -> str:
    return grid((head, *_ticked(programs)), _lines(groups, programs, column, show))


def _lines(
    groups: Mapping[str, list[Row]], programs: Sequence[str], column: str, show: Show
) -> list[tuple[str, ...]]:
    """Return a line per group, with the median of each program; the least is bold."""
    lines = []
    for name, rows in groups.items():
        cells = {program: _cell(pick(rows, peer=program), column, show) for program in programs}
        least = min((m for m, _ in cells.values() if m is not None), default=None)
        shown = (
            f"**{text}**" if m is not None and m == least else text for m, text in cells.values()
        )
        lines.append((name, *shown))
    return lines


def _cell(rows: list[Row], column: str, show: Show) -> tuple[float | None, str]:
    """Return the median, and its text, which states in how many seeds a program had no graph."""
    known = values([row for row in rows if row["failed"] is None], column)
    reasons = [row["failed"].partition(":")[0] for row in rows if row["failed"]]
    if not known:
        short = {"wrong kind": MISSING, "timeout": f"> {rows[0]['limit']:g} s"} if rows else {}
        return None, short.get(reasons[0], reasons[0]) if reasons else MISSING
    part = f" ({len(known)} of {len(rows)})" if reasons else ""
    return median(known), show(median(known)) + part


def _lost(
    what: str, groups: Mapping[str, list[Row]], column: str, show: Show
) -> list[tuple[str, ...]]:
    """Return a line for each program whose median is below ours."""
    lost: list[tuple[str, ...]] = []
    for name, rows in groups.items():
        own, text = _cell(pick(rows, peer=OURS), column, show)
        for program in distinct(rows, "peer"):
            other, shown = _cell(pick(rows, peer=program), column, show)
            if other is not None and own is not None and other < own:
                lost.append((what, name, f"`{program}`", shown, text))
    return lost


def _outcome(rows: Sequence[Row], program: str, dataset: str) -> str:
    """Return what a program did with a table: a graph and its number of edges, or how it failed."""
    edges, text = _cell(pick(rows, peer=program, dataset=dataset), "edges", number)
    if edges is None:
        return text
    _, before = _cell(pick(rows, peer=program, dataset=COLD.name), "edges", number)
    return f"{text} edges" if SPECS[dataset].flaw == "text" else f"{text} edges ({before})"


def draw(rows: list[Row], figure: "Figure") -> None:
    """Draw seconds by number of variables, on Gaussian tables with few and with many rows."""
    every = [row for row in rows if SPECS[row["dataset"]].edges_per_node and row["d"] != COLD.d]
    every = every or pick(rows, kind="gaussian")
    programs = distinct(rows, "peer")
    looks, sizes = Looks(programs, lambda name: name == OURS), sorted(distinct(every, "rows"))
    for axes, size in zip(panels(figure, len(sizes), sharey=True), sizes, strict=True):
        here = [row for row in every if row["rows"] == size]
        for program in programs:
            known = [row for row in pick(here, peer=program) if row["failed"] is None]
            xs = sorted(distinct(known, "d"))
            ys = [median(values(pick(known, d=x), "seconds")) for x in xs]
            line(axes, (xs, ys), program, **looks.of(program))
        axes.set_xscale("log")
        axes.set_yscale("log")
        plain_ticks(axes, sorted(distinct(here, "d")))
        label(axes, "variables", "seconds", f"{size:,} rows")


STUDY = Study(
    "why",
    "Our default and other programs, as their documentation calls them",
    KEYS,
    COLUMNS | EXTRA,
    _tasks,
    _measure,
    facts,
    {"": draw},
    needs,
)
