"""Write files so that a crash at any moment leaves the old content or the new, never a mixture.

A single file is written to a draft beside it, which takes its name when it is complete.

Several files of a directory cannot change at once on any common file system.  One of them, the
first, therefore stands for all: the others are set aside, the first is replaced in one move, and
the new others follow.  The files that a killed process leaves always belong together; at worst,
files other than the first are missing until the next run writes them.  If a move fails, or Ctrl-C
interrupts, the old files are put back.

Drafts have fixed names, and writers hold a lock on the directory: a draft that is found under the
lock was left by a process that died, and is removed.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from sges.errors import FileError, check_path

if sys.platform != "win32":
    import fcntl

PathLike: TypeAlias = str | os.PathLike[str]

DRAFT_PREFIX = ".sges-"


def write_text(path: PathLike, text: str) -> Path:
    """Write a text file as UTF-8, whole or not at all; return its path."""
    return write_bytes(path, text.encode("utf-8", errors="surrogatepass"))


def write_bytes(path: PathLike, content: bytes) -> Path:
    """Write a file, whole or not at all; return its path.

    A file that is replaced keeps its permissions, and a link to it remains a link.
    """
    check_path("path", path)
    with file_errors("write", Path(path)):
        target = Path(os.path.realpath(path))  # the current directory may be gone
        if target.is_dir():
            raise IsADirectoryError(21, "it is a directory; name a file in it")
        digest = sha256(os.fsencode(target.name)).hexdigest()[:12]
        draft = target.parent / f"{DRAFT_PREFIX}{digest}"
        with _locked(target.parent) as handle:
            try:
                _write(draft, content, target)
                draft.replace(target)
            except BaseException:
                draft.unlink(missing_ok=True)
                raise
            _sync(handle)
    return Path(path)


def write_directory(directory: PathLike, files: Mapping[str, bytes]) -> list[Path]:
    """Write several files into a directory, creating it if necessary: all of them or none.

    The first file stands for all: it is replaced in one move, and the others are never of
    another generation than the first.
    """
    check_path("directory", directory)
    target = Path(directory)
    with file_errors("write", target):
        if target.exists() and not target.is_dir():
            raise NotADirectoryError(20, "it is a file; name a directory")
        made = [folder for folder in (target, *target.parents) if not folder.exists()]
        for folder in reversed(made):
            folder.mkdir()
        try:
            with _locked(target) as handle:
                for entry in target.glob(f"{DRAFT_PREFIX}*"):  # left by processes that died
                    if entry.is_dir() and not entry.is_symlink():
                        shutil.rmtree(entry, ignore_errors=True)
                    else:
                        entry.unlink(missing_ok=True)
                _replace_all(target, files, handle)
        except BaseException:
            for folder in made:
                with suppress(OSError):  # not empty: another program has written there
                    folder.rmdir()
            raise
    return [target / name for name in files]


def check_writable(path: Path, *, is_directory: bool) -> None:
    """Raise an error before the search if a path cannot be written."""
    if path.exists() and path.is_dir() != is_directory:
        is_what = "a file; name a directory" if is_directory else "a directory; name a file in it"
        raise FileError(f"cannot write {str(path)!r}: it is {is_what}")
    with file_errors("write", path):  # the current directory may be gone
        places = (path, *path.absolute().parents) if is_directory else (path.parent,)
        there = next((place for place in places if place.exists()), path.parent)
    if not there.exists():
        raise FileError(f"cannot write {str(path)!r}: there is no directory {str(there)!r}")
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise FileError(f"cannot write {str(path)!r}: {str(there)!r} cannot be written to")


def check_own(directory: PathLike, files: Iterable[str], is_ours: Callable[[Path], bool]) -> None:
    """Raise an error if one of the files exists, in a directory that ``is_ours`` rejects."""
    check_path("directory", directory)
    target = Path(directory)
    with file_errors("write", target):
        present = [name for name in files if (target / name).exists()]
    if present and not is_ours(target):
        raise FileError(
            f"cannot write {str(directory)!r}: {present[0]} exists and was not written by sges; "
            "move it, or choose another directory"
        )


def will_not_replace(path: PathLike, why: str) -> FileError:
    """Return the error for a file that exists and that we did not write."""
    return FileError(
        f"cannot write {str(path)!r}: it exists and {why}; move it, or choose another name"
    )


def has_format(path: Path, name: str) -> bool:
    """Return whether a file is a JSON document that states this format."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(record, dict) and record.get("format") == name


@contextmanager
def file_errors(verb: str, path: Path) -> Iterator[None]:
    """Raise errors of the system about a path as a ``FileError`` of one line."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"cannot {verb} {str(path)!r}: {error.strerror or error}") from None


def _replace_all(target: Path, files: Mapping[str, bytes], handle: int | None) -> None:
    """Write drafts, and replace the files; at every moment those present are of one generation."""
    drafts = target / f"{DRAFT_PREFIX}drafts"
    new, old = drafts / "new", drafts / "old"
    first, *others = files
    try:
        for folder in (drafts, new, old):
            folder.mkdir()
        for name, content in files.items():
            _write(new / name, content, target / name)
        if (target / first).exists():
            shutil.copy(target / first, old / first)
        try:
            for name in others:
                if (target / name).exists():
                    (target / name).replace(old / name)
            _sync(handle)
            (new / first).replace(target / first)
            _sync(handle)
            for name in others:
                (new / name).replace(target / name)
            _sync(handle)
        except BaseException:
            _put_back(target, list(files), new, old)
            raise
    finally:
        shutil.rmtree(drafts, ignore_errors=True)


def _put_back(target: Path, names: Sequence[str], new: Path, old: Path) -> None:
    """Undo an exchange that did not come to its end, wherever it stopped."""
    first, *others = names
    if not (new / first).exists():  # the first is new already, and so are the others there
        for name in others:
            (target / name).unlink(missing_ok=True)
        if (old / first).exists():
            (old / first).replace(target / first)
        else:
            (target / first).unlink()
    for name in others:
        if (old / name).exists():
            (old / name).replace(target / name)


def _write(path: Path, content: bytes, replaced: Path) -> None:
    """Write a file and wait until it is on the disk; it has the permissions of another, if any."""
    with path.open("wb") as file:
        with suppress(OSError):  # there is none, or the file system has no permissions
            shutil.copymode(replaced, path)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _locked(directory: Path) -> Iterator[int | None]:
    """Open a directory, locked against other writers, if the system and permissions allow that."""
    handle = None
    try:
        if sys.platform != "win32":
            with suppress(OSError):
                handle = os.open(directory, os.O_RDONLY)
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    finally:
        if handle is not None:
            os.close(handle)


def _sync(handle: int | None) -> None:
    """Wait until the names in an open directory are on the disk, where the system can."""
    with suppress(OSError):
        if handle is not None:
            os.fsync(handle)
