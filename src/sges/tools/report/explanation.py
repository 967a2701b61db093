"""Explanations of why two nodes are adjacent or not: the steps of the search that affect the pair.

The steps of a result are applied once more to the graph from which the search started.  This
shows every step that touched the pair: those whose operator is on the pair itself, and those
elsewhere that directed its edge or made it undirected.  If the start is not known, as after a
search from a graph of the user's, only the steps on the pair itself are reported.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter

from sges.display import printable
from sges.graph.equivalence import pdag_to_cpdag
from sges.graph.pdag import PDAG
from sges.nodeset import nodes
from sges.operators import Delete, Operator, deletes, inserts
from sges.result import Result
from sges.tools.report.html import DIRECTED, NONE, between_nodes, preformatted
from sges.tools.report.page import replay

MAX_SCORED_OPERATORS = 10_000
"""How many operators on the pair are scored to find the best one."""


@dataclass(frozen=True, slots=True, repr=False)
class Event:
    """A step of the search that changed the pair, with its number from 1, and the edge after it."""

    step: int
    phase: str
    operator: str
    gain: float
    on_pair: bool
    edge: str

    def __str__(self) -> str:
        what = self.operator if self.on_pair else f"{self.operator}, elsewhere,"
        text = f"step {self.step} ({self.phase}): {what} gained {self.gain:.6g}"
        return f"{text}; after this step: {self.edge}"

    __repr__ = __str__


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """Why there is an edge between two nodes, or why there is none; ``str`` returns a text.

    Parameters
    ----------
    edge : str
        The edge between the two nodes in the result.
    events : tuple of Event
        The steps that changed the pair.
    ending : str
        The outcome of these steps, in words.
    best_operator : str, optional
        The best insert or delete on the pair in the class as it is now; None if the score object
        is not available, or if no operator on the pair is valid.
    best_gain : float, optional
        How much ``best_operator`` would change the score.
    """

    edge: str
    events: tuple[Event, ...]
    ending: str
    best_operator: str | None = None
    best_gain: float | None = None

    def __str__(self) -> str:
        lines = [f"{self.edge}.", *(f"  {event}" for event in self.events), f"  {self.ending}"]
        if self.best_operator is not None and self.best_gain is not None:
            best = f"the best operator for this pair, {self.best_operator},"
            change = "would not change the score"
            if self.best_gain:
                verb = "raise" if self.best_gain > 0 else "lower"
                change = f"would {verb} the score by {abs(self.best_gain):.6g}"
            lines.append(f"  in the final state {best} {change}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return preformatted(str(self))


def explain(result: Result, a: int, b: int) -> Explanation:
    """Explain the edge between two nodes, or its absence, by the steps of the search."""
    events = tuple(_events(result, a, b))
    edge, ending = edge_in_words(result.cpdag, a, b), _ending(result, a, b, events)
    best = _best_now(result, a, b)
    if best is None:
        return Explanation(edge, events, ending)
    return Explanation(edge, events, ending, _named(best[1], result.names), best[0])


def edge_in_words(graph: PDAG, a: int, b: int) -> str:
    """Return the edge between two nodes as text, or that there is none.

    >>> edge_in_words(PDAG.from_edges(2, [(0, 1)], names=["rain", "wet"]), 1, 0)
    'rain → wet'
    """
    x, y, kind = between_nodes(graph, a, b)
    first, second = printable(graph.name(x)), printable(graph.name(y))
    if kind == NONE:
        return f"no edge between {first} and {second}"
    return f"{first} {'→' if kind == DIRECTED else '—'} {second}"


def _named(operator: Operator, names: Sequence[str]) -> str:
    """Write an operator with the names of its nodes.

    >>> _named(Delete(0, 1, {2}), ["a", "b", "c"])
    'Delete(a, b, H = {c})'
    """
    chosen = ", ".join(printable(names[v]) for v in nodes(operator.chosen))
    x, y = printable(names[operator.x]), printable(names[operator.y])
    return f"{type(operator).__name__}({x}, {y}, {operator.set_name} = {{{chosen}}})"


def _best_now(result: Result, a: int, b: int) -> tuple[float, Operator] | None:
    """Return the best insert or delete on the pair in the final class, with its gain."""
    if result.scorer is None:
        return None
    cpdag = pdag_to_cpdag(result.cpdag)  # knowledge may direct more edges than the CPDAG
    ways: list[Iterator[Operator]] = [inserts(cpdag, a, b), inserts(cpdag, b, a)]
    if cpdag.adjacent(a) >> b & 1:
        ways = [deletes(cpdag, x, y) for x, y in ((a, b), (b, a)) if cpdag.out[x] >> y & 1]
    operators = islice(chain(*ways), MAX_SCORED_OPERATORS)
    gains = ((operator.gain(result.scorer, cpdag), operator) for operator in operators)
    return max(gains, key=itemgetter(0), default=None)


def _events(result: Result, a: int, b: int) -> Iterator[Event]:
    """Yield the steps that changed the pair: all, or those on it if the start is not known."""
    names = [printable(name) for name in result.names]
    graphs = replay(result)
    for place, step in enumerate(result.steps):
        operator = step.operator
        on_pair = {operator.x, operator.y} == {a, b}
        if graphs is not None:
            before, after = (edge_in_words(graphs[place + k], a, b) for k in (0, 1))
        else:
            gone = isinstance(operator, Delete)
            joined = f"{names[a]} and {names[b]}"
            before = after = f"no edge between {joined}" if gone else f"{joined} are adjacent"
        if before == after and not on_pair:
            continue
        name = _named(operator, result.names)
        yield Event(place + 1, printable(step.phase), name, step.gain, on_pair, after)


def _ending(result: Result, a: int, b: int, events: tuple[Event, ...]) -> str:
    """Return the outcome of the steps on the pair, in words."""
    last = next((event for event in reversed(events) if event.on_pair), None)
    is_adjacent = result.cpdag.adjacent(a) >> b & 1
    if last is None:
        if not result.steps and result.forward is None:
            return "the steps of this search were not recorded"
        if is_adjacent:
            return "it was in the graph at the start, and no step removed it"
        return "it was never inserted: no insert of this edge was the best operator at any step"
    if result.cpdag.neighbors(a) >> b & 1:
        return "undirected: its direction differs between members of the class"
    if is_adjacent:
        return "directed: it has this direction in every member of the class"
    return f"it was deleted at step {last.step}, which changed the score by {last.gain:.6g}"
