"""Slow checks of the invariants of a compiled engine between its steps."""

import math
from typing import Any

from sges.graph import is_cpdag
from sges.graph.pdag import PDAG
from sges.nodeset import nodes, nodeset, reach
from sges.operators import Turn
from sges.search.engines import CompiledEngine
from sges.search.moves import Moves

Facts = dict[str, Any]


def check_graph(facts: Facts) -> None:
    """Check bits against lists, the number of edges, the levels, the fingerprint and the log."""
    out, into = facts["rows"]
    n, level = len(out), facts["levels"]
    for v in range(n):
        parents, children, lines = (facts[of][v] for of in ("parents", "children", "neighbors"))
        assert len({*parents, *children, *lines}) == len(parents) + len(children) + len(lines)
        assert nodeset(children) | nodeset(lines) == out[v]
        assert nodeset(parents) | nodeset(lines) == into[v]
        assert nodeset(lines) == out[v] & into[v]
        assert out[v] == nodeset(u for u in range(n) if into[u] >> v & 1)
        assert all(level[v] < level[u] for u in children)
        assert all(level[v] == level[u] for u in lines)
    assert facts["edges"] == sum((out[v] | into[v]).bit_count() for v in range(n)) // 2
    assert facts["fingerprints"][0] == facts["fingerprints"][1]
    assert facts["settled"] == len(facts["log"])
    now: dict[tuple[int, int], int] = {}
    for u, v, before, after in facts["log"]:
        low, high = sorted((u, v))
        kinds = (before, after) if u < v else (turned(before), turned(after))
        assert now.get((low, high), kinds[0]) == kinds[0] != kinds[1]
        now[low, high] = kinds[1]
    for (u, v), kind in now.items():
        assert kind == (out[u] >> v & 1) | (out[v] >> u & 1) << 1
    assert facts["scratch_is_clean"]


def turned(kind: int) -> int:
    """Return the kind of an edge as seen from its other end."""
    return (kind & 1) << 1 | kind >> 1


def check_tree(tree: list[float], best: list[float]) -> None:
    """Check that the leaves of a tree are the best gains, and inner nodes the maximum of two."""
    leaves = len(tree) // 2
    assert leaves >= max(1, len(best))
    assert tree[leaves:] == best + [-math.inf] * (leaves - len(best))
    assert all(tree[i] == max(tree[2 * i], tree[2 * i + 1]) for i in range(1, leaves))


def check_inserts(
    found: Any,  # noqa: ANN401
    barred: list[tuple[int, int, int]],
    graph: PDAG,
    bar: frozenset[int],
) -> None:
    """Check that barred inserts violate the path condition, and check the best gains."""
    lanes_of, tree, _ = found
    for y, number, x in barred:
        lane = lanes_of[y][number]
        assert not lane["allowed"] >> x & 1
        assert reach(graph.out.__getitem__, 1 << y, lane["set"]) >> x & 1
    best = []
    for y, lanes in enumerate(lanes_of):
        for lane in lanes:
            gains = [
                g for x, g in lane["gains"].items() if lane["allowed"] >> x & 1 and {x, y} != bar
            ]
            assert lane["best"] == max(gains, default=-math.inf)
        best.append(max((lane["best"] for lane in lanes), default=-math.inf))
    check_tree(tree, best)


def check_deletes(found: Any) -> None:  # noqa: ANN401
    """Check the best gains of the deletes."""
    lanes_of, tree, _ = found
    best = []
    for lanes in lanes_of:
        for lane in lanes:
            offered = [lane["places"][k] for k in nodes(lane["allowed"])]
            assert lane["best"] == max((lane["gains"][x] for x in offered), default=-math.inf)
        best.append(max((lane["best"] for lane in lanes), default=-math.inf))
    check_tree(tree, best)


def check_turns(found: Any, graph: PDAG) -> None:  # noqa: ANN401
    """Check that barred turns violate the path condition, and check the best gains."""
    lanes_of, tree, _ = found
    best = []
    for y, lanes in enumerate(lanes_of):
        for turn in lanes:
            if turn["barred"]:
                assert "semi-directed" in (Turn(turn["x"], y, turn["set"]).problem(graph) or "")
        gains = (t["gain"] for t in lanes if not t["barred"] and not t["rejected"])
        best.append(max(gains, default=-math.inf))
    check_tree(tree, best)


def offered(facts: Facts, kind: str) -> list[Any] | None:
    """Return the operators of a kind that the lanes offer, in a canonical order."""
    if facts[kind] is None:
        return None
    lanes_of, _, rejected = facts[kind]
    if kind == "turns":
        return [sorted((t["x"], t["set"]) for t in lanes) for lanes in lanes_of]
    allowed = [[lane["allowed"] for lane in lanes] for lanes in lanes_of]
    for y, lane, x in [*rejected, *facts["barred"].get(kind, ())]:
        allowed[y][lane] |= 1 << x
    return [
        sorted(
            (lane["set"], lane["base"], those)
            for lane, those in zip(lanes, allowed[y], strict=True)
        )
        for y, lanes in enumerate(lanes_of)
    ]


def gains_of_turns(facts: Facts) -> list[float]:
    """Return the gains of all turns, sorted by node and turn."""
    if facts["turns"] is None:
        return []
    return [
        t["gain"]
        for lanes in facts["turns"][0]
        for t in sorted(lanes, key=lambda t: (t["x"], t["set"]))
    ]


def check(
    engine: CompiledEngine, moves: Moves | None = None, bar: tuple[int, int] | None = None
) -> None:
    """Check an engine between steps; with moves, also that a new one offers the same operators."""
    facts = engine._facts()
    check_graph(facts)
    graph = PDAG(*facts["rows"])
    assert is_cpdag(graph)
    if facts["is_fresh"]:
        check_lanes(facts, graph, frozenset(bar or ()))
    if moves is None:
        return
    assert facts["is_fresh"]
    other = CompiledEngine(engine.score, engine.native, constraint=engine.constraint)
    other.start(engine.cpdag, engine.total)
    other.climb("", moves, bar=bar, most=0)
    fresh = other._facts()
    for kind in ("inserts", "preferred", "deletes", "turns"):
        assert offered(facts, kind) == offered(fresh, kind)
    for one, another in zip(gains_of_turns(facts), gains_of_turns(fresh), strict=True):
        assert math.isclose(one, another, rel_tol=1e-6, abs_tol=1e-6 * max(1, abs(engine.total)))


def check_lanes(facts: Facts, graph: PDAG, pair: frozenset[int]) -> None:
    """Check the lanes of all kinds of operators."""
    for kind in ("inserts", "preferred"):
        if facts[kind] is not None:
            check_inserts(facts[kind], facts["barred"][kind], graph, pair)
    if facts["deletes"] is not None:
        check_deletes(facts["deletes"])
    if facts["turns"] is not None:
        check_turns(facts["turns"], graph)


class Checked(CompiledEngine):
    """The compiled engine, checked before and after each of its steps."""

    def climb(
        self,
        phase: str,
        moves: Moves,
        *,
        bar: tuple[int, int] | None = None,
        patience: float = 0.0,
        aim: float = 0.0,
        most: int | None = None,
    ) -> bool:
        """Climb step by step."""
        begun = self.step_count
        if most is None and self.report is not None and self.stopped is None:
            self.report(phase)
        while self.stopped is None:
            super().climb(phase, moves, bar=bar, most=0)
            if self.stopped is None:
                check(self, moves, bar)
            if most is not None and self.step_count - begun >= most:
                break
            if not super().climb(phase, moves, bar=bar, patience=patience, aim=aim, most=1):
                break
        return bool(self.step_count > begun)

    def rewind(self, mark: Any) -> None:  # noqa: ANN401
        """Go back to a mark, and check the engine."""
        super().rewind(mark)
        check(self)
