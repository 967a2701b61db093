"""Write files so that a crash at any moment leaves the old content or the new, never a mixture.

Every file is written to a draft in the same folder, which then takes its name in one move.  A draft
is a new file with a random name and a check sum of it, so that nothing else has such a name, and it
is locked while its process lives.  The next writer removes the drafts of processes that died.

Several files of a directory cannot change at once on any common file system.  Therefore a manifest,
the file ``GENERATION``, names the drafts of all of them: from the moment at which it is there, the
new files count.  They take their names one by one, and the manifest is removed.  If the process
dies in between, ``opened`` finds the new files under the names of their drafts, and the next writer
moves them.
"""

import errno
import json
import logging
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from time import monotonic, sleep, time
from typing import TypeAlias, TypeVar

from sges.errors import FileError, check_path

if sys.platform != "win32":
    import fcntl

PathLike: TypeAlias = str | os.PathLike[str]
Guard: TypeAlias = Callable[[], AbstractContextManager[None]]
"""Makes the context in which drafts take their names; they are written, and waited for, before."""
_T = TypeVar("_T")

DRAFT_PREFIX = ".sges-"
GENERATION, GENERATION_FORMAT = ".sges-generation", "sges-generation"
PATIENCE, SECONDS_BEFORE_TELLING = 5.0, 1.0
"""How long to wait for another writer, and after how long to say so, in seconds."""
SECONDS_UNTIL_ABANDONED = 86_400.0
"""The age at which drafts are removed where no lock shows whether their process lives."""
WITHOUT_LOCKS = (
    *(errno.EACCES, errno.EPERM, errno.ENOENT, errno.ELOOP),  # the path cannot be opened
    *(errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP),
)
"""Errors of places where nothing can be locked."""

_user: Callable[[], int] = getattr(os, "geteuid", lambda: 0)  # on Windows, 0 owns every file


def write_text(path: PathLike, text: str, guard: Guard = nullcontext) -> Path:
    """Write a text file as UTF-8, whole or not at all; return its path."""
    return write_bytes(path, text.encode("utf-8", errors="surrogatepass"), guard)


def write_bytes(path: PathLike, content: bytes, guard: Guard = nullcontext) -> Path:
    """Write a file, whole or not at all; return its path.

    A file of this user that is replaced keeps its permissions.  A link to a file remains a link if
    this user or root made it; a link of another user is an error.
    """
    check_path("path", path)
    with file_errors("write", Path(path)):
        target = _followed(Path(path))
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a directory; name a file in it")
        is_pending = bool(_pending(target.parent))
        lock = _locked(target.parent) if is_pending else nullcontext()
        with _drafts(target.parent, {target.name: content}) as drafts, lock, guard():
            if is_pending:  # it would replace this file later
                _move_in(target.parent)
            drafts[target.name].replace(target)
            _sync(target.parent)
    return Path(path)


def write_directory(
    directory: PathLike, files: Mapping[str, bytes], guard: Guard = nullcontext
) -> list[Path]:
    """Write several files into a directory, creating it if necessary: all of them or none."""
    check_path("directory", directory)
    with file_errors("write", Path(directory)):
        target = _followed(Path(directory))
        if target.exists() and not target.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "it is a file; name a directory")
        with _made(target), _drafts(target, files) as drafts:
            names = {name: draft.name for name, draft in drafts.items()}
            manifest = {"format": GENERATION_FORMAT, "version": 1, "files": names}
            content = {GENERATION: json.dumps(manifest).encode()}
            with _locked(target), _drafts(target, content) as last, guard():
                _move_in(target)  # what a process that died has left
                for name in files:
                    if (target / name).is_dir():
                        raise IsADirectoryError(errno.EISDIR, f"{name!r} is a directory in it")
                if os.path.lexists(target / GENERATION):
                    raise will_not_replace(target / GENERATION, "was not written by sges")
                for draft in drafts.values():
                    draft.lstat()  # an error if a machine that shares no locks removed it
                _sync(target)
                last[GENERATION].replace(target / GENERATION)
                _sync(target)
                _move_in(target)
    return [Path(directory) / name for name in files]


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make a folder and those around it; remove them after an error, unless they are used."""
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        for each in reversed(made):
            each.mkdir(exist_ok=True)
        yield
    except BaseException:
        for each in made:
            with suppress(OSError):  # not empty: another program has written there
                each.rmdir()
        raise


def opened(path: Path, how: Callable[[Path], _T]) -> _T:
    """Return what a function makes of a file, or of the draft of it that already counts."""
    if draft := _pending(path.parent).get(path.name):
        with suppress(FileNotFoundError):  # it has just taken its name
            return how(path.parent / draft)
    return how(path)


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
    """Raise an error if a directory cannot be written, or has files that ``is_ours`` rejects."""
    check_path("directory", directory)
    target = Path(directory)
    with file_errors("write", target):
        check_writable(target, is_directory=True)
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
        record = json.loads(opened(path, Path.read_bytes))
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


def _followed(path: Path) -> Path:
    """Return the place that a path stands for, following only links of this user and of root.

    A link that another user has made in a shared folder may point to any file of this user.
    """
    for _ in range(40):
        if not path.is_symlink():
            return path
        if path.lstat().st_uid not in (0, _user()):
            why = f"{str(path)!r} is a link of another user; write to another place"
            raise PermissionError(errno.EPERM, why)
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _pending(folder: Path) -> dict[str, str]:
    """Return the drafts that count in a folder, by the names that they are about to take.

    In a folder such as /tmp, where users own their files, the manifest of another one is ignored.
    """
    path = folder / GENERATION
    try:
        found, around = path.lstat(), folder.stat()
        is_foreign = around.st_mode & stat.S_ISVTX and found.st_uid not in (_user(), around.st_uid)
        if is_foreign or not stat.S_ISREG(found.st_mode):
            return {}
        manifest = json.loads(path.read_bytes())
        files = manifest["files"] if manifest["format"] == GENERATION_FORMAT else {}
        return {
            name: draft
            for name, draft in files.items()
            if Path(name).name == name and _is_draft(draft)
        }
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):  # it is not ours
        return {}


def _move_in(folder: Path) -> None:
    """Give the drafts that count their names; the folder is locked."""
    pending = _pending(folder)
    for name, draft in pending.items():
        with suppress(FileNotFoundError):  # it has taken its name already
            (folder / draft).replace(folder / name)
    if pending:
        _sync(folder)
        (folder / GENERATION).unlink(missing_ok=True)


@contextmanager
def _drafts(folder: Path, files: Mapping[str, bytes]) -> Iterator[dict[str, Path]]:
    """Write drafts of files, removed at the end; first remove those of processes that died."""
    for entry in folder.glob(f"{DRAFT_PREFIX}*"):
        if _is_draft(entry.name):
            with suppress(OSError), _lock(entry) as is_locked:  # an error if its process lives
                if is_locked or time() - entry.lstat().st_mtime > SECONDS_UNTIL_ABANDONED:
                    _discard(entry)
    drafts = {}
    with ExitStack() as stack:
        for name, content in files.items():
            drafts[name] = folder / _draft_name(token_hex(8))
            stack.callback(_discard, drafts[name])
            _write(drafts[name], content, folder / name, stack)
        yield drafts


def _draft_name(token: str) -> str:
    """Return the name of a draft: nothing else has this check sum of a token."""
    return f"{DRAFT_PREFIX}{token}-{sha256(f'draft of sges {token}'.encode()).hexdigest()[:16]}"


def _is_draft(name: str) -> bool:
    return name == _draft_name(name[len(DRAFT_PREFIX) :][:16])


def _discard(draft: Path) -> None:
    """Remove a draft, if it is there and does not count; a directory is never removed."""
    with suppress(OSError):
        if draft.name not in _pending(draft.parent).values():
            draft.unlink()


def _write(draft: Path, content: bytes, replaced: Path, stack: ExitStack) -> None:
    """Write a draft, locked until the stack ends, and wait until it is on the disk.

    It has the permissions of the file that it will replace, if this is one of the same user.
    """
    mode = None
    with suppress(OSError):  # there is none
        if (found := replaced.stat()).st_uid == _user():
            mode = found.st_mode & 0o777
    new = partial(os.open, mode=0o666 if mode is None else 0o600)  # the umask is applied to both
    while True:
        with open(draft, "xb", opener=new) as file:  # which follows no links
            stack.enter_context(_locked(draft))
            if not os.fstat(file.fileno()).st_nlink:  # removed before it was locked
                continue
            if mode is not None and sys.platform != "win32":
                with suppress(OSError):  # the file system has no permissions
                    os.fchmod(file.fileno(), mode)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            return


def _sync(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a folder or draft where the system allows that; wait for a while."""
    start, told = monotonic(), False
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(_lock(path))
                break
            except BlockingIOError:
                waited = monotonic() - start
            if waited > PATIENCE:
                why = f"waited {PATIENCE:g} seconds for {_holder(path)}, which has locked it"
                raise FileError(f"cannot write {str(path)!r}: {why}; try again later")
            if waited > SECONDS_BEFORE_TELLING and not told:
                told, message = True, "sges: waiting for %s, which has locked %r"
                logging.getLogger("sges").warning(message, _holder(path), str(path))
            sleep(0.02)
        yield


@contextmanager
def _lock(path: Path) -> Iterator[bool]:
    """Lock a folder or draft, if possible; yield whether it is; an error if another one has."""
    handle, is_locked = None, False
    try:
        if sys.platform != "win32":
            try:
                handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                is_locked = True
            except OSError as error:
                if error.errno not in WITHOUT_LOCKS:
                    raise
        yield is_locked
    finally:
        if handle is not None and sys.platform != "win32":
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_UN)  # also for processes forked in the meantime
            os.close(handle)


def _holder(path: Path) -> str:
    """Return which process has locked a path, where the system tells."""
    with suppress(OSError, ValueError):
        inode = f":{path.stat().st_ino}"
        for line in Path("/proc/locks").read_text(encoding="utf-8").splitlines():
            _, kind, _, _, number, place, *_ = line.split()
            if kind == "FLOCK" and place.endswith(inode):
                name = Path(f"/proc/{number}/comm").read_text(encoding="utf-8").strip()
                return f"process {number} ({name})"
    return "another process"
