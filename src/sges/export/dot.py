r"""DOT, the language of Graphviz.

Every name is quoted.  A quoted string of DOT ends at ``"`` and, as a label, understands escapes
that begin with a backslash, and entities of HTML such as ``&lt;``; so these are escaped, and a
line break is written ``\n``.
The id of a node is n0, n1, ..., and its name the label, so that no name means anything to DOT.
"""

import re

from sges.graph.pdag import PDAG

UNDIRECTED_COLOUR = "#b45309"
ENTITY = re.compile(r"&(#?\w+;)")


def to_dot(graph: PDAG) -> str:
    r"""Return the graph in DOT; undirected edges have ``dir=none`` and are dashed.

    >>> print(to_dot(PDAG.from_edges(2, undirected=[(0, 1)], names=["a", 'say "b"'])))
    digraph {
      node [shape=box, style=rounded, fontname="sans-serif"];
      n0 [label="a"];
      n1 [label="say \"b\""];
      n0 -> n1 [dir=none, style=dashed, color="#b45309"];
    }
    <BLANKLINE>
    """
    lines = ["digraph {", '  node [shape=box, style=rounded, fontname="sans-serif"];']
    lines += [f"  n{v} [label={quoted(graph.name(v))}];" for v in range(graph.n)]
    arrows = [(x, y, "") for x, y in graph.directed_edges()]
    look = f' [dir=none, style=dashed, color="{UNDIRECTED_COLOUR}"]'
    rest = [(x, y, look) for x, y in graph.undirected_edges()]
    lines += [f"  n{x} -> n{y}{look};" for x, y, look in sorted(arrows + rest)]
    return "\n".join([*lines, "}", ""])


def quoted(name: str) -> str:
    r"""Return a name as a quoted string of DOT that is shown as it is.

    >>> print(quoted('a "b" \\ c'))
    "a \"b\" \\ c"
    """
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    shown = escaped.replace("\r\n", "\\n").replace("\n", "\\n").replace("\r", "\\n")
    return '"' + ENTITY.sub(r"&amp;\1", shown).replace("\0", "\ufffd") + '"'
