"""The names in a user's knowledge: their shapes, and which columns they mean."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from operator import index
from typing import Any, SupportsIndex, TypeAlias

from sges.errors import KnowledgeError

Label: TypeAlias = str | int
"""A variable: its name, or its position."""

Pair: TypeAlias = tuple[Label, Label]


def as_label(value: object, where: str) -> Label:
    """Return a name or a position, or say what stands in its place."""
    if isinstance(value, str):
        return value
    if not isinstance(value, bool) and isinstance(value, SupportsIndex):
        position = index(value)
        if position >= 0:
            return position
    raise KnowledgeError(
        f"{where}: {value!r} is no variable; give its name, or its position from 0 on"
    )


def as_pairs(field: str, values: object) -> list[Pair]:
    """Return the edges of a field, each two variables that differ."""
    return [_as_pair(f"{field}[{i}]", value) for i, value in enumerate(_listed(field, values))]


def as_tiers(values: object) -> list[tuple[Label, ...]]:
    """Return the tiers, each sorted; refuse a variable that is in two."""
    tiers = []
    seen: dict[Label, int] = {}
    for i, value in enumerate(_listed("tiers", values)):
        tier = {as_label(v, f"tiers[{i}]") for v in _listed(f"tiers[{i}]", value)}
        for label in sorted(tier, key=str):
            if label in seen:
                raise KnowledgeError(
                    f"{label} is in the tiers {seen[label]} and {i} (counted from 0); "
                    "a variable has one tier at most"
                )
            seen[label] = i
        tiers.append(tuple(sorted(tier, key=lambda label: (isinstance(label, str), label))))
    return tiers


def as_tier_numbers(value: object, tiers: int) -> list[int]:
    """Return the numbers of the tiers without edges inside: those given, or all of them."""
    if isinstance(value, bool):
        return list(range(tiers)) if value else []
    numbers = {as_label(v, "forbid_within") for v in _listed("forbid_within", value)}
    found = sorted(v for v in numbers if isinstance(v, int) and v < tiers)
    if len(found) < len(numbers):
        raise KnowledgeError(
            f"forbid_within: {value!r} must be true, or numbers of tiers; "
            f"there are {tiers}, counted from 0"
        )
    return found


def refuse_mixture(labels: Sequence[Label]) -> None:
    """Refuse names beside positions: the same variable might be meant by both."""
    names = [label for label in labels if isinstance(label, str)]
    if 0 < len(names) < len(labels):
        position = next(label for label in labels if not isinstance(label, str))
        raise KnowledgeError(
            f"knowledge speaks of {names[0]!r} by name and of {position} by position; "
            "use names for all variables, or positions for all"
        )


def positions(labels: Iterable[Label], names: Sequence[str] | int) -> Mapping[Label, int]:
    """Return which variable each label means; refuse what is not there, with a suggestion."""
    if isinstance(names, str):
        raise KnowledgeError(f"the names of the variables are a list of strings, not {names!r}")
    if isinstance(names, int):
        return {label: _position(label, names) for label in labels}
    number = {name: v for v, name in enumerate(names)}
    if len(number) < len(names):
        raise KnowledgeError("two variables have the same name; names must tell them apart")
    return {
        label: _named(label, number) if isinstance(label, str) else _position(label, len(names))
        for label in labels
    }


def _as_pair(where: str, value: object) -> Pair:
    found = list(_listed(where, value))
    if len(found) != 2:
        raise KnowledgeError(f"{where}: {value!r} is no edge; an edge is two variables, (a, b)")
    a, b = (as_label(v, where) for v in found)
    if a == b:
        raise KnowledgeError(f"{where}: {a}→{b} joins a variable to itself; an edge joins two")
    return a, b


def _listed(where: str, values: object) -> Iterator[Any]:
    """Iterate over a list, tuple or set; a string or a mapping is a slip."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise KnowledgeError(f"{where}: expected a list, not {values!r}")
    return iter(values)


def _position(label: Label, n: int) -> int:
    if isinstance(label, str):
        raise KnowledgeError(
            f"knowledge names {label!r}, but the {n} variables have no names; "
            f"use their positions 0..{n - 1}"
        )
    if label >= n:
        raise KnowledgeError(
            f"knowledge speaks of variable {label}, but there are {n}; positions are 0..{n - 1}"
        )
    return label


def _named(label: str, number: Mapping[str, int]) -> int:
    if label in number:
        return number[label]
    close = get_close_matches(label, number, n=1) or get_close_matches(
        label.casefold(), {name.casefold(): name for name in number}, n=1
    )
    if close:
        name = next(name for name in number if name.casefold() == close[0].casefold())
        hint = f"did you mean {name!r}?"
    else:
        hint = f"the columns are {_some(list(number))}"
    raise KnowledgeError(f"knowledge names {label!r}, which is no column; {hint}")


def _some(names: Sequence[str], most: int = 8) -> str:
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + rest
