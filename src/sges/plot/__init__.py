"""Pictures of graphs: a layered layout, drawn with matplotlib."""

from sges.plot.drawing import FORMATS, draw, layout_of, picture
from sges.plot.layout import Box, Curve, Layout

__all__ = ["FORMATS", "Box", "Curve", "Layout", "draw", "layout_of", "picture"]
