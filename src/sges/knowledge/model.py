"""Background knowledge by the names of variables, checked when it is constructed.

Contradictory knowledge is an error that names the pair or the cycle.  Unless the required edges
form a cycle, or one of them is forbidden or points back to an earlier tier, they alone make a DAG
that satisfies all of the knowledge; so these checks are complete.
"""

import json
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import index
from os import PathLike, fspath
from pathlib import Path
from typing import Any, SupportsIndex, TypeAlias

from sges.docstrings import documented_like
from sges.errors import (
    FileError,
    InvalidArgument,
    KnowledgeError,
    check_number,
    check_path,
    shown,
    suggestion,
)
from sges.graph.equivalence import find_cycle
from sges.knowledge.indexed import IndexedKnowledge

Label: TypeAlias = str | int
"""A variable: its name, or its position."""

Pair: TypeAlias = tuple[Label, Label]

FIELDS = ("required", "forbidden", "tiers", "not_adjacent", "forbid_within")


@dataclass(frozen=True, slots=True, init=False)
class Knowledge:
    """Required and forbidden edges, and tiers, by the names of the variables.

    Variables are given by name or, for data without names, by position (0, 1, ...).

    Parameters
    ----------
    required : iterable of pairs, optional
        The edges a → b that must be in the graph, as pairs (a, b).
    forbidden : iterable of pairs, optional
        The edges a → b that must not be in the graph; b → a may be.
    tiers : iterable of iterables, optional
        Groups of variables in order: no edge points from a later to an earlier group.  Variables
        in no tier are free.
    not_adjacent : iterable of pairs, optional
        The pairs without an edge in either direction; kept as two forbidden edges each.
    forbid_within : bool or iterable of int, optional
        The numbers of the tiers, counted from 0, inside which there is no edge; True for all.

    Raises
    ------
    KnowledgeError
        If the constraints contradict each other, or are not of this form.

    Examples
    --------
    >>> known = Knowledge(required=[("smoking", "cancer")], tiers=[["age"], ["smoking", "cancer"]])
    >>> known
    Knowledge(required=[smoking→cancer], tiers=[[age], [cancer, smoking]])
    >>> Knowledge(required=[("a", "b"), ("b", "a")])
    Traceback (most recent call last):
    sges.errors.KnowledgeError: required edges form the cycle a→b→a; leave one of them out
    """

    required: tuple[Pair, ...]
    forbidden: tuple[Pair, ...]
    tiers: tuple[tuple[Label, ...], ...]
    forbid_within: tuple[int, ...]

    def __init__(
        self,
        required: Iterable[tuple[Label, Label]] = (),
        forbidden: Iterable[tuple[Label, Label]] = (),
        tiers: Iterable[Iterable[Label]] = (),
        *,
        not_adjacent: Iterable[tuple[Label, Label]] = (),
        forbid_within: bool | Iterable[int] = False,
    ) -> None:
        edges, apart = _pairs("required", required), _pairs("not_adjacent", not_adjacent)
        barred = [*_pairs("forbidden", forbidden), *apart, *((b, a) for a, b in apart)]
        groups = _tiers(tiers)
        _check_labels([label for labels in (*edges, *barred, *groups) for label in labels])
        self._set("required", sorted(set(edges)))
        self._set("forbidden", sorted(set(barred)))
        self._set("tiers", (tuple(sorted(tier)) for tier in groups))
        self._set("forbid_within", _tier_numbers(forbid_within, len(groups)))
        _check_conflicts(self)

    def _set(self, name: str, value: Iterable[Any]) -> None:
        object.__setattr__(self, name, tuple(value))

    @property
    def labels(self) -> tuple[Label, ...]:
        """The variables that the knowledge mentions, in the order in which it does."""
        pairs = (label for pair in self.required + self.forbidden for label in pair)
        return tuple(dict.fromkeys([*pairs, *(label for tier in self.tiers for label in tier)]))

    def bind(self, names: Sequence[str] | int) -> IndexedKnowledge:
        """Return the knowledge about numbered variables, which a search takes as constraint.

        Parameters
        ----------
        names : sequence of str or int
            The names of the variables, or their number if they have no names.

        Returns
        -------
        IndexedKnowledge
            The constraints on graphs of these variables.

        Raises
        ------
        KnowledgeError
            If the knowledge mentions a variable that does not exist.

        Examples
        --------
        >>> known = Knowledge(forbidden=[("b", "a")])
        >>> known.bind(["a", "b", "c"]).refine(known.bind(3).start(3))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        sges.errors.KnowledgeError: knowledge names 'b', but the 3 variables have no names; ...
        """
        if isinstance(names, int):
            check_number("names", names, whole=True, most=2**31)
            n, places = names, None
        else:
            places = {name: v for v, name in enumerate(_names(names))}
            n = len(places)
        number = {label: _position(label, places, n) for label in self.labels}
        rows = [0] * n
        for a, b in (*self.forbidden, *self._forbidden_by_tiers()):
            rows[number[a]] |= 1 << number[b]
        return IndexedKnowledge.of(n, [(number[a], number[b]) for a, b in self.required], rows)

    def _forbidden_by_tiers(self) -> Iterable[Pair]:
        for later, tier in enumerate(self.tiers):
            for earlier in self.tiers[:later]:
                yield from ((a, b) for a in tier for b in earlier)
            if later in self.forbid_within:
                yield from ((a, b) for a in tier for b in tier if a != b)

    def to_dict(self) -> dict[str, Any]:
        """Return the knowledge as plain lists, in the form of ``from_dict`` and the files."""
        return {
            "required": [list(pair) for pair in self.required],
            "forbidden": [list(pair) for pair in self.forbidden],
            "tiers": [list(tier) for tier in self.tiers],
            "forbid_within": list(self.forbid_within),
        }

    @classmethod
    def of(cls, value: "Knowledge | Mapping[str, Any] | str | PathLike[str]") -> "Knowledge":
        """Return knowledge given in any of its forms.

        Parameters
        ----------
        value : Knowledge, mapping or path
            Knowledge, which is returned as it is; a mapping as for ``from_dict``; or the path of
            a file as for ``from_file``.

        Returns
        -------
        Knowledge
            The knowledge.

        Raises
        ------
        InvalidArgument
            If the value has another type.
        KnowledgeError
            If it is not valid.

        Examples
        --------
        >>> Knowledge.of({"forbidden": [["b", "a"]]})
        Knowledge(forbidden=[b→a])
        """
        if isinstance(value, Knowledge):
            return value
        if isinstance(value, Mapping):
            return cls.from_dict(value)
        if isinstance(value, str | PathLike):
            return cls.from_file(value)
        raise InvalidArgument(
            f"knowledge = {shown(value)}: it must be a Knowledge, a mapping such as "
            '{"required": [("a", "b")]}, or the path of a TOML or JSON file'
        )

    @classmethod
    @documented_like(of)
    def from_dict(cls, record: Mapping[str, Any]) -> "Knowledge":
        """Return the knowledge that a mapping describes.

        Parameters
        ----------
        record : mapping
            The arguments of ``Knowledge`` by name.

        Raises
        ------
        KnowledgeError
            If a key is not an argument, or a value is not valid.
        """
        if not isinstance(record, Mapping):
            raise KnowledgeError(
                f"knowledge must be a mapping with the keys {', '.join(FIELDS)}, not "
                f"{shown(record)}"
            )
        for key in record:
            if key not in FIELDS:
                hint = suggestion(key, FIELDS, "the keys")
                raise KnowledgeError(f"the key {shown(key)} is not known; {hint}")
        return cls(**record)

    @classmethod
    @documented_like(of)
    def from_file(cls, path: str | PathLike[str]) -> "Knowledge":
        """Read knowledge from a TOML or JSON file, as described in ``docs/how-to/knowledge.md``.

        Parameters
        ----------
        path : str or path
            The file, named ``*.toml`` or ``*.json``.

        Raises
        ------
        FileError
            If the file cannot be read.
        KnowledgeError
            If its content is not valid.
        """
        check_path("path", path)
        try:
            return cls.from_dict(_parsed(Path(path)))
        except KnowledgeError as error:
            raise KnowledgeError(f"{fspath(path)}: {error}") from None

    def __bool__(self) -> bool:
        return bool(self.required or self.forbidden or self.tiers)

    def __repr__(self) -> str:
        parts = [
            f"{kind}=[{', '.join(f'{a}→{b}' for a, b in pairs)}]"
            for kind, pairs in (("required", self.required), ("forbidden", self.forbidden))
            if pairs
        ]
        if self.tiers:
            groups = ", ".join(f"[{', '.join(map(str, tier))}]" for tier in self.tiers)
            parts.append(f"tiers=[{groups}]")
        if self.forbid_within:
            parts.append(f"forbid_within={list(self.forbid_within)}")
        return f"Knowledge({', '.join(parts)})"


def _parsed(file: Path) -> Any:  # noqa: ANN401
    """Return the content of a TOML or JSON file."""
    parse = {".toml": tomllib.loads, ".json": json.loads}.get(file.suffix.lower())
    if parse is None:
        raise KnowledgeError("a file of knowledge must be named *.toml or *.json")
    try:
        return parse(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise FileError(f"{file}: cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError as error:
        raise KnowledgeError(f"is not UTF-8 text ({error.reason})") from None
    except RecursionError:
        raise KnowledgeError("is nested too deeply") from None
    except ValueError as error:  # of either parser, or of a number with thousands of digits
        kind = file.suffix[1:].upper()
        raise KnowledgeError(f"is not valid {kind}: {error}") from None


def _label(value: object, where: str) -> Label:
    """Return a name or a position; raise an error for anything else."""
    if isinstance(value, str):
        return value
    if not isinstance(value, bool) and isinstance(value, SupportsIndex):
        with suppress(TypeError):  # an array has the method, and may not be a number
            if (position := index(value)) >= 0:
                return position
    raise KnowledgeError(
        f"{where}: {shown(value)} is not a variable; give its name, or its position from 0 on"
    )


def _pairs(field: str, values: object) -> list[Pair]:
    """Return the edges of a field, each two variables that differ."""
    pairs = []
    for i, value in enumerate(_listed(field, values)):
        where = f"{field}[{i}]"
        ends = list(_listed(where, value))
        if len(ends) != 2:
            raise KnowledgeError(
                f"{where}: {shown(value)} is not an edge; an edge is two variables, (a, b)"
            )
        a, b = (_label(v, where) for v in ends)
        if a == b:
            raise KnowledgeError(
                f"{where}: {a}→{b} connects a variable with itself; an edge needs two variables"
            )
        pairs.append((a, b))
    return pairs


def _tiers(values: object) -> list[set[Any]]:
    """Return the tiers; raise an error if a variable is in two."""
    tiers: list[set[Any]] = []
    for i, value in enumerate(_listed("tiers", values)):
        tier = {_label(v, f"tiers[{i}]") for v in _listed(f"tiers[{i}]", value)}
        for j, earlier in enumerate(tiers):
            if twice := tier & earlier:
                raise KnowledgeError(
                    f"{min(twice, key=str)} is in the tiers {j} and {i} (counted from 0); "
                    "a variable may be in at most one tier"
                )
        tiers.append(tier)
    return tiers


def _tier_numbers(value: object, tiers: int) -> list[int]:
    """Return the numbers of the tiers without edges inside: the given ones, or all of them."""
    if isinstance(value, bool):
        if value and not tiers:
            raise KnowledgeError(
                "forbid_within forbids edges inside tiers, and there are none; give tiers"
            )
        return list(range(tiers)) if value else []
    numbers = {_label(v, "forbid_within") for v in _listed("forbid_within", value)}
    valid = sorted(v for v in numbers if isinstance(v, int) and v < tiers)
    if len(valid) < len(numbers):
        raise KnowledgeError(
            f"forbid_within: {shown(value)} must be true, or numbers of tiers; "
            f"there are {tiers}, counted from 0"
        )
    return valid


def _position(label: Label, places: Mapping[str, int] | None, n: int) -> int:
    """Return the position of a variable among n, whose names may be unknown."""
    if isinstance(label, int):
        if label < n:
            return label
        raise KnowledgeError(
            f"knowledge mentions variable {shown(label)}, but there are {n}; "
            f"positions are 0..{n - 1}"
        )
    if places is None:
        raise KnowledgeError(
            f"knowledge names {label!r}, but the {n} variables have no names; "
            f"use their positions 0..{n - 1}"
        )
    if label not in places:
        hint = suggestion(label, list(places), "the columns")
        raise KnowledgeError(f"knowledge names {label!r}, which is not a column; {hint}")
    return places[label]


def _check_labels(labels: Sequence[Label]) -> None:
    """Raise an error if names and positions are mixed: both might mean the same variable."""
    names = [label for label in labels if isinstance(label, str)]
    if 0 < len(names) < len(labels):
        position = next(label for label in labels if not isinstance(label, str))
        raise KnowledgeError(
            f"knowledge mentions {names[0]!r} by name and {shown(position)} by position; "
            "use names for all variables, or positions for all"
        )


def _names(names: object) -> list[str]:
    """Return the names of variables as a list; raise an error if they are not distinct strings."""
    is_list = isinstance(names, Collection) and not isinstance(names, str | Mapping)
    columns: list[Any] = list(names) if is_list else [None]  # type: ignore[call-overload]
    if not all(isinstance(name, str) for name in columns):
        raise KnowledgeError(
            f"the names of the variables must be a list of strings, not {shown(names)}"
        )
    if len(set(columns)) < len(columns):
        raise KnowledgeError("two variables have the same name; names must all be different")
    return columns


def _listed(where: str, values: object) -> Iterator[Any]:
    """Iterate over a list, tuple or set; raise an error for a string or a mapping."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise KnowledgeError(f"{where}: expected a list, not {shown(values)}")
    return iter(values)


def _check_conflicts(known: Knowledge) -> None:
    """Raise an error if no DAG satisfies the knowledge."""
    parents: dict[Label, list[Label]] = {a: [] for a, _ in known.required}
    for a, b in known.required:
        parents.setdefault(b, []).append(a)
    if cycle := find_cycle(parents):
        raise KnowledgeError(
            f"required edges form the cycle {'→'.join(map(str, cycle))}; leave one of them out"
        )
    forbidden = set(known.forbidden)
    tier_of = {label: i for i, tier in enumerate(known.tiers) for label in tier}
    for a, b in known.required:
        if (a, b) in forbidden:
            raise KnowledgeError(f"{a}→{b} is both required and forbidden; leave one of them out")
        if a in tier_of and b in tier_of:
            _check_tiers(a, b, tier_of, known.forbid_within)


def _check_tiers(a: Label, b: Label, tier_of: Mapping[Label, int], closed: Sequence[int]) -> None:
    """Raise an error if the tiers of two variables allow no edge from the first to the second."""
    if tier_of[a] > tier_of[b]:
        raise KnowledgeError(
            f"{a}→{b} is required, but {a} is in tier {tier_of[a]} and {b} in the earlier tier "
            f"{tier_of[b]} (counted from 0); no edge may point to an earlier tier"
        )
    if tier_of[a] == tier_of[b] and tier_of[a] in closed:
        raise KnowledgeError(
            f"{a}→{b} is required, but both are in tier {tier_of[a]} (counted from 0), "
            "and forbid_within allows no edge inside it"
        )
