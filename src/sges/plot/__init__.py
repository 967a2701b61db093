"""Pictures of graphs: a layered layout of our own, drawn with matplotlib."""

from sges.plot.drawing import FORMATS, Look, draw, layout_of, picture
from sges.plot.geometry import Box, Curve, Layout

__all__ = ["FORMATS", "Box", "Curve", "Layout", "Look", "draw", "layout_of", "picture"]
