/* Sets of nodes as arrays of 64-bit words, and how they come from Python's integers and go back.
 *
 * A set of n nodes takes `words` = (n + 63) / 64 words, the lowest nodes in the first.  Rows are
 * one set per node: a tuple of integers, of which a row is read only when it is asked for.
 */
#ifndef SGES_MASKS_H
#define SGES_MASKS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "words are read as little-endian bytes; without the kernels the package works all the same"
#endif

typedef uint64_t Word;

/* Return how many words an integer needs; 0 for what is none. */
static inline int mask_words(PyObject *mask)
{
    if (!PyLong_Check(mask))
        return 0;
#if PY_VERSION_HEX >= 0x030D0000
    Py_ssize_t bytes = PyLong_AsNativeBytes(mask, NULL, 0, Py_ASNATIVEBYTES_UNSIGNED_BUFFER);
    return (int)(bytes + 7) / 8;
#else
    return (int)((_PyLong_NumBits(mask) + 63) / 64);
#endif
}

#if PY_VERSION_HEX < 0x030C0000
/* Read and write digits as they lie: Python's own functions go byte by byte, which takes most of
 * the time of a search on many nodes.  Return 0 for what does not fit. */
static inline int digits_read(const PyLongObject *mask, Word *set, int words)
{
    Py_ssize_t digits = Py_SIZE(mask);
    memset(set, 0, (size_t)words * 8);
    for (Py_ssize_t i = 0, bit = 0; i < digits; i++, bit += PyLong_SHIFT) {
        Word digit = mask->ob_digit[i];
        Py_ssize_t w = bit >> 6, shift = bit & 63;
        Word beyond = shift > 64 - PyLong_SHIFT ? digit >> (64 - shift) : 0;
        if (w >= words || (beyond && w + 1 >= words))
            return 0;
        set[w] |= digit << shift;
        if (beyond)
            set[w + 1] |= beyond;
    }
    return digits >= 0;
}

static inline PyObject *digits_write(const Word *set, int words)
{
    while (words && !set[words - 1])
        words--;
    if (words <= 1)
        return PyLong_FromUnsignedLongLong(words ? set[0] : 0);
    Py_ssize_t bits = 64 * (Py_ssize_t)words - __builtin_clzll(set[words - 1]);
    PyLongObject *mask = _PyLong_New((bits + PyLong_SHIFT - 1) / PyLong_SHIFT);
    if (mask == NULL)
        return NULL;
    for (Py_ssize_t i = 0, bit = 0; bit < bits; i++, bit += PyLong_SHIFT) {
        Py_ssize_t w = bit >> 6, shift = bit & 63;
        Word part = set[w] >> shift;
        if (shift > 64 - PyLong_SHIFT && w + 1 < words)
            part |= set[w + 1] << (64 - shift);
        mask->ob_digit[i] = (digit)(part & PyLong_MASK);
    }
    return (PyObject *)mask;
}
#endif

/* Read an integer into words.  What does not fit, or is no integer, leaves a Python error and the
 * empty set: callers look for the error once, at their end. */
static inline void mask_read(PyObject *mask, Word *set, int words)
{
    Py_ssize_t size = (Py_ssize_t)words * 8;
    if (!PyLong_Check(mask)) {
        PyErr_SetString(PyExc_TypeError, "a set of nodes must be an integer");
        memset(set, 0, (size_t)size);
        return;
    }
    if (size == 0) /* sets of no nodes: there is nothing to hold them */
        return;
#if PY_VERSION_HEX >= 0x030D0000
    int flags = Py_ASNATIVEBYTES_LITTLE_ENDIAN | Py_ASNATIVEBYTES_UNSIGNED_BUFFER
                | Py_ASNATIVEBYTES_REJECT_NEGATIVE;
    Py_ssize_t needed = PyLong_AsNativeBytes(mask, set, size, flags);
    if (needed < 0 || needed > size) {
        if (needed > size)
            PyErr_SetString(PyExc_OverflowError, "a set holds a node that does not exist");
        memset(set, 0, (size_t)size);
    }
#else
#if PY_VERSION_HEX < 0x030C0000
    if (digits_read((PyLongObject *)mask, set, words))
        return;
#endif
    if (_PyLong_AsByteArray((PyLongObject *)mask, (unsigned char *)set, (size_t)size, 1, 0) < 0)
        memset(set, 0, (size_t)size);
#endif
}

/* Read a set of some of n nodes: as above, and other nodes are an error too. */
static inline void nodes_read(PyObject *mask, Word *set, Py_ssize_t n)
{
    int words = (int)(n + 63) / 64;
    mask_read(mask, set, words);
    if (n % 64 && set[words - 1] >> (n % 64)) {
        PyErr_SetString(PyExc_OverflowError, "a set holds a node that does not exist");
        memset(set, 0, (size_t)words * 8);
    }
}

static inline PyObject *mask_write(const Word *set, int words)
{
#if PY_VERSION_HEX >= 0x030D0000
    return PyLong_FromUnsignedNativeBytes(set, (size_t)words * 8, Py_ASNATIVEBYTES_LITTLE_ENDIAN);
#elif PY_VERSION_HEX < 0x030C0000
    return digits_write(set, words);
#else
    return _PyLong_FromByteArray((const unsigned char *)set, (size_t)words * 8, 1, 0);
#endif
}

static inline int has(const Word *set, int v) { return (int)(set[v >> 6] >> (v & 63) & 1); }
static inline void add(Word *set, int v) { set[v >> 6] |= (Word)1 << (v & 63); }
static inline void drop(Word *set, int v) { set[v >> 6] &= ~((Word)1 << (v & 63)); }

/* Return the lowest node of a set, or -1. */
static inline int lowest(const Word *set, int words)
{
    for (int w = 0; w < words; w++)
        if (set[w])
            return 64 * w + __builtin_ctzll(set[w]);
    return -1;
}

/* Take the lowest node out of a set and return it, or -1. */
static inline int take_lowest(Word *set, int words)
{
    int v = lowest(set, words);
    if (v >= 0)
        set[v >> 6] &= set[v >> 6] - 1;
    return v;
}

static inline int is_empty(const Word *set, int words) { return lowest(set, words) < 0; }

/* Tell whether a set holds something that another lacks. */
static inline int exceeds(const Word *set, const Word *other, int words)
{
    for (int w = 0; w < words; w++)
        if (set[w] & ~other[w])
            return 1;
    return 0;
}

static inline int same(const Word *set, const Word *other, int words)
{
    return memcmp(set, other, (size_t)words * 8) == 0;
}

/* Visit the nodes of `expression`, an expression in the index w of a word. */
#define FOR_EACH(v, words, expression)                                   \
    for (int w = 0; w < (words); w++)                                    \
        for (Word left_ = (expression); left_; left_ &= left_ - 1)       \
            for (int v = 64 * w + __builtin_ctzll(left_), once_ = 1; once_; once_ = 0)

#endif
