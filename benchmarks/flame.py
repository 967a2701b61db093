"""A flame graph: where the time goes, as stacks sampled from a running search, drawn as SVG.

A second thread looks at the stack of the searching one every few milliseconds; time in compiled
code shows as the Python function that called it.  A box is as wide as its share of the samples,
and rests on its caller; hovering over it shows the numbers.
"""

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from types import FrameType
from typing import Any

INTERVAL = 0.002
LEAST_SECONDS = 2.0
"""A call that is shorter is repeated."""
WIDTH, HEIGHT = 1200, 17
FONT = "DejaVu Sans, Verdana, sans-serif"
SMALLEST = 0.002
"""Boxes with less than this share are left out."""

Stack = tuple[str, ...]


@dataclass
class Box:
    """A function on a stack: its samples, and what it called."""

    name: str
    samples: int = 0
    inner: dict[str, "Box"] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """How many boxes stand on each other here, this one included."""
        return 1 + max((box.depth for box in self.inner.values()), default=0)


def sample(call: Callable[[], Any], interval: float = INTERVAL) -> Counter[Stack]:
    """Run something, again if it is short, and return how often each stack below it was seen."""
    seen: Counter[Stack] = Counter()
    watched, over = threading.get_ident(), threading.Event()

    def watch() -> None:
        while not over.wait(interval):
            frame = sys._current_frames().get(watched)
            seen[_stack(frame)] += 1

    before = sys.getswitchinterval()
    sys.setswitchinterval(interval / 4)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    begun = time.perf_counter()
    try:
        call()
        while time.perf_counter() - begun < LEAST_SECONDS:
            call()
    finally:
        over.set()
        watcher.join()
        sys.setswitchinterval(before)
    return seen


def _stack(frame: FrameType | None) -> Stack:
    """Return the functions on a stack, outermost first, from the sampled call on."""
    names: list[str] = []
    while frame is not None and frame.f_code is not sample.__code__:
        names.append(_name(frame))
        frame = frame.f_back
    return tuple(reversed(names))


def _name(frame: FrameType) -> str:
    """Return the module and the function, as short as a reader needs it."""
    module = str(frame.f_globals.get("__name__", "?"))
    return f"{module}.{frame.f_code.co_qualname}"


def within(stacks: Counter[Stack], package: str) -> Counter[Stack]:
    """Return the stacks from their first function of a package on; others are left out."""
    found: Counter[Stack] = Counter()
    for stack, samples in stacks.items():
        first = next((i for i, name in enumerate(stack) if name.startswith(f"{package}.")), None)
        if first is not None:
            found[stack[first:]] += samples
    return found


def boxes_of(stacks: Counter[Stack]) -> Box:
    """Return the tree of boxes of sampled stacks."""
    root = Box("all", stacks.total())
    for stack, samples in sorted(stacks.items()):
        box = root
        for name in stack:
            box = box.inner.setdefault(name, Box(name))
            box.samples += samples
    return root


def write_flame(root: Box, title: str, path: Path) -> None:
    """Write the tree as an SVG with a tooltip per box, the outermost call at the top."""
    shapes = _legend()
    _draw(root, 0.0, 0, root.samples, shapes)
    height = (root.depth + 2) * HEIGHT + 16
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" font-family="{FONT}" font-size="10">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n'
        f'<text x="6" y="18" font-size="14" font-weight="bold">{escape(title)}</text>\n'
        + "\n".join(shapes)
        + "\n</svg>\n",
        encoding="utf-8",
    )


def _draw(box: Box, x: float, level: int, total: int, shapes: list[str]) -> None:
    share = box.samples / total
    if share < SMALLEST:
        return
    width, y = share * WIDTH, 28 + level * HEIGHT
    letters = int((width - 6) / 5.9)
    name = box.name.removeprefix("sges.")
    label = name if len(name) <= letters else f"{name[: letters - 1]}…"
    shapes.append(
        f'<g><title>{escape(box.name)}: {share:.1%}</title><rect x="{x:.1f}" y="{y}" '
        f'width="{max(width - 0.6, 0.3):.1f}" height="{HEIGHT - 1}" rx="1.5" '
        f'fill="{_colour(box.name)}"/>'
        + (f'<text x="{x + 4:.1f}" y="{y + 12}">{escape(label)}</text>' if letters > 3 else "")
        + "</g>"
    )
    for inner in sorted(box.inner.values(), key=lambda each: -each.samples):
        _draw(inner, x, level + 1, total, shapes)
        x += inner.samples / total * WIDTH


OTHER = "#cfcfcf"
_PARTS = {
    "search": "#f2b25c",
    "score": "#7fb2d9",
    "graph": "#9ccb86",
    "operators": "#e58b7b",
    "data": "#b9a3d6",
    "nodeset": "#d9d17f",
    "kernels": "#5fb7ad",
}


def _colour(name: str) -> str:
    """Return the colour of the part of ours that a function is in; grey for anything else."""
    return _PARTS.get(name.removeprefix("sges.").partition(".")[0], OTHER)


def _legend() -> list[str]:
    """Return a patch and a word per colour, at the right of the title."""
    words = [*_PARTS.items(), ("other", OTHER)]
    left = WIDTH - 80 * len(words)
    return [
        f'<rect x="{left + 80 * i}" y="8" width="11" height="11" rx="1.5" fill="{colour}"/>'
        f'<text x="{left + 80 * i + 15}" y="18">{word}</text>'
        for i, (word, colour) in enumerate(words)
    ]
