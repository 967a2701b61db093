"""A result on a terminal: its summary, in colour."""

from typing import TYPE_CHECKING

from sges.cli.screen import screen

if TYPE_CHECKING:
    from rich.text import Text

STYLES = {
    r"\A.*": "bold",
    r"(?m)^[a-z]+ {2,}(?=\S)": "dim",
    r"(?m)^[A-Z][^:\n]*:": "bold",
    "→": "bold cyan",
    "—": "bold yellow",
}
"""What in a summary looks how: its first line, the names of facts, headings, edges."""


def print_page(summary: str) -> None:
    """Print the summary of a result for people."""
    console = screen()
    console.print(coloured(summary), soft_wrap=True)


def coloured(summary: str) -> "Text":
    """Return the summary with what matters set off."""
    from rich.text import Text

    text = Text(summary.rstrip("\n"))
    for pattern, style in STYLES.items():
        text.highlight_regex(pattern, style)
    return text
