"""Positions from Graphviz, where its program ``dot`` is installed.

Nodes go out as n0, n1, ... with their sizes, so no name is ever part of what ``dot`` reads, and
its plain output, one node or edge per line, is read back.
"""

import shutil
import subprocess
from collections.abc import Sequence

from sges.graph.pdag import PDAG
from sges.plot.geometry import Box, Curve, Layout, Size, bounded
from sges.plot.layering import downward_edges

INCH = 72.0
SECONDS = 20
"""How long to wait for ``dot``."""


def by_graphviz(graph: PDAG, sizes: Sequence[Size]) -> Layout | None:
    """Return the layout that ``dot`` makes, or None if it is not there or does not manage."""
    program = shutil.which("dot")
    if program is None:
        return None
    try:
        ran = subprocess.run(
            [program, "-Tplain", "-y"],
            input=request(graph, sizes),
            capture_output=True,
            check=True,
            text=True,
            timeout=SECONDS,
        )
        return layout_of_plain(ran.stdout, graph, sizes)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def request(graph: PDAG, sizes: Sequence[Size]) -> str:
    """Return the graph without names, every edge pointing down."""
    lines = ["digraph {", 'node [shape=box, fixedsize=true, label=""]; edge [arrowhead=none];']
    for v, (width, height) in enumerate(sizes):
        lines.append(f"n{v} [width={width / INCH:.4f}, height={height / INCH:.4f}];")
    lines += [f"n{x} -> n{y};" for x, y in downward_edges(graph)]
    return "\n".join([*lines, "}"])


def layout_of_plain(plain: str, graph: PDAG, sizes: Sequence[Size]) -> Layout:
    """Return the layout in the plain output of ``dot``; refuse one that is not whole."""
    boxes: dict[int, Box] = {}
    curves = []
    for line in plain.splitlines():
        words = line.split()
        if words[:1] == ["node"]:
            v = int(words[1].removeprefix("n"))
            boxes[v] = Box(float(words[2]) * INCH, float(words[3]) * INCH, *sizes[v])
        elif words[:1] == ["edge"]:
            ends = [int(word.removeprefix("n")) for word in words[1:3]]
            numbers = [float(word) * INCH for word in words[4 : 4 + 2 * int(words[3])]]
            points = tuple(zip(numbers[::2], numbers[1::2], strict=True))
            curves.append(Curve((ends[0], ends[1]), points))
    if len(boxes) != graph.n or len(curves) != graph.edge_count():
        raise ValueError("the layout is not whole")
    return bounded(boxes, curves)
