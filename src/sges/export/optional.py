"""Libraries that are needed only for what they are asked for."""

from importlib import import_module
from typing import Any

from sges.errors import MissingLibrary


def need(module: str, purpose: str, package: str | None = None) -> Any:  # noqa: ANN401 (a module)
    """Return an optional library, or say what it is needed for and how to install it."""
    try:
        return import_module(module)
    except ImportError:
        package = package or module.partition(".")[0]
        raise MissingLibrary(
            f"{purpose} needs {package}, which is not installed; "
            f"install it with: pip install {package}"
        ) from None
