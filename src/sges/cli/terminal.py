"""Terminal output: results go to standard output, everything else to standard error.

On a terminal, output is colored and a progress line is shown while a search runs.  The number of
steps of a greedy search is not known beforehand, so progress is not a bar: it is a spinner with the
elapsed time, the phase, the steps so far, the edges and the score.
"""

import io
import json
import shutil
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sges.cli import SIGNALS, set_handlers
from sges.errors import FileError, in_shell

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import Task
    from rich.table import Table
    from rich.text import Text


STYLES = {
    r"\A.*": "bold",
    r"(?m)^[a-z]+ {2,}(?=\S)": "dim",
    r"(?m)^[A-Z][^:\n]*:": "bold",
    r"(?m)^Serious:": "red",
    "→": "bold cyan",
    "—": "bold yellow",
}
"""Patterns of a page and their styles: the title, the names of facts, headings, edges."""

WITHOUT_UNICODE = {"→": "->", "—": "--", "±": "+-", "…": "...", "’": "'"}
"""Replacements of signs that standard output cannot print."""


# Streams


def check_streams() -> None:
    """Raise an error if standard output is closed; escape characters that it cannot encode."""
    if sys.stdout is None:
        raise FileError("standard output is closed; redirect it to a file or to /dev/null")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def printable_here(text: str) -> str:
    """Return text with signs that standard output cannot print replaced by plain ones."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        for sign, plain in WITHOUT_UNICODE.items():
            text = text.replace(sign, plain)
    return text


def print_json(document: Mapping[str, Any]) -> None:
    """Print one JSON document, and nothing else, on standard output."""
    is_unicode = (sys.stdout.encoding or "utf-8").lower().replace("-", "").startswith("utf")
    text = json.dumps(document, indent=2, ensure_ascii=not is_unicode)
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")


def say(text: str) -> None:
    """Print text on standard output as it is."""
    sys.stdout.write(printable_here(text.rstrip("\n")) + "\n")


def remark(text: str) -> None:
    """Print a one-line message on standard error."""
    if sys.stderr is not None:
        sys.stderr.write(f"sges: {' '.join(text.split())}\n")


@contextmanager
def warnings_as_remarks() -> Iterator[None]:
    """Show each distinct warning of the library as one line when the work is done.

    Deprecation warnings are dropped: they concern developers, not users of a command.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for category in (DeprecationWarning, PendingDeprecationWarning):
            warnings.simplefilter("ignore", category)
        yield
    for message in dict.fromkeys(in_shell(warning.message) for warning in caught):
        remark(f"warning: {message}")


# Signals


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore Ctrl-C and SIGTERM while files are written.

    Afterwards both end the process at once: the message "nothing was written" would be wrong.
    """
    heeded = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    set_handlers(signal.SIG_IGN, heeded)
    yield
    set_handlers(signal.SIG_DFL, heeded)


# Pages and tables


def page_width() -> int:
    """Return the width of the terminal, within reason; 80 where there is none."""
    columns = shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80
    return max(20, min(columns, 100))


def print_sentence(text: str) -> None:
    """Print a sentence: folded between words at a terminal, on one line elsewhere."""
    if sys.stdout.isatty():
        console().print(printable_here(text))
    else:
        say(text)


def print_page(text: str) -> None:
    """Print a summary, in color at a terminal."""
    if sys.stdout.isatty():
        console().print(colored(printable_here(text)), soft_wrap=True)
    else:
        say(text)


def colored(summary: str) -> "Text":
    """Return the summary with its title, headings and edges set off."""
    from rich.text import Text

    text = Text(summary.rstrip("\n"))
    for pattern, style in STYLES.items():
        text.highlight_regex(pattern, style)
    return text


def console(**options: Any) -> "Console":  # noqa: ANN401
    """Return a console on standard output that reads no markup in what it prints."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, **options)


def grid(*justify: str, header: tuple[str, ...] = ()) -> "Table":
    """Return a table without a frame, with one column for each word on how to align it."""
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=None, show_header=bool(header), header_style="bold", padding=(0, 2, 0, 0),
        pad_edge=False,
    )  # fmt: skip
    for i, where in enumerate(justify):
        title = Text(header[i]) if header else ""
        table.add_column(title, justify=where, overflow="fold")  # type: ignore[arg-type]
    return table


def print_table(table: "Table") -> None:
    """Print a table: in color at a terminal, and elsewhere in its full width without padding."""
    if sys.stdout.isatty():
        console().print(table)
        return
    paper = console(file=io.StringIO(), width=10_000, color_system=None)
    with paper.capture() as capture:
        paper.print(table)
    say("\n".join(line.rstrip() for line in capture.get().splitlines()))


# Progress


class Watcher:
    """A progress line on standard error; it does nothing if there is no terminal.

    ``callback`` is the ``progress`` of a search, or None if there is no terminal.
    """

    def __init__(self, bar: "Bar | None", first: str) -> None:
        self._bar = bar
        self.callback: Callable[[Any], None] | None = None
        if bar is not None:
            self._task = bar.add_task(first, total=None)
            self.callback = self._show

    def tell(self, doing: str) -> None:
        """Show the current activity."""
        if self._bar is not None:
            self._bar.update(self._task, description=doing)

    def _show(self, progress: Any) -> None:  # noqa: ANN401
        from sges.tools.report.text import progress_in_words

        self.tell(progress_in_words(progress))


@contextmanager
def watching(first: str) -> Iterator[Watcher]:
    """Show a progress line, and remove it when the work is done."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield Watcher(None, first)
        return
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import ProgressColumn, SpinnerColumn
    from rich.text import Text

    class Line(ProgressColumn):
        """The line as one text, which a narrow terminal cuts only at its end."""

        def render(self, task: "Task") -> Text:
            seconds = timedelta(seconds=int(task.elapsed or 0))
            return Text(f"{seconds} {task.description}".rstrip(), no_wrap=True)

    place = Console(stderr=True, highlight=False)
    with Bar(SpinnerColumn(style="cyan"), Line(), console=place, transient=True) as bar:
        yield Watcher(bar, first)
