"""What a user knows, by names: checked once, when it is written down.

Three kinds of constraint, all hard:

    required    a → b is in every member of the result
    forbidden   a → b is in none; b → a may be
    tiers       groups of variables in order: no edge points from a later to an earlier one

Anything that cannot hold is refused here, with the pair or the cycle named.  The required edges
alone make a DAG that satisfies the rest unless they form a cycle, or one of them is forbidden or
points back to an earlier tier; so these checks are complete.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypeAlias

from sges.errors import KnowledgeError
from sges.knowledge.bound import Bound
from sges.knowledge.conflicts import refuse_conflicts
from sges.knowledge.files import knowledge_fields
from sges.knowledge.labels import (
    Label,
    Pair,
    as_pairs,
    as_tier_numbers,
    as_tiers,
    positions,
    refuse_mixture,
)

Labels: TypeAlias = Iterable[Label]


@dataclass(frozen=True, slots=True, init=False)
class Knowledge:
    """Required and forbidden edges, and tiers, by the names of the variables.

    Variables are given by name, or all by position (0, 1, ...), as where data have no names.
    ``forbidden`` (a, b) forbids a → b alone; ``not_adjacent`` (a, b) forbids both directions,
    and is kept as two forbidden edges.  Variables in no tier are free.  ``forbid_within`` forbids
    edges inside the tiers of these numbers, counted from 0, or inside all if it is True.

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
        tiers: Iterable[Labels] = (),
        *,
        not_adjacent: Iterable[tuple[Label, Label]] = (),
        forbid_within: bool | Iterable[int] = False,
    ) -> None:
        apart = as_pairs("not_adjacent", not_adjacent)
        both = {*as_pairs("forbidden", forbidden), *apart, *((b, a) for a, b in apart)}
        groups = as_tiers(tiers)
        self._set("required", sorted(set(as_pairs("required", required)), key=_by_text))
        self._set("forbidden", sorted(both, key=_by_text))
        self._set("tiers", groups)
        self._set("forbid_within", as_tier_numbers(forbid_within, len(groups)))
        refuse_mixture(self.labels)
        refuse_conflicts(self)

    def _set(self, name: str, value: Iterable[Any]) -> None:
        object.__setattr__(self, name, tuple(value))

    @property
    def labels(self) -> tuple[Label, ...]:
        """The variables that the knowledge speaks of, in the order in which it does."""
        pairs = (label for pair in self.required + self.forbidden for label in pair)
        return tuple(dict.fromkeys([*pairs, *(label for tier in self.tiers for label in tier)]))

    def bind(self, names: Sequence[str] | int) -> Bound:
        """Return the knowledge about these variables, or about so many without names.

        What a search takes as its ``constraint``.

        >>> known = Knowledge(forbidden=[("b", "a")])
        >>> known.bind(["a", "b", "c"]).refine(known.bind(3).start(3))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        sges.errors.KnowledgeError: knowledge names 'b', but the 3 variables have no names; ...
        """
        number = positions(self.labels, names)
        n = names if isinstance(names, int) else len(names)
        rows = [0] * n
        for a, b in (*self.forbidden, *self._forbidden_by_tiers()):
            rows[number[a]] |= 1 << number[b]
        return Bound.of(n, [(number[a], number[b]) for a, b in self.required], rows)

    def _forbidden_by_tiers(self) -> Iterable[Pair]:
        for later, tier in enumerate(self.tiers):
            for earlier in self.tiers[:later]:
                yield from ((a, b) for a in tier for b in earlier)
            if later in self.forbid_within:
                yield from ((a, b) for a in tier for b in tier if a != b)

    def to_dict(self) -> dict[str, Any]:
        """Return the knowledge as plain lists, as ``from_dict`` and the files take it."""
        return {
            "required": [list(pair) for pair in self.required],
            "forbidden": [list(pair) for pair in self.forbidden],
            "tiers": [list(tier) for tier in self.tiers],
            "forbid_within": list(self.forbid_within),
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Knowledge":
        """Return the knowledge that a mapping describes: the constructor's arguments by name."""
        return cls(**_known_fields(record))

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> "Knowledge":
        """Read the knowledge from a TOML or JSON file (``docs/how-to/knowledge.md``)."""
        record = knowledge_fields(path)
        try:
            return cls.from_dict(record)
        except KnowledgeError as error:
            raise KnowledgeError(f"{path}: {error}") from None

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


def _known_fields(record: Mapping[str, Any]) -> Mapping[str, Any]:
    fields = ("required", "forbidden", "tiers", "not_adjacent", "forbid_within")
    if not isinstance(record, Mapping):
        raise KnowledgeError(f"knowledge is a mapping with the keys {', '.join(fields)}")
    for key in record:
        if key not in fields:
            raise KnowledgeError(f"the key {key!r} is not known; the keys are {', '.join(fields)}")
    return record


def _by_text(pair: Pair) -> tuple[Any, ...]:
    """Sort by type first, so that a mixture of names and positions gets as far as its refusal."""
    return tuple((isinstance(label, str), label) for label in pair)
