"""What a layout is: boxes and curves on a sheet, in points, y growing downward."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from sges.graph.pdag import Edge

Point: TypeAlias = tuple[float, float]
Size: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """A node's place: its centre, and its width and height."""

    x: float
    y: float
    width: float
    height: float

    def moved(self, dx: float, dy: float) -> "Box":
        """Return the box elsewhere."""
        return replace(self, x=self.x + dx, y=self.y + dy)

    @property
    def top(self) -> float:
        """The height of its upper side."""
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        """The height of its lower side."""
        return self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Curve:
    """An edge's way from its upper to its lower end: a start, then three points per Bézier arc."""

    edge: Edge
    points: tuple[Point, ...]

    def moved(self, dx: float, dy: float) -> "Curve":
        """Return the curve elsewhere."""
        return replace(self, points=tuple((x + dx, y + dy) for x, y in self.points))


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is, on a sheet of a width and a height."""

    width: float
    height: float
    boxes: dict[int, Box]
    curves: tuple[Curve, ...]

    def moved(self, dx: float, dy: float) -> "Layout":
        """Return the same on the same sheet, elsewhere."""
        boxes = {v: box.moved(dx, dy) for v, box in self.boxes.items()}
        return replace(self, boxes=boxes, curves=tuple(c.moved(dx, dy) for c in self.curves))


def bounded(boxes: dict[int, Box], curves: Sequence[Curve], margin: float = 0.0) -> Layout:
    """Return the layout on the smallest sheet that holds it, with a margin."""
    points = [point for curve in curves for point in curve.points]
    xs = [x for x, _ in points] + [b.x + s * b.width / 2 for b in boxes.values() for s in (-1, 1)]
    ys = [y for _, y in points] + [side for b in boxes.values() for side in (b.top, b.bottom)]
    left, top = min(xs, default=0.0), min(ys, default=0.0)
    size = (max(xs, default=0.0) - left, max(ys, default=0.0) - top)
    whole = Layout(size[0] + 2 * margin, size[1] + 2 * margin, boxes, tuple(curves))
    return whole.moved(margin - left, margin - top)


def packed(parts: Sequence[Layout], gap: float, aspect: float) -> Layout:
    """Return the parts side by side on shelves, about ``aspect`` times wider than high."""
    area = sum((part.width + gap) * (part.height + gap) for part in parts)
    room = max(max((p.width for p in parts), default=0.0), (area * aspect) ** 0.5)
    x = y = shelf = 0.0
    boxes: dict[int, Box] = {}
    curves: list[Curve] = []
    for part in parts:
        if x and x + part.width > room:
            x, y, shelf = 0.0, y + shelf + gap, 0.0
        placed = part.moved(x, y)
        boxes |= placed.boxes
        curves += placed.curves
        x, shelf = x + part.width + gap, max(shelf, part.height)
    return bounded(boxes, curves)
