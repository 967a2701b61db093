"""The public names: those in ``__all__`` of the package and of its public modules.

The public methods of the classes among them are public too.
"""

import inspect
import pkgutil
from collections.abc import Iterator
from enum import Enum
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import sges
from sges import tools


def public_modules() -> Iterator[ModuleType]:
    yield sges
    for package in (sges, tools):
        for module in pkgutil.iter_modules(package.__path__):
            if not module.name.startswith("_"):
                found = import_module(f"{package.__name__}.{module.name}")
                if hasattr(found, "__all__"):
                    yield found


@cache
def public_names() -> dict[str, Any]:
    """Return the public functions and classes, each under its shortest public name."""
    found: dict[int, tuple[str, object]] = {}
    for module in public_modules():
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing) or (inspect.isclass(thing) and not is_enum(thing)):
                found.setdefault(id(thing), (f"{module.__name__}.{name}", thing))
    return {name: thing for name, thing in found.values() if of_ours(thing)}


def is_enum(thing: type) -> bool:
    """Return whether a class is an enumeration, whose members document themselves."""
    return issubclass(thing, Enum)


def of_ours(thing: object) -> bool:
    return str(getattr(thing, "__module__", "")).startswith("sges")


@cache
def public_methods() -> dict[str, Any]:
    """Return the public methods of public classes that are defined in this package."""
    return {
        f"{owner}.{name}": thing
        for owner, public in public_names().items()
        if inspect.isclass(public)
        for name, thing in inspect.getmembers(public, callable)
        if not name.startswith("_") and of_ours(thing)
    }
