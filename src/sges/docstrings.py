"""Copy shared sections between docstrings, so that each is complete in ``help()``."""

import re
from collections.abc import Callable
from functools import cache
from inspect import CO_VARKEYWORDS, cleandoc
from types import FunctionType
from typing import Any, TypeVar

Thing = TypeVar("Thing")

SHARED = ("Parameters", "Attributes", "Returns", "Yields")
"""The sections that another docstring can complete: what a function returns only as a whole."""

SECTIONS = (*SHARED, "Raises", "References", "Examples")


def documented_like(*models: object) -> Callable[[Thing], Thing]:
    """Complete the docstring of a function or class with sections that it lacks.

    A model is a docstring in the format of numpydoc, or an object that has one.  A parameter
    without an entry gets the entry of the first model that has one, and a missing section is
    copied from the first model that has it.  Errors, references and examples are not shared.
    """

    def complete(thing: Thing) -> Thing:
        function: Any = getattr(thing, "__func__", thing)  # of a class method
        if function.__doc__ is None:  # python -OO removes docstrings
            return thing
        sections = dict(_sections(function.__doc__))
        has_own = isinstance(function, type) or "Returns" in sections or "Yields" in sections
        shared = SHARED[:2] if has_own else SHARED
        code = vars(function).get("__init__", function).__code__
        entries = _entries(sections.get("Parameters", ""))
        for model in models:
            theirs = _sections(model if isinstance(model, str) else model.__doc__ or "")
            for name in shared:
                if name in theirs:
                    sections.setdefault(name, theirs[name])
            entries = _entries(theirs.get("Parameters", "")) | entries
        named = code.co_argcount + code.co_kwonlyargcount
        names = list(code.co_varnames[:named])
        if code.co_flags & CO_VARKEYWORDS:
            names.append(f"**{code.co_varnames[named]}")
        sections["Parameters"] = "\n".join(dict.fromkeys(entries[v] for v in names if v in entries))
        written = [f"{s}\n{'-' * len(s)}\n{t}" for s in SECTIONS if (t := sections.get(s))]
        function.__doc__ = "\n\n".join([sections[""], *written])
        return thing

    return complete


def documented_like_base(kind: type) -> None:
    """Complete the docstrings of the methods of a class with those that they override."""
    for name, method in vars(kind).items():
        model = getattr(super(kind, kind), name, None)
        is_function = isinstance(getattr(method, "__func__", method), FunctionType)
        if is_function and model is not None and not name.startswith("_"):
            documented_like(model)(method)


@cache
def _sections(doc: str) -> dict[str, str]:
    """Return the sections of a docstring by name; the text before the first has an empty name."""
    parts = re.split(rf"^({'|'.join(SECTIONS)})\n-+\n", cleandoc(doc), flags=re.MULTILINE)
    return {"": parts[0].strip()} | {
        name: text.rstrip() for name, text in zip(parts[1::2], parts[2::2], strict=True)
    }


@cache
def _entries(section: str) -> dict[str, str]:
    """Return the entries of a section by parameter name; parameters may share an entry."""
    entries = re.split(r"\n(?=\S)", section) if section else []
    return {
        name.strip(): entry
        for entry in entries
        for name in entry.partition("\n")[0].partition(" : ")[0].split(",")
    }
