"""Run all programs on all data sets, one after the other; existing rows are kept."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from studies.frame import (
    Key,
    Options,
    Read,
    Row,
    Task,
    amount,
    duration,
    natural,
    one_of,
    optional,
    positive,
    real,
    words,
)
from studies.peers.adapters import all_peers, chosen_peers
from studies.peers.contract import Environment, Found, Peer
from studies.peers.judge import bic, judge
from studies.peers.problems import Preset, Problem, Spec, make_problem
from studies.peers.processes import (
    NotInstallable,
    Outcome,
    digest_of,
    interpreter,
    machine,
    measure,
    today,
    version,
)
from studies.peers.worker import write_table

KEYS: dict[str, Read] = {"peer": words, "dataset": words, "seed": natural}
MEASURED: dict[str, Read] = {
    "edges_true": natural,
    "seconds": duration,
    "cpu_seconds": duration,
    "repeats": positive,
    "import_seconds": amount,
    "warmup_seconds": amount,
    "prepare_seconds": amount,
    "megabytes": amount,
    "megabytes_before": amount,
    "python": words,
    "numpy": words,
    "bic": real,
    "bic_true": real,
    "shd": natural,
    "skeleton_f1": amount,
    "arrow_f1": amount,
    "edges": natural,
}
"""The columns that a run measures; they are None if the run failed."""
COLUMNS: dict[str, Read] = {
    "version": words,
    "kind": one_of("gaussian", "discrete"),
    "d": positive,
    "rows": positive,
    **{name: optional(read) for name, read in MEASURED.items()},
    "failed": optional(words),
    "limit": amount,
    "machine": words,
    "date": words,
}


def needs(row: Row) -> list[str]:
    """Return the columns that the row of a successful run must have: all but the BIC."""
    return [] if row["failed"] else [name for name in MEASURED if name != "bic"]


def tasks(preset: Preset) -> Iterator[Task]:
    """Yield a task for every program, data set and seed of a preset."""
    for spec, seeds in preset.problems:
        for peer in all_peers():
            for seed in range(seeds):
                yield {"peer": peer.name, "dataset": spec.name, "seed": seed}


def rows_of(
    preset: Preset, _: Sequence[Task], known: Mapping[Key, Row], options: Options
) -> Iterator[Row]:
    """Yield the rows of the chosen programs that are not settled yet."""
    if options.limit is not None:
        preset = replace(preset, limit=options.limit)
    runner = Runner(preset, {} if options.again else known)
    return runner.run(chosen_peers(options.only))


def is_settled(row: Row, version: str, limit: float) -> bool:
    """Return whether a row need not be measured again.

    It must be of this version; a failure counts only if its time limit was at least as long.
    """
    return bool(row["version"] == version and (row["failed"] is None or row["limit"] >= limit))


@dataclass(frozen=True, slots=True)
class Installed:
    """A peer that is ready to run, or the reason why it cannot run."""

    peer: Peer
    version: str
    python: Path
    failed: str | None = None


class Bench:
    """A data set that is made on first use, and written to a file for the workers."""

    def __init__(self, spec: Spec, seed: int, folder: Path) -> None:
        self.spec, self.seed, self.folder = spec, seed, folder

    @cached_property
    def problem(self) -> Problem:
        """The table and the truth."""
        return make_problem(self.spec, self.seed)

    @cached_property
    def path(self) -> Path:
        """The file with the table."""
        path = self.folder / f"{self.seed}.npz"
        write_table(self.problem.given or self.problem.table, path)
        return path

    @cached_property
    def bic_true(self) -> float:
        """The BIC of the truth on the table."""
        return bic(self.problem.table, self.problem.truth)


class Runner:
    """Runs a preset, given the existing rows; records on which data programs ran out of time."""

    def __init__(self, preset: Preset, known: Mapping[Key, Row]) -> None:
        self.preset = preset
        self.known = known
        self.too_hard: dict[str, list[Spec]] = {}

    def run(self, peers: tuple[Peer, ...]) -> Iterator[Row]:
        """Measure what is not settled yet, and yield each new row."""
        installed = [install(peer) for peer in peers]
        for spec, seeds in self.preset.ordered():
            with TemporaryDirectory() as folder:
                benches = [Bench(spec, seed, Path(folder)) for seed in range(seeds)]
                for ready in installed:
                    yield from self._on(benches, ready)

    def _on(self, benches: list[Bench], ready: Installed) -> Iterator[Row]:
        """Run a program on the seeds of a data set; after a crash, a new process continues."""
        left = [bench for bench in benches if not self._settled(ready, bench)]
        while left:
            refusal = ready.failed or self._refusal(ready, left[0].spec)
            if refusal is not None:
                outcomes = [Outcome({}, refusal)] * len(left)
            else:
                tables = [bench.path for bench in left]
                outcomes = measure(
                    ready.peer.name,
                    ready.python,
                    tables,
                    self.preset.limit,
                    total=self.preset.total,
                )
            for bench, outcome in zip(left, outcomes, strict=False):
                row = self._row(ready, bench, outcome)
                self._note(ready, bench.spec, row)
                yield row
            left = left[len(outcomes) :]

    def _settled(self, ready: Installed, bench: Bench) -> bool:
        """Return whether a settled row exists, and record if the program ran out of time."""
        row = self.known.get((ready.peer.name, bench.spec.name, bench.seed))
        if row is None or not is_settled(row, ready.version, self.preset.limit):
            return False
        self._note(ready, bench.spec, row)
        return True

    def _note(self, ready: Installed, spec: Spec, row: Row) -> None:
        if (row["failed"] or "").startswith("timeout"):
            self.too_hard.setdefault(ready.peer.name, []).append(spec)

    def _refusal(self, ready: Installed, spec: Spec) -> str | None:
        """Return why a program is not run on a data set, or None if it is."""
        if spec.kind not in ready.peer.kinds:
            return f"wrong kind: takes {' and '.join(ready.peer.kinds)} data only"
        for easier in self.too_hard.get(ready.peer.name, []):
            if easier.no_harder_than(spec):
                return f"not tried: out of time on {easier.name}"
        return None

    def _row(self, ready: Installed, bench: Bench, outcome: Outcome) -> Row:
        row: dict[str, Any] = _heading(ready, bench)
        if outcome.failed is None:
            row |= {name: outcome.answer[name] for name in MEASURED if name in outcome.answer}
            row |= _judged(bench, outcome)
        return row | {
            "failed": outcome.failed,
            "limit": self.preset.limit,
            "machine": machine(),
            "date": today(),
        }


def install(peer: Peer) -> Installed:
    """Make the peer's environment if necessary, and find out its version."""
    try:
        python = interpreter(peer.environment)
    except NotInstallable as error:
        return Installed(peer, "none", Path(), f"not installable: {error}")
    return Installed(peer, _version(peer.environment, python), python)


def _version(environment: Environment | None, python: Path) -> str:
    """Return the version; ours has a digest of the sources, which change between releases."""
    found = version(environment, python)
    return f"{found}+{digest_of()}" if environment is None else found


def _heading(ready: Installed, bench: Bench) -> dict[str, Any]:
    spec = bench.spec
    return {
        "peer": ready.peer.name,
        "version": ready.version,
        "dataset": spec.name,
        "kind": spec.kind,
        "d": spec.d,
        "rows": spec.rows,
        "seed": bench.seed,
    } | dict.fromkeys(MEASURED)


def _judged(bench: Bench, outcome: Outcome) -> dict[str, Any]:
    """Return the measures of the graph found, and the BIC and edges of the truth."""
    directed, undirected = (
        tuple((x, y) for x, y in outcome.answer[which]) for which in ("directed", "undirected")
    )
    return asdict(judge(bench.problem, Found(directed, undirected))) | {
        "bic_true": bench.bic_true,
        "edges_true": bench.problem.truth.edge_count(),
    }
