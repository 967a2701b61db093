"""The command ``sges``: each command is a call of the library and an echo.

    inspect     what a table holds, before a search
    learn       a table in, a CPDAG out
    confidence  how sure each edge is
    effect      the possible effects of one variable on another
    effects     the effects on one variable, or of one, ranked
    measure     the complexity of a graph and the bounds it satisfies
    compare     how far one graph is from another
    convert     a graph in another format
    plot        a picture of a graph
    report      a result as one HTML page
    simulate    a random network, and data sampled from it
    demo        the bundled example

Every command prints text for people, or with ``--json`` one JSON document.  Results go to
standard output, everything else to standard error.  Exit codes: 0 done, 1 invalid data or file,
2 invalid command line.
"""

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeAlias

INTERRUPTED = 130
SIGNALS = (signal.SIGINT, signal.SIGTERM)

Action: TypeAlias = Callable[[int, FrameType | None], object]
"""What is done at a signal."""

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command ``sges``, and exit with its code.

    Parameters
    ----------
    arguments : list of str, optional
        The words after ``sges``; by default those of the command line.
    """

    def leave(*_: object) -> None:  # in one line, while there is nothing to undo
        if sys.stderr is not None:
            os.write(sys.stderr.fileno(), b"sges: interrupted; nothing was written\n")
        os._exit(INTERRUPTED)

    with at_signals(leave, *SIGNALS), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # libraries that warn of each other are no concern here
        from sges.cli.app import run
        from sges.cli.terminal import keep_exit_code
    try:
        code = run(arguments)
    except KeyboardInterrupt:  # another one, while the first was reported
        code = INTERRUPTED
    keep_exit_code()
    if sys.stdout is None:  # Python would complain of it at exit
        os._exit(code)
    sys.exit(code)


@contextmanager
def at_signals(action: Action, *signals: signal.Signals) -> Iterator[None]:
    """Take an action at signals that are not ignored, and restore all handlers afterwards."""
    if threading.current_thread() is not threading.main_thread():  # which alone may set handlers
        yield
        return
    before = [(number, signal.getsignal(number)) for number in SIGNALS]
    for number, handler in before:
        if number in signals and handler is not signal.SIG_IGN:
            signal.signal(number, action)
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
