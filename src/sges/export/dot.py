r"""DOT, the language of Graphviz: writing it, and reading it back.

The id of a node is its name, quoted, so that programs which ignore labels keep the names.  A quoted
string of DOT ends at ``"`` and, as a label, understands escapes that begin with a backslash, and
entities of HTML such as ``&lt;``; so these are escaped, and a line break is written ``\n``.  Such a
name is also written as a label, because most programs read the escapes of labels only.

Read are ``digraph`` and ``graph``, quoted and plain names, chains ``a -> b -> c``, lists of
attributes, comments and defaults (which are ignored).  An edge is undirected if it is drawn
``--`` or has ``dir=none`` or ``dir=both``.  Subgraphs and HTML labels are refused.  A node is
called by its label if all labels differ, else by its id.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape

from sges.errors import GraphError, check_text
from sges.graph.pdag import PDAG, check_graph
from sges.graph.records import graph_of_records

UNDIRECTED_COLOUR = "#b45309"
ENTITY = re.compile(r"&(#?\w+;)")
_NOT_IN_DOT = re.compile("[\0\ud800-\udfff]")


def to_dot(graph: PDAG) -> str:
    r"""Return the graph in DOT, the language of Graphviz.

    Parameters
    ----------
    graph : PDAG
        The graph.

    Returns
    -------
    str
        DOT text in which undirected edges have ``dir=none`` and are dashed.

    Examples
    --------
    >>> print(to_dot(PDAG.from_edges(2, undirected=[(0, 1)], names=["a", 'say "b"'])))
    digraph {
      node [shape=box, style=rounded, fontname="sans-serif"];
      "a";
      "say \"b\"" [label="say \"b\""];
      "a" -> "say \"b\"" [dir=none, style=dashed, color="#b45309"];
    }
    <BLANKLINE>
    """
    check_graph("graph", graph)
    lines = ["digraph {", '  node [shape=box, style=rounded, fontname="sans-serif"];']
    ids = _ids(graph)
    for v, node_id in enumerate(ids):
        label = quoted(graph.name(v))
        lines.append(
            f"  {node_id};" if label == f'"{graph.name(v)}"' else f"  {node_id} [label={label}];"
        )
    directed = [(x, y, "") for x, y in graph.directed_edges()]
    style = f' [dir=none, style=dashed, color="{UNDIRECTED_COLOUR}"]'
    undirected = [(x, y, style) for x, y in graph.undirected_edges()]
    lines += [f"  {ids[x]} -> {ids[y]}{end};" for x, y, end in sorted(directed + undirected)]
    return "\n".join([*lines, "}", ""])


def _ids(graph: PDAG) -> list[str]:
    """Return the quoted names; names that differ only in what DOT cannot hold get a number."""
    ids: dict[str, None] = {}
    for v in range(graph.n):
        node_id = quoted(graph.name(v))
        while node_id in ids:
            node_id = f'{node_id[:-1]} #{v}"'
        ids[node_id] = None
    return list(ids)


def quoted(name: str) -> str:
    r"""Return a name as a quoted string of DOT that is shown as it is.

    >>> print(quoted('a "b" \\ c'))
    "a \"b\" \\ c"
    """
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
_KEYWORDS = ("node", "edge", "graph")
_ESCAPES = {"n": "\n", "l": "\n", "r": "\n"}


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    is_mark: bool
    is_quoted: bool = False


@dataclass
class _Parsed:
    """The nodes with their labels, and the edges, as far as the text has been read."""

    labels: dict[str, str] = field(default_factory=dict)
    edges: list[tuple[str, str, str]] = field(default_factory=list)


def from_dot(text: str) -> PDAG:
    """Return the graph of DOT text.

    Parameters
    ----------
    text : str
        A ``digraph`` or ``graph`` without subgraphs and HTML labels; attributes other than
        ``label`` and ``dir`` are ignored.

    Returns
    -------
    PDAG
        The graph; a node is called by its label if all labels differ, else by its id.

    Raises
    ------
    GraphError
        If the text cannot be read.

    Examples
    --------
    >>> from_dot('digraph { a -> b -> "c d"; c -> b [dir=none] }')
    PDAG(4 nodes: a→b, b→c d, b—c)
    """
    check_text("text", text)
    statements = _statements(list(_tokens(text)))
    parsed = _Parsed()
    for statement, attributes in statements:
        _take(statement, attributes, parsed)
    labels = list(parsed.labels.values())
    distinct = len(set(labels)) == len(labels)
    called = parsed.labels if distinct else {name: name for name in parsed.labels}
    records = [
        {"source": called[x], "target": called[y], "type": kind} for x, y, kind in parsed.edges
    ]
    return graph_of_records(list(called.values()), records)


def _tokens(text: str) -> Iterator[_Token]:
    place = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None or token["unclosed"]:
            line = text.count("\n", 0, place) + 1
            what = "this is not DOT that can be read here" if token is None else "unclosed comment"
            raise GraphError(f"{what}: line {line} near {text[place : place + 20]!r}")
        place = token.end()
        if token["quoted"] is not None:
            yield _Token(_unescaped(token["quoted"]), is_mark=False, is_quoted=True)
        elif token["mark"] is not None:
            yield _Token(token["mark"], is_mark=True)
        elif token["plain"] is not None:
            yield _Token(token["plain"], is_mark=False)


def _unescaped(quoted: str) -> str:
    joined = quoted.replace("\\\n", "")
    plain = re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), joined, flags=re.DOTALL)
    return ENTITY.sub(lambda m: unescape(m[0]), plain)


def _statements(tokens: list[_Token]) -> Iterator[tuple[list[_Token], dict[str, str]]]:
    """Yield each statement without its attributes, and the attributes."""
    start = _opening(tokens)
    if not tokens or not _is(tokens[-1], "}"):
        raise GraphError("this DOT does not end with a closing brace")
    statement: list[_Token] = []
    attributes: dict[str, str] = {}
    rest = iter(tokens[start:-1])
    for token in rest:
        if _is(token, "["):
            attributes |= _attributes(rest)
        elif _is(token, ";"):
            yield statement, attributes
            statement, attributes = [], {}
        else:
            if attributes or (statement and not token.is_mark and not statement[-1].is_mark):
                yield statement, attributes
                statement, attributes = [], {}
            statement.append(token)
    yield statement, attributes


def _opening(tokens: list[_Token]) -> int:
    """Return the place after the brace that opens the graph."""
    place = next((i for i, token in enumerate(tokens[:5]) if _is(token, "{")), None)
    words = [token.text.lower() for token in tokens[: place or 0]]
    if place is None or not {"graph", "digraph"} & set(words[:2]):
        raise GraphError("DOT begins with digraph { or graph {")
    return place + 1


def _attributes(rest: Iterator[_Token]) -> dict[str, str]:
    found: dict[str, str] = {}
    words: list[str] = []
    for token in rest:
        if _is(token, "]"):
            break
        if not token.is_mark:
            words.append(token.text)
            if len(words) == 2:
                found[words[0]] = words[1]
                words = []
    return found


def _take(statement: list[_Token], attributes: dict[str, str], parsed: _Parsed) -> None:
    marks = {token.text for token in statement if token.is_mark}
    names = [token.text for token in statement if not token.is_mark]
    first = next((token for token in statement if not token.is_mark), None)
    is_keyword = first is not None and not first.is_quoted and not marks
    if not names or "=" in marks or (is_keyword and names[0].lower() in _KEYWORDS):
        return  # an empty statement, an attribute of the graph, or defaults
    if marks & {"{", "}"}:
        raise GraphError("this DOT holds a subgraph; only nodes and edges can be read here")
    for name in names:
        parsed.labels.setdefault(name, name)
    if not marks:
        parsed.labels[names[0]] = attributes.get("label", names[0])
    steps = [token.text for token in statement if token.is_mark]
    for x, y, mark in zip(names, names[1:], steps, strict=False):
        line = mark == "--" or attributes.get("dir") in ("none", "both")
        parsed.edges.append((x, y, "undirected" if line else "directed"))


def _is(token: _Token, mark: str) -> bool:
    return token.is_mark and token.text == mark
