"""What a search returns: the class it found, how it got there, and ways to take it along.

A frozen value that pickles, and goes to JSON and back; ``sges.result.record`` describes the JSON.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from sges import export
from sges.certificate import Certificate, certify
from sges.errors import InvalidArgument, SgesError
from sges.export.matrix import Convention, Matrix
from sges.export.writing import PathLike
from sges.graph.equivalence import extensions, pdag_to_cpdag, pdag_to_dag
from sges.graph.pdag import PDAG
from sges.nodeset import as_node
from sges.result.explain import Explanation, explain
from sges.result.record import fields_of, parsed, record_of
from sges.result.step import Step
from sges.result.summary import one_line, summary
from sges.score.base import Score

if TYPE_CHECKING:
    import networkx

    from sges.plot import Look


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """The class found, its score, the steps that led there, and what they cost."""

    cpdag: PDAG
    score: float
    steps: tuple[Step, ...] = ()
    score_evaluations: int | None = None
    evaluation_bound: int | None = None
    operators_considered: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict, compare=False)
    complete: bool = True
    stopped: str | None = None
    assume: str | None = None
    forward: str | None = None
    strategy: str | None = None
    score_name: str = ""
    notes: tuple[str, ...] = ()
    scorer: Score | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.complete == (self.stopped is not None):
            raise SgesError("a result is complete, or says why it stopped: not both or neither")

    @property
    def names(self) -> tuple[str, ...]:
        """What the nodes are called: the names of the data, or else their numbers."""
        return tuple(self.cpdag.name(v) for v in range(self.cpdag.n))

    def certify(self, score: Score | None = None, limit: int = 100_000) -> Certificate:
        """Tell whether the class is a local optimum for *all* deletes, not only the selected.

        Looks at no more than ``limit`` operators, and says so if there are more.  A result
        that was stored and read again needs the score once more.  Background knowledge is left
        aside: the question is what the data alone say of the class.
        """
        scorer = score if score is not None else self.scorer
        if scorer is None:
            raise SgesError(
                "certify: the score is not kept when a result is stored; pass it as certify(score)"
            )
        return certify(pdag_to_cpdag(self.cpdag), scorer, limit)

    def dag(self) -> PDAG:
        """Return one DAG of the class, under the same names."""
        return pdag_to_dag(self.cpdag)

    def members(self) -> Iterator[PDAG]:
        """Yield every DAG of the class, lazily: there may be very many."""
        return extensions(self.cpdag)

    def summary(self) -> str:
        """Return what was found and how as text, for a terminal of 80 columns."""
        return summary(self)

    def explain(self, a: str | int, b: str | int) -> Explanation:
        """Return why there is or is no edge between two nodes, given by name or number."""
        x, y = self._node(a), self._node(b)
        if x == y:
            raise InvalidArgument(f"explain: {self.names[x]!r} is given twice; name two nodes")
        return explain(self, x, y)

    def plot(self, path: PathLike | None = None, ax: Any = None, **look: Unpack["Look"]) -> Any:  # noqa: ANN401
        """Draw the class with matplotlib, and write it if a path is given (.svg, .png, .pdf).

        Returns the axes.  See ``sges.plot.draw`` for what else can be chosen.
        """
        from sges.plot import draw

        return draw(self.cpdag, path, ax, **look)

    def save(self, directory: PathLike) -> list[Path]:
        """Write graph.json, graph.dot, graph.svg and summary.txt, all or none of them."""
        from sges.result.store import save

        return save(self, directory)

    def to_networkx(self) -> "networkx.DiGraph[str]":
        """Return a DiGraph of names; an undirected edge is both arcs, told by ``type``."""
        return export.to_networkx(self.cpdag)

    def to_numpy(self, convention: Convention = "row-to-column") -> Matrix:
        """Return the adjacency matrix in a named convention (``sges.export.matrix``)."""
        return export.to_numpy(self.cpdag, convention)

    def to_pandas(self) -> Any:  # noqa: ANN401 (pandas has no types)
        """Return the edges as a frame with the columns source, target and type."""
        return export.edge_frame(self.cpdag)

    def to_dot(self) -> str:
        """Return the graph in DOT, the language of Graphviz."""
        return export.to_dot(self.cpdag)

    def to_graphml(self) -> str:
        """Return the graph as GraphML."""
        return export.to_graphml(self.cpdag)

    def to_pgmpy(self) -> Any:  # noqa: ANN401 (pgmpy has no types)
        """Return a ``pgmpy.base.PDAG``."""
        return export.to_pgmpy(self.cpdag)

    def to_causallearn(self) -> Any:  # noqa: ANN401 (causal-learn has no types)
        """Return a ``GeneralGraph`` of causal-learn."""
        return export.to_causallearn(self.cpdag)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain lists, dicts, strings and numbers."""
        return record_of(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Result":
        """Return the result that ``to_dict`` wrote."""
        return cls(**fields_of(record))

    def to_json(self, indent: int | None = 2) -> str:
        """Return the result as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Result":
        """Return the result that ``to_json`` wrote."""
        return cls.from_dict(parsed(text))

    def without_scorer(self) -> "Result":
        """Return the result without the reference to its score."""
        return replace(self, scorer=None)

    def __repr__(self) -> str:
        return one_line(self)

    def _repr_html_(self) -> str:
        from sges.result.notebook import as_html

        return as_html(self)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the score behind: it may hold all of the data."""
        state = {name: getattr(self, name) for name in self.__slots__}
        return {**state, "scorer": None, "seconds": dict(self.seconds)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)

    def _node(self, node: str | int) -> int:
        if isinstance(node, str):
            if node in self.names:
                return self.names.index(node)
            raise InvalidArgument(f"there is no node {node!r}; the nodes are {self._some_names()}")
        return as_node(node, self.cpdag.n)

    def _some_names(self) -> str:
        shown = ", ".join(map(repr, self.names[:8]))
        return shown if len(self.names) <= 8 else f"{shown} and {len(self.names) - 8} more"
