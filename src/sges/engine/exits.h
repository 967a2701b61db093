/* Leaving the engine from anywhere inside: out of memory, out of time, or an error of a score.
 *
 * Everything that the engine allocates belongs to the run, so that nothing is lost on the way out.
 */
#ifndef SGES_EXITS_H
#define SGES_EXITS_H

#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

/* In a build for tests, the number of the allocation that fails; -1 is none. */
#ifdef SGES_TEST_MEMORY
#define CAN_RUN_OUT 1
static long long allocations_left = -1;
static inline int runs_out(void) { return allocations_left >= 0 && allocations_left-- == 0; }
#define malloc(size) (runs_out() ? NULL : malloc(size))
#define calloc(count, size) (runs_out() ? NULL : calloc(count, size))
#define realloc(block, size) (runs_out() ? NULL : realloc(block, size))
#else
#define CAN_RUN_OUT 0
static long long allocations_left = -1;
#endif

typedef struct {
    jmp_buf place;
    int status;
} Exit;

/* Do the work; return 0, or the status with which it was left. */
static inline int guarded(Exit *exit, void (*work)(void *), void *argument)
{
    if (setjmp(exit->place))
        return exit->status;
    work(argument);
    return 0;
}

#if defined(__GNUC__) || defined(__clang__)
__attribute__((noreturn))
#endif
static inline void leave(Exit *exit, int status)
{
    exit->status = status;
    longjmp(exit->place, 1);
}

#if defined(__GNUC__) || defined(__clang__)
static inline int lowest_bit(uint64_t word) { return __builtin_ctzll(word); }
static inline int count_bits(uint64_t word) { return __builtin_popcountll(word); }
#else
static inline int count_bits(uint64_t word)
{
    int count = 0;
    for (; word; word &= word - 1)
        count++;
    return count;
}
static inline int lowest_bit(uint64_t word) { return count_bits((word & (0 - word)) - 1); }
#endif

/* Begin to fetch a place into the cache, because it will be read soon. */
#if defined(__GNUC__)
static inline void prefetch(const void *place) { __builtin_prefetch(place); }
#else
static inline void prefetch(const void *place) { (void)place; }
#endif

/* A well-mixed number for each number (the finalizer of splitmix64). */
static inline uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Use large pages for large blocks, if the system has them: there are fewer page faults and fewer
 * TLB misses.  Returns the block. */
#ifdef __linux__
#include <sys/mman.h>
enum { LARGE_BLOCK = 1 << 22, PAGE = 1 << 12 };
static inline void *in_large_pages(void *block, size_t bytes)
{
    uintptr_t first = ((uintptr_t)block + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    uintptr_t end = ((uintptr_t)block + bytes) & ~(uintptr_t)(PAGE - 1);
    if (block != NULL && bytes >= LARGE_BLOCK)
        madvise((void *)first, end - first, MADV_HUGEPAGE); /* if it cannot be, nothing is lost */
    return block;
}
#else
static inline void *in_large_pages(void *block, size_t bytes)
{
    (void)bytes;
    return block;
}
#endif

#ifdef _WIN32
#include <windows.h>
static inline double seconds_now(void)
{
    LARGE_INTEGER count, frequency;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&frequency);
    return (double)count.QuadPart / (double)frequency.QuadPart;
}
#else
#include <time.h>
static inline double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
#endif

#endif
