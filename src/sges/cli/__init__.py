"""The command ``sges``: each command makes one call of the library and prints the result.

Every command prints text for people, or with ``--json`` one JSON document.  Results go to
standard output, everything else to standard error.  Exit codes: 0 done, 1 invalid data or file,
2 invalid command line.
"""

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn, TypeAlias

from sges.errors import out_of_memory

INVALID_DATA, INVALID_COMMAND, INTERRUPTED = 1, 2, 130
SIGNALS = (signal.SIGINT, signal.SIGTERM)

Action: TypeAlias = Callable[[int, FrameType | None], object]
"""A signal handler."""

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command ``sges``, and exit with its code.

    Parameters
    ----------
    arguments : list of str, optional
        The words after ``sges``; by default those of the command line.
    """

    def leave_early(*_: object) -> None:  # nothing has to be undone yet
        leave("interrupted; nothing was written", INTERRUPTED)

    try:
        with at_signals(leave_early, *SIGNALS), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings of libraries about each other
            from sges.cli.app import run
        code = run(arguments)
    except KeyboardInterrupt:  # a second one, while the first was being reported
        code = INTERRUPTED
    except Exception as error:
        exhausted = out_of_memory(error)
        if exhausted is None:
            raise
        leave(str(exhausted), INVALID_DATA)  # libraries crash if they end without memory
    set_handlers(signal.SIG_IGN, SIGNALS)  # nothing may change the exit code now
    # If a KeyboardInterrupt passes through exec or eval of a string (which dataclasses use),
    # CPython sets a flag and exits by SIGINT even if it was caught.  Another eval clears the flag.
    eval("None")
    if sys.stdout is None:  # Python would report this at exit
        os._exit(code)
    sys.exit(code)


def leave(message: str, code: int) -> NoReturn:
    """End the process at once, with one line."""
    if sys.stderr is not None:
        os.write(sys.stderr.fileno(), f"sges: {message}\n".encode(errors="backslashreplace"))
    os._exit(code)


def set_handlers(action: Action | signal.Handlers, signals: Iterable[signal.Signals]) -> None:
    """Call a handler at signals from now on."""
    if threading.current_thread() is threading.main_thread():  # other threads cannot set handlers
        for number in signals:
            signal.signal(number, action)


@contextmanager
def at_signals(action: Action, *signals: signal.Signals) -> Iterator[None]:
    """Call a handler at signals that are not ignored, and restore all handlers afterwards."""
    before = [(number, signal.getsignal(number)) for number in SIGNALS]
    set_handlers(action, [n for n, old in before if n in signals and old is not signal.SIG_IGN])
    try:
        yield
    finally:
        for number, handler in before:
            set_handlers(handler, [number])  # type: ignore[arg-type]
