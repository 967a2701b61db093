"""Contradictions inside a user's knowledge, each named by its pair or cycle."""

from typing import TYPE_CHECKING

from sges.errors import KnowledgeError
from sges.knowledge.labels import Label, Pair

if TYPE_CHECKING:
    from sges.knowledge.model import Knowledge


def refuse_conflicts(known: "Knowledge") -> None:
    """Refuse knowledge that no DAG satisfies."""
    if cycle := find_cycle(known.required):
        raise KnowledgeError(
            f"required edges form the cycle {'→'.join(map(str, cycle))}; leave one of them out"
        )
    forbidden = set(known.forbidden)
    tier_of = {label: i for i, tier in enumerate(known.tiers) for label in tier}
    for a, b in known.required:
        if (a, b) in forbidden:
            raise KnowledgeError(f"{a}→{b} is both required and forbidden; leave one of them out")
        _refuse_against_tiers(a, b, tier_of, known.forbid_within)


def _refuse_against_tiers(
    a: Label, b: Label, tier_of: dict[Label, int], within: tuple[int, ...]
) -> None:
    if a not in tier_of or b not in tier_of:
        return
    if tier_of[a] > tier_of[b]:
        raise KnowledgeError(
            f"{a}→{b} is required, but {a} is in tier {tier_of[a]} and {b} in the earlier tier "
            f"{tier_of[b]} (counted from 0); no edge points to an earlier tier"
        )
    if tier_of[a] == tier_of[b] and tier_of[a] in within:
        raise KnowledgeError(
            f"{a}→{b} is required, but both are in tier {tier_of[a]} (counted from 0), "
            "and forbid_within allows no edge inside it"
        )


def find_cycle(edges: tuple[Pair, ...]) -> list[Label] | None:
    """Return a directed cycle, its first node repeated at the end, or None."""
    children: dict[Label, list[Label]] = {}
    for a, b in edges:
        children.setdefault(a, []).append(b)
    done: set[Label] = set()
    for start, below in children.items():
        path: list[Label] = [start]
        untried = [iter(below)]
        while path:
            child = next((c for c in untried[-1] if c not in done), None)
            if child is None:
                done.add(path.pop())
                untried.pop()
            elif child in path:
                return [*path[path.index(child) :], child]
            else:
                path.append(child)
                untried.append(iter(children.get(child, ())))
    return None
