"""The interface of graphs to users and other programs: edges by name, pictures, files, objects.

``NamedGraph`` is the base class of graphs and results.  A result shows and exports its class.  The
methods look up ``sges.tools.export`` and ``sges.tools.plot`` when they are called.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, SupportsIndex, TypeVar, cast, overload
from unicodedata import combining, east_asian_width

from sges.docstrings import documented_like
from sges.toolbox import tool
from sges.writing import write_text

if TYPE_CHECKING:
    import networkx

    from sges.graph.pdag import PDAG
    from sges.tools.export.matrix import Convention, Matrix
    from sges.writing import PathLike


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


@dataclass(frozen=True, slots=True, repr=False)
class LearnedEdge:
    """An edge of a graph or result, with the names of its nodes; ``str`` returns "a → b".

    Parameters
    ----------
    source, target : str
        The ends; of an undirected edge, in the order of the nodes.
    kind : {"directed", "undirected"}
        Directed edges are the same in every member of the class.
    gain : float, optional
        The gain of the step that last inserted the edge; None if no step did, and in a graph.
    step : int, optional
        The number of that step, from 1.
    strength : float, optional
        How much the score of the member ``Result.dag()`` falls when the edge is removed; None in
        a graph, and if the score object is not available, as after reading a result from a file.
    """

    source: str
    target: str
    kind: Literal["directed", "undirected"]
    gain: float | None = None
    step: int | None = None
    strength: float | None = None

    _heads = ("edge", "strength", "gain", "step")

    def __str__(self) -> str:
        sign = "→" if self.kind == "directed" else "—"
        return f"{printable(self.source)} {sign} {printable(self.target)}"

    def _cells(self) -> tuple[str, ...]:
        numbers = (self.strength, self.gain)
        shown = ["" if number is None else f"{number:.4g}" for number in numbers]
        return str(self), *shown, "" if self.step is None else str(self.step)

    def __repr__(self) -> str:
        known = zip(self._heads[1:], self._cells()[1:], strict=True)
        facts = ", ".join(f"{head} {cell}" for head, cell in known if cell)
        return f"{self} ({facts})" if facts else str(self)


WRITER = """{}, and write the text if a path is given.

Parameters
----------
path : str or path-like, optional
    A file to write, whole or not at all.

Returns
-------
str or Path
    The text, or the file that was written.
"""


class _Writer(Protocol):
    """A method that returns text, or writes it."""

    @overload
    def __call__(self, path: None = None) -> str: ...
    @overload
    def __call__(self, path: "PathLike") -> Path: ...


def _writer(name: str, summary: str) -> _Writer:
    """Return the method that writes a graph as text with a function of ``sges.tools.export``."""

    def write(self: "NamedGraph", path: "PathLike | None" = None) -> str | Path:
        text = self._as_text(name)
        return text if path is None else write_text(path, text)

    write.__name__, write.__qualname__ = name, f"NamedGraph.{name}"
    write.__doc__ = WRITER.format(summary.removesuffix("."))
    return cast(_Writer, write)


class NamedGraph:
    """The interface shared by graphs and results: edges by name, plots, and exports."""

    __slots__ = ()

    def _named_graph(self) -> "PDAG":
        """Return the graph that is shown and exported."""
        raise NotImplementedError

    def _as_text(self, name: str) -> str:
        """Return the graph as text by a function of ``sges.tools.export``."""
        text: str = tool(name)(self._named_graph())
        return text

    @property
    def edges(self) -> tuple[LearnedEdge, ...]:
        """The edges by name, sorted by node."""
        from sges.graph.records import edge_records

        records = edge_records(self._named_graph())
        return Rows(LearnedEdge(r["source"], r["target"], r["type"]) for r in records)  # type: ignore[arg-type]

    def plot(
        self,
        path: "PathLike | None" = None,
        ax: Any = None,  # noqa: ANN401 (axes of matplotlib)
        *,
        title: str | None = None,
        legend: bool = True,
        engine: Literal["auto", "own", "graphviz"] = "auto",
        dpi: int = 160,
        around: str | int | None = None,
        depth: int = 2,
    ) -> Path | None:
        """Draw the graph with matplotlib, and write the picture if a path is given.

        Without path and axes a figure of pyplot is made, which a notebook shows and
        ``matplotlib.pyplot.show()`` opens; ``sges.tools.plot.draw`` returns its axes.

        Parameters
        ----------
        path : str or path-like, optional
            A file with the extension .svg, .png or .pdf.
        ax : matplotlib.axes.Axes, optional
            The axes to draw into; without them a new figure is made.
        title : str, optional
            A line above the graph.
        legend : bool
            Whether to explain the two kinds of edges below the graph.
        engine : {"auto", "own", "graphviz"}
            What places the nodes; "auto" takes Graphviz if it is installed.
        dpi : int
            Dots per inch of a PNG file.
        around : str or int, optional
            Draw only the nodes near this one.
        depth : int
            With ``around``: the largest number of edges between it and the nodes that are drawn.

        Returns
        -------
        Path or None
            The file that was written, if a path was given.
        """
        tool("draw")(
            self._named_graph(), path, ax, title=title, legend=legend, engine=engine, dpi=dpi,
            around=around, depth=depth,
        )  # fmt: skip
        return None if path is None else Path(path)

    def to_networkx(self, *, dag: bool = False) -> "networkx.DiGraph[str]":
        """Return a networkx ``DiGraph`` of names.

        Parameters
        ----------
        dag : bool
            Whether to return a member of the class, a DAG, instead of the class.

        Returns
        -------
        networkx.DiGraph
            An undirected edge is represented by two opposite edges; every edge has the attribute
            ``type``.
        """
        return tool("to_networkx")(self._named_graph(), dag=dag)

    @documented_like(to_networkx)
    def to_igraph(self, *, dag: bool = False) -> Any:  # noqa: ANN401 (igraph has no types)
        """Return a directed ``igraph.Graph``.

        Returns
        -------
        igraph.Graph
            An undirected edge is represented by two opposite edges; every edge has the attribute
            ``type``.
        """
        return tool("to_igraph")(self._named_graph(), dag=dag)

    def to_dowhy(self, data: Any, treatment: str, outcome: str) -> Any:  # noqa: ANN401
        """Return a ``dowhy.CausalModel`` on one member of the class.

        Parameters
        ----------
        data : pandas.DataFrame
            The table.
        treatment, outcome : str
            The cause and the effect of interest.

        Returns
        -------
        dowhy.CausalModel
            The model, ready for ``identify_effect()``.
        """
        return tool("to_dowhy")(self._named_graph(), data, treatment, outcome)

    def to_numpy(self, convention: "Convention" = "row-to-column") -> "Matrix":
        """Return the adjacency matrix in a named convention.

        Parameters
        ----------
        convention : {"row-to-column", "pcalg", "causal-learn", "gadjid"}
            How cells stand for edges: see ``sges.tools.export.to_numpy``.

        Returns
        -------
        numpy.ndarray
            A square matrix of small integers.
        """
        return tool("to_numpy")(self._named_graph(), convention)

    def to_pandas(self) -> Any:  # noqa: ANN401 (pandas has no types)
        """Return the edges as a data frame with the columns source, target and type."""
        return tool("edge_frame")(self._named_graph())

    to_dot = _writer("to_dot", "Return the graph in DOT, the language of Graphviz.")
    to_graphml = _writer("to_graphml", "Return the graph as GraphML.")
    to_gml = _writer("to_gml", "Return the graph as GML.")
    to_csv = _writer("to_csv", "Return the edges as CSV: source, target and type.")
    to_dagitty = _writer("to_dagitty", "Return the class in the language of dagitty.")
    to_bnlearn = _writer(
        "to_bnlearn", "Return the model string of bnlearn of one member of the class."
    )
    to_lavaan = _writer(
        "to_lavaan", "Return the regressions of one member of the class in the syntax of lavaan."
    )

    def to_pgmpy(self, fit: Any = None) -> Any:  # noqa: ANN401 (pgmpy has no types)
        """Return the class, or a fitted network of one of its members, as an object of pgmpy.

        Parameters
        ----------
        fit : table, Dataset or Moments, optional
            Data to estimate parameters from, as ``sges.network.fit`` does.

        Returns
        -------
        pgmpy.base.PDAG, DiscreteBayesianNetwork or LinearGaussianBayesianNetwork
            The class; with data, a network of one member.
        """
        return tool("to_pgmpy")(self._named_graph(), fit)

    @documented_like(to_pgmpy)
    def to_pyagrum(self, fit: Any) -> Any:  # noqa: ANN401 (pyAgrum has no types)
        """Return a fitted network of one member of the class as a ``BayesNet`` of pyAgrum.

        Parameters
        ----------
        fit : table or Dataset
            Discrete data to estimate parameters from, as ``sges.network.fit`` does.

        Returns
        -------
        pyagrum.BayesNet
            The network.
        """
        return tool("to_pyagrum")(self._named_graph(), fit)

    def to_causallearn(self) -> Any:  # noqa: ANN401 (causal-learn has no types)
        """Return a ``GeneralGraph`` of causal-learn."""
        return tool("to_causallearn")(self._named_graph())
