"""What every command shares: how it prints for people and for programs."""

import io
import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", metavar="", help="Print one JSON document instead of text.")
]


def print_json(document: Mapping[str, Any]) -> None:
    """Print one JSON document, and nothing else, on standard output."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def say(text: str) -> None:
    """Print text on standard output as it is."""
    sys.stdout.write(text.rstrip("\n") + "\n")


def remark(text: str) -> None:
    """Tell people something beside the result, on standard error."""
    sys.stderr.write(f"sges: {text}\n")


def at_terminal() -> bool:
    """Tell whether the result is read by people."""
    return sys.stdout.isatty()


def screen() -> "Console":
    """Return the console on standard output; no markup is read in what it prints."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def show_table(table: "Table") -> None:
    """Print a table: in colour on a terminal, and elsewhere as wide as it is, without padding."""
    if at_terminal():
        screen().print(table)
        return
    from rich.console import Console

    paper = Console(
        file=io.StringIO(), width=10_000, color_system=None, highlight=False, markup=False,
        emoji=False,
    )  # fmt: skip
    with paper.capture() as capture:
        paper.print(table)
    say("\n".join(line.rstrip() for line in capture.get().splitlines()))


def grid(*justify: str, header: tuple[str, ...] = ()) -> "Table":
    """Return a table without a frame, one column for each word on how to align it."""
    from rich.table import Table
    from rich.text import Text

    shown = bool(header)
    table = Table(
        box=None, show_header=shown, header_style="bold", padding=(0, 2, 0, 0), pad_edge=False
    )
    for i, where in enumerate(justify):
        title = Text(header[i]) if header else ""
        table.add_column(title, justify=where, overflow="fold")  # type: ignore[arg-type]
    return table
