"""The number of score evaluations: unique families (y, parents), as the paper counts (Section 5).

A family is evaluated ("asked for") by itself, as a base or after a delete, or in the *fan* of a base:
all inserts into it, each with one more parent.  It may be in several fans, and is counted once.
Single families are recorded when they are evaluated; the families of fans are counted at the end.
"""

from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memset

from sges.engine.lists cimport (
    NO_MEMORY, Word, add, count_bits, grown, has, in_large_pages, leave, lowest_bit, mixed, one_more,
    prefetch, size_of,
)
from sges.engine.records cimport (
    Entry, Memory, Note, Record, Seen, find, lasting_zeros, longer, may_have_fan, record_of,
    set_fan_bit,
)


cdef inline Word *new_row(Memory *m, int words) noexcept nogil:
    return <Word *>lasting_zeros(m, <size_t>words * sizeof(Word))


cdef inline int count_missing(Memory *m, const Word *wanted, const Word *known) noexcept nogil:
    """Return how many of the wanted nodes are not known."""
    cdef int w, missing = 0
    for w in range(m.words):
        missing += count_bits(wanted[w] & ~(known[w] if known != NULL else 0))
    return missing


cdef inline bint asked_insert(const Record *r, int x) noexcept nogil:
    return r.asked_all or (r.asked != NULL and has(r.asked, x))


cdef inline bint in_a_fan(
    const Memory *m, const int *family, int size, int left_out, Word key, Word check
) noexcept nogil:
    """Return whether a family, without ``left_out``, was evaluated as an insert into a smaller base."""
    cdef int i, z
    cdef Record *r
    for i in range(size):
        z = family[i]
        if z == left_out or not may_have_fan(m, key ^ m.keys[2 * z]):
            continue
        r = find(m, key ^ m.keys[2 * z], check ^ m.keys[2 * z + 1])
        if r != NULL and asked_insert(r, z):
            return True
    return False


cdef inline bint grow_seen(Seen *s) noexcept nogil:
    """Make room for one more entry; return whether there is room."""
    cdef long long i, room
    cdef size_t at, slots
    cdef void *block
    if s.failed:
        return False
    if s.size == s.room:
        room = 2 * s.room + 1024
        block = realloc(s.entries, <size_t>room * sizeof(Entry))
        s.failed = block == NULL
        if s.failed:
            return False
        s.entries = <Entry *>in_large_pages(block, <size_t>room * sizeof(Entry))
        s.room = room
    if 2 * <size_t>s.size >= s.slots:
        slots = max(4 * s.slots, <size_t>4096)
        block = realloc(s.heads, slots * sizeof(long long))
        s.failed = block == NULL
        if s.failed:
            return False
        s.heads = <long long *>in_large_pages(block, slots * sizeof(long long))
        s.slots = slots
        memset(s.heads, 255, slots * sizeof(long long))
        for i in range(s.size):
            at = s.entries[i].key & (slots - 1)
            s.entries[i].next = s.heads[at]
            s.heads[at] = i
    return True


cdef inline void push_entry(Seen *s, Word key, Word check, int record, int node) noexcept nogil:
    cdef size_t at
    if not grow_seen(s):
        return
    at = key & (s.slots - 1)
    s.entries[s.size].key = key
    s.entries[s.size].check = check
    s.entries[s.size].record = record
    s.entries[s.size].node = node
    s.entries[s.size].clock = 0
    s.entries[s.size].next = s.heads[at]
    s.heads[at] = s.size
    s.size += 1


cdef inline bint first_time(Seen *s, Word key, Word check) noexcept nogil:
    """Record a pair of words; return whether it is new."""
    cdef long long i
    if s.slots:
        i = s.heads[key & (s.slots - 1)]
        while i >= 0:
            if s.entries[i].key == key and s.entries[i].check == check:
                return False
            i = s.entries[i].next
    push_entry(s, key, check, 0, 0)
    return True


cdef inline void note_fan(Memory *m, const Record *r) noexcept nogil:
    if r.asked == NULL and not r.asked_all:
        m.cores += r.size
        set_fan_bit(m, r.key)
    m.fans[r.y] += 1
    m.fan_sizes[r.y] |= <Word>1 << min(r.size, 63)


cdef inline bint is_fanned(
    const Memory *m, const Record *r, int left_out, Word key, Word check
) noexcept nogil:
    """Return whether the family of a record, without one node, was evaluated as an insert."""
    cdef int size = r.size - (left_out >= 0) - 1  # the size of the bases whose fans may contain it
    if size < 0 or not (m.fan_sizes[r.y] >> min(size, 63)) & 1:
        return False
    return in_a_fan(m, r.base, r.size, left_out, key, check)


cdef inline void note_single(Memory *m, const Record *r, int left_out) noexcept nogil:
    """Record a family that is evaluated by itself: a base, or a base without one node."""
    cdef Word key = r.key, check = r.check
    cdef Entry *entry
    if left_out >= 0:
        key ^= m.keys[2 * left_out]
        check ^= m.keys[2 * left_out + 1]
    if not first_time(&m.singles, key, check):
        return
    if m.singles.failed:
        m.singles.failed = False  # there may be memory later
        leave(m.exit, NO_MEMORY)
    entry = &m.singles.entries[m.singles.size - 1]
    entry.record = r.number
    entry.node = left_out
    entry.clock = -2  # not searched for yet


cdef inline void prepare_to_note(const Memory *m, const Record *r, int left_out) noexcept nogil:
    """Begin to fetch the memory that ``note_single`` will read: many families are recorded at once."""
    if m.singles.slots:
        prefetch(&m.singles.heads[(r.key ^ m.keys[2 * left_out]) & (m.singles.slots - 1)])


cdef inline void note_base(Memory *m, Record *r) noexcept nogil:
    if not r.asked_base:
        if m.counting:
            note_single(m, r, -1)
        r.asked_base = True
        m.fresh += 1


cdef inline void note_inserts(Memory *m, Record *r, const Word *wanted) noexcept nogil:
    """Record the wanted inserts as evaluated."""
    cdef int w
    if not m.counting or r.asked_all:
        return
    m.fresh += count_missing(m, wanted, r.asked)
    note_fan(m, r)
    if count_missing(m, wanted, NULL) == m.n - 1 - r.size:
        r.asked_all = True
        r.asked = NULL
        return
    if r.asked == NULL:
        r.asked = new_row(m, m.words)
    for w in range(m.words):
        r.asked[w] |= wanted[w]


# The journal of a trial: the families it evaluated, including those that were evaluated before.
#
# Several trials can run in parallel, each on its own engine.  The families that a trial evaluated are
# then added by the engine that counts them, if the trial turns out to be part of the search.


cdef inline void begin_journal(Memory *m) noexcept nogil:
    m.journaling = True
    m.trial += 1
    m.note_count = 0


cdef inline Note *note_of(Memory *m, Record *r) noexcept nogil:
    """Return the note on a record; make it if this trial has not used the record before."""
    cdef Note *note
    if r.trial != m.trial:
        if m.note_count == m.note_room:
            m.notes = <Note *>grown(
                m.exit, m.notes, &m.note_room, max(one_more(m.exit, m.note_count), 64), sizeof(Note)
            )
        note = &m.notes[m.note_count]
        memset(note, 0, sizeof(Note))
        note.record = r
        r.trial = m.trial
        r.note = m.note_count
        m.note_count += 1
    return &m.notes[r.note]


cdef inline void journal_inserts(Memory *m, Record *r, const Word *wanted) noexcept nogil:
    cdef Note *note
    cdef int w, size = count_missing(m, wanted, NULL)
    if size == 0:
        return
    note = note_of(m, r)
    note.base = True
    if note.all or size == m.n - 1 - r.size:
        note.all = True
        return
    if note.asked == NULL:
        note.asked = new_row(m, m.words)
    for w in range(m.words):
        note.asked[w] |= wanted[w]


cdef inline void journal_deletes(Memory *m, Record *r, const Word *wanted) noexcept nogil:
    cdef Note *note
    cdef int i, words = (r.size + 63) >> 6
    if size_of(wanted, words) == 0:
        return
    note = note_of(m, r)
    note.base = True
    if note.deletes == NULL:
        note.deletes = new_row(m, words)
    for i in range(words):
        note.deletes[i] |= wanted[i]


cdef inline void take_over(Memory *m, const Note *note) noexcept nogil:
    """Record as evaluated what a trial evaluated of a record of another memory."""
    cdef Record *other = note.record
    cdef Record *r = record_of(m, other.y, other.base, other.size)
    cdef int i
    if note.base:
        note_base(m, r)
    if note.all and not r.asked_all:
        m.fresh += m.n - 1 - r.size
        note_fan(m, r)
        r.asked_all = True
        r.asked = NULL
    elif note.asked != NULL:
        note_inserts(m, r, note.asked)
    if note.deletes == NULL:
        return
    if r.deletes == NULL:
        r.deletes = <double *>longer(m, other.deletes, r.size, r.size, sizeof(double))
    if r.asked_deletes == NULL:
        r.asked_deletes = new_row(m, (r.size + 63) >> 6)
    for i in range(r.size):
        if has(note.deletes, i) and not has(r.asked_deletes, i):
            m.fresh += 1
            note_single(m, r, r.base[i])
            add(r.asked_deletes, i)


# Counting


cdef inline long long count_singles(Memory *m) noexcept nogil:
    """Count the families that were evaluated by themselves, and are in no fan."""
    cdef long long total = 0, i
    cdef Entry *entry
    cdef Record *r
    for i in range(m.singles.size):
        entry = &m.singles.entries[i]
        if entry.clock == -1:
            continue
        r = m.records[entry.record]
        if entry.clock != m.fans[r.y]:
            if is_fanned(m, r, entry.node, entry.key, entry.check):
                entry.clock = -1
                continue
            entry.clock = m.fans[r.y]
        total += 1
    return total


cdef inline long long fan_size(const Memory *m, const Record *r) noexcept nogil:
    """Return how many inserts of a record were evaluated."""
    cdef long long size = 0
    cdef int w
    if r.asked_all:
        return m.n - 1 - r.size
    if r.asked != NULL:
        for w in range(m.words):
            size += count_bits(r.asked[w])
    return size


cdef struct Repeated:
    # Bits that are set for the keys of cores, and for those that were met a second time.
    Word *once
    Word *twice
    Word last  # the number of the last bit


cdef inline bint is_repeated(const Repeated *cores, Word key) noexcept nogil:
    """Return whether several fans may have the core with this key; if not, only one has it."""
    key &= cores.last
    return (cores.twice[key >> 6] >> (key & 63)) & 1


cdef inline bint find_repeated(const Memory *m, Repeated *cores) noexcept nogil:
    """Find the cores that several fans have, and a few others; return whether there was memory.

    Most cores belong to one fan only.  Two rows of bits are much smaller than a table of all cores.
    """
    cdef size_t bits = 1024
    cdef Word key, bit
    cdef int i, k
    cdef Record *r
    while bits < 8 * <size_t>m.cores:
        bits *= 2
    cores.last = bits - 1
    cores.once = <Word *>calloc(bits >> 6, sizeof(Word))
    cores.twice = <Word *>calloc(bits >> 6, sizeof(Word))
    if cores.once == NULL or cores.twice == NULL:
        return False
    for i in range(m.size):
        r = m.records[i]
        if not r.asked_all and r.asked == NULL:
            continue
        for k in range(r.size):
            key = (r.key ^ m.keys[2 * r.base[k]]) & cores.last
            bit = <Word>1 << (key & 63)
            cores.twice[key >> 6] |= cores.once[key >> 6] & bit
            cores.once[key >> 6] |= bit
    return True


cdef inline void free_repeated(Repeated *cores) noexcept nogil:
    free(cores.once)
    free(cores.twice)


cdef inline long long pairs_of(
    Memory *m, const Repeated *repeated, Seen *cores, const Record *r, int number, Seen *twice
) noexcept nogil:
    """Return how many families of a fan are also in an earlier one.

    Two such fans have bases that differ in one node: they are found by their common core.
    """
    cdef long long found = 0, other
    cdef int k, z, first, second
    cdef Word key, check
    for k in range(r.size):
        z = r.base[k]
        key = r.key ^ m.keys[2 * z]
        check = r.check ^ m.keys[2 * z + 1]
        if not is_repeated(repeated, key):
            continue
        if not grow_seen(cores):
            return 0
        other = cores.heads[key & (cores.slots - 1)]
        while other >= 0:
            if cores.entries[other].key == key and cores.entries[other].check == check:
                first = cores.entries[other].record
                second = cores.entries[other].node
                if asked_insert(r, second) and asked_insert(m.records[first], z):
                    # the family is also in a fan whose added node is lower: not this one
                    if z < second:
                        first = number
                    found += first_time(
                        twice, mixed(<Word>first << 32 | <Word>max(z, second)), <Word>first
                    )
            other = cores.entries[other].next
        push_entry(cores, key, check, number, z)
    return found


cdef enum:
    MOST_WORDS = 16  # the longest row of bits for each core; longer ones would take too much memory


cdef struct Cores:
    # Sets of nodes, each with the nodes that make the base of a fan of it, as rows of bits.  Only those
    # that may be the core of several fans.
    int words
    Word *keys  # two words for each core
    Word *rows
    bint *partial  # whether some fan of a core was evaluated only in part
    int size
    int room
    int *slot  # a table of the cores by key, -1 where it is empty
    size_t slots
    int *of  # the core of each node of each base, in the order of the fans; -1 if only one fan has it
    bint failed


cdef inline bint make_cores(Cores *c, const Memory *m) noexcept nogil:
    cdef size_t i
    memset(c, 0, sizeof(Cores))
    c.words = m.words
    c.slots = 1024
    c.room = <int>(c.slots // 2)
    c.slot = <int *>malloc(c.slots * sizeof(int))
    c.keys = <Word *>malloc(2 * <size_t>c.room * sizeof(Word))
    c.rows = <Word *>malloc(<size_t>c.room * c.words * sizeof(Word))
    c.partial = <bint *>malloc(<size_t>c.room * sizeof(bint))
    c.of = <int *>malloc((<size_t>m.cores + 1) * sizeof(int))
    c.failed = (
        c.slot == NULL or c.keys == NULL or c.rows == NULL or c.partial == NULL or c.of == NULL
    )
    if not c.failed:
        in_large_pages(c.slot, c.slots * sizeof(int))
        in_large_pages(c.keys, 2 * <size_t>c.room * sizeof(Word))
        in_large_pages(c.rows, <size_t>c.room * c.words * sizeof(Word))
        in_large_pages(c.of, (<size_t>m.cores + 1) * sizeof(int))
        memset(c.slot, 255, c.slots * sizeof(int))
    return not c.failed


cdef inline void free_cores(Cores *c) noexcept nogil:
    free(c.keys)
    free(c.rows)
    free(c.partial)
    free(c.slot)
    free(c.of)


cdef inline bint grow_cores(Cores *c) noexcept nogil:
    """Make room for twice as many cores; return whether there was memory."""
    cdef size_t at, slots = 4 * c.slots
    cdef int i
    cdef void *block
    c.failed = True
    block = realloc(c.keys, 8 * <size_t>c.room * sizeof(Word))
    if block == NULL:
        return False
    c.keys = <Word *>block
    block = realloc(c.rows, 4 * <size_t>c.room * c.words * sizeof(Word))
    if block == NULL:
        return False
    c.rows = <Word *>block
    block = realloc(c.partial, 4 * <size_t>c.room * sizeof(bint))
    if block == NULL:
        return False
    c.partial = <bint *>block
    block = realloc(c.slot, slots * sizeof(int))
    if block == NULL:
        return False
    c.slot = <int *>block
    c.failed = False
    c.room *= 4
    c.slots = slots
    memset(c.slot, 255, slots * sizeof(int))
    for i in range(c.size):
        at = c.keys[2 * i] & (slots - 1)
        while c.slot[at] >= 0:
            at = (at + 1) & (slots - 1)
        c.slot[at] = i
    return True


cdef inline int core_of(Cores *c, Word key, Word check) noexcept nogil:
    """Return the number of a core, which is made if it is new; -1 if memory ran out."""
    cdef size_t at
    cdef int i
    if c.size == c.room and not grow_cores(c):
        return -1
    at = key & (c.slots - 1)
    while c.slot[at] >= 0:
        i = c.slot[at]
        if c.keys[2 * i] == key and c.keys[2 * i + 1] == check:
            return i
        at = (at + 1) & (c.slots - 1)
    i = c.size
    c.slot[at] = i
    c.keys[2 * i] = key
    c.keys[2 * i + 1] = check
    memset(c.rows + <size_t>i * c.words, 0, <size_t>c.words * sizeof(Word))
    c.partial[i] = False
    c.size += 1
    return i


cdef inline bint list_cores(Memory *m, const Repeated *repeated, Cores *c) noexcept nogil:
    """Record for every fan, and every node of its base, that the rest is a core of it."""
    cdef int i, k, z, core
    cdef Record *r
    cdef size_t at = 0
    for i in range(m.size):
        r = m.records[i]
        if not r.asked_all and r.asked == NULL:
            continue
        for k in range(r.size):
            z = r.base[k]
            core = -1
            if is_repeated(repeated, r.key ^ m.keys[2 * z]):
                core = core_of(c, r.key ^ m.keys[2 * z], r.check ^ m.keys[2 * z + 1])
                if core < 0:
                    return False
                add(c.rows + <size_t>core * c.words, z)
                c.partial[core] = c.partial[core] or not r.asked_all
            c.of[at] = core
            at += 1
    return True


cdef inline long long own_families(
    Memory *m, const Cores *c, const Record *r, const int *core_of_node
) noexcept nogil:
    """Return how many families of a fan are in no other fan whose added node is lower.

    base + x is also in the fan of core + x, for a core that is the base without z; x is higher than z.
    """
    cdef long long found = 0
    cdef int k, w, x, z, core
    cdef Word both
    cdef Word *row
    cdef Word *twice = m.scratch
    memset(twice, 0, <size_t>m.words * sizeof(Word))
    for k in range(r.size):
        z = r.base[k]
        core = core_of_node[k]
        if core < 0:
            continue
        row = c.rows + <size_t>core * c.words
        for w in range(z >> 6, m.words):
            both = row[w] & ~twice[w]
            if w == z >> 6:
                both &= ~((<Word>2 << (z & 63)) - 1)
            if not c.partial[core]:  # all fans of it are whole
                twice[w] |= both
                continue
            while both:
                x = (w << 6) + lowest_bit(both)
                both &= both - 1
                if asked_insert(r, x) and asked_insert(
                    find(m, c.keys[2 * core] ^ m.keys[2 * x], c.keys[2 * core + 1] ^ m.keys[2 * x + 1]),
                    z,
                ):
                    add(twice, x)
    for w in range(m.words):
        found += count_bits(twice[w])
    return fan_size(m, r) - found


cdef inline long long count_fans_by_rows(Memory *m, const Repeated *repeated) noexcept nogil:
    """Count the families of all fans by rows of bits; -1 if memory ran out."""
    cdef Cores c
    cdef long long total = 0
    cdef int i
    cdef Record *r
    cdef size_t at = 0
    if make_cores(&c, m) and list_cores(m, repeated, &c):
        for i in range(m.size):
            r = m.records[i]
            if r.asked_all or r.asked != NULL:
                total += own_families(m, &c, r, c.of + at)
                at += r.size
    free_cores(&c)
    return -1 if c.failed else total


cdef inline long long count_fans_by_pairs(Memory *m, const Repeated *repeated) noexcept nogil:
    """Count the families of all fans where rows would be long; -1 if memory ran out."""
    cdef Seen cores, twice
    cdef long long total = 0
    cdef int i
    cdef Record *r
    memset(&cores, 0, sizeof(Seen))
    memset(&twice, 0, sizeof(Seen))
    for i in range(m.size):
        r = m.records[i]
        if r.asked_all or r.asked != NULL:
            total += fan_size(m, r) - pairs_of(m, repeated, &cores, r, i, &twice)
    free(cores.entries)
    free(cores.heads)
    free(twice.entries)
    free(twice.heads)
    return -1 if cores.failed or twice.failed else total


cdef inline long long count_families(Memory *m) noexcept nogil:
    """Count the unique families that were evaluated so far; -1 if memory ran out."""
    cdef Repeated repeated
    cdef long long fans = -1
    if find_repeated(m, &repeated):
        if m.words <= MOST_WORDS:
            fans = count_fans_by_rows(m, &repeated)
        else:
            fans = count_fans_by_pairs(m, &repeated)
    free_repeated(&repeated)
    return -1 if fans < 0 else count_singles(m) + fans
