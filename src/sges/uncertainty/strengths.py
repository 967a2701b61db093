"""The certainty of edges: the shares of replicates that have them, and statistics of these shares.

``Confidence`` holds the classes that were found on replicates of a table.  Everything else is
computed from them.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sges.data.reading import Table
from sges.docstrings import documented_like
from sges.errors import (
    DataError,
    GraphError,
    InvalidArgument,
    NoConsistentExtension,
    check_number,
    need,
    shown,
)
from sges.graph.equivalence import dag_to_cpdag, pdag_to_dag
from sges.graph.named import NamedGraph
from sges.graph.pdag import PDAG, Edge
from sges.records import (
    Rules,
    check_format,
    checked_entries,
    from_json,
    is_count,
    is_number,
    is_text,
    is_text_or_none,
    is_texts,
    node_name,
    to_json,
)
from sges.result import Result
from sges.score.named import Penalty
from sges.toolbox import tool

if TYPE_CHECKING:
    from sges.tools.effects import ReplicatedEffect
    from sges.writing import PathLike

FORMAT, VERSION = "sges-confidence", 1

FORWARD, BACKWARD, UNDIRECTED = range(3)
"""The edge of a pair (a, b), a < b: a → b, b → a, or a — b."""

COLUMNS = ("a", "b", "p_edge", "p_ab", "p_ba", "p_undirected")
"""The columns of ``Confidence.to_frame``."""


@dataclass(frozen=True, slots=True)
class Averaged:
    """The class of all significant edges.

    Parameters
    ----------
    cpdag : PDAG
        The class.
    notes : tuple of str
        Edges that differ from those of the replicates, one sentence each.
    """

    cpdag: PDAG
    notes: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Confidence:
    """Classes found on replicates of a table, and how often each edge is in them.

    A share of 0.9 means that nine of ten replicates have the edge.  With the default penalty, about
    as many of the edges with a given share are true.  It does not say how likely a causal effect
    is.

    Parameters
    ----------
    graphs : tuple of PDAG
        The class found on each replicate, all with the names of the columns.
    replicates : int
        The number of replicates to search.
    draw : str
        How they were drawn: "half", "bootstrap", "bayesian" or "wishart".
    score_name : str
        The score.
    strategy : str
        The strategy of the search, the same as for an estimate.
    penalty : float or "auto", optional
        The penalty of the estimate, "auto" for an edge prior; None for a score without either.
    seed : int
        The seed of the draws.
    seconds : float
        How long it took.
    stopped : str, optional
        Why fewer replicates were searched: "time limit", "interrupted", or what happened to the
        cluster.
    notes : tuple of str
        Notes on the data and on choices that were made, one sentence each.

    Examples
    --------
    >>> import sges
    >>> found = sges.confidence(sges.examples.load("asia"), replicates=20)
    >>> found
    Confidence(8 nodes, 20 replicates by draw 'bootstrap')
    >>> sorted(found.rows()[0])
    ['a', 'b', 'p_ab', 'p_ba', 'p_edge', 'p_undirected']
    """

    graphs: tuple[PDAG, ...]
    replicates: int
    draw: str
    score_name: str
    strategy: str
    penalty: Penalty | None = None
    seed: int = 0
    seconds: float = field(default=0.0, compare=False)
    stopped: str | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.graphs:
            raise InvalidArgument("confidence needs at least one replicate that was searched")
        if len({(graph.n, graph.names) for graph in self.graphs}) > 1:
            raise InvalidArgument("the graphs of a confidence need the same nodes in one order")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        graph = self.graphs[0]
        return tuple(graph.name(v) for v in range(graph.n))

    @property
    def done(self) -> int:
        """The number of replicates that were searched."""
        return len(self.graphs)

    @property
    def complete(self) -> bool:
        """Whether all replicates were searched."""
        return self.stopped is None

    # Shares

    @cached_property
    def _counts(self) -> dict[Edge, list[int]]:
        """For each pair, the number of replicates with a → b, with b → a and with a — b."""
        counts: dict[Edge, list[int]] = {}
        for graph in self.graphs:
            for pair, state in _states(graph):
                counts.setdefault(pair, [0, 0, 0])[state] += 1
        return dict(sorted(counts.items()))

    @cached_property
    def _usual(self) -> dict[Edge, tuple[Edge, bool]]:
        """For each pair, the more frequent arrow, and whether the pair is drawn undirected."""
        usual = {}
        for (a, b), (forward, backward, line) in self._counts.items():
            is_line = line >= max(forward, backward) or forward == backward
            usual[a, b] = ((b, a) if backward > forward else (a, b), is_line)
        return usual

    @property
    def strengths(self) -> dict[Edge, float]:
        """The share of replicates in which each pair (a, b), a < b, is adjacent, if in any."""
        return {pair: sum(counts) / self.done for pair, counts in self._counts.items()}

    @documented_like(Result.explain)
    def strength(self, a: str | int, b: str | int) -> float:
        """Return the share of replicates in which two variables are adjacent.

        Returns
        -------
        float
            The share, 0 for a pair that is never adjacent.
        """
        x, y = self._node(a), self._node(b)
        return self.strengths.get((min(x, y), max(x, y)), 0.0)

    def rows(self) -> list[dict[str, Any]]:
        """Return one record per pair that is adjacent in some replicate, strongest first.

        Its entries are a and b (names), p_edge (the share of replicates in which they are
        adjacent), p_ab and p_ba (in which the edge points from a to b, or from b to a) and
        p_undirected (in which it is undirected, as it may point either way).
        """
        names, rows = self.names, list[dict[str, Any]]()
        for (a, b), counts in self._counts.items():
            shares = [count / self.done for count in (sum(counts), *counts)]
            rows.append(dict(zip(COLUMNS, (names[a], names[b], *shares), strict=True)))
        return sorted(rows, key=lambda row: -row["p_edge"])

    def to_frame(self) -> Any:  # noqa: ANN401 (pandas has no types)
        """Return the records of ``rows`` as a pandas data frame, strongest first."""
        return need("pandas", "a table of shares").DataFrame(self.rows(), columns=list(COLUMNS))

    # Which edges are significant

    @cached_property
    def threshold(self) -> float:
        """The share that the edges of the averaged class exceed (Scutari & Nagarajan 2013)."""
        n = self.graphs[0].n
        return significance_threshold(self.strengths.values(), n * (n - 1) // 2)

    def averaged(self, threshold: float | None = None) -> Averaged:
        """Return the class of all edges whose share exceeds a threshold.

        Edges are added by decreasing share, each in the state that most replicates give it.  An
        arrow that would close a directed cycle is left out, with a note.  If the arrows and lines
        have no common DAG, undirected edges get their more frequent direction, with a note.

        Parameters
        ----------
        threshold : float, optional
            A share from 0 to 1; by default ``threshold``, which is computed from all shares.

        Returns
        -------
        Averaged
            The class as ``cpdag``, and ``notes``.
        """
        level = self.threshold if threshold is None else threshold
        check_number("threshold", level, most=1)
        strengths, names = self.strengths, self.names
        chosen = sorted(self._usual, key=lambda pair: -strengths[pair])
        usual = [self._usual[pair] for pair in chosen if strengths[pair] > level]
        lines = [arrow for arrow, is_line in usual if is_line]
        arrows = [arrow for arrow, is_line in usual if not is_line]
        graph, left_out = _without_cycles(PDAG.empty(len(names)), arrows)
        notes = [
            f"{names[x]} → {names[y]} ({self.strength(x, y):.2f}) was left out: it would close a "
            "directed cycle with edges that are at least as strong"
            for x, y in left_out
        ]
        try:
            dag = pdag_to_dag(graph.edited(undirect=lines))
        except NoConsistentExtension:
            notes.append(
                "the undirected edges were given the direction that is more frequent among the "
                "replicates"
            )
            dag, _ = _without_cycles(graph, lines, turn=True)
        return Averaged(dag_to_cpdag(dag).named(self.graphs[0].names), tuple(notes))

    def medoid(self) -> PDAG:
        """Return the class of the replicate that is nearest to all others.

        It has the smallest sum of structural Hamming distances to them; of several, it is the
        first.
        """

        def agreement(graph: PDAG) -> int:  # pairs of replicates alike, up to a constant
            counts = ((self._counts[pair], state) for pair, state in _states(graph))
            return sum(count[state] + sum(count) - self.done for count, state in counts)

        return max(self.graphs, key=agreement)

    @documented_like(Result.effect)
    def effect(self, treatment: str | int, outcome: str | int, data: Table) -> "ReplicatedEffect":
        """Return the possible effects of one variable on another, over the replicates' graphs.

        Parameters
        ----------
        data : table, Moments or network
            What to estimate the effects from, the same for all replicates.

        Returns
        -------
        ReplicatedEffect
            The smallest and the largest possible effect in the class of each replicate, and an
            interval over them.
        """
        return tool("effect_over")(self.graphs, treatment, outcome, data)

    # Display

    def _repr_html_(self) -> str:
        return tool("confidence_html")(self)

    def summary(self, max_lines: int | None = 40, width: int | None = None) -> str:
        """Return the strongest edges and how they were found, as text.

        Parameters
        ----------
        max_lines : int, optional
            The largest number of edges shown; None shows all.
        width : int, optional
            The largest number of characters on a line, to which names are cut; by default names
            are shown in full.

        Returns
        -------
        str
            The text, which ends with a line break.
        """
        return tool("confidence_text")(self, max_lines, width)

    @documented_like(NamedGraph.plot)
    def plot(
        self,
        path: "PathLike | None" = None,
        ax: Any = None,  # noqa: ANN401 (axes of matplotlib)
        *,
        least: float = 0.2,
        title: str | None = None,
        legend: bool = True,
    ) -> Path | None:
        """Draw the averaged class and the weaker edges: wide for strong, dashed for weak.

        Parameters
        ----------
        least : float
            The smallest share of an edge outside the averaged class that is drawn; such edges
            are dashed.
        """
        return tool("draw_confidence")(self, path, ax, least, title, legend)

    @documented_like(NamedGraph.plot)
    def plot_curve(
        self,
        path: "PathLike | None" = None,
        ax: Any = None,  # noqa: ANN401 (axes of matplotlib)
    ) -> Path | None:
        """Draw the share of pairs of at most each strength, with the threshold.

        Two steps, one at 0 and one at 1, mean that the replicates agree on every edge.
        """
        return tool("draw_curve")(self, path, ax)

    def save(self, directory: "PathLike") -> list[Path]:
        """Write confidence.json, strengths.csv, strengths.svg and summary.txt: all or none.

        Parameters
        ----------
        directory : str or path-like
            Where to write; it is created if necessary.  An earlier confidence is replaced, other
            files of these names are not.

        Returns
        -------
        list of Path
            The four files.

        Raises
        ------
        FileError
            If the directory cannot be written, or holds other files of these names.
        """
        return tool("save_confidence")(self, directory)

    def _node(self, node: str | int) -> int:
        try:
            return self.graphs[0].node(node)
        except GraphError as error:
            raise InvalidArgument(str(error)) from None

    def __repr__(self) -> str:
        plural = "" if len(self.names) == 1 else "s"
        drawn = f"{searched_in_words(self)} by draw {self.draw!r}"
        return f"Confidence({len(self.names)} node{plural}, {drawn})"

    # JSON

    @documented_like(Result.to_json)
    def to_json(self, indent: int | None = None) -> str:
        """Return everything as JSON text, which ``from_json`` reads.

        The entries are format, version, nodes, the fields of this class, ``edges`` (the records
        of ``rows``), ``threshold``, and ``graphs``: for each replicate the list of its edges
        [x, y, type], with the numbers of the nodes and "->" or "--" as type.
        """
        record = {
            "format": FORMAT,
            "version": VERSION,
            "nodes": self.names,
            **{name: getattr(self, name) for name in _WRITTEN},
            "edges": self.rows(),
            "graphs": [edge_list(graph) for graph in self.graphs],
        }
        return to_json(record, indent)

    @classmethod
    @documented_like(Result.from_json)
    def from_json(cls, text: str) -> "Confidence":
        """Return what ``to_json`` wrote; entries that follow from the graphs are not read.

        Returns
        -------
        Confidence
            The same value.

        Raises
        ------
        DataError
            If the text is not JSON, or not that of a confidence.
        """
        record = check_format(from_json(text), "confidence", FORMAT, VERSION)
        fields = checked_entries(record, _ENTRIES, "the confidence")
        if len(fields["graphs"]) > fields["replicates"]:
            raise DataError("the confidence has more graphs than replicates")
        try:
            names = [node_name(name) for name in fields.pop("nodes")]
            PDAG.empty(len(names), names)
        except GraphError as error:
            raise DataError(f"the nodes of the confidence: {error}") from None
        graphs = tuple(graph_of_list(edges, names) for edges in fields.pop("graphs"))
        return cls(graphs=graphs, notes=tuple(fields.pop("notes")), **fields)


def _without_cycles(
    graph: PDAG, arrows: Iterable[Edge], *, turn: bool = False
) -> tuple[PDAG, list[Edge]]:
    """Return a graph with arrows added in turn; those that close a cycle are turned or left out."""
    left_out: list[Edge] = []
    for x, y in arrows:
        closes = bool(graph.descendants(y) >> x & 1)
        if closes and not turn:
            left_out.append((x, y))
        else:
            graph = graph.edited(direct=[(y, x) if closes else (x, y)])
    return graph, left_out


def searched_in_words(found: Confidence) -> str:
    """Return how many replicates were searched, in words."""
    asked = "" if found.complete else f" of {found.replicates}"
    return f"{found.done}{asked} replicate{'' if found.replicates == 1 else 's'}"


def significance_threshold(strengths: Collection[float], pairs: int) -> float:
    """Return the strength that significant edges exceed (Scutari & Nagarajan 2013).

    If the replicates agreed on every edge, all strengths would be 0 or 1, and their cumulative
    distribution would be constant in between, at the share t of absent edges.  t is chosen such
    that this is as near as possible, in L1, to the distribution F of the strengths:

        t = argmin ∫ |F(x) − t| dx over [0, 1],

    which is a median of F(x) for x uniform on [0, 1], that is, of the values of F between two
    strengths, weighted by their distance.  The threshold is the t-quantile of the strengths.  If
    a whole interval of t is as near, its lower end is taken.  Pairs without a strength count as 0.
    """
    levels, below = distribution(strengths, pairs)
    # F is 0 before the first strength and 1 from the last one on.
    edges = np.concatenate([[0.0], levels, [1.0]])
    heights = np.concatenate([[0.0], below])
    lengths = np.diff(edges)
    half = np.cumsum(lengths) >= 0.5 - 1e-12  # heights rise, so this is a weighted median
    t = heights[int(np.argmax(half))]
    if t == 0.0:
        return 0.0
    return float(levels[int(np.argmax(below >= t))])


def distribution(
    strengths: Collection[float], pairs: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the distinct strengths of all pairs, and the share of pairs up to each."""
    positive = np.array(list(strengths), np.float64)
    all_strengths = np.concatenate([positive, np.zeros(pairs - len(positive))])
    levels, counts = np.unique(all_strengths, return_counts=True)
    return levels, np.cumsum(counts) / max(pairs, 1)


def _states(graph: PDAG) -> Iterator[tuple[Edge, int]]:
    """Yield the adjacent pairs (a, b), a < b, of a graph, each with its kind of edge."""
    for x, y in graph.directed_edges():
        yield ((x, y), FORWARD) if x < y else ((y, x), BACKWARD)
    for pair in graph.undirected_edges():
        yield pair, UNDIRECTED


def edge_list(graph: PDAG) -> list[list[int | str]]:
    """Return the edges of a graph as lists [x, y, "->" or "--"], sorted."""
    directed: list[list[int | str]] = [[x, y, "->"] for x, y in graph.directed_edges()]
    return directed + [[x, y, "--"] for x, y in graph.undirected_edges()]


def graph_of_list(edges: object, names: Sequence[str]) -> PDAG:
    """Return the graph that ``edge_list`` wrote, or raise a ``DataError``."""
    if not isinstance(edges, list):
        raise DataError(f"the edges of a replicate are {shown(edges)}, not a list")
    pairs: dict[str, list[Edge]] = {"->": [], "--": []}
    for edge in edges:
        match edge:
            case [int(x), int(y), "->" | "--" as kind] if 0 <= min(x, y) <= max(x, y) < len(names):
                pairs[kind].append((x, y))
            case _:
                form = '[x, y, "->" or "--"]'
                raise DataError(f"an edge of a replicate is {shown(edge)}, not {form}")
    try:
        return PDAG.from_edges(len(names), pairs["->"], pairs["--"], names=names)
    except GraphError as error:
        raise DataError(f"a replicate: {error}") from None


def _is_amount(value: object) -> bool:
    return is_number(value) and 0 <= value < inf  # type: ignore[operator]


_WRITTEN = (
    "replicates", "done", "stopped", "draw", "seed", "score_name", "strategy", "penalty", "seconds",
    "notes", "threshold",
)  # fmt: skip

_ENTRIES: Rules = {
    "replicates": (is_count, "a whole number"),
    "stopped": (is_text_or_none, "text or null"),
    "draw": (is_text, "text"),
    "seed": (is_count, "a whole number"),
    "score_name": (is_text, "text"),
    "strategy": (is_text, "text"),
    "penalty": (lambda v: v in (None, "auto") or _is_amount(v), 'a number, "auto" or null'),
    "seconds": (_is_amount, "a number, 0 or more"),
    "notes": (is_texts, "a list of texts"),
    "graphs": (lambda v: isinstance(v, list) and bool(v), "a list that is not empty"),
    "nodes": (lambda v: isinstance(v, list) and bool(v), "a list that is not empty"),
}
