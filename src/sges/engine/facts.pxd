"""The state of a run as Python values: sets of nodes, and everything that invariants are about.

``tests/invariants.py`` compares these facts with the state after every step.
"""

from sges.engine.graph cimport Graph, arc, row_of, settle_levels
from sges.engine.lists cimport Ints, Word, has, size_of
from sges.engine.paths cimport is_standing
from sges.engine.records cimport Record
from sges.engine.search cimport (
    Deletes, INSERTS, Inserts, Lane, Lanes, PREFERRED, Search, Tree, TurnLane, TurnLanes, Turns,
)


cdef inline object mask_of(const int *members, int size):
    """Return a list of nodes as a mask."""
    cdef int i
    one = 1  # a Python integer: masks may be longer than a machine word
    mask = 0
    for i in range(size):
        mask |= one << members[i]
    return mask


cdef inline list listed(const Ints *some):
    cdef int i
    return [some.at[i] for i in range(some.size)]


cdef inline dict facts_of(Search *s):
    """Return the graph, the log, and the operators of every node."""
    cdef Graph *g = &s.g
    cdef Word fingerprint = 0
    cdef int u, v, i
    for u in range(g.n):
        for v in range(g.n):
            if has(row_of(g, u), v):
                fingerprint ^= arc(g, u, v)
    settle_levels(g)
    return {
        "parents": [listed(&g.parents[v]) for v in range(g.n)],
        "children": [listed(&g.children[v]) for v in range(g.n)],
        "neighbors": [listed(&g.neighbors[v]) for v in range(g.n)],
        "edges": g.edges,
        "levels": [g.level[v] for v in range(g.n)] if g.is_levelled else None,
        "fingerprints": (g.fingerprint, fingerprint),
        "settled": g.settled,
        "log": [
            (g.log[i].u, g.log[i].v, g.log[i].before, g.log[i].after) for i in range(g.changes)
        ],
        "is_fresh": bool(s.is_open) and s.stale.size == 0,
        "scratch_is_clean": size_of(s.visited, g.words) == 0 and not s.stack.size,
        "barred": {"inserts": barred_by(s, INSERTS), "preferred": barred_by(s, PREFERRED)},
        "inserts": facts_of_inserts(&s.inserts, g),
        "preferred": facts_of_inserts(&s.preferred, g),
        "deletes": facts_of_deletes(&s.deletes, g),
        "turns": facts_of_turns(&s.turns, g),
    }


cdef inline dict facts_of_lane(const Lanes *lanes, const Lane *lane, const Graph *g):
    cdef int i
    return {
        "set": mask_of(lanes.sets.at + lane.first, lane.size),
        "base": mask_of(lane.record.base, lane.record.size),
        "allowed": int.from_bytes(
            (<char *>lane.allowed)[: <size_t>g.words * sizeof(Word)], "little"
        ),
        "best": lane.best,
        "gains": {lane.record.xs[i]: lane.record.gains[i] for i in range(lane.record.count)},
    }


cdef inline list tree_of(const Tree *tree):
    cdef int i
    return [tree.at[i] for i in range(2 * tree.leaves)]


cdef inline object facts_of_inserts(const Inserts *of, const Graph *g):
    """Return the lanes of all nodes, the tree, and what is rejected."""
    cdef int y, i
    if of.of == NULL:
        return None
    return (
        [
            [facts_of_lane(&of.of[y], &of.of[y].at[i], g) for i in range(of.of[y].size)]
            for y in range(g.n)
        ],
        tree_of(&of.tree),
        [(of.rejected[i].y, of.rejected[i].lane, of.rejected[i].x) for i in range(of.rejections)],
    )


cdef inline list barred_by(const Search *s, int source):
    """Return the operators of a source that a path bars: (y, lane, x)."""
    cdef int i
    return [
        (s.barrier[i].y, s.barrier[i].lane, s.barrier[i].x) for i in range(s.barriers)
        if s.barrier[i].source == source and is_standing(s, &s.barrier[i])
    ]


cdef inline object facts_of_deletes(const Deletes *of, const Graph *g):
    cdef int y, i, k
    cdef Record *r
    if of.of == NULL:
        return None
    nodes = []
    for y in range(g.n):
        lanes = []
        for i in range(of.of[y].size):
            lane = facts_of_lane(&of.of[y], &of.of[y].at[i], g)
            r = of.of[y].at[i].record
            lane["places"] = [r.base[k] for k in range(r.size)]
            lane["gains"] = {
                r.base[k]: r.deletes[k] for k in range(r.size) if has(r.asked_deletes, k)
            }
            lanes.append(lane)
        nodes.append(lanes)
    return (
        nodes,
        tree_of(&of.tree),
        [(of.rejected[i].y, of.rejected[i].lane, of.rejected[i].x) for i in range(of.rejections)],
    )


cdef inline object facts_of_turns(const Turns *of, const Graph *g):
    cdef int y, i
    cdef TurnLanes *lanes
    cdef TurnLane *lane
    if of.of == NULL:
        return None
    nodes = []
    for y in range(g.n):
        lanes = &of.of[y]
        turns = []
        for i in range(lanes.size):
            lane = &lanes.at[i]
            turns.append({
                "x": lane.x,
                "set": mask_of(lanes.sets.at + lane.first, lane.size),
                "added": lane.added,
                "gain": lane.gain,
                "barred": bool(lane.barred),
                "rejected": lane.rejected,
            })
        nodes.append(turns)
    return nodes, tree_of(&of.tree), []
