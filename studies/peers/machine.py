"""What is needed to read a time later: the machine, and which state of our code ran on it."""

import hashlib
import os
import platform
from datetime import UTC, datetime
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "src" / "sges"


def machine() -> str:
    """Return the processor's model and its number of cores; nothing that identifies the host."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    model = models[0] if models else platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} cores"


def today() -> str:
    """Return the date, in the time zone of nobody."""
    return datetime.now(UTC).date().isoformat()


def digest_of(folder: Path = SOURCES) -> str:
    """Return eight characters that change when any source file does."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".py", ".pyx", ".c", ".cpp", ".h"}:
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]
