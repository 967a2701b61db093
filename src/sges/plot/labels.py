"""Labels: names as they are shown, short enough for a box and safe to show."""

from collections.abc import Sequence

LINE, LINES = 16, 3
"""The most characters of a line and lines of a label."""


def labels_of(names: Sequence[str]) -> list[str]:
    r"""Return what to write into the boxes; different names stay different.

    >>> labels_of(["x", "a_rather_long_name_for_a_column"])
    ['x', 'a_rather_long_\nname_for_a_\ncolumn']
    """
    labels = [label_of(name) for name in names]
    alike = {label for label in labels if labels.count(label) > 1}
    return [f"{label} #{v}" if label in alike else label for v, label in enumerate(labels)]


def label_of(name: str) -> str:
    """Return a name in a few short lines, what cannot be shown made visible."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
    room = LINE * LINES - 6
    if len(shown) > room:
        shown = f"{shown[: room - 13]}…{shown[-12:]}"
    return "\n".join(_lines(shown)) or repr(name)


def _lines(text: str) -> list[str]:
    """Break a text after spaces, underscores, dots and the like; in a word only if need be."""
    lines = [""]
    for piece in _pieces(text):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > LINE:
            lines.append("")
        while len(lines[-1]) + len(piece.rstrip()) > LINE:
            lines[-1] += piece[: LINE - len(lines[-1])]
            piece = piece[LINE:]
            lines.append("")
        lines[-1] += piece
    return [line.strip() for line in lines if line.strip()]


def _pieces(text: str) -> list[str]:
    """Cut a text where a line may end."""
    pieces = [""]
    for c in text:
        pieces[-1] += c
        if not c.isalnum():
            pieces.append("")
    return [piece for piece in pieces if piece]
