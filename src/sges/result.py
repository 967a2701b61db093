"""The result of a search: the equivalence class that was found, and the steps that led to it.

``Result`` is a frozen record.  It can be pickled, and converted to JSON and back (``to_json``,
``from_json``), both without its score object, which may hold all of the data.  It is
drawn and passed to other tools like a graph (``sges.graph.named``).

The JSON of a result has the entries ``format`` ("sges-result"), ``version`` (1), ``nodes`` (the
names), ``edges`` (sorted: source, target and type, "directed" or "undirected"), ``steps`` (phase,
operator, x, y, set, gain, score and edges), those parameters of ``Result`` that are numbers and
texts, under their names, and ``exogenous`` (names) if there are any.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sges.certificate import Certificate, certify
from sges.display import Rows, printable
from sges.docstrings import documented_like
from sges.errors import DataError, GraphError, InvalidArgument, shown
from sges.graph.equivalence import extensions, pdag_to_cpdag, pdag_to_dag
from sges.graph.named import LearnedEdge, NamedGraph
from sges.graph.pdag import PDAG
from sges.nodeset import nodes
from sges.operators import Delete, Insert, Operator, Turn
from sges.records import (
    Rules,
    check_format,
    checked_entries,
    edge_records,
    from_json,
    graph_of_record,
    is_count,
    is_number,
    is_text,
    is_text_or_none,
    is_texts,
    to_json,
)
from sges.toolbox import tool

if TYPE_CHECKING:
    from sges.graph.undirected import Between
    from sges.network import BayesianNetwork, LinearGaussian, MixedNetwork
    from sges.score.protocol import Score
    from sges.tools.counting import Seed
    from sges.tools.effects import DiscreteEffect, Effects, LinearEffect
    from sges.tools.report import Explanation
    from sges.uncertainty import Confidence
    from sges.uncertainty.replicates import OnReplicate
    from sges.writing import PathLike

__all__ = ["Result", "Step"]

FORMAT, VERSION = "sges-result", 1

RELATION = """The nodes that are related to a node.

Parameters
----------
node : str or int
    A node, by name or number.
possible : bool
    Whether to return those in at least one member of the class, rather than in every member.

Returns
-------
tuple of str
    Their names.
"""

OPERATORS: dict[str, type[Insert] | type[Delete] | type[Turn]] = {
    kind.__name__: kind for kind in (Insert, Delete, Turn)
}


@dataclass(frozen=True, slots=True, repr=False)
class Step:
    """One applied operator of a search.

    Parameters
    ----------
    phase : str
        The phase of the search, such as "fes" or "sbes".
    operator : Insert, Delete or Turn
        The operator.
    gain : float
        How much it changed the score.
    score : float
        The score of the class after it.
    edges : int
        The number of edges after it.
    """

    phase: str
    operator: Operator
    gain: float
    score: float
    edges: int

    _heads = ("phase", "operator", "gain", "score", "edges")

    def __str__(self) -> str:
        return f"{self.phase}: {self.operator} gains {self.gain:.6g}"

    __repr__ = __str__

    def _cells(self) -> tuple[str, ...]:
        numbers = (f"{self.gain:.6g}", f"{self.score:.10g}", str(self.edges))
        return printable(self.phase), str(self.operator), *numbers


@dataclass(frozen=True, slots=True, repr=False)
class Result(NamedGraph):
    """An equivalence class found by a search, with its score, the steps, and their cost.

    Parameters
    ----------
    cpdag : PDAG
        The class: a CPDAG, or a PDAG in which background knowledge directs more edges.
    score : float
        The score of the class; higher is better.
    steps : tuple of Step
        The applied operators, in order; empty for methods that do not work in steps.
    score_evaluations : int, optional
        The number of unique (node, parent set) pairs that were scored; None if not counted.
    evaluation_bound : int, optional
        A proven upper bound on ``score_evaluations``, where there is one.
    operators_considered : int
        The number of operators among which the steps were chosen.
    seconds : mapping of str to float
        The time of each phase.
    complete : bool
        Whether the search ran to its end.
    stopped : str, optional
        Why it did not: given exactly if ``complete`` is False.
    assume : str, optional
        The assumption about the true graph, such as "MaxParents(k=2)".
    forward : str, optional
        The forward phase.
    strategy : str, optional
        The strategy.
    score_name : str
        The name of the score.
    notes : tuple of str
        Notes on choices that were made and on the data.
    call : str, optional
        The call of ``sges.learn`` as Python; a bare name in it, such as ``data``, stands for an
        object that was passed.  Two results may be equal and have different calls.
    digest : str, optional
        A digest of the data as they were read, unless they are large.
    scorer : Score, optional
        The score object, for ``certify`` and ``explain``; it is not stored or pickled with the
        result.
    plan : SearchPlan, optional
        How ``sges.learn`` searched, for ``confidence``; it is not stored or pickled either.
    exogenous : tuple of str
        The exogenous variables: they may be parents, and their own laws are not modelled.
    """

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
    call: str | None = field(default=None, compare=False)
    digest: str | None = field(default=None, compare=False)
    scorer: "Score | None" = field(default=None, compare=False)
    plan: object = field(default=None, compare=False, repr=False)
    exogenous: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.complete == (self.stopped is not None):
            raise InvalidArgument(
                f"complete = {self.complete} and stopped = {self.stopped!r} contradict each other; "
                "stopped must be given if and only if complete is False"
            )
        for name in ("steps", "notes"):  # shown one to a line
            object.__setattr__(self, name, Rows(getattr(self, name)))

    def _named_graph(self) -> PDAG:
        return self.cpdag

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the nodes: those of the data, or else the numbers of the nodes."""
        return tuple(map(self.cpdag.name, range(self.cpdag.n)))

    @property
    def edges(self) -> tuple[LearnedEdge, ...]:
        """The edges by name, with the step that inserted each and its strength, where known."""
        strengths: dict[frozenset[int], float] = {}
        if self.scorer is not None:
            dag, local = self.dag(), self.scorer.local
            for x, y in dag.directed_edges():  # how much the score falls without the edge
                above = dag.parents(y)
                strengths[frozenset((x, y))] = local(y, above) - local(y, above & ~(1 << x))
        inserted: dict[frozenset[int], tuple[int, float]] = {}
        for number, step in enumerate(self.steps, start=1):
            if isinstance(step.operator, Insert):
                inserted[frozenset((step.operator.x, step.operator.y))] = (number, step.gain)
        edges = []
        pairs = sorted([*self.cpdag.directed_edges(), *self.cpdag.undirected_edges()])
        for pair, edge in zip(map(frozenset, pairs), edge_records(self.cpdag), strict=True):
            ends, kind = (edge["source"], edge["target"]), edge["type"]
            at, gain = inserted.get(pair, (None, None))
            edges.append(LearnedEdge(*ends, kind, gain, at, strengths.get(pair)))  # type: ignore[arg-type]
        return Rows(edges)

    @documented_like(RELATION)
    def parents(self, node: str | int) -> tuple[str, ...]:
        """Return the parents of a node: those with a directed edge to it."""
        return self.cpdag.parents(self._name(node))

    @documented_like(RELATION)
    def children(self, node: str | int) -> tuple[str, ...]:
        """Return the children of a node: those to which it has a directed edge."""
        return self.cpdag.children(self._name(node))

    @documented_like(RELATION)
    def neighbors(self, node: str | int) -> tuple[str, ...]:
        """Return the nodes that an undirected edge joins to a node."""
        return self.cpdag.neighbors(self._name(node))

    @documented_like(RELATION)
    def markov_blanket(self, node: str | int) -> tuple[str, ...]:
        """Return the Markov blanket of a node, given which it is independent of all others.

        These are the adjacent nodes and the other parents of children, the same in every member.
        """
        return self.cpdag.markov_blanket(self._name(node))

    @documented_like(RELATION)
    def ancestors(self, node: str | int, *, possible: bool = False) -> tuple[str, ...]:
        """Return the ancestors of a node in the class, without the node itself."""
        return self.cpdag.ancestors(self._name(node), possible=possible)

    @documented_like(PDAG.has_edge)
    def has_edge(self, a: str | int, b: str | int) -> bool:
        """Return whether two nodes are adjacent, by an edge of any kind and direction."""
        return self.cpdag.has_edge(self._node(a), self._node(b))

    def dag(self) -> PDAG:
        """Return one DAG of the class, with the same names; all have the same score."""
        return pdag_to_dag(self.cpdag)

    def members(self) -> Iterator[PDAG]:
        """Yield every DAG of the class with the same names, lazily, as there may be very many."""
        return extensions(self.cpdag)

    def class_size(self, limit: int = 10_000) -> "int | Between":
        """Return the number of DAGs in the class, as ``sges.graph.class_size`` does.

        Parameters
        ----------
        limit : int, optional
            How many DAGs may be listed to count those of a component in which background knowledge
            directs edges.

        Returns
        -------
        int or Between
            The number, or an interval that contains it if the limit was reached.
        """
        return tool("class_size")(self.cpdag, limit)

    def sample_members(self, k: int, seed: "Seed" = 0) -> list[PDAG]:
        """Return DAGs drawn uniformly and independently from the class.

        Parameters
        ----------
        k : int
            The number of DAGs to draw; the same DAG may be drawn several times.
        seed : int or numpy.random.Generator, optional
            The source of randomness.

        Returns
        -------
        list of PDAG
            Members of the class that have all arrows of the graph.
        """
        return tool("sample_members")(self.cpdag, k, seed)

    def effect(
        self,
        treatment: str | int,
        outcome: str | int,
        data: Any = None,  # noqa: ANN401 (any table for Dataset.of)
        *,
        adjustment: Literal["parents", "optimal"] = "parents",
    ) -> "LinearEffect | DiscreteEffect":
        """Return the possible effects of one variable on another over the class (IDA).

        The values assume that the graph is correct, that there are no hidden common causes, and
        that relations are linear or all variables discrete.

        Parameters
        ----------
        treatment : str or int
            The variable that is set, by name or number.
        outcome : str or int
            The variable that responds.
        data : table, Moments or network, optional
            What to estimate the effects from; by default the data of the score.
        adjustment : {"parents", "optimal"}, optional
            Adjust for the parents of the treatment, or for the most efficient set; linear
            effects only.

        Returns
        -------
        LinearEffect or DiscreteEffect
            One value for each possible set of parents of the treatment.

        Raises
        ------
        InvalidArgument
            If no data are given and the result has none, or an argument is invalid.
        DataError
            If the data do not fit the graph, or its columns are of both kinds.
        """
        self._check_endogenous("effect")
        effect_data = self._effect_data(data)
        return tool("effect")(self.cpdag, treatment, outcome, effect_data, adjustment=adjustment)

    def effects(
        self,
        *,
        of: str | int | None = None,
        on: str | int | None = None,
        data: Any = None,  # noqa: ANN401 (any table for Dataset.of)
    ) -> "Effects":
        """Return the possible effects of one variable, or on one variable, strongest first.

        Parameters
        ----------
        of : str or int, optional
            The variable that is set: its effects on all others are returned.
        on : str or int, optional
            The variable that responds: the effects of all others on it are returned.
        data : table, Moments or network, optional
            What to estimate the effects from; by default the data of the score.

        Returns
        -------
        tuple of LinearEffect or DiscreteEffect
            Ranked by the smallest absolute value that an effect may have; for discrete data, by
            the smallest change of probabilities.

        Raises
        ------
        InvalidArgument
            If not exactly one of ``of`` and ``on`` is given, or there are no data.
        """
        self._check_endogenous("effects")
        return tool("effects")(self.cpdag, self._effect_data(data), of=of, on=on)

    def fit(
        self,
        data: Any = None,  # noqa: ANN401 (any table for Dataset.of)
        smoothing: float = 1.0,
    ) -> "BayesianNetwork | LinearGaussian | MixedNetwork":
        """Return a network of one DAG of the class, with parameters estimated from data.

        All members of a class fit discrete and linear Gaussian data equally well.  For a table of
        continuous and discrete columns the network is a linear or logistic regression of each
        variable on its parents.

        Parameters
        ----------
        data : table, Dataset or Moments, optional
            The data; by default those of the score.
        smoothing : float, optional
            For discrete columns, the number of pseudo-records of each configuration of the
            parents, spread evenly over the levels of the variable.

        Returns
        -------
        BayesianNetwork, LinearGaussian or MixedNetwork
            The network, which can be sampled and gives the log-probability of new rows; the first
            two answer any query exactly, the last gives means and probabilities given parents.
        """
        from sges.network import fit

        self._check_endogenous("fit")
        return fit(self.dag(), self._data(data), smoothing)

    @documented_like(certify)
    def certify(self, score: "Score | None" = None, limit: int = 100_000) -> "Certificate":
        """Check whether the class is a local optimum with respect to all deletes and inserts.

        Background knowledge is ignored.

        Parameters
        ----------
        score : Score, optional
            The score; needed for a result that was stored and read again.

        Raises
        ------
        InvalidArgument
            If the result has no score object and none is given.
        """
        self._check_endogenous("certify")
        scorer = score if score is not None else self.scorer
        if scorer is None:
            raise InvalidArgument(
                "certify: the score object is not stored with a result; pass it as certify(score)"
            )
        return certify(pdag_to_cpdag(self.cpdag), scorer, limit)

    def confidence(
        self,
        replicates: int = 200,
        *,
        draw: str = "auto",
        seed: int = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        progress: "OnReplicate | bool | None" = None,
    ) -> "Confidence":
        """Estimate the confidence in each edge by searching replicates with the same settings.

        Only for results of ``sges.learn`` whose score has kept its statistics (a ``GaussianBIC``,
        ``DiscreteBIC``, ``QNML`` or ``BDeu``) and that were not stored; otherwise
        ``sges.confidence`` takes the table.

        Parameters
        ----------
        replicates : int
            How many replicates to search.
        draw : {"auto", "half", "bootstrap", "bayesian", "wishart"}
            How a replicate is drawn: see ``sges.confidence``.  A Gaussian score has kept only
            moments, from which covariances are drawn ("wishart").
        seed : int
            The same seed gives the same replicates.
        n_jobs : int, optional
            How many replicates are searched at once; the result does not depend on it.
        time_limit : float, optional
            Seconds after which the replicates that are done are counted.
        progress : callable or bool, optional
            Called with a ``ReplicateProgress`` whenever replicates are done; True shows a progress
            line on standard error, in a terminal or a notebook.

        Returns
        -------
        Confidence
            The classes that were found, and the shares of edges in them.

        Raises
        ------
        InvalidArgument
            If the result has no score or plan, or its score has not kept its statistics.
        """
        self._check_endogenous("confidence")
        return tool("confidence_of_result")(
            self, replicates, draw=draw, seed=seed, n_jobs=n_jobs, time_limit=time_limit,
            progress=progress,
        )  # fmt: skip

    def summary(self, max_lines: int | None = 40, *, verbose: bool = False) -> str:
        """Return a summary of the result as text for a terminal of 80 columns.

        Parameters
        ----------
        max_lines : int or None
            The largest number of lines for each list of edges; None shows all.
        verbose : bool
            Whether to say how the search went: operators, strategy, phases, families if counted.

        Returns
        -------
        str
            The text, which ends with a line break.
        """
        return tool("summary")(self, max_lines, verbose=verbose)

    def explain(self, a: str | int, b: str | int) -> "Explanation":
        """Explain why there is an edge between two nodes, or why there is none.

        Parameters
        ----------
        a, b : str or int
            The two nodes, by name or number.

        Returns
        -------
        Explanation
            The edge, the steps that changed it, and the best operator on the pair in the final
            state; ``str`` returns a readable text.
        """
        self._check_endogenous("explain")
        x, y = self._node(a), self._node(b)
        if x == y:
            raise InvalidArgument(
                f"explain: {self.names[x]!r} is given twice; give two different nodes"
            )
        return tool("explain")(self, x, y)

    def save(self, directory: "PathLike") -> list[Path]:
        """Write graph.json, .dot and .svg, report.html and summary.txt: all of them or none.

        Parameters
        ----------
        directory : str or path-like
            The directory; it is created if necessary.  An existing result of sges is replaced;
            files of the same names that sges did not write are an error.

        Returns
        -------
        list of Path
            The five files.

        Raises
        ------
        FileError
            If the directory cannot be written, or contains files of these names from elsewhere.
        """
        return tool("save")(self, directory)

    def report(self, path: "PathLike", *, confidence: "Confidence | None" = None) -> Path:
        """Write one HTML file that shows, explains and replays the result.

        The file needs no network.  The result itself is stored in it: ``sges.read_result(path)``
        returns it.

        Parameters
        ----------
        path : str or path-like
            The file to write, such as "report.html".  A report is replaced; any other file of
            this name is an error.
        confidence : Confidence, optional
            How certain the edges are, from ``result.confidence()`` or ``sges.confidence`` on the
            same table: adds the share of replicates that have each edge, by which weak edges can be
            hidden.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        InvalidArgument
            If the path does not end in .html or .htm.
        FileError
            If the file cannot be written, or exists and is not a report of sges.
        """
        return tool("write_report")(self, path, confidence=confidence)

    def _as_text(self, name: str) -> str:
        """Return the class as text, and in CSV the numbers of its edges as well."""
        return tool("to_csv")(self) if name == "to_csv" else NamedGraph._as_text(self, name)

    def to_pandas(self) -> Any:  # noqa: ANN401 (pandas has no types)
        """Return the edges as a data frame: source, target, type, strength, gain and step."""
        frame, edges = NamedGraph.to_pandas(self), self.edges
        numbers = {"strength": "float64", "gain": "float64", "step": "Int64"}
        for name in numbers:
            frame[name] = [getattr(edge, name) for edge in edges]
        return frame.astype(numbers)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain lists, dicts, strings and numbers.

        Returns
        -------
        dict
            The entries that the header of ``sges.result`` lists; the score object is left out.
        """
        return {
            "format": FORMAT,
            "version": VERSION,
            "nodes": list(self.names),
            "edges": edge_records(self.cpdag),
            **{name: getattr(self, name) for name in _ENTRIES},
            "score": float(self.score),  # it may be a NumPy scalar, such as a float32
            "seconds": dict(self.seconds),
            "notes": list(self.notes),
            "steps": [_step_record(step, self.names) for step in self.steps],
            **({"exogenous": list(self.exogenous)} if self.exogenous else {}),
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Result":
        """Return the result that ``to_dict`` wrote.

        Parameters
        ----------
        record : mapping
            The dict that ``to_dict`` returned; every entry is checked.

        Returns
        -------
        Result
            The same result, without its score object.

        Raises
        ------
        DataError
            If an entry is missing or invalid.
        """
        record = check_format(record, "result", FORMAT, VERSION)
        try:
            graph = graph_of_record(record)
        except GraphError as error:
            raise DataError(f"the graph of the result: {error}") from None
        entries = checked_entries(record, _ENTRIES, "the result")
        if entries["complete"] == (entries["stopped"] is not None):
            raise DataError(
                "the entries 'complete' and 'stopped' of the result contradict each other"
            )
        number = {graph.name(v): v for v in range(graph.n)}
        steps = [_step(step, number, f"step {k}") for k, step in enumerate(entries["steps"], 1)]
        notes = tuple(entries["notes"])
        exogenous = record.get("exogenous", ())
        if not (is_texts(exogenous) and set(exogenous) <= number.keys()):
            raise DataError("the entry 'exogenous' of the result must be a list of its nodes")
        entries["exogenous"] = tuple(exogenous)
        return cls(**entries | {"cpdag": graph, "notes": notes, "steps": tuple(steps)})

    def to_json(self, indent: int | None = 2) -> str:
        """Return the result as JSON text.

        Parameters
        ----------
        indent : int, optional
            Spaces per level; None writes one line.

        Returns
        -------
        str
            The text.
        """
        return to_json(self.to_dict(), indent)

    @classmethod
    @documented_like(from_dict)
    def from_json(cls, text: str) -> "Result":
        """Return the result that ``to_json`` wrote.

        Parameters
        ----------
        text : str
            JSON text; everything in it is checked.

        Raises
        ------
        DataError
            If the text is not JSON, or not that of a result.
        """
        return cls.from_dict(from_json(text))  # type: ignore[arg-type]

    def __repr__(self) -> str:
        directed, undirected = self.cpdag.directed_edges(), self.cpdag.undirected_edges()
        edges = "edge" if len(directed) + len(undirected) == 1 else "edges"
        ended = "" if self.complete else f", stopped: {self.stopped}"
        return printable(
            f"Result({self.cpdag.n:,} node{'' if self.cpdag.n == 1 else 's'}, {len(directed)} "
            f"directed and {len(undirected)} undirected {edges}, "
            f"{self.score_name or 'score'} {self.score:.10g}, "
            f"{len(self.steps):,} step{'' if len(self.steps) == 1 else 's'}{ended})"
        )

    def _repr_html_(self) -> str:
        return tool("result_html")(self)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the score object, which may hold all of the data, and the plan."""
        state = {name: getattr(self, name) for name in self.__slots__}
        return {**state, "scorer": None, "plan": None, "seconds": dict(self.seconds)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)

    def __copy__(self) -> "Result":
        """Return a copy that shares the score object, which is never changed."""
        return replace(self, seconds=dict(self.seconds))

    def __deepcopy__(self, memo: object) -> "Result":
        return self.__copy__()

    def _effect_data(self, data: Any) -> Any:  # noqa: ANN401
        """Return the data to estimate effects from; raise an error if they are of both kinds."""
        if data is None:
            tool("check_one_kind")(getattr(self.scorer, "kinds", ()))
        return self._data(data)

    def _data(self, data: Any) -> Any:  # noqa: ANN401
        """Return the data that were given, or those of the score."""
        if data is not None:
            return data
        for name in ("data", "moments"):
            if (kept := getattr(self.scorer, name, None)) is not None:
                return kept
        raise InvalidArgument(
            "this result does not contain its data, because its score does not keep them, or "
            "because it was read from a file or a pickle; pass data="
        )

    def _check_endogenous(self, what: str) -> None:
        """Raise an error if there are exogenous variables, whose laws are not modelled."""
        if self.exogenous:
            raise InvalidArgument(
                f"{what} needs a graph of all variables, but {self.exogenous[0]!r} is exogenous: "
                "its own law is not modelled"
            )

    def _node(self, node: str | int) -> int:
        try:
            return self.cpdag.node(node)
        except GraphError as error:
            raise InvalidArgument(str(error)) from None

    def _name(self, node: str | int) -> str:
        return self.cpdag.name(self._node(node))


def _step_record(step: Step, names: Sequence[str]) -> dict[str, Any]:
    """Return a step as plain values, its nodes by their names."""
    op = step.operator
    return {
        "phase": step.phase,
        "operator": type(op).__name__,
        "x": names[op.x],
        "y": names[op.y],
        "set": [names[v] for v in nodes(op.chosen)],
        "gain": step.gain,
        "score": step.score,
        "edges": step.edges,
    }


# Reading: every entry is checked, so that a damaged or foreign file gives a short error.


_TEXT_OR_NULL = (is_text_or_none, "text or null")
_COUNT_OR_NULL = (lambda value: value is None or is_count(value), "a count or null")
_ENTRIES: Rules = {
    "score": (is_number, "a number"),
    "score_name": (is_text, "text"),
    "score_evaluations": _COUNT_OR_NULL,
    "evaluation_bound": _COUNT_OR_NULL,
    "operators_considered": (is_count, "a count"),
    "assume": _TEXT_OR_NULL,
    "forward": _TEXT_OR_NULL,
    "complete": (lambda value: isinstance(value, bool), "true or false"),
    "stopped": _TEXT_OR_NULL,
    "seconds": (
        lambda value: isinstance(value, Mapping) and all(map(is_number, value.values())),
        "an object of numbers",
    ),
    "strategy": _TEXT_OR_NULL,
    "call": _TEXT_OR_NULL,
    "digest": _TEXT_OR_NULL,
    "notes": (is_texts, "a list of texts"),
    "steps": (lambda value: isinstance(value, list | tuple), "a list"),
}
"""The entries of a result besides its graph, in the order of its JSON, and their rules."""

_STEP_ENTRIES: Rules = {
    "operator": (lambda value: value in tuple(OPERATORS), f"one of {', '.join(OPERATORS)}"),
    "phase": (is_text, "text"),
    "x": (is_text, "the name of a node"),
    "y": (is_text, "the name of a node"),
    "set": (is_texts, "a list of names"),
    "gain": (is_number, "a number"),
    "score": (is_number, "a number"),
    "edges": (is_count, "a count"),
}


def _step(record: object, number: Mapping[str, int], what: str) -> Step:
    """Return the step that ``_step_record`` wrote."""
    if not isinstance(record, Mapping):
        raise DataError(f"{what} of the result is {shown(record)}, not an object")
    entries = checked_entries(record, _STEP_ENTRIES, what)
    for name in (entries["x"], entries["y"], *entries["set"]):
        if name not in number:
            raise DataError(f"{what} refers to {shown(name)}, which is not among the nodes")
    x, y, *chosen = (number[name] for name in (entries["x"], entries["y"], *entries["set"]))
    return Step(
        entries["phase"],
        OPERATORS[entries["operator"]](x, y, chosen),
        entries["gain"],
        entries["score"],
        entries["edges"],
    )
