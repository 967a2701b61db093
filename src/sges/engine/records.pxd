"""The memory of one run: a record for each family that operators start from.

The gains of Insert(X, Y, T) and of Delete(X, Y, H) depend only on Y and a base B, and one call of
the score gives those of all X (see ``sges.engine.scores``).  So gains are stored by (Y, B), for the
whole run, and inserts, turns, deletes and the search for orders share them.  ``gains.pxd`` fills the
records and ``count.pxd`` counts the families that were evaluated.

Records and their arrays are allocated in large blocks, which are freed together with the run.
"""

from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from sges.engine.lists cimport (
    Exit, Ints, NO_MEMORY, Word, copy_to, grown, in_large_pages, leave, mixed, one_more, push,
    sort_ints, taken,
)
from sges.engine.scores cimport Scorer

cdef enum:
    BLOCK = 1 << 18  # bytes; later blocks are as large as all before them together
    LARGEST_BLOCK = 1 << 25

cdef struct Record:
    int number
    int y
    int size
    int *base  # sorted
    Word key
    Word check
    # Inserts: those with a positive gain, and those whose exact gain was wanted.
    bint computed
    int count
    int room
    int *xs
    double *gains
    int also_count
    int also_room
    int *also
    double *also_gains
    # Deletes: one gain for each node of the base.
    double *deletes
    # The families that the search has evaluated ("asked for").
    bint asked_base
    bint asked_all  # every insert
    Word *asked
    Word *answered  # by a Python score
    Word *asked_deletes  # by the place in the base
    # The current trial's place in the journal, if ``trial`` is its number.
    int trial
    int note
    # The search for orders: the way of growing that led here, and what shrinking leaves.
    int epoch
    int grown_by  # the node by which this base was last grown, and the record of the larger base
    Record *grown
    double grown_gain
    int improving  # how many nodes improve the base
    int ranked  # how many of these are in order, at the end of ``ranking``
    int ranking_room
    int *ranking
    int shrunk_size
    int shrunk_room
    int *shrunk
    double shrunk_gain
    # The view that made a lane of this record last.
    long long view
    int lane

cdef struct Entry:
    Word key
    Word check
    int record
    int node
    # The number of fans of its node when it was last searched for in them; -1 if it is in one of
    # them, -2 if it was not searched for.
    int clock
    long long next

cdef struct Seen:
    # A set of pairs of words, and chains of entries.  Filling one never leaves the run: if memory
    # runs out, it stays as it is and ``failed`` is set.
    Entry *entries
    long long size
    long long room
    long long *heads
    size_t slots
    bint failed

cdef struct Note:
    # What one trial evaluated of one record.
    Record *record
    bint base
    bint all  # every insert
    Word *asked  # rows of bits that belong to the journal
    Word *deletes

cdef struct Block:
    Block *before
    size_t used
    size_t room

cdef struct Slot:
    Word key
    Record *record  # NULL if the slot is empty

cdef struct Memory:
    Exit *exit
    int n
    int words
    bint counting
    bint native
    Scorer scorer
    void *owner  # the object that calls a Python score
    int (*ask)(
        void *owner, Record *record, bint inserting, const int *xs, int count,
        double *gains,
    ) noexcept nogil
    void (*check)(void *owner) noexcept nogil  # leaves the run if time is up
    Block *block
    size_t held  # bytes in all blocks
    Slot *table
    size_t slots
    Record **records
    int size
    int room
    Word *keys  # two numbers for each node
    # Counting (count.pxd).
    Seen singles  # the families that were evaluated by themselves
    Word *scratch
    Word *fan_bits  # eight for each slot, set for the keys of all fans: most bases have none
    int *fans  # for each node, the number of its fans
    Word *fan_sizes  # for each node, the sizes of the bases of its fans
    long long cores  # the sum of the sizes of the bases of all fans: the cost of counting
    long long fresh  # an upper bound of the families evaluated since ``exact`` was counted
    long long exact
    long long most  # the most families that may be evaluated; -1 for any number
    # The journal of a trial.
    bint journaling
    int trial
    Note *notes
    int note_count
    int note_room
    # Scratch memory for calls of the score.
    int *xs
    double *gains
    double *more_gains
    Ints missing
    Ints family
    long long questions
    # Gains computed, sets listed and nodes walked: a measure that does not depend on the machine.
    long long work
    long long most_work  # -1 for any amount
    int bad_x
    double bad_gain
    Record *bad_record


cdef inline bint make_memory(Memory *m, Exit *exit, int n) noexcept nogil:
    cdef int v
    memset(m, 0, sizeof(Memory))
    m.exit = exit
    m.n = n
    m.words = (n + 63) >> 6
    m.most = m.most_work = -1
    m.slots = 1 << 10
    m.table = <Slot *>calloc(m.slots, sizeof(Slot))
    m.keys = <Word *>malloc((2 * <size_t>n + 1) * sizeof(Word))
    m.fan_bits = <Word *>calloc(m.slots >> 3, sizeof(Word))
    m.fans = <int *>calloc(<size_t>n + 1, sizeof(int))
    m.scratch = <Word *>calloc(<size_t>m.words + 1, sizeof(Word))
    m.fan_sizes = <Word *>calloc(<size_t>n + 1, sizeof(Word))
    m.xs = <int *>malloc((<size_t>n + 1) * sizeof(int))
    m.gains = <double *>malloc((<size_t>n + 1) * sizeof(double))
    m.more_gains = <double *>malloc((<size_t>n + 1) * sizeof(double))
    if m.table == NULL or m.keys == NULL or m.xs == NULL or m.gains == NULL:
        return False
    if m.fan_bits == NULL or m.fans == NULL or m.fan_sizes == NULL or m.scratch == NULL:
        return False
    if m.more_gains == NULL:
        return False
    for v in range(2 * n):
        m.keys[v] = mixed(<Word>v + 1)
    return True


cdef inline void free_memory(Memory *m) noexcept nogil:
    cdef Block *block
    while m.block != NULL:
        block = m.block
        m.block = block.before
        free(block)
    free(m.records)
    free(m.table)
    free(m.keys)
    free(m.fan_bits)
    free(m.fans)
    free(m.scratch)
    free(m.fan_sizes)
    free(m.singles.entries)
    free(m.singles.heads)
    free(m.notes)
    free(m.xs)
    free(m.gains)
    free(m.more_gains)
    free(m.missing.at)
    free(m.family.at)


cdef inline void *lasting(Memory *m, size_t bytes) noexcept nogil:
    """Return memory that is freed at the end of the run."""
    cdef Block *block = m.block
    cdef size_t wanted = (bytes + 15) & ~<size_t>15, room
    if block == NULL or block.room - block.used < wanted:
        room = max(<size_t>BLOCK, wanted, min(m.held, <size_t>LARGEST_BLOCK))
        block = <Block *>taken(m.exit, sizeof(Block) + 16 + room)
        block.before = m.block
        block.used = 0
        block.room = room
        m.block = block
        m.held += room
    block.used += wanted
    return <char *>block + ((sizeof(Block) + 15) & ~<size_t>15) + block.used - wanted


cdef inline void *lasting_zeros(Memory *m, size_t bytes) noexcept nogil:
    cdef void *found = lasting(m, bytes)
    memset(found, 0, bytes)
    return found


cdef inline void *longer(Memory *m, const void *old, int count, int room, size_t item) noexcept nogil:
    """Return a larger copy of an array."""
    cdef void *found = lasting(m, <size_t>room * item)
    if count:
        memcpy(found, old, <size_t>count * item)
    return found


# Finding records


cdef inline Word key_of(const Memory *m, int y, const int *base, int size) noexcept nogil:
    cdef int i
    cdef Word key = mixed(m.keys[2 * y])
    for i in range(size):
        key ^= m.keys[2 * base[i]]
    return key


cdef inline Word check_of(const Memory *m, int y, const int *base, int size) noexcept nogil:
    cdef int i
    cdef Word key = mixed(m.keys[2 * y + 1])
    for i in range(size):
        key ^= m.keys[2 * base[i] + 1]
    return key


cdef inline Record *find(const Memory *m, Word key, Word check) noexcept nogil:
    """Return the record with these keys, or NULL."""
    cdef size_t at = key & (m.slots - 1)
    while m.table[at].record != NULL:
        if m.table[at].key == key and m.table[at].record.check == check:
            return m.table[at].record
        at = (at + 1) & (m.slots - 1)
    return NULL


cdef inline void enter(Slot *table, size_t slots, Record *r) noexcept nogil:
    cdef size_t at = r.key & (slots - 1)
    while table[at].record != NULL:
        at = (at + 1) & (slots - 1)
    table[at].key = r.key
    table[at].record = r


cdef inline void rehash(Memory *m) noexcept nogil:
    cdef size_t slots = 2 * m.slots
    cdef Slot *table = <Slot *>in_large_pages(calloc(slots, sizeof(Slot)), slots * sizeof(Slot))
    cdef Word *fan_bits = <Word *>calloc(slots >> 3, sizeof(Word))
    cdef int i
    if table == NULL or fan_bits == NULL:
        free(table)
        free(fan_bits)
        leave(m.exit, NO_MEMORY)
    free(m.table)
    free(m.fan_bits)
    m.table = table
    m.fan_bits = fan_bits
    m.slots = slots
    for i in range(m.size):
        enter(table, slots, m.records[i])
        if m.records[i].asked_all or m.records[i].asked != NULL:
            set_fan_bit(m, m.records[i].key)


cdef inline void set_fan_bit(Memory *m, Word key) noexcept nogil:
    key &= 8 * m.slots - 1
    m.fan_bits[key >> 6] |= <Word>1 << (key & 63)


cdef inline bint may_have_fan(const Memory *m, Word key) noexcept nogil:
    key &= 8 * m.slots - 1
    return (m.fan_bits[key >> 6] >> (key & 63)) & 1


cdef inline Record *record_with(Memory *m, const Record *r, int x) noexcept nogil:
    """Return the record of a base with one more node."""
    cdef Record *found = find(m, r.key ^ m.keys[2 * x], r.check ^ m.keys[2 * x + 1])
    if found != NULL:
        return found
    copy_to(m.exit, &m.family, r.base, r.size)
    push(m.exit, &m.family, x)
    return record_of(m, r.y, m.family.at, m.family.size)


cdef inline Record *record_of(Memory *m, int y, const int *base, int size) noexcept nogil:
    """Return the record of a node and a base, in any order; make it if it does not exist."""
    cdef Word key = key_of(m, y, base, size), check = check_of(m, y, base, size)
    cdef Record *r = find(m, key, check)
    if r != NULL:
        return r
    if m.size == m.room:
        m.records = <Record **>grown(
            m.exit, m.records, &m.room, max(one_more(m.exit, m.size), 256), sizeof(Record *)
        )
    if 2 * <size_t>m.size >= m.slots:
        rehash(m)
    r = <Record *>lasting_zeros(m, sizeof(Record))
    r.base = <int *>lasting(m, <size_t>size * sizeof(int))
    if size:
        memcpy(r.base, base, <size_t>size * sizeof(int))
    sort_ints(r.base, size)
    r.y = y
    r.size = size
    r.key = key
    r.check = check
    r.view = -1
    r.epoch = -1
    r.number = m.size
    m.records[m.size] = r
    m.size += 1
    enter(m.table, m.slots, r)
    return r
