"""What people do with a table or a result: pictures, reports, files, effects, comparisons."""

from importlib import import_module
from types import ModuleType

TOOLS = [
    "baselines", "counting", "effects", "export", "inspect", "metrics", "penalty", "plot", "report",
]  # fmt: skip


def __getattr__(name: str) -> ModuleType:
    """Import a tool when it is first used, as ``sges.tools.effects``."""
    if name in TOOLS:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return TOOLS
