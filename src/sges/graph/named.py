"""The interface of graphs to users and other programs: edges by name, pictures, files, objects.

``NamedGraph`` is the base class of graphs and results.  A result shows and exports its class.  The
methods look up ``sges.tools.export`` and ``sges.tools.plot`` when they are called.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast, overload

from sges.display import Rows, printable
from sges.docstrings import documented_like
from sges.toolbox import tool
from sges.writing import write_text

if TYPE_CHECKING:
    import networkx

    from sges.graph.pdag import PDAG
    from sges.tools.export.matrix import Convention, Matrix
    from sges.writing import PathLike


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
        graph = self._named_graph()
        pairs = sorted(graph.directed_edges() + graph.undirected_edges())
        return Rows(
            LearnedEdge(
                graph.name(x), graph.name(y), "undirected" if graph.out[y] >> x & 1 else "directed"
            )
            for x, y in pairs
        )

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
