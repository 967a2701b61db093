"""The greedy loop: apply the best operator, record the step, and repeat until there is none."""

from libc.math cimport fabs, isfinite
from libc.stdlib cimport free
from libc.string cimport memset

from sges.engine.admission cimport is_admitted, note_admitted, recall_admitted
from sges.engine.deletes cimport (
    best_delete, free_deletes, make_delete_lanes, make_deletes, offer_deletes_again, reject_delete,
)
from sges.engine.graph cimport (
    Graph, delete_edge, insert_edge, level_anew, take_back, turn_edge, undo_to,
)
from sges.engine.inserts cimport (
    best_insert, close_lanes, find_best_anew, free_inserts, lift_barriers, make_inserts, make_lanes,
    offer_inserts_again, reject_insert, spread_stale,
)
from sges.engine.lists cimport (
    BAD_GAIN, INVALID, Ints, NO_MEMORY, Word, add, copy_to, grown, leave, mixed, one_more, push,
    sort_ints, taken,
)
from sges.engine.search cimport (
    CONSERVATIVE, Counters, DELETE, Found, INSERT, Search, StepOf, TURN, Trials, note_changes,
)
from sges.engine.turns cimport (
    best_turn, close_turns, free_turns, make_turn_lanes, make_turns, offer_turns_again,
    offer_unbarred, reject_turn, rescore_turns,
)

from sges.engine.validity cimport is_valid

cdef enum:
    DOUBTFUL_PARTS = 1000000  # a gain of at most the total over this may be an effect of rounding


# Sources


cdef inline void close_sources(Search *s) noexcept nogil:
    """Discard the operators of the state; stored gains are kept."""
    cdef int y
    if s.inserts.of != NULL:
        for y in range(s.g.n):
            close_lanes(s, &s.inserts.of[y])
    if s.preferred.of != NULL:
        for y in range(s.g.n):
            close_lanes(s, &s.preferred.of[y])
    if s.deletes.of != NULL:
        for y in range(s.g.n):
            close_lanes(s, &s.deletes.of[y])
    if s.turns.of != NULL:
        for y in range(s.g.n):
            close_turns(s, &s.turns.of[y])
    free_inserts(&s.inserts, s.g.n)
    free_inserts(&s.preferred, s.g.n)
    free_deletes(&s.deletes, s.g.n)
    free_turns(&s.turns, s.g.n)
    s.rejected_turns.size = s.unbarred.size = s.barriers = 0
    for y in range(s.g.n):
        s.through[y].size = 0
    s.is_open = False


cdef inline void open_sources(Search *s) noexcept nogil:
    """Make room for the operators of these moves; every view has to be generated."""
    cdef bint good = True
    cdef int y
    close_sources(s)
    if s.moves.deletes:
        good = good and make_deletes(&s.deletes, s.g.n)
    if s.moves.turns:
        good = good and make_turns(&s.turns, s.g.n)
    if s.moves.inserts >= 0:
        good = good and make_inserts(&s.inserts, s.g.n, s.moves.inserts)
        if s.moves.conservative:
            good = good and make_inserts(&s.preferred, s.g.n, CONSERVATIVE)
    if not good:
        leave(&s.exit, NO_MEMORY)
    s.stale_stamp += 1
    s.stale.size = 0
    for y in range(s.g.n):
        s.is_stale[y] = s.stale_stamp
        push(&s.exit, &s.stale, y)
    s.lost.size = s.turned.size = 0
    s.is_open = True


cdef inline void sort_edges(Graph *g, int v) noexcept nogil:
    sort_ints(g.parents[v].at, g.parents[v].size)
    sort_ints(g.children[v].at, g.children[v].size)
    sort_ints(g.neighbors[v].at, g.neighbors[v].size)


cdef inline void sort_views(Search *s) noexcept nogil:
    """Put everything in order that is generated next, whatever was done before.

    Where a budget ends the run in between, it then depends on the state alone what was evaluated.
    """
    cdef int i
    sort_ints(s.stale.at, s.stale.size)
    sort_ints(s.turned.at, s.turned.size)
    for i in range(s.stale.size):
        sort_edges(&s.g, s.stale.at[i])
    for i in range(s.turned.size):
        sort_edges(&s.g, s.turned.at[i])


cdef inline void forget_paths(void *argument) noexcept nogil:
    """Forget all that makes a search for a path shorter, and that depends on earlier states."""
    cdef Search *s = <Search *>argument
    cdef int v
    for v in range(s.g.n):
        sort_edges(&s.g, v)
        push(&s.exit, &s.lost, v)
    level_anew(&s.g)
    lift_barriers(s)
    offer_unbarred(s)
    s.lost.size = 0
    s.walks = 1
    s.searches = s.met_by_searches = s.met_by_walks = 0


cdef inline void refresh(Search *s) noexcept nogil:
    """Bring the operators up to date with the state."""
    cdef int i, y
    if s.stale.size == 0:
        return
    if s.inserts.of != NULL:
        spread_stale(s, &s.inserts)
    if s.most_listed >= 0:
        sort_views(s)
    if s.deletes.of != NULL:
        for i in range(s.stale.size):
            make_delete_lanes(s, s.stale.at[i])
    if s.turns.of != NULL:
        for i in range(s.stale.size):
            make_turn_lanes(s, s.stale.at[i])
        rescore_turns(s)
    if s.preferred.of != NULL:
        for i in range(s.stale.size):
            make_lanes(s, &s.preferred, s.stale.at[i])
    if s.inserts.of != NULL:
        for i in range(s.stale.size):
            make_lanes(s, &s.inserts, s.stale.at[i])
    lift_barriers(s)
    offer_unbarred(s)
    s.stale.size = 0
    s.stale_stamp += 1
    s.lost.size = s.turned.size = 0


cdef inline void offer_again(Search *s) noexcept nogil:
    """Offer the operators that were rejected at the previous state again."""
    if s.inserts.of != NULL:
        offer_inserts_again(s, &s.inserts)
    if s.preferred.of != NULL:
        offer_inserts_again(s, &s.preferred)
    if s.deletes.of != NULL:
        offer_deletes_again(s)
    if s.turns.of != NULL:
        offer_turns_again(s)


cdef inline void bar_pair(Search *s, int x, int y) noexcept nogil:
    """Offer no insert between these two; (-1, -1) bars nothing."""
    cdef int i, v
    cdef int ends[4]
    ends[0] = s.bar_x
    ends[1] = s.bar_y
    ends[2] = x
    ends[3] = y
    s.bar_x = x
    s.bar_y = y
    for i in range(4):
        v = ends[i]
        if v >= 0 and s.inserts.of != NULL:
            find_best_anew(s, &s.inserts, v)
        if v >= 0 and s.preferred.of != NULL:
            find_best_anew(s, &s.preferred, v)


# Steps


cdef inline void carry_out(Search *s, int kind, int x, int y, const Ints *chosen) noexcept nogil:
    if kind == INSERT:
        insert_edge(&s.g, x, y, chosen.at, chosen.size)
    elif kind == DELETE:
        delete_edge(&s.g, x, y, chosen.at, chosen.size)
    else:
        turn_edge(&s.g, x, y, chosen.at, chosen.size)


cdef inline void note_step(Search *s, const Found *found) noexcept nogil:
    """Record an operator that was applied: from here on the step counts.

    A run that is left earlier returns to the state before the step.
    """
    cdef StepOf *step
    cdef int i
    if not isfinite(s.total + found.gain):
        s.m.bad_record = NULL
        s.m.bad_gain = found.gain
        leave(&s.exit, BAD_GAIN)
    if s.step_count == s.step_room:
        s.steps = <StepOf *>grown(
            &s.exit, s.steps, &s.step_room, max(one_more(&s.exit, s.step_count), 64), sizeof(StepOf)
        )
    step = &s.steps[s.step_count]
    step.phase = s.phase
    step.kind = found.kind
    step.x = found.x
    step.y = found.y
    step.first = s.step_sets.size
    step.size = found.set.size
    for i in range(found.set.size):
        push(&s.exit, &s.step_sets, found.set.at[i])
    s.total += found.gain
    step.gain = found.gain
    step.total = s.total
    step.edges = s.g.edges
    step.changes = s.g.settled = s.g.changes
    step.touched = s.touched.size
    step.admitted_at = s.admitted_at
    s.step_count += 1


cdef inline void report(Search *s) noexcept nogil:
    cdef int status
    if not s.has_report:
        return
    status = s.after_step(s.owner)
    if status:
        leave(&s.exit, status)


cdef inline Word state_of(const Search *s) noexcept nogil:
    """Return a number for the state: its fingerprint, but not 0 for the graph without edges."""
    return mixed(s.g.fingerprint + 1)


cdef inline size_t place_of_state(const Search *s, Word state) noexcept nogil:
    """Return the place of a state among those that were left, or the empty place for it."""
    cdef size_t last = <size_t>s.left_room - 1, at = state & last
    while s.left[at] and s.left[at] != state:
        at = (at + 1) & last
    return at


cdef inline void leave_state(Search *s, Word state) noexcept nogil:
    """Note that a climb has left a state."""
    cdef Word *old = s.left
    cdef Word *larger
    cdef int i, room = s.left_room
    if 2 * s.left_count >= room:
        larger = <Word *>taken(&s.exit, 2 * <size_t>max(room, 32) * sizeof(Word))
        s.left = larger
        s.left_room = 2 * max(room, 32)
        memset(s.left, 0, <size_t>s.left_room * sizeof(Word))
        for i in range(room):
            if old[i]:
                s.left[place_of_state(s, old[i])] = old[i]
        free(old)
    s.left[place_of_state(s, state)] = state
    s.left_count += 1


cdef inline void forget_states(Search *s) noexcept nogil:
    if s.left_count:
        memset(s.left, 0, <size_t>s.left_room * sizeof(Word))
    s.left_count = 0


cdef inline double tie_tolerance(double total) noexcept nogil:
    """Return how far apart two gains may be and still tie, at a state with this total."""
    return 1e-12 * max(1.0, fabs(total))


cdef inline bint is_doubtful(const Search *s, double gain) noexcept nogil:
    """Return whether a gain may be an effect of rounding."""
    cdef double size = s.total if s.total > 0 else -s.total
    return gain * DOUBTFUL_PARTS <= max(1.0, size)


cdef inline void reject(Search *s) noexcept nogil:
    """Exclude the operator that was found until the state changes."""
    cdef Found *f = &s.found
    if f.kind == DELETE:
        reject_delete(s, f.x, f.y, f.lane)
    elif f.kind == TURN:
        reject_turn(s, f.y, f.lane)
    elif s.from_preferred:
        reject_insert(s, &s.preferred, f.x, f.y, f.lane)
    else:
        reject_insert(s, &s.inserts, f.x, f.y, f.lane)


cdef inline bint find_operator(Search *s) noexcept nogil:
    """Find the best delete, or else the best turn, or else the best insert."""
    s.from_preferred = False
    if s.moves.deletes and best_delete(s):
        return True
    if s.moves.turns and best_turn(s):
        return True
    if s.moves.inserts < 0:
        return False
    if s.preferred.of != NULL and best_insert(s, &s.preferred):
        s.from_preferred = True
        return True
    return best_insert(s, &s.inserts)


cdef inline bint take_step(Search *s) noexcept nogil:
    """Take one step, unless no operator is left; return whether it was taken.

    Every step improves the score, so no state occurs twice.  But if columns are nearly collinear,
    gains have fewer exact digits than the tolerance assumes, and the computed gains of a step and
    of the one that undoes it may both be above zero.  A step of doubtful gain to a state that the
    climb has left is rejected.  If the gain is certain, the score is not score equivalent, and the
    climb ends.
    """
    cdef int before
    cdef Word state
    cdef bint mixed_kinds = s.moves.turns or (s.moves.deletes and s.moves.inserts >= 0)
    while True:
        s.m.check(s.m.owner)
        refresh(s)
        if not find_operator(s):
            return False
        if s.found.kind == INSERT and s.found.gain < s.patience * (s.aim - s.total):
            return False
        before = s.g.changes
        state = state_of(s)
        carry_out(s, s.found.kind, s.found.x, s.found.y, &s.found.set)
        if is_admitted(s):
            if not mixed_kinds or s.left_count == 0:
                break
            if not s.left[place_of_state(s, state_of(s))]:
                break
            if not is_doubtful(s, s.found.gain):
                take_back(&s.g, before)
                s.came_back = True
                return False
        take_back(&s.g, before)
        reject(s)
    note_admitted(s)
    if mixed_kinds:
        leave_state(s, state)
    offer_again(s)
    note_changes(s, before)
    note_step(s, &s.found)
    return True


cdef inline void climb(void *argument) noexcept nogil:
    """Take steps until no operator is left."""
    cdef Search *s = <Search *>argument
    cdef int taken = 0
    s.ticks = 0
    forget_states(s)
    if s.most_steps < 0:
        report(s)
    if not s.is_open:
        open_sources(s)
    refresh(s)
    if s.capped < 0 and s.inserts.of != NULL and s.inserts.capped_nodes:
        s.capped = s.step_count
    bar_pair(s, s.next_bar_x, s.next_bar_y)
    while (s.most_steps < 0 or taken < s.most_steps) and take_step(s):
        taken += 1
        s.moved = True
        report(s)


cdef inline void try_found(void *argument) noexcept nogil:
    """Apply the given operator, for the caller to examine and undo."""
    cdef Search *s = <Search *>argument
    if not is_valid(s, &s.found):
        leave(&s.exit, INVALID)
    carry_out(s, s.found.kind, s.found.x, s.found.y, &s.found.set)


cdef inline bint leads_to_admitted(Search *s) noexcept nogil:
    """Return whether knowledge admits the class to which the given operator leads."""
    cdef bint answer
    if not s.has_constraint:
        return True
    try_found(s)
    answer = is_admitted(s)
    take_back(&s.g, s.g.settled)
    return answer


cdef inline void judge_found(void *argument) noexcept nogil:
    """Find out whether knowledge admits the class to which the given operator leads."""
    cdef Search *s = <Search *>argument
    s.found_is_admitted = leads_to_admitted(s)


cdef inline void apply_found(void *argument) noexcept nogil:
    """Apply the given operator."""
    cdef Search *s = <Search *>argument
    cdef int before = s.g.changes
    try_found(s)
    if s.is_open:
        offer_again(s)
    note_changes(s, before)
    note_step(s, &s.found)


cdef inline void rewind_to(
    Search *s, int changes, int steps, int touched, int capped, double total
) noexcept nogil:
    """Go back to an earlier point: the steps since are not part of the result."""
    cdef int top = s.g.changes
    if s.is_open:
        offer_again(s)
    undo_to(&s.g, changes)
    note_changes(s, top)
    s.g.changes = s.g.settled = changes
    s.touched.size = touched
    if steps < s.step_count:
        s.step_sets.size = s.steps[steps].first
    s.step_count = steps
    s.capped = capped
    s.total = total
    recall_admitted(s)


# Escapes


cdef inline void restore_counters(Search *s) noexcept nogil:
    """End what ``settle`` began, also if the run was left in between."""
    cdef Counters *kept = &s.counters
    if not kept.are_kept:
        return
    s.considered = kept.considered
    s.listed = kept.listed
    s.m.work = kept.work
    s.most_listed = kept.most_listed
    s.m.most_work = kept.most_work
    s.m.journaling = kept.journaling
    kept.are_kept = False


cdef inline void settle(void *argument) noexcept nogil:
    """Bring the operators up to date with the state; this is not counted, and no budget ends it."""
    cdef Search *s = <Search *>argument
    cdef Counters *kept = &s.counters
    if not s.is_open:
        return
    kept.considered = s.considered
    kept.listed = s.listed
    kept.work = s.m.work
    kept.most_listed = s.most_listed
    kept.most_work = s.m.most_work
    kept.journaling = s.m.journaling
    kept.are_kept = True
    s.most_listed = s.m.most_work = -1
    s.m.journaling = False
    refresh(s)
    restore_counters(s)


cdef inline void find_escape(Search *s, int number) noexcept nogil:
    cdef Trials *t = &s.trials
    s.found.kind = DELETE
    s.found.x = t.x[number]
    s.found.y = t.y[number]
    s.found.gain = t.gain[number]
    copy_to(
        &s.exit, &s.found.set, t.sets.at + t.first[number], t.first[number + 1] - t.first[number]
    )


cdef inline void force(Search *s, int number) noexcept nogil:
    """Apply the escape that was found and search on: first without the edge, then with all inserts."""
    cdef Trials *t = &s.trials
    s.aim = s.total
    apply_found(s)
    s.most_steps = -1
    s.moved = False
    s.next_bar_x = t.x[number]
    s.next_bar_y = t.y[number]
    climb(s)
    if s.moved:
        s.next_bar_x = s.next_bar_y = -1
        climb(s)


cdef inline void try_escapes(void *argument) noexcept nogil:
    """Try escapes in turn from the state, up to the first that does not fail; it is undone as well."""
    cdef Search *s = <Search *>argument
    cdef Trials *t = &s.trials
    cdef int i, changes = s.g.settled, steps = s.step_count, touched = s.touched.size
    cdef int capped = s.capped
    cdef long long considered, listed, work
    cdef double total = s.total
    cdef Word *row
    cdef bint failed = True
    while failed and t.done < t.count:
        considered, listed, work = s.considered, s.listed, s.m.work
        find_escape(s, t.done)
        if not leads_to_admitted(s):
            t.done += 1
            continue
        t.tried += 1
        force(s, t.done)
        failed = s.total <= total + tie_tolerance(s.total)
        if failed:
            row = t.touched + <size_t>t.done * s.g.words
            for i in range(touched, s.touched.size):
                add(row, s.touched.at[i])
            t.done += 1
        else:
            s.considered, s.listed, s.m.work = considered, listed, work
        rewind_to(s, changes, steps, touched, capped, total)
        settle(s)
