"""Text at a terminal: names on one line, their width, and tuples shown as tables."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, fields
from itertools import takewhile
from typing import Any, SupportsIndex, TypeVar, overload
from unicodedata import combining, east_asian_width


def printable(name: str) -> str:
    r"""Return a name on one line, with characters that control a terminal made visible.

    >>> printable("two\nlines")
    'two\\nlines'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def display_width(text: str) -> int:
    """Return how many columns of a terminal a printable text takes: two per East Asian character.

    >>> display_width("größe"), display_width("圧力")
    (5, 4)
    """
    if text.isascii():
        return len(text)
    wide = sum(east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(map(bool, map(combining, text)))


def span(values: Sequence[float], digits: int) -> str:
    """Return the smallest and the largest value, or one if they look the same.

    >>> span((0.25, 0.125), 2), span((1.0, 1.0), 2)
    ('0.12 to 0.25', '1')
    """
    low, high = f"{min(values):.{digits}g}", f"{max(values):.{digits}g}"
    return low if low == high else f"{low} to {high}"


def label_of_level(level: object) -> str:
    """Return a level as text on one line; None is the level of missing values."""
    return "(missing)" if level is None else printable(str(level))


def padded(text: str, width: int) -> str:
    """Return a text with spaces up to a width at a terminal."""
    return text + " " * (width - display_width(text))


def cut(text: str, width: int) -> str:
    """Return a text, with an ellipsis for its end if it is wider at a terminal than allowed.

    >>> cut("temperature", 8), cut("圧力と温度", 8)
    ('tempera…', '圧力と…')
    """
    if display_width(text) <= width:
        return text
    text = text[:width]
    while display_width(text) >= width:
        text = text[:-1]
    return text + "…"


def shortened(names: Sequence[str], cut: Callable[[str], str]) -> list[str]:
    """Return shortened names; from names that would then be equal, shared words are left out.

    The questions of a survey often differ only in the middle:

    >>> names = ["I often feel tired at work", "I often feel happy at work", "age"]
    >>> shortened(names, lambda name: name[:12])
    ['…tired…', '…happy…', 'age']
    """
    labels = list(map(cut, names))
    for label, times in Counter(labels).items():
        if times > 1:
            alike = [v for v, other in enumerate(labels) if other == label]
            for v, rest in zip(alike, _differences([names[v] for v in alike]), strict=True):
                labels[v] = cut(rest)
    return labels


def _differences(names: Sequence[str]) -> list[str]:
    """Return names without the words with which all of them begin and end."""

    def shared(lists: list[list[str]]) -> int:
        return sum(1 for _ in takewhile(lambda ws: len(set(ws)) == 1, zip(*lists, strict=False)))

    words = [re.findall(r"[^\W_]+|[\W_]", name) for name in names]
    head = shared(words)
    tail = shared([each[:head:-1] for each in words])  # one word remains
    rests = ["".join(each[head : len(each) - tail]).strip() for each in words]
    if not all(rests):
        return list(names)
    return [f"{'…' if head else ''}{rest}{'…' if tail else ''}" for rest in rests]


def brief(value: Any) -> str:  # noqa: ANN401 (a dataclass)
    """Return a dataclass as Python, with the fields that differ from their defaults, or from None.

    >>> from sges.graph.named import LearnedEdge
    >>> brief(LearnedEdge("a", "b", "directed", step=2))
    "LearnedEdge(source='a', target='b', kind='directed', step=2)"
    """
    given = {field.name: getattr(value, field.name) for field in fields(value) if field.repr}
    usual = {field.name: field.default for field in fields(value) if field.default is not MISSING}
    written = {name: f"{name}={v!r}" for name, v in given.items()}  # arrays have no single ==
    words = [text for name, text in written.items() if text != f"{name}={usual.get(name)!r}"]
    return f"{type(value).__name__}({', '.join(words)})"


Item_co = TypeVar("Item_co", covariant=True)


class Rows(tuple[Item_co, ...]):
    """A tuple that is shown with a line for each of its first items.

    Items with ``_cells`` and ``_heads`` are shown as a table, whose first and last column are cut
    to the width.
    """

    __slots__ = ()
    WIDTH, MIN_WIDTH, MAX_SHOWN = 80, 10, 60

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Item_co: ...
    @overload
    def __getitem__(self, index: slice, /) -> "Rows[Item_co]": ...
    def __getitem__(self, index: Any, /) -> Any:
        found = super().__getitem__(index)
        return Rows(found) if isinstance(index, slice) else found

    def __repr__(self) -> str:
        if not self:
            return "()"
        lines, more = list(self._lines(self[: self.MAX_SHOWN])), len(self) - self.MAX_SHOWN
        return "\n".join(lines + ([f"... and {more:,} more"] if more > 0 else []))

    def _lines(self, items: Sequence[Any]) -> Iterator[str]:
        if not hasattr(items[0], "_heads"):
            yield from map(repr, items)
            return
        rows = [items[0]._heads, *(item._cells() for item in items)]
        first, *others = [list(cells) for cells in zip(*rows, strict=True) if any(cells[1:])]
        *middle, last = others or [[""] * len(rows)]
        room = self.WIDTH - sum(2 + max(map(display_width, cells)) for cells in middle) - 2
        first = shortened(first, lambda cell: cut(cell, max(room - self.MIN_WIDTH, self.MIN_WIDTH)))
        room = max(room - max(map(display_width, first)), self.MIN_WIDTH)
        columns = [first, *middle, [cut(cell, room) for cell in last]]
        widths = [max(map(display_width, cells)) for cells in columns]
        for cells in zip(*columns, strict=True):
            yield "  ".join(map(padded, cells, widths)).rstrip()
