"""Compiled twins of the few functions in which a search spends its time.

The search is written in Python, once.  ``@compiled`` puts in place of a Python function the C
function of the same name, if the package was built where there is a C compiler; the Python
function stays its definition, its fallback, and what the tests compare it with
(``pure(function)``).  Set the environment variable ``SGES_PURE=1`` to do without.

Nothing is compiled at run time, and nothing but speed depends on it.
"""

import os
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

TWINS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {}
"""By name: the Python function, and the one that is used."""

try:
    from sges.kernels import _compiled
except ImportError:  # the package was built without a compiler
    _compiled = None  # type: ignore[assignment]

AVAILABLE = _compiled is not None
"""Whether the compiled functions were built."""

ENABLED = AVAILABLE and os.environ.get("SGES_PURE", "") in ("", "0")
"""Whether they are used."""


def compiled(function: Function) -> Function:
    """Return the compiled twin of a function if there is one, or else the function itself."""
    name = function.__name__
    used = getattr(_compiled, name, function) if ENABLED else function  # an old build may lack it
    TWINS[name] = function, used
    return used


def pure(name: str) -> Callable[..., Any]:
    """Return the Python function of this name."""
    return TWINS[name][0]
