/* The compiled twin of sges.graph.completion.completed_rows; the reasons are given there. */
#include "kernels.h"
#include "masks.h"

/* One set per node, read from a tuple when first asked for. */
typedef struct {
    PyObject *tuple;
    Word *sets;
    char *read;
} Rows;

/* The work in hand: the graph before, the edited graph, a member DAG as far as it is needed (the
 * parents of a node in it), and the compelled among these parents. */
typedef struct {
    int n, words;
    Rows before_out, before_into, out, into;
    Word *dag_parents, *compelled;
    char *known_parents, *known_compelled;
    Word *region, *directed, *changed, *spare; /* spare: six sets for use by one function */
    int *count;
} Work;

static Word *row(Work *work, Rows *rows, int v)
{
    Word *set = rows->sets + (size_t)v * work->words;
    if (!rows->read[v]) {
        nodes_read(PyTuple_GET_ITEM(rows->tuple, v), set, work->n);
        rows->read[v] = 1;
    }
    return set;
}

static Word *dag_parents(Work *work, int v)
{
    Word *set = work->dag_parents + (size_t)v * work->words;
    if (!work->known_parents[v]) {
        Word *out = row(work, &work->out, v), *into = row(work, &work->into, v);
        for (int w = 0; w < work->words; w++)
            set[w] = into[w] & ~out[w];
        work->known_parents[v] = 1;
    }
    return set;
}

static Word *compelled(Work *work, int v)
{
    Word *set = work->compelled + (size_t)v * work->words;
    if (!work->known_compelled[v]) {
        Word *out = row(work, &work->before_out, v), *into = row(work, &work->before_into, v);
        for (int w = 0; w < work->words; w++)
            set[w] = into[w] & ~out[w];
        work->known_compelled[v] = 1;
    }
    return set;
}

/* Add to `component` every node that undirected edges join to v. */
static void join_component(Work *work, Rows *outs, Rows *intos, int v, Word *component)
{
    Word *todo = work->spare + 5 * work->words;
    memset(todo, 0, (size_t)work->words * 8);
    add(todo, v);
    add(component, v);
    while ((v = take_lowest(todo, work->words)) >= 0) {
        Word *out = row(work, outs, v), *into = row(work, intos, v);
        for (int w = 0; w < work->words; w++) {
            Word fresh = out[w] & into[w] & ~component[w];
            component[w] |= fresh;
            todo[w] |= fresh;
        }
    }
}

/* Tell whether v can be the last of the nodes left (Dor & Tarsi 1992). */
static int can_be_sink(Work *work, int v, const Word *left)
{
    int words = work->words;
    Word *out = row(work, &work->out, v), *into = row(work, &work->into, v);
    for (int w = 0; w < words; w++)
        if (out[w] & ~into[w] & left[w])
            return 0;
    FOR_EACH(u, words, out[w] & into[w] & left[w])
    {
        Word *u_out = row(work, &work->out, u), *u_into = row(work, &work->into, u);
        for (int i = 0; i < words; i++) {
            Word apart = (out[i] | into[i]) & left[i] & ~(u_out[i] | u_into[i]);
            if (i == u >> 6)
                apart &= ~((Word)1 << (u & 63));
            if (apart)
                return 0;
        }
    }
    return 1;
}

/* Direct the edited graph inside the region; return 0 if that cannot be done. */
static int extend_consistently(Work *work)
{
    int words = work->words;
    Word *left = work->spare, *todo = left + words;
    memcpy(left, work->region, (size_t)words * 8);
    memcpy(todo, work->region, (size_t)words * 8);
    for (int v; (v = take_lowest(todo, words)) >= 0;) {
        if (!can_be_sink(work, v, left))
            continue;
        drop(left, v);
        Word *out = row(work, &work->out, v), *into = row(work, &work->into, v);
        Word *parents = dag_parents(work, v);
        for (int w = 0; w < words; w++) {
            parents[w] |= out[w] & into[w] & left[w];
            todo[w] |= (out[w] | into[w]) & left[w];
        }
    }
    return is_empty(left, words);
}

/* Direct the chain component of v by maximum cardinality search, if that is still to be done. */
static void direct(Work *work, int v)
{
    int words = work->words;
    if (has(work->directed, v))
        return;
    Word *left = work->spare + 2 * words, *earlier = left + words;
    memset(left, 0, (size_t)words * 16);
    join_component(work, &work->out, &work->into, v, left);
    for (int w = 0; w < words; w++)
        work->directed[w] |= left[w];
    drop(left, v);
    if (is_empty(left, words))
        return;
    add(left, v);
    FOR_EACH(u, words, left[w]) work->count[u] = 0;
    while (!is_empty(left, words)) {
        int next = -1;
        FOR_EACH(u, words, left[w]) next = next < 0 || work->count[u] > work->count[next] ? u : next;
        Word *out = row(work, &work->out, next), *into = row(work, &work->into, next);
        Word *parents = dag_parents(work, next);
        drop(left, next);
        for (int w = 0; w < words; w++)
            parents[w] |= out[w] & into[w] & earlier[w];
        FOR_EACH(u, words, out[w] & into[w] & left[w]) work->count[u]++;
        add(earlier, next);
    }
}

/* Label the edges into v: sges.graph.equivalence.compelled_parents. */
static void label(Work *work, int v, Word *found)
{
    int words = work->words;
    Word *parents = dag_parents(work, v), *childless = work->spare + 4 * words;
    memcpy(childless, parents, (size_t)words * 8);
    FOR_EACH(z, words, parents[w])
    {
        Word *above = dag_parents(work, z);
        for (int i = 0; i < words; i++)
            childless[i] &= ~above[i];
    }
    int x = lowest(childless, words);
    if (x < 0) { /* v has no parents */
        memset(found, 0, (size_t)words * 8);
        return;
    }
    Word *above = dag_parents(work, x), *decided = compelled(work, x);
    memcpy(childless, parents, (size_t)words * 8);
    drop(childless, x); /* now: the other parents */
    int all = exceeds(decided, parents, words) || exceeds(childless, above, words);
    memcpy(found, all ? parents : decided, (size_t)words * 8);
}

static void add_dag_children(Work *work, int v, Word *set)
{
    Word *out = row(work, &work->out, v), *into = row(work, &work->into, v);
    for (int w = 0; w < work->words; w++)
        set[w] |= out[w] & ~into[w];
    FOR_EACH(u, work->words, out[w] & into[w]) if (has(dag_parents(work, u), v)) add(set, u);
}

/* Label the region, the children of x and y, and whatever follows from a label that changed. */
static void settle(Work *work, int x, int y)
{
    int words = work->words;
    Word *todo = work->spare, *found = todo + words;
    memcpy(todo, work->region, (size_t)words * 8);
    for (int k = 0, v = x; k < 2; k++, v = y) {
        Word *out = row(work, &work->out, v), *into = row(work, &work->into, v);
        for (int w = 0; w < words; w++)
            todo[w] |= out[w] & ~into[w];
    }
    for (int v; (v = take_lowest(todo, words)) >= 0;) {
        direct(work, v);
        Word *parents = dag_parents(work, v);
        FOR_EACH(p, words, parents[w] & ~work->directed[w]) direct(work, p);
        label(work, v, found);
        Word *known = compelled(work, v);
        if (same(found, known, words))
            continue;
        memcpy(known, found, (size_t)words * 8);
        add(work->changed, v);
        add_dag_children(work, v, todo);
    }
}

/* Make the edges into v as they are labelled; note the rows that change. */
static void write_labels(Work *work, int v, Word *touched)
{
    int words = work->words;
    Word *into = row(work, &work->into, v), *out = row(work, &work->out, v);
    Word *known = compelled(work, v);
    FOR_EACH(p, words, into[w] & out[w] & known[w])
    { /* p - v becomes p -> v */
        drop(out, p);
        drop(row(work, &work->into, p), v);
        add(touched, p);
        add(touched, v);
    }
    FOR_EACH(p, words, into[w] & ~out[w] & ~known[w])
    { /* p -> v becomes p - v */
        add(out, p);
        add(row(work, &work->into, p), v);
        add(touched, p);
        add(touched, v);
    }
}

/* Return a copy of a tuple of rows with the touched ones written anew. */
static PyObject *rewritten(Work *work, Rows *rows, const Word *touched)
{
    PyObject *copy = PyTuple_New(work->n);
    for (int v = 0; copy != NULL && v < work->n; v++) {
        PyObject *item;
        if (has(touched, v))
            item = mask_write(row(work, rows, v), work->words);
        else
            item = Py_NewRef(PyTuple_GET_ITEM(rows->tuple, v));
        if (item == NULL)
            Py_CLEAR(copy);
        else
            PyTuple_SET_ITEM(copy, v, item);
    }
    return copy;
}

static PyObject *complete(Work *work, int x, int y)
{
    int words = work->words;
    join_component(work, &work->before_out, &work->before_into, x, work->region);
    join_component(work, &work->before_out, &work->before_into, y, work->region);
    memcpy(work->directed, work->region, (size_t)words * 8);
    int extended = extend_consistently(work);
    if (PyErr_Occurred())
        return NULL;
    if (!extended)
        Py_RETURN_NONE;
    settle(work, x, y);
    Word *touched = work->spare;
    memset(touched, 0, (size_t)words * 8);
    FOR_EACH(v, words, work->region[w] | work->changed[w]) write_labels(work, v, touched);
    if (PyErr_Occurred())
        return NULL;
    PyObject *out = rewritten(work, &work->out, touched);
    PyObject *into = rewritten(work, &work->into, touched);
    if (out != NULL && into != NULL)
        return Py_BuildValue("(NN)", out, into);
    Py_XDECREF(out);
    Py_XDECREF(into);
    return NULL;
}

/* Cut one block of memory into the parts of the work; return the block. */
static char *lay_out(Work *work, PyObject *const *args)
{
    size_t n = (size_t)work->n, table = n * (size_t)work->words * 8, set = (size_t)work->words * 8;
    char *block = PyMem_Malloc(6 * table + 9 * set + n * sizeof(int) + 6 * n);
    if (block == NULL)
        return NULL;
    char *at = block;
    char *flags = block + 6 * table + 9 * set + n * sizeof(int);
    memset(block + 6 * table, 0, 9 * set);
    memset(flags, 0, 6 * n);
    Rows *rows[4] = {&work->before_out, &work->before_into, &work->out, &work->into};
    for (int k = 0; k < 4; k++, at += table, flags += n)
        *rows[k] = (Rows){args[k], (Word *)at, flags};
    work->dag_parents = (Word *)at;
    work->compelled = (Word *)(at + table);
    work->known_parents = flags;
    work->known_compelled = flags + n;
    at += 2 * table;
    work->region = (Word *)at;
    work->directed = work->region + work->words;
    work->changed = work->directed + work->words;
    work->spare = work->changed + work->words;
    work->count = (int *)(at + 9 * set);
    return block;
}

PyObject *completed_rows(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    int good = count == 6;
    for (int k = 0; good && k < 4; k++)
        good = PyTuple_Check(args[k]) && PyTuple_GET_SIZE(args[k]) == PyTuple_GET_SIZE(args[0]);
    if (!good)
        return PyErr_Format(PyExc_TypeError, "completed_rows(four tuples of rows, x, y)");
    long x = PyLong_AsLong(args[4]), y = PyLong_AsLong(args[5]);
    Work work = {.n = (int)PyTuple_GET_SIZE(args[0])};
    work.words = (work.n + 63) / 64;
    if (PyErr_Occurred())
        return NULL;
    if (x < 0 || y < 0 || x >= work.n || y >= work.n)
        return PyErr_Format(PyExc_IndexError, "there is no node %ld or %ld", x, y);
    char *block = lay_out(&work, args);
    if (block == NULL)
        return PyErr_NoMemory();
    PyObject *rows = complete(&work, (int)x, (int)y);
    PyMem_Free(block);
    return rows;
}
