"""Mutation fuzzing of readers: inputs are read in a separate process, which may die.

A reader is a name, some valid files and a function that reads one.  Each input is a mutation of
a valid file, determined by the name of the reader and a number, so that any failure can be
reproduced.  Reading it may succeed or raise an ``SgesError`` of one line.  Everything else is a
failure: another exception, the death of the process, more than ten seconds, or more than 4 GiB.
The limit is processor time while the process runs, so that a busy machine makes no difference, and
elapsed time while it waits.
"""

import faulthandler
import multiprocessing
import os
import random
import re
import resource
import tempfile
import time
import traceback
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from sges.errors import SgesError

SECONDS = 10.0
"""The time limit for reading one input."""

MEMORY_BYTES = 4 << 30
"""The memory limit of a process that reads."""

INPUTS_TOGETHER = 256
"""The number of inputs that a process gets at a time."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader: the ending of its file names, valid files, and the function that reads."""

    ending: str
    seeds: Callable[[], Sequence[bytes]]
    read: Callable[[Path, int], object]
    """The function that reads a file; the number of the input selects one of several ways."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An input that failed, and what happened."""

    reader: str
    number: int
    what: str


@dataclass(slots=True)
class Report:
    """The outcomes of the inputs of one reader."""

    reader: str
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    slowest: float = 0.0
    peak_bytes: int = 0

    def __str__(self) -> str:
        counts = ", ".join(f"{count:,} {what}" for what, count in sorted(self.outcomes.items()))
        return (
            f"{self.reader}: {self.outcomes.total():,} inputs ({counts}); slowest "
            f"{self.slowest:.2f} s, peak {self.peak_bytes / 2**20:.0f} MiB"
        )


def mutated(name: str, seeds: Sequence[bytes], number: int) -> bytes:
    """Return the input with this number: a valid file with one to eight changes."""
    rng = random.Random(zlib.crc32(name.encode()) ^ number * 2654435761)
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5, 8))):
        rng.choice(CHANGES)(data, rng, seeds)
    return bytes(data)


def _place(data: bytearray, rng: random.Random) -> int:
    """Return a position, often near the beginning or the end, where formats have metadata."""
    size = max(len(data), 1)
    near = rng.randrange(min(64, size))
    return rng.choice((rng.randrange(size), rng.randrange(size), near, size - 1 - near))


def _flip(data: bytearray, rng: random.Random, _: Sequence[bytes]) -> None:
    if data:
        data[_place(data, rng)] ^= 1 << rng.randrange(8)


def _overwrite(data: bytearray, rng: random.Random, _: Sequence[bytes]) -> None:
    at = _place(data, rng)
    width = rng.choice((1, 2, 4, 8))
    value = rng.choice((0, 1, 127, 128, 255, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1))
    data[at : at + width] = (value % 256**width).to_bytes(width, rng.choice(("little", "big")))


def _cut(data: bytearray, rng: random.Random, _: Sequence[bytes]) -> None:
    at = _place(data, rng)
    del data[at : at + rng.choice((1, 2, 8, 64, len(data)))]


def _repeat(data: bytearray, rng: random.Random, _: Sequence[bytes]) -> None:
    at = _place(data, rng)
    piece = data[at : at + rng.choice((1, 4, 16, 256))]
    data[at:at] = piece * rng.choice((1, 2, 50))


def _insert(data: bytearray, rng: random.Random, _: Sequence[bytes]) -> None:
    at = _place(data, rng)
    data[at:at] = rng.choice(TOKENS) if rng.random() < 0.7 else rng.randbytes(rng.randint(1, 16))


def _splice(data: bytearray, rng: random.Random, seeds: Sequence[bytes]) -> None:
    other = rng.choice(seeds)
    if other:
        start = rng.randrange(len(other))
        data[_place(data, rng) :] = other[start:]


SCALAR = re.compile(rb'"(?:[^"\\\n]|\\.){0,200}"|-?\d{1,30}(?:\.\d{1,30})?|\b(?:true|false|null)\b')
GROUP = re.compile(rb"\[[^\[\]{}]{0,500}\]|\{[^\[\]{}]{0,500}\}")


def _replace(data: bytearray, rng: random.Random, _: Sequence[bytes]) -> None:
    """Replace a scalar, list or mapping by another value, so that most text stays well-formed."""
    found = [match.span() for match in rng.choice((SCALAR, SCALAR, GROUP)).finditer(data)]
    if found:
        start, stop = rng.choice(found)
        others = [bytes(data[a:b]) for a, b in (rng.choice(found), rng.choice(found))]
        data[start:stop] = rng.choice((*VALUES, *others, *others))


CHANGES = (_flip, _flip, _overwrite, _cut, _repeat, _insert, _splice, _replace, _replace, _replace)

TOKENS = (
    b"\0", b"\n", b"\r", b"\r\n", b'"', b'""', b"'", b",", b";", b"\t", b"|", b" ", b"\\",
    b"\x1b[31m",
    b"\xef\xbb\xbf", b"\xff\xfe", b"\xfc", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80",
    b"NaN", b"nan", b"inf", b"-inf", b"1e999", b"-0", b"0x1p3", b"1_000", b"9" * 40, b"9" * 5000,
    b"NA", b"null", b"None", b"true", b"false", b"2020-01-01", b"{", b"}", b"[", b"]", b"<", b">",
    b"(", b")", b"=", b"-> ", b"--", b"/*", b"*/", b"//", b"#", b"[" * 3000, b'{"a":' * 3000,
    b"PAR1", b"ARROW1", b"\x1f\x8b\x08", b"&amp;", b"&x;", b"<![CDATA[", b"<?xml",
    b"\\u0000", b"\\ud800",
)  # fmt: skip
"""Tokens with a meaning in some format, and unusual numbers and characters."""

VALUES = (
    b"null", b"true", b"false", b"0", b"-1", b"2.5", b"1e400", b"NaN", b"-Infinity", b"7" * 400,
    b'""', b'"x"', b'"\\u0000\\ud800"', b"[]", b"[[]]", b"[null]", b"{}", b'{"": {}}', b"[0, 1]",
    b"1979-05-27", b'["a", "a"]', b"99999",
)  # fmt: skip
"""Values of other types than a reader expects, and of the same type but out of range."""


def fuzz(readers: dict[str, Reader], name: str, numbers: range, *, processes: int = 1) -> Report:
    """Read the inputs with these numbers."""
    report = Report(name)
    starts = range(0, len(numbers), INPUTS_TOGETHER)
    pieces = iter([numbers[i : i + INPUTS_TOGETHER] for i in starts])
    workers = [_Worker(readers, name, report) for _ in range(processes)]
    try:
        while True:
            for worker in workers:
                if worker.is_idle():
                    worker.hand_over(next(pieces, range(0)))
            if all(worker.is_idle() for worker in workers):
                return report
            multiprocessing.connection.wait([w.pipe for w in workers if not w.is_idle()], 0.2)
            for worker in workers:
                worker.look()
    finally:
        for worker in workers:
            worker.stop()


class _Number:
    """A number that is shared between two processes."""

    value: int


class _Worker:
    """A process that reads inputs, and is restarted if it dies or hangs."""

    def __init__(self, readers: dict[str, Reader], name: str, report: Report) -> None:
        self.readers, self.name, self.report = readers, name, report
        self.context = multiprocessing.get_context("fork")
        self.left = range(0)
        self.later: list[range] = []
        self.start()

    def start(self) -> None:
        self.pipe, other = self.context.Pipe()
        self.number = self.context.Value("q", -1)
        self.process = self.context.Process(
            target=_serve, args=(self.readers, self.name, other, self.number), daemon=True
        )
        with warnings.catch_warnings():  # newer versions of Python warn about threads in the parent
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process.start()
        other.close()
        self.at, self.since, self.used = -1, time.monotonic(), 0.0

    def is_idle(self) -> bool:
        return not self.left

    def hand_over(self, numbers: range) -> None:
        self.left = numbers
        self.since = time.monotonic()
        if numbers:
            self.pipe.send((numbers.start, numbers.stop))

    def look(self) -> None:
        """Receive the outcomes of the process, or detect that it has died or hangs."""
        if self.is_idle():
            return
        try:
            if self.pipe.poll():
                self._take(self.pipe.recv())
                return
        except (EOFError, OSError):
            self.process.join(SECONDS)
            self._died(f"died with exit code {self.process.exitcode}")
            return
        if self.number.value != self.at:
            self.at, self.since = self.number.value, time.monotonic()
            self.used = _used_by(self.process.pid)[1]
        elif self._hangs():
            self.process.kill()
            self.process.join()
            self._died(f"took more than {SECONDS:.0f} s")

    def _hangs(self) -> bool:
        if time.monotonic() - self.since <= SECONDS:
            return False
        is_waiting, used = _used_by(self.process.pid)
        return is_waiting or used - self.used > SECONDS

    def _take(self, told: tuple[Counter[str], list[tuple[int, str]], float, int]) -> None:
        outcomes, failures, slowest, peak = told
        self.report.outcomes.update(outcomes)
        self.report.failures += [Failure(self.name, number, what) for number, what in failures]
        self.report.slowest = max(self.report.slowest, slowest)
        self.report.peak_bytes = max(self.report.peak_bytes, peak)
        self.hand_over(self.later.pop(0) if self.later else range(0))

    def _died(self, what: str) -> None:
        """Record the input that failed, and read the inputs without a reported outcome again."""
        number = max(int(self.number.value), self.left.start)
        self.report.failures.append(Failure(self.name, number, what))
        self.report.outcomes[what] += 1
        self.pipe.close()
        parts = [range(self.left.start, number), range(number + 1, self.left.stop), *self.later]
        self.later = [part for part in parts if part]
        self.start()
        self.hand_over(self.later.pop(0) if self.later else range(0))

    def stop(self) -> None:
        self.pipe.close()
        self.process.join(0.5)
        if self.process.is_alive():
            self.process.kill()


def _serve(readers: dict[str, Reader], name: str, pipe: Connection, number: _Number) -> None:
    """Read inputs until the pipe is closed."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.disable()  # the exit code is enough
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    warnings.simplefilter("ignore")
    seeds = readers[name].seeds()
    with tempfile.TemporaryDirectory(dir=_memory_folder()) as folder:
        path = Path(folder) / f"input{readers[name].ending}"
        while True:
            try:
                start, stop = pipe.recv()
            except EOFError:
                return
            pipe.send(_read_all(readers[name], name, seeds, path, range(start, stop), number))


def _used_by(pid: int | None) -> tuple[bool, float]:
    """Return whether a process is waiting, and its processor time so far."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # the process has died, or there is no /proc
        return True, 0.0
    return words[0] != "R", (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def _memory_folder() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _read_all(
    reader: Reader, name: str, seeds: Sequence[bytes], path: Path, numbers: range, at: _Number
) -> tuple[Counter[str], list[tuple[int, str]], float, int]:
    outcomes: Counter[str] = Counter()
    failures: list[tuple[int, str]] = []
    slowest = 0.0
    for number in numbers:
        at.value = number
        path.write_bytes(mutated(name, seeds, number))
        start = time.process_time()
        what = outcome(reader, path, number)
        slowest = max(slowest, time.process_time() - start)
        outcomes[what.split(":")[0]] += 1
        if what not in ("read", "refused"):
            failures.append((number, what))
    return outcomes, failures, slowest, peak_bytes()


def outcome(reader: Reader, path: Path, number: int) -> str:
    """Read one file, and return the outcome."""
    try:
        reader.read(path, number)
    except SgesError as error:
        return "refused" if len(str(error).splitlines()) == 1 else f"many lines: {error!r}"
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"raised {type(error).__name__}: {error} ({where.filename}, line {where.lineno})"
    return "read"


def peak_bytes() -> int:
    """Return the peak memory of this process, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
