"""Pictures of graphs: a layered layout, drawn with matplotlib."""

from sges.tools.plot.drawing import draw

__all__ = ["draw"]
