r"""Graphs in DOT, the language of Graphviz, and as models of dagitty, bnlearn and lavaan.

The id of a node is its name, quoted, so that programs which ignore labels keep the names.  A quoted
string of DOT ends at ``"`` and, as a label, understands escapes that begin with a backslash, and
entities of HTML such as ``&lt;``; so these are escaped, and a line break is written ``\n``.  Such a
name is also written as a label, because most programs interpret escapes only in labels.

Subgraphs and HTML labels are not read.

dagitty has undirected edges and represents the whole class.  bnlearn's model strings and lavaan's
regressions describe a DAG, so one member of a class is written.
"""

import re
from collections.abc import Iterator
from html import unescape
from itertools import takewhile
from typing import TypeAlias

from sges.errors import GraphError
from sges.graph.equivalence import pdag_to_dag
from sges.graph.pdag import PDAG
from sges.records import edge_records, graph_of_records

UNDIRECTED_COLOR = "#b45309"
ENTITY = re.compile(r"&(#?\w+;)")
_NOT_IN_DOT = re.compile("[\0\ud800-\udfff]")


def to_dot(graph: PDAG) -> str:
    """Return the graph in DOT; undirected edges have ``dir=none`` and are dashed."""
    lines = ["digraph {", '  node [shape=box, style=rounded, fontname="sans-serif"];']
    numbered: dict[str, None] = {}
    for v in range(graph.n):
        label = node_id = quoted(graph.name(v))
        while node_id in numbered:  # names that differ only in what DOT cannot hold get a number
            node_id = f'{node_id[:-1]} #{v}"'
        numbered[node_id] = None
        is_plain = label == f'"{graph.name(v)}"'
        lines.append(f"  {node_id};" if is_plain else f"  {node_id} [label={label}];")
    ids = list(numbered)
    style = f' [dir=none, style=dashed, color="{UNDIRECTED_COLOR}"]'
    edges = dict.fromkeys(graph.directed_edges(), "") | dict.fromkeys(
        graph.undirected_edges(), style
    )
    for (x, y), end in sorted(edges.items()):
        lines.append(f"  {ids[x]} -> {ids[y]}{end};")
    return "\n".join([*lines, "}", ""])


def quoted(name: str) -> str:
    """Return a name as a quoted string of DOT that is shown unchanged."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    one_line = escaped.replace("\r\n", "\\n").replace("\n", "\\n").replace("\r", "\\n")
    return '"' + _NOT_IN_DOT.sub("\ufffd", ENTITY.sub(r"&amp;\1", one_line)) + '"'


_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)
    |(?P<unclosed>/\*)
    |"(?P<quoted>(?:[^"\\]|\\.)*)"
    |(?P<mark>->|--|[{}\[\]=;,])
    |(?P<plain>[^\s"{}\[\]=;,<>-]+|-?\.?\d[\d.]*)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_DIRECTIONS = ("forward", "back", "both", "none")
_KEYWORDS = ("node", "edge", "graph")
_ESCAPES = {"n": "\n", "l": "\n", "r": "\n"}


_Token: TypeAlias = tuple[str, str]
"""The kind of a token, "quoted", "mark" or "plain", and its text."""


def from_dot(text: str) -> PDAG:
    """Return the graph of a ``digraph`` or ``graph`` without subgraphs and HTML labels.

    An edge has the arrowheads that Graphviz draws by ``dir``, ``arrowhead`` and ``arrowtail``; with
    none, or with one at each end, it is undirected.  A node is called by its label if all labels
    differ, else by its id.  Other attributes are ignored.

    >>> from_dot('digraph { a -> b -> "c d"; c -> b [dir=none]; d -> c [dir=back] }')
    PDAG(5 nodes: a→b, b→c d, b—c, c→d)
    """
    labels: dict[str, str] = {}
    edges: list[tuple[str, str, str]] = []
    for names, marks, attributes in _nodes_and_edges(_body(list(_tokens(text)))):
        for name in names:
            labels.setdefault(name, name)
        if not marks:
            labels[names[0]] = attributes.get("label", names[0])
        for x, y, mark in zip(names, names[1:], marks, strict=False):
            at_x, at_y = _heads(f"{x} {mark} {y}", mark, attributes)
            kind = "undirected" if at_x == at_y else "directed"
            edges.append((y, x, kind) if at_x else (x, y, kind))
    if len(set(labels.values())) < len(labels):
        labels = {name: name for name in labels}
    records = [{"source": labels[x], "target": labels[y], "type": kind} for x, y, kind in edges]
    return graph_of_records(list(labels.values()), records)


def _nodes_and_edges(body: list[_Token]) -> Iterator[tuple[list[str], list[str], dict[str, str]]]:
    """Yield the names, the marks and the attributes of each statement on nodes or edges."""
    defaults: dict[str, str] = {}  # of edges
    for statement, attributes in _statements(body):
        names = [token for kind, token in statement if kind != "mark"]
        marks = [token for kind, token in statement if kind == "mark"]
        if {"{", "}"} & set(marks):
            raise GraphError("this DOT contains a subgraph; only nodes and edges can be read")
        if not names or "=" in marks:  # an empty statement, or an attribute of the graph
            continue
        if not marks and statement[0][0] == "plain" and names[0].lower() in _KEYWORDS:
            defaults |= attributes if names[0].lower() == "edge" else {}
        else:
            yield names, marks, defaults | attributes if marks else attributes


def _heads(edge: str, mark: str, attributes: dict[str, str]) -> tuple[bool, bool]:
    """Return whether Graphviz draws an arrowhead at the first and at the second end of an edge."""
    ends = attributes.get("dir", "forward" if mark == "->" else "none")
    if ends not in _DIRECTIONS:
        raise GraphError(f"edge {edge}: dir={ends} is not one of {', '.join(_DIRECTIONS)}")
    drawn = [attributes.get(end, "normal") for end in ("arrowtail", "arrowhead")]
    if "odot" in drawn:
        raise GraphError(f"edge {edge}: the circle odot at its end, as in a PAG, cannot be read")
    first, second = (shape != "none" for shape in drawn)
    return first and ends in ("back", "both"), second and ends in ("forward", "both")


def _tokens(text: str) -> Iterator[_Token]:
    place = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None or token["unclosed"]:
            line = text.count("\n", 0, place) + 1
            what = "this DOT cannot be read" if token is None else "unclosed comment"
            raise GraphError(f"{what}: line {line} near {text[place : place + 20]!r}")
        place = token.end()
        if token["quoted"] is not None:
            joined = token["quoted"].replace("\\\n", "")
            plain = re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), joined, flags=re.DOTALL)
            yield "quoted", ENTITY.sub(lambda m: unescape(m[0]), plain)
        elif token.lastgroup in ("mark", "plain"):
            yield token.lastgroup, token[0]


def _body(tokens: list[_Token]) -> list[_Token]:
    """Return the tokens between the braces of a graph."""
    start = tokens.index(("mark", "{")) if ("mark", "{") in tokens[:5] else 0
    if not {"graph", "digraph"} & {word.lower() for _, word in tokens[: min(start, 2)]}:
        raise GraphError("DOT must begin with digraph { or graph {")
    if tokens[-1] != ("mark", "}"):
        raise GraphError("this DOT does not end with a closing brace")
    return tokens[start + 1 : -1]


def _statements(body: list[_Token]) -> Iterator[tuple[list[_Token], dict[str, str]]]:
    """Yield each statement without its attributes, and the attributes."""
    statement: list[_Token] = []
    attributes: dict[str, str] = {}
    rest = iter(body)
    for token in rest:
        if token == ("mark", "["):
            inside = takewhile(("mark", "]").__ne__, rest)
            words = [word for kind, word in inside if kind != "mark"]
            attributes |= dict(zip(words[::2], words[1::2], strict=False))
            continue
        is_end = token == ("mark", ";")
        begins = statement and "mark" not in (token[0], statement[-1][0])  # two names in a row
        if is_end or attributes or begins:
            yield statement, attributes
            statement, attributes = [], {}
        if not is_end:
            statement.append(token)
    yield statement, attributes


# Models of R packages

_LAVAAN_NAME = re.compile(r"(?:[A-Za-z]|\.(?![0-9]))[A-Za-z0-9._]*")
_R_WORDS = frozenset({
    "if", "else", "repeat", "while", "function", "for", "in", "next", "break", "TRUE", "FALSE",
    "NULL", "Inf", "NaN", "NA", "NA_integer_", "NA_real_", "NA_complex_", "NA_character_",
})  # fmt: skip
"""The reserved words of R."""


def to_dagitty(graph: PDAG) -> str:
    """Return the class in the language of dagitty, as ``dagitty::dagitty()`` takes it."""
    _check_names(graph, '"\n\r\\', "dagitty")
    names = [f'"{graph.name(v)}"' for v in range(graph.n)]
    edges = [
        f'"{edge["source"]}" {"->" if edge["type"] == "directed" else "--"} "{edge["target"]}"'
        for edge in edge_records(graph)
    ]
    kind = "dag" if not graph.undirected_edges() else "pdag"
    return "\n".join([f"{kind} {{", *names, *edges, "}", ""])


def to_bnlearn(graph: PDAG) -> str:
    """Return a member as a model string of bnlearn, as ``bnlearn::model2network()`` takes it."""
    _check_names(graph, "[]|:\n\r", "a model string of bnlearn")
    dag = pdag_to_dag(graph)
    terms = []
    for v in range(dag.n):
        parents = ":".join(dag.names_of(dag.parents(v)))
        terms.append(f"[{dag.name(v)}|{parents}]" if parents else f"[{dag.name(v)}]")
    return "".join(terms)


def to_lavaan(graph: PDAG) -> str:
    """Return a member as a path model in the syntax of lavaan, which semopy reads too."""
    for v in range(graph.n):
        name = graph.name(v)
        if not _LAVAAN_NAME.fullmatch(name) or name in _R_WORDS:
            raise GraphError(
                f"lavaan cannot use the name {name!r}: it needs letters, digits, dots and "
                "underscores, a letter first, and not a reserved word of R; rename the column"
            )
    dag = pdag_to_dag(graph)
    lines = []
    for v in range(dag.n):
        if dag.parents(v):
            lines.append(f"{dag.name(v)} ~ {' + '.join(dag.names_of(dag.parents(v)))}")
        elif not dag.adjacent(v):
            lines.append(f"{dag.name(v)} ~~ {dag.name(v)}")
    return "".join(f"{line}\n" for line in lines)


def _check_names(graph: PDAG, characters: str, what: str) -> None:
    """Raise an error if a name has a character that the language cannot quote."""
    for v in range(graph.n):
        if bad := next((c for c in graph.name(v) if c in characters), None):
            raise GraphError(
                f"{what} cannot contain the name {graph.name(v)!r}, because of {bad!r}; rename the "
                "column"
            )
