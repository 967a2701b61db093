"""What the score has said: one record per family that operators start from.

The gains of Insert(X, Y, T) and of Delete(X, Y, H) depend on Y and a base B alone, and one question
gives those of all X (see ``sges.engine.scores``).  So everything is kept by (Y, B), for the whole
run, and inserts, turns, deletes and the search for orders share it.

A record also says which families were *asked for*: the count of score evaluations (``count.pxd``)
is about these, whatever was computed beside them.
"""

from libc.math cimport isfinite
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

from sges.engine.lists cimport (
    BAD_GAIN, Exit, Ints, NO_MEMORY, OVER_BUDGET, Word, add, count_bits, grown, has, leave,
    lowest_bit, mixed, one_more, push, regrown, reserve, sort_ints, taken,
)
from sges.engine.scores cimport NOT_FINITE, OUT_OF_MEMORY, Scorer

cdef struct Record:
    int number
    int y
    int size
    int *base  # sorted
    Word key
    Word check
    # Inserts: those that gain anything, and those whose gain was wanted whatever it is.
    bint computed
    int count
    int room
    int *xs
    double *gains
    Ints also
    double *also_gains
    int also_room
    # Deletes: one gain for each node of the base.
    double *deletes
    # What was asked for.
    bint asked_base
    bint asked_all  # every insert
    Word *asked
    Word *answered  # by a Python score
    Word *asked_deletes  # by the place in the base
    # The search for orders: the way of growing that led here, and what shrinking leaves.
    int epoch
    double grown_gain
    int ranked
    int *ranking
    int shrunk_size
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
    # How many fans its node had when it was looked for in them; -1 if it is in one of them, -2 if
    # it was not looked for.
    int clock
    long long next

cdef struct Seen:
    # A set of pairs of words, and chains of entries.  No run is left while one is filled: where
    # memory runs out it stays as it is, and says so.
    Entry *entries
    long long size
    long long room
    long long *heads
    size_t slots
    bint failed

cdef struct Memory:
    Exit *exit
    int n
    int words
    bint counting
    bint native
    Scorer scorer
    void *owner  # who answers for a Python score
    int (*ask)(
        void *owner, Record *record, bint inserting, bint exact, const int *xs, int count,
        double *gains,
    ) noexcept nogil
    void (*check)(void *owner) noexcept nogil  # leaves the run if time is up
    Record **table
    size_t slots
    Record **records
    int size
    int room
    Word *keys  # two numbers for each node
    Seen singles  # the families asked for by themselves
    Word *scratch
    bint eager  # whether to look for families in the fans at once: no more fans will come soon
    int *fans  # of each node, how often inserts were asked for that were not before
    Word *fan_sizes  # of each node, the sizes of the bases of its fans
    int *xs
    double *gains
    double *more_gains
    Ints missing
    Ints family
    long long questions
    # Gains asked for, sets listed and nodes walked: a measure that is the same on every machine.
    long long work
    long long most_work  # -1 for any amount
    long long fresh  # an upper limit of the families asked for since ``exact`` was counted
    long long exact
    long long most  # families that may be asked for; -1 for any number
    int bad_y
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
    m.table = <Record **>calloc(m.slots, sizeof(Record *))
    m.keys = <Word *>malloc((2 * <size_t>n + 1) * sizeof(Word))
    m.fans = <int *>calloc(<size_t>n + 1, sizeof(int))
    m.scratch = <Word *>calloc(<size_t>m.words + 1, sizeof(Word))
    m.fan_sizes = <Word *>calloc(<size_t>n + 1, sizeof(Word))
    m.xs = <int *>malloc((<size_t>n + 1) * sizeof(int))
    m.gains = <double *>malloc((<size_t>n + 1) * sizeof(double))
    m.more_gains = <double *>malloc((<size_t>n + 1) * sizeof(double))
    if m.table == NULL or m.keys == NULL or m.xs == NULL or m.gains == NULL:
        return False
    if m.more_gains == NULL or m.fans == NULL or m.fan_sizes == NULL or m.scratch == NULL:
        return False
    for v in range(2 * n):
        m.keys[v] = mixed(<Word>v + 1)
    return True


cdef inline void free_memory(Memory *m) noexcept nogil:
    cdef int i
    cdef Record *r
    for i in range(m.size):
        r = m.records[i]
        free(r.base)
        free(r.xs)
        free(r.gains)
        free(r.also.at)
        free(r.also_gains)
        free(r.deletes)
        free(r.answered)
        free(r.asked)
        free(r.asked_deletes)
        free(r.ranking)
        free(r.shrunk)
        free(r)
    free(m.records)
    free(m.table)
    free(m.keys)
    free(m.fans)
    free(m.scratch)
    free(m.fan_sizes)
    free(m.singles.entries)
    free(m.singles.heads)
    free(m.xs)
    free(m.gains)
    free(m.more_gains)
    free(m.missing.at)
    free(m.family.at)


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
    while m.table[at] != NULL:
        if m.table[at].key == key and m.table[at].check == check:
            return m.table[at]
        at = (at + 1) & (m.slots - 1)
    return NULL


cdef inline void rehash(Memory *m) noexcept nogil:
    cdef size_t slots = 2 * m.slots, at
    cdef Record **table = <Record **>calloc(slots, sizeof(Record *))
    cdef int i
    if table == NULL:
        leave(m.exit, NO_MEMORY)
    for i in range(m.size):
        at = m.records[i].key & (slots - 1)
        while table[at] != NULL:
            at = (at + 1) & (slots - 1)
        table[at] = m.records[i]
    free(m.table)
    m.table = table
    m.slots = slots


cdef inline Record *record_of(Memory *m, int y, const int *base, int size) noexcept nogil:
    """Return the record of a node and a base, in any order, made if there is none."""
    cdef Word key = key_of(m, y, base, size), check = check_of(m, y, base, size)
    cdef Record *r = find(m, key, check)
    cdef size_t at
    if r != NULL:
        return r
    if m.size == m.room:
        m.records = <Record **>grown(
            m.exit, m.records, &m.room, max(one_more(m.exit, m.size), 256), sizeof(Record *)
        )
    if 2 * <size_t>m.size >= m.slots:
        rehash(m)
    r = <Record *>calloc(1, sizeof(Record))
    if r == NULL:
        leave(m.exit, NO_MEMORY)
    r.base = <int *>malloc((<size_t>size + 1) * sizeof(int))
    if r.base == NULL:
        free(r)
        leave(m.exit, NO_MEMORY)
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
    at = key & (m.slots - 1)
    while m.table[at] != NULL:
        at = (at + 1) & (m.slots - 1)
    m.table[at] = r
    return r


# Asking


cdef inline void may_ask(Memory *m, int more) noexcept nogil:
    """Leave the run if time is up, or if so many families more may be too many."""
    cdef long long counted
    m.check(m.owner)
    if m.most >= 0 and m.exact + m.fresh + more > m.most:
        counted = count_families(m)
        if counted < 0:
            leave(m.exit, NO_MEMORY)
        m.exact = counted
        m.fresh = 0
        if m.exact + more > m.most:
            leave(m.exit, OVER_BUDGET)


cdef inline void note_base(Memory *m, Record *r) noexcept nogil:
    if not r.asked_base:
        if m.counting:
            note_single(m, r, -1)
        r.asked_base = True
        m.fresh += 1


cdef inline void refuse(Memory *m, Record *r, int x, double gain) noexcept nogil:
    m.bad_record = r
    m.bad_x = x
    m.bad_gain = gain
    leave(m.exit, BAD_GAIN)


cdef inline void must_answer(Memory *m, Record *r, int status) noexcept nogil:
    """Leave the run if a score could not answer."""
    if status == OUT_OF_MEMORY:
        leave(m.exit, NO_MEMORY)
    elif status == NOT_FINITE:
        refuse(m, r, -1, 0.0)
    elif status < 0:
        leave(m.exit, -status)


cdef inline void keep(Memory *m, Record *r, int x, double gain) noexcept nogil:
    cdef int room = r.room
    if r.count == r.room:
        r.xs = <int *>grown(m.exit, r.xs, &room, 8, sizeof(int))
        r.gains = <double *>grown(m.exit, r.gains, &r.room, 8, sizeof(double))
    r.xs[r.count] = x
    r.gains[r.count] = gain
    r.count += 1


cdef inline int place_in_also(const Record *r, int x) noexcept nogil:
    """Return where x is, or would be, among the sorted nodes whose gains are known exactly."""
    cdef int low = 0, high = r.also.size, middle
    while low < high:
        middle = (low + high) >> 1
        if r.also.at[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


cdef inline bint known_exactly(const Record *r, int x) noexcept nogil:
    cdef int at = place_in_also(r, x)
    return at < r.also.size and r.also.at[at] == x


cdef inline void keep_also(Memory *m, Record *r, int x, double gain) noexcept nogil:
    cdef int i, at = place_in_also(r, x)
    if r.also.size == r.also_room:
        r.also_gains = <double *>grown(m.exit, r.also_gains, &r.also_room, 4, sizeof(double))
    push(m.exit, &r.also, x)
    for i in range(r.also.size - 1, at, -1):
        r.also.at[i] = r.also.at[i - 1]
        r.also_gains[i] = r.also_gains[i - 1]
    r.also.at[at] = x
    r.also_gains[at] = gain


cdef inline Word *new_row(Memory *m, int words) noexcept nogil:
    cdef Word *row = <Word *>calloc(words + 1, sizeof(Word))
    if row == NULL:
        leave(m.exit, NO_MEMORY)
    return row


cdef inline int count_missing(Memory *m, const Word *wanted, const Word *known) noexcept nogil:
    """Return how many of the wanted nodes are not known."""
    cdef int w, missing = 0
    for w in range(m.words):
        missing += count_bits(wanted[w] & ~(known[w] if known != NULL else 0))
    return missing


cdef inline void list_missing(Memory *m, const Word *wanted, const Word *known) noexcept nogil:
    """List the wanted nodes that are not known."""
    cdef int w
    cdef Word new
    m.missing.size = 0
    for w in range(m.words):
        new = wanted[w] & ~known[w]
        while new:
            push(m.exit, &m.missing, (w << 6) + lowest_bit(new))
            new &= new - 1


cdef inline void note_inserts(Memory *m, Record *r, const Word *wanted) noexcept nogil:
    """Take the wanted inserts as asked for."""
    cdef int w
    if not m.counting or r.asked_all:
        return
    m.fresh += count_missing(m, wanted, r.asked)
    note_fan(m, r)
    if count_missing(m, wanted, NULL) == m.n - 1 - r.size:
        r.asked_all = True
        free(r.asked)
        r.asked = NULL
        return
    if r.asked == NULL:
        r.asked = new_row(m, m.words)
    for w in range(m.words):
        r.asked[w] |= wanted[w]


cdef inline void compute(
    Memory *m, Record *r, const int *also, int also_size
) noexcept nogil:
    """Ask a native score for all inserts, and for these whatever they gain."""
    cdef int i, found
    m.questions += 1
    m.work += m.n
    found = m.scorer.inserts(
        m.scorer.self, r.y, r.base, r.size, 0.0, also, also_size, m.xs, m.gains, m.more_gains
    )
    must_answer(m, r, found)
    for i in range(found):
        if not isfinite(m.gains[i]):
            refuse(m, r, m.xs[i], m.gains[i])
    for i in range(also_size):
        if not isfinite(m.more_gains[i]):
            refuse(m, r, also[i], m.more_gains[i])
    for i in range(also_size):
        if not known_exactly(r, also[i]):
            keep_also(m, r, also[i], m.more_gains[i])
    r.xs = <int *>regrown(m.exit, r.xs, <size_t>found * sizeof(int))
    r.gains = <double *>regrown(m.exit, r.gains, <size_t>found * sizeof(double))
    memcpy(r.xs, m.xs, <size_t>found * sizeof(int))
    memcpy(r.gains, m.gains, <size_t>found * sizeof(double))
    r.count = r.room = found
    r.computed = True


cdef inline void ask_inserts(
    Memory *m, Record *r, const Word *wanted, const int *also, int also_size
) noexcept nogil:
    """Ask for the inserts that are wanted; ``also`` are sorted nodes that may be turned later."""
    cdef int i, x, fresh
    if m.native and r.computed and (r.asked_all or not m.counting):
        return
    fresh = count_missing(m, wanted, r.asked if m.native else r.answered)
    if fresh == 0 or (m.native and r.asked_all):
        fresh = 0
    if fresh == 0 and (r.computed or not m.native or (r.asked == NULL and not r.asked_all)):
        return  # there is nothing to ask; nothing was asked for if nothing is wanted at all
    may_ask(m, fresh + 1)
    note_base(m, r)
    note_inserts(m, r, wanted)
    if m.native:
        if not r.computed:
            compute(m, r, also, also_size)
        return
    if r.answered == NULL:
        r.answered = new_row(m, m.words)
    list_missing(m, wanted, r.answered)
    m.questions += 1
    m.work += fresh
    must_answer(m, r, m.ask(m.owner, r, True, False, m.missing.at, fresh, m.gains))
    for i in range(fresh):
        if not isfinite(m.gains[i]):
            refuse(m, r, m.missing.at[i], m.gains[i])
    for i in range(fresh):
        x = m.missing.at[i]
        if m.gains[i] > 0.0:
            keep(m, r, x, m.gains[i])
        add(r.answered, x)


cdef inline double insert_gain(const Record *r, int x) noexcept nogil:
    """Return the gain of one insert that was asked for by ``ask_exact``."""
    return r.also_gains[place_in_also(r, x)]


cdef inline void ask_exact(Memory *m, Record *r, const int *xs, int size) noexcept nogil:
    """Ask for the gains of these inserts, sorted, whatever they are."""
    cdef int i
    may_ask(m, size + 1)
    note_base(m, r)
    if m.counting and not r.asked_all:
        if r.asked == NULL:
            r.asked = new_row(m, m.words)
        note_fan(m, r)
        for i in range(size):
            m.fresh += not has(r.asked, xs[i])
            add(r.asked, xs[i])
    m.missing.size = 0
    for i in range(size):
        if not known_exactly(r, xs[i]):
            push(m.exit, &m.missing, xs[i])
    if m.missing.size == 0:
        return
    if not m.native:
        m.questions += 1
        m.work += m.missing.size
        must_answer(m, r, m.ask(m.owner, r, True, True, m.missing.at, m.missing.size, m.gains))
        for i in range(m.missing.size):
            if not isfinite(m.gains[i]):
                refuse(m, r, m.missing.at[i], m.gains[i])
            keep_also(m, r, m.missing.at[i], m.gains[i])
    elif not r.computed:
        compute(m, r, m.missing.at, m.missing.size)
    else:
        for i in range(m.missing.size):
            keep_also(m, r, m.missing.at[i], single_insert(m, r, m.missing.at[i]))


cdef inline double single_insert(Memory *m, Record *r, int x) noexcept nogil:
    """Return the gain of one insert of a native score: that of the delete which undoes it."""
    cdef int i, status, at = 0
    if known_exactly(r, x):
        return insert_gain(r, x)
    for i in range(r.count):
        if r.xs[i] == x:
            return r.gains[i]
    m.questions += 1
    m.work += r.size + 1
    reserve(m.exit, &m.family, r.size + 1)
    for i in range(r.size):
        if r.base[i] < x:
            at = i + 1
            m.family.at[i] = r.base[i]
        else:
            m.family.at[i + 1] = r.base[i]
    m.family.at[at] = x
    status = m.scorer.deletes(m.scorer.self, r.y, m.family.at, r.size + 1, m.more_gains)
    must_answer(m, r, status)
    if not isfinite(m.more_gains[at]):
        refuse(m, r, x, m.more_gains[at])
    return -m.more_gains[at]


cdef inline void ask_deletes(Memory *m, Record *r, const Word *wanted) noexcept nogil:
    """Ask for the deletes that are wanted, given by their places in the base."""
    cdef int i, fresh = 0, words = (r.size + 63) >> 6
    if r.asked_deletes == NULL:
        r.asked_deletes = <Word *>calloc(words + 1, sizeof(Word))
        if r.asked_deletes == NULL:
            leave(m.exit, NO_MEMORY)
    m.missing.size = 0
    for i in range(r.size):
        if has(wanted, i) and not has(r.asked_deletes, i):
            push(m.exit, &m.missing, i)
    if m.missing.size == 0:
        return
    may_ask(m, m.missing.size + 1)
    note_base(m, r)
    fresh = m.missing.size
    m.fresh += fresh
    if m.native:
        if r.deletes == NULL:
            m.questions += 1
            m.work += r.size
            compute_deletes(m, r)
    else:
        ask_python_deletes(m, r, fresh)
    for i in range(fresh):  # only now: the score may not have answered
        if m.counting:
            note_single(m, r, r.base[m.missing.at[i]])
        add(r.asked_deletes, m.missing.at[i])


cdef inline void compute_deletes(Memory *m, Record *r) noexcept nogil:
    """Ask a native score for all deletes; ``deletes`` stays NULL if it cannot answer."""
    cdef int i
    cdef double *found
    must_answer(m, r, m.scorer.deletes(m.scorer.self, r.y, r.base, r.size, m.gains))
    for i in range(r.size):
        if not isfinite(m.gains[i]):
            refuse(m, r, r.base[i], m.gains[i])
    found = <double *>taken(m.exit, (<size_t>r.size + 1) * sizeof(double))
    memcpy(found, m.gains, <size_t>r.size * sizeof(double))
    r.deletes = found


cdef inline void ask_python_deletes(Memory *m, Record *r, int fresh) noexcept nogil:
    """Ask a Python score for the deletes at the places that are missing."""
    cdef int i
    for i in range(fresh):
        m.xs[i] = r.base[m.missing.at[i]]
    m.questions += 1
    m.work += fresh
    must_answer(m, r, m.ask(m.owner, r, False, True, m.xs, fresh, m.gains))
    for i in range(fresh):
        if not isfinite(m.gains[i]):
            refuse(m, r, m.xs[i], m.gains[i])
    if r.deletes == NULL:
        r.deletes = <double *>taken(m.exit, (<size_t>r.size + 1) * sizeof(double))
    for i in range(fresh):
        r.deletes[m.missing.at[i]] = m.gains[i]


cdef inline int place_of(const Record *r, int x) noexcept nogil:
    """Return the place of a node in the base."""
    cdef int low = 0, high = r.size - 1, middle
    while low < high:
        middle = (low + high) >> 1
        if r.base[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


cdef inline void look_ahead(
    Memory *m, int y, const int *base, int size, const int *xs, int count
) noexcept nogil:
    """Ask a native score for several inserts at once, before they are asked for one by one."""
    cdef Record *r = record_of(m, y, base, size)
    if m.native and count > 1 and not r.computed:
        compute(m, r, xs, count)


cdef inline double single_gain(
    Memory *m, int y, const int *base, int size, int x, bint inserting
) noexcept nogil:
    """Return what one parent more or less is worth; not counted."""
    cdef Record *r = record_of(m, y, base, size)
    cdef double gain
    if m.native:
        if inserting:
            return single_insert(m, r, x)
        if r.deletes == NULL:
            compute_deletes(m, r)
        gain = r.deletes[place_of(r, x)]
    else:
        must_answer(m, r, m.ask(m.owner, r, inserting, True, &x, 1, &gain))
    if not isfinite(gain):
        refuse(m, r, x, gain)
    return gain


# Counting unique families, as the paper does (Section 5).
#
# A family (y, parents) can have been asked for by itself, as a base or after a delete, or in the
# fan of inserts of a base with one parent less: of several such bases.  It is counted once.

cdef inline bint asked_insert(const Record *r, int x) noexcept nogil:
    return r.asked_all or (r.asked != NULL and has(r.asked, x))


cdef inline bint in_a_fan(
    const Memory *m, const int *family, int size, int left_out, Word key, Word check
) noexcept nogil:
    """Tell whether a family, its members but one, was asked for as an insert."""
    cdef int i, z
    cdef Record *r
    for i in range(size):
        z = family[i]
        if z == left_out:
            continue
        r = find(m, key ^ m.keys[2 * z], check ^ m.keys[2 * z + 1])
        if r != NULL and asked_insert(r, z):
            return True
    return False


cdef inline bint grow_seen(Seen *s) noexcept nogil:
    """Make room for one entry more; tell whether there is."""
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
        s.entries = <Entry *>block
        s.room = room
    if 2 * <size_t>s.size >= s.slots:
        slots = max(4 * s.slots, <size_t>4096)
        block = realloc(s.heads, slots * sizeof(long long))
        s.failed = block == NULL
        if s.failed:
            return False
        s.heads = <long long *>block
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
    """Take note of a pair of words; tell whether it is new."""
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
    m.fans[r.y] += 1
    m.fan_sizes[r.y] |= <Word>1 << min(r.size, 63)


cdef inline bint is_fanned(const Memory *m, const Record *r, int left_out, Word key, Word check) noexcept nogil:
    """Tell whether the family of a record, less one of its base, was asked for as an insert."""
    cdef int size = r.size - (left_out >= 0) - 1  # of the bases that it could be in the fan of
    if size < 0 or not (m.fan_sizes[r.y] >> min(size, 63)) & 1:
        return False
    return in_a_fan(m, r.base, r.size, left_out, key, check)


cdef inline void note_single(Memory *m, const Record *r, int left_out) noexcept nogil:
    """Take note of a family that is asked for by itself: a base, or one less a node."""
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
    entry.clock = -2  # not looked for yet
    if m.eager:
        entry.clock = -1 if is_fanned(m, r, left_out, key, check) else m.fans[r.y]


cdef inline long long count_singles(Memory *m) noexcept nogil:
    """Count the families that were asked for by themselves, and in no fan."""
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
    """Return how many inserts of a record were asked for."""
    cdef long long size = 0
    cdef int w
    if r.asked_all:
        return m.n - 1 - r.size
    if r.asked != NULL:
        for w in range(m.words):
            size += count_bits(r.asked[w])
    return size


cdef inline long long pairs_of(Memory *m, Seen *cores, const Record *r, int number, Seen *twice) noexcept nogil:
    """Return how many families of a fan are in an earlier one too.

    Two such fans have bases that differ in one node: they are found by the core that is common.
    """
    cdef long long found = 0, other
    cdef int k, z, first, second
    cdef Word key, check
    for k in range(r.size):
        z = r.base[k]
        key = r.key ^ m.keys[2 * z]
        check = r.check ^ m.keys[2 * z + 1]
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
    MOST_WORDS = 16  # of a row of bits for each core; longer ones would take too much memory


cdef struct Cores:
    # Sets of nodes, each with the nodes that make the base of a fan of it, as rows of bits.
    Seen keys
    Word *rows
    long long room
    int words


cdef inline Word *core_row(Cores *c, Word key, Word check) noexcept nogil:
    """Return the row of a core, made if there is none; NULL if memory is out."""
    cdef long long i
    cdef Word *rows
    if c.keys.slots:
        i = c.keys.heads[key & (c.keys.slots - 1)]
        while i >= 0:
            if c.keys.entries[i].key == key and c.keys.entries[i].check == check:
                return c.rows + <size_t>i * c.words
            i = c.keys.entries[i].next
    if c.keys.size == c.room:
        rows = <Word *>realloc(c.rows, <size_t>(2 * c.room + 256) * c.words * sizeof(Word))
        if rows == NULL:
            c.keys.failed = True
            return NULL
        c.rows = rows
        c.room = 2 * c.room + 256
    push_entry(&c.keys, key, check, 0, 0)
    if c.keys.failed:
        return NULL
    rows = c.rows + <size_t>(c.keys.size - 1) * c.words
    memset(rows, 0, <size_t>c.words * sizeof(Word))
    return rows


cdef inline bint list_cores(Memory *m, Cores *c) noexcept nogil:
    """Note for every fan, and every node of its base, that the rest is a core of it."""
    cdef int i, k, z
    cdef Record *r
    cdef Word *row
    for i in range(m.size):
        r = m.records[i]
        if not r.asked_all and r.asked == NULL:
            continue
        for k in range(r.size):
            z = r.base[k]
            row = core_row(c, r.key ^ m.keys[2 * z], r.check ^ m.keys[2 * z + 1])
            if row == NULL:
                return False
            add(row, z)
            if not r.asked_all:
                c.keys.entries[(row - c.rows) // c.words].clock = 1
    return True


cdef inline long long own_families(Memory *m, Cores *c, const Record *r) noexcept nogil:
    """Return how many families of a fan are in no other fan whose added node is lower.

    base + x is also in the fan of core + x, for a core that is the base less z; x is higher than z.
    """
    cdef long long found = 0
    cdef int k, w, x, z
    cdef Word key, check, both
    cdef Word *row
    cdef Word *twice = m.scratch
    memset(twice, 0, <size_t>m.words * sizeof(Word))
    for k in range(r.size):
        z = r.base[k]
        key = r.key ^ m.keys[2 * z]
        check = r.check ^ m.keys[2 * z + 1]
        row = core_row(c, key, check)
        if row == NULL:
            return 0
        for w in range(z >> 6, m.words):
            both = row[w] & ~twice[w]
            if w == z >> 6:
                both &= ~((<Word>2 << (z & 63)) - 1)
            if c.keys.entries[(row - c.rows) // c.words].clock == 0:  # all fans of it are whole
                twice[w] |= both
                continue
            while both:
                x = (w << 6) + lowest_bit(both)
                both &= both - 1
                if asked_insert(r, x) and asked_insert(
                    find(m, key ^ m.keys[2 * x], check ^ m.keys[2 * x + 1]), z
                ):
                    add(twice, x)
    for w in range(m.words):
        found += count_bits(twice[w])
    return fan_size(m, r) - found


cdef inline long long count_fans(Memory *m, Cores *c, Seen *cores, Seen *twice) noexcept nogil:
    """Count the families of all fans: by rows of bits, or in pairs where rows would be long."""
    cdef long long total = 0
    cdef int i
    cdef Record *r
    if m.words <= MOST_WORDS and not list_cores(m, c):
        return 0
    for i in range(m.size):
        r = m.records[i]
        if not r.asked_all and r.asked == NULL:
            continue
        if m.words <= MOST_WORDS:
            total += own_families(m, c, r)
        else:
            total += fan_size(m, r) - pairs_of(m, cores, r, i, twice)
    return total


cdef inline long long count_families(Memory *m) noexcept nogil:
    """Count the unique families that were asked for so far; -1 if memory ran out."""
    cdef Cores c
    cdef Seen cores, twice
    cdef long long total
    memset(&c, 0, sizeof(Cores))
    memset(&cores, 0, sizeof(Seen))
    memset(&twice, 0, sizeof(Seen))
    c.words = m.words
    total = count_singles(m) + count_fans(m, &c, &cores, &twice)
    free(c.rows)
    free(c.keys.entries)
    free(c.keys.heads)
    free(cores.entries)
    free(cores.heads)
    free(twice.entries)
    free(twice.heads)
    return -1 if c.keys.failed or cores.failed or twice.failed else total
