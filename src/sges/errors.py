"""Every exception that sges raises on purpose, and the checks of arguments that raise them.

Each message says what is wrong, on which values, against which rule, and what would be right.
All of them are ``SgesError``; those that reject a value are also ``ValueError``, so that code that
does not import sges can catch them.
"""

import math
import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from numbers import Integral, Real
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Spelling:
    """Advice that is written differently in Python and in a shell."""

    python: str
    shell: str


class Argument(Spelling):
    """An argument that a message recommends: a keyword in Python, an option in a shell.

    In a shell a mapping or a list becomes repeated options.  Without a value only the name is
    spelled.

    >>> kinds = Argument("kinds", {"my age": "discrete"})
    >>> print(kinds.python, "or", kinds.shell)
    kinds={'my age': 'discrete'} or --kinds 'my age=discrete'
    """

    def __init__(self, name: str, value: object = ...) -> None:
        option = "--" + name.replace("_", "-")
        if value is ...:
            super().__init__(name, option)
            return
        words = value if isinstance(value, list | tuple) else [value]
        if isinstance(value, Mapping):
            words = [f"{key}={word}" for key, word in value.items()]
        shell = " ".join(f"{option} {shlex.quote(str(word))}" for word in words)
        super().__init__(f"{name}={value!r}", shell)


class Message(str):
    """A message that may recommend arguments, written for Python or, on request, for a shell.

    >>> advice = Message("pass ", Argument("missing", "drop"), " to leave these rows out")
    >>> print(advice)
    pass missing='drop' to leave these rows out
    >>> print(advice.in_shell())
    pass --missing drop to leave these rows out
    """

    __slots__ = ("parts",)
    parts: tuple[str | Spelling, ...]

    def __new__(cls, *parts: str | Spelling) -> "Message":
        """Make a message of texts, arguments and other messages."""
        flat = [p for part in parts for p in (part.parts if isinstance(part, Message) else (part,))]
        message = super().__new__(cls, "".join(p if isinstance(p, str) else p.python for p in flat))
        message.parts = tuple(flat)
        return message

    def in_shell(self) -> str:
        """Return the message with its arguments as options of the command line."""
        return "".join(p if isinstance(p, str) else p.shell for p in self.parts)

    @property
    def recommends_arguments(self) -> bool:
        """Whether an argument is a part of the message."""
        return any(isinstance(part, Argument) for part in self.parts)

    def __getnewargs__(self) -> tuple[str | Spelling, ...]:  # type: ignore[override]
        """Return what makes the same message again, for pickle and copy."""
        return self.parts


def in_shell(message: object) -> str:
    """Return a message, a note or an error, with advised arguments as options of the command."""
    if isinstance(message, BaseException) and len(message.args) == 1:
        message = message.args[0]
    return message.in_shell() if isinstance(message, Message) else str(message)


class SgesError(Exception):
    """The base of everything raised on purpose; its message is always one line."""

    def __str__(self) -> str:
        return " ".join(super().__str__().splitlines())


class GraphError(SgesError, ValueError):
    """A graph, or a node or edge of it, that breaks a rule of its kind."""


class NotADAG(GraphError):
    """A graph with an undirected edge or a directed cycle where a DAG is needed."""


class NotACPDAG(GraphError):
    """A graph that is not the completed PDAG of any equivalence class, where one is needed."""


class NoConsistentExtension(GraphError):
    """A PDAG whose edges cannot be directed without a cycle or a new v-structure."""


class NotChordal(GraphError):
    """An undirected graph with a chordless cycle, where a chordal one is needed."""


class InvalidOperator(SgesError, ValueError):
    """An operator whose preconditions fail on the graph it is applied to."""


class InvalidProperty(SgesError, ValueError):
    """A bound that no property can have, or a property that is not EIH."""


class Undecided(SgesError):
    """A question that could not be decided within the allowed work."""


class DataError(SgesError, ValueError):
    """A table that cannot be used as it is."""


class NetworkError(SgesError, ValueError):
    """A distribution that does not fit its network, or a network that cannot be made."""


class ScoreError(SgesError, ValueError):
    """A score that breaks its contract, or that cannot be built from its arguments."""


class InvalidArgument(SgesError, ValueError):
    """An invalid argument, independent of the data: an unknown word, a wrong type or range."""


class KnowledgeError(SgesError, ValueError):
    """Background knowledge that contradicts itself, or names variables that do not exist."""


class MissingLibrary(SgesError, ImportError):
    """An optional library that is needed but not installed."""


class FileError(SgesError, OSError):
    """A file that cannot be read or written, or that sges did not write and will not replace."""


class ClusterError(SgesError, RuntimeError):
    """A cluster that was lost while it was computing."""


class DataWarning(UserWarning):
    """A property of a table that users should know about, although the table can be used."""


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside of this package that made the call."""
    package, level = str(Path(__file__).parent), 1
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(package):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def shown(value: object) -> str:
    """Return a value as it is shown in a message: its repr, on one line and not too long.

    >>> shown("5"), shown(list(range(1000)))
    ("'5'", '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16...')
    >>> shown(10**5000), shown([10**5000])  # which Python does not write
    ('an integer of about 5,000 digits', 'a list')
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:
        text = f"a {type(value).__name__}"
        if type(value) is int:  # Python writes only those of a few thousand digits
            text = f"an integer of about {math.log10(abs(value)):,.0f} digits"
    return text if len(text) <= 60 else text[:57] + "..."


def as_name(value: object) -> str:
    """Return the text of a name; raise an error for an integer that Python does not write."""
    try:
        return str(value)
    except ValueError:
        raise InvalidArgument(f"{shown(value)} cannot be a name") from None


def has_own_text(value: object) -> bool:
    """Return whether ``str`` of a value tells more than its class and its address in memory."""
    kind = type(value)
    return kind.__str__ is not object.__str__ or kind.__repr__ is not object.__repr__


def shown_error(error: BaseException) -> str:
    """Return the message of another library's error on one line, and not too long."""
    return " ".join(str(error).split())[:200].rstrip(".") or "no message"


def cluster_failure(error: BaseException) -> tuple[str, str] | None:
    """Return what happened to a cluster and what helps; None if an error means something else."""
    kind = type(error)
    if kind.__name__ == "KilledWorker":
        key = getattr(error, "task", None)  # that of a partition is (name, number)
        work = f"partition {key[-1]}" if isinstance(key, tuple) else "the same work"
        return (
            f"one worker of the cluster after another died at {work} (probably for lack of memory)",
            "give the workers more memory, or smaller partitions,",
        )
    lost = isinstance(error, ConnectionError | TimeoutError) or "Cancelled" in kind.__name__
    if lost or kind.__module__.partition(".")[0] == "distributed":
        return f"the connection to the cluster was lost ({shown_error(error)})", "restart it"
    return None


NO_MEMORY = re.compile(
    "not enough memory"  # which we have said
    "|failed to map segment"  # of a shared library, as an ImportError
    "|Cannot allocate memory"
    "|Failed to launch worker thread"  # of Arrow
    "|can't start new thread"
)
"""What an error says that means that memory is exhausted, if it is not a MemoryError."""


def out_of_memory(error: BaseException, purpose: str = "") -> MemoryError | None:
    """Return an error of one line if one means that memory is exhausted, otherwise None."""
    lines = str(error).splitlines()
    said = [line for line in lines if NO_MEMORY.search(line)]
    if not said and not isinstance(error, MemoryError):
        return None
    reason = "".join((said or lines)[:1]).strip()
    if not reason.startswith("not enough memory"):
        reason = f"not enough memory{purpose}" + (f" ({reason[:200]})" if reason else "")
    return MemoryError(reason)


def need(module: str, purpose: str, package: str | None = None) -> Any:  # noqa: ANN401 (a module)
    """Return an optional library; the error says what needs it and how to install it.

    Warnings during the import are ignored, because they concern the authors of the library.
    Turned into errors, they would crash the process in libraries made with SWIG, such as pyAgrum.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return import_module(module)
    except ImportError as error:
        if exhausted := out_of_memory(error, f" to import {module}"):
            raise exhausted from error
        package = package or module.partition(".")[0]
        raise MissingLibrary(
            f"{purpose} needs {package}, which is not installed; "
            f"install it with: pip install {package}"
        ) from None
    except Exception as error:  # such as a setting of its own that it cannot read
        raise MissingLibrary(
            f"{purpose} needs {module.partition('.')[0]}, which cannot be imported: {error}"
        ) from None


def _closest(name: object, names: list[str]) -> str | None:
    """Return the question whether the closest of some names was meant; None if none is close."""
    by_case = {known.casefold(): known for known in reversed(names)}
    word = name if isinstance(name, str) else shown(name)
    close = get_close_matches(word.casefold(), by_case, n=1)
    return f"did you mean {by_case[close[0]]!r}?" if close else None


def suggestion(name: object, names: Iterable[str], what: str = "the names") -> str:
    """Return the closest name to one that does not exist, or else the first of all names.

    >>> suggestion("AGE", ["age", "sex"]), suggestion("income", ["age", "sex"], "the columns")
    ("did you mean 'age'?", "the columns are 'age', 'sex'")
    """
    known = list(names)
    if hint := _closest(name, known):
        return hint
    listed = ", ".join(map(repr, known[:8]))
    return f"{what} are {listed}" + (f" and {len(known) - 8} more" if len(known) > 8 else "")


def not_one_of(what: str, value: object, words: Iterable[str]) -> InvalidArgument:
    """Return the error for a word that is not one of those allowed, with the closest one."""
    allowed = list(words)
    hint = _closest(value, allowed)
    rule = f" = {shown(value)} is not one of {', '.join(map(repr, allowed))}"
    return InvalidArgument(Message(Argument(what), rule, f"; {hint}" if hint else ""))


def check_word(what: str, value: object, words: Iterable[str]) -> None:
    """Raise an error if a value is not one of the allowed words."""
    allowed = list(words)
    if not isinstance(value, str) or value not in allowed:
        raise not_one_of(what, value, allowed)


def _is_huge(value: object) -> bool:
    """Return whether a value is a real number that a double cannot hold."""
    try:
        float(value if isinstance(value, Real) else 0)
    except OverflowError:
        return True
    return False


def is_number(value: object, *, whole: bool = False) -> bool:
    """Return whether a value is a real number that a double can hold, or a whole number."""
    return isinstance(value, Integral) if whole else isinstance(value, Real) and not _is_huge(value)


def check_number(
    what: str,
    value: object,
    *,
    whole: bool = False,
    least: float = 0,
    most: float = math.inf,
    optional: bool = False,
) -> None:
    """Raise an error if a value is not a number from ``least`` to ``most``, or None if optional."""
    if optional and value is None:
        return
    is_right = is_number(value, whole=whole) and not isinstance(value, bool)
    if is_right and least <= value <= most:  # type: ignore[operator]
        return
    below = " below 1.8e308" if _is_huge(value) else ""
    kind = "a whole number" if whole else f"a number{below}"
    size = f"{least:,} or more" if most == math.inf else f"from {least:,} to {most:,}"
    rule = f" = {shown(value)}: it must be {kind}, {size}"
    none = Spelling(", or None" if optional else "", "")
    raise InvalidArgument(Message(Argument(what), rule, none))


def check_flag(what: str, value: object) -> None:
    """Raise an error if a value is not True or False."""
    if type(value).__name__ not in ("bool", "bool_"):  # bool_ is NumPy's
        raise InvalidArgument(f"{what} = {shown(value)}: it must be True or False")


def check_callable(what: str, value: object) -> None:
    """Raise an error if a value cannot be called."""
    if not callable(value):
        raise InvalidArgument(f"{what} = {shown(value)} cannot be called; give a function")


def check_text(what: str, value: object) -> None:
    """Raise an error if a value is not a string."""
    if not isinstance(value, str):
        raise InvalidArgument(f"{what} = {shown(value)} is not a string")


def check_path(what: str, value: object) -> None:
    """Raise an error if a value is not the path of a file."""
    if not isinstance(value, str | os.PathLike):
        raise InvalidArgument(f"{what} = {shown(value)}: it must be a string or a path")
    if "\0" in str(value):
        raise InvalidArgument(f"{what} = {shown(value)}: a path cannot contain a null character")


def as_numbers(what: str, value: object) -> "NDArray[np.float64]":
    """Return a value as a new array of floats; raise an error if it is not numeric."""
    import numpy as np  # import sges must stay light

    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(f"{what} = {shown(value)}: it must be an array of numbers") from None


def check_seed(value: object) -> None:
    """Raise an error if NumPy cannot make a random generator from a value."""
    from numpy.random import default_rng  # import sges must stay light

    try:
        default_rng(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InvalidArgument(
            f"seed = {shown(value)}: it must be a whole number, 0 or more, or a "
            "numpy.random.Generator"
        ) from None
