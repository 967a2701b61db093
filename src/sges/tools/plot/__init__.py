"""Pictures of graphs: a layered layout, drawn with matplotlib."""

from sges.tools.plot.drawing import FORMATS, EdgeStyle, draw, draw_steps, layout_of, picture
from sges.tools.plot.layout import Box, Curve, Layout

__all__ = [
    "FORMATS",
    "Box",
    "Curve",
    "EdgeStyle",
    "Layout",
    "draw",
    "draw_steps",
    "layout_of",
    "picture",
]
