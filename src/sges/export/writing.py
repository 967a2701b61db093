"""Writing files whole or not at all.

What is written goes to a temporary file beside its target first and takes the target's name
when it is complete, so that a full disk or a killed process leaves the old file as it was.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, mkstemp
from typing import TypeAlias

from sges.errors import FileError

PathLike: TypeAlias = str | os.PathLike[str]


def write_text(path: PathLike, text: str) -> Path:
    """Write a text file as UTF-8, whole or not at all; return its path."""
    return write_bytes(path, text.encode("utf-8", errors="surrogatepass"))


def write_bytes(path: PathLike, content: bytes) -> Path:
    """Write a file, whole or not at all; return its path."""
    target = Path(path)
    with file_errors("write", target):
        if target.is_dir():
            raise IsADirectoryError(21, "it is a directory; name a file in it")
        handle, draft = mkstemp(prefix=".sges-", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(draft).chmod(0o666 & ~_umask())
            Path(draft).replace(target)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise
    return target


def write_directory(directory: PathLike, files: dict[str, bytes]) -> list[Path]:
    """Write several files into a directory, which is made if need be: all of them or none."""
    target = Path(directory)
    with file_errors("write", target):
        if target.exists() and not target.is_dir():
            raise NotADirectoryError(20, "it is a file; name a directory")
        made = _make(target)
        try:
            with TemporaryDirectory(prefix=".sges-", dir=target) as drafts:
                for name, content in files.items():
                    (Path(drafts) / name).write_bytes(content)
                _move(Path(drafts), target, list(files))
        except BaseException:
            for folder in reversed(made):
                folder.rmdir()
            raise
    return [target / name for name in files]


@contextmanager
def file_errors(verb: str, path: Path) -> Iterator[None]:
    """Raise errors of the system about a path as a ``FileError`` of one line."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"cannot {verb} {str(path)!r}: {error.strerror or error}") from None


def _make(directory: Path) -> list[Path]:
    """Make a directory and those above it; return the ones made, outermost first."""
    missing = [folder for folder in (directory, *directory.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir()
    return missing[::-1]


def _move(drafts: Path, target: Path, names: list[str]) -> None:
    """Move the drafts to their places; if one cannot be, put all back as it was."""
    old = drafts / "old"
    old.mkdir()
    done: list[str] = []
    try:
        for name in names:
            if (target / name).exists():
                (target / name).replace(old / name)
            done.append(name)
            (drafts / name).replace(target / name)
    except BaseException:
        for name in done:
            (target / name).unlink(missing_ok=True)
            if (old / name).exists():
                (old / name).replace(target / name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
