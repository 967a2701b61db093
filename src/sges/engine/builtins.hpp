// What compilers offer beyond the standard, each with a plain path (SGES_PLAIN builds all of them).
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(SGES_PLAIN) && (defined(__GNUC__) || defined(__clang__))
#define SGES_BUILTINS 1
#else
#define SGES_BUILTINS 0
#endif

#if SGES_BUILTINS && defined(__linux__)
#include <sys/mman.h>
#endif

namespace sges {

inline int count_bits(std::uint64_t word) {
#if SGES_BUILTINS
    return __builtin_popcountll(word);
#else
    int count = 0;
    for (; word; word &= word - 1) count++;
    return count;
#endif
}

inline int lowest_bit(std::uint64_t word) {  // of a word that is not 0
#if SGES_BUILTINS
    return __builtin_ctzll(word);
#else
    return count_bits((word & (0 - word)) - 1);
#endif
}

// Use large pages for a large block where the system has them: fewer page faults and TLB misses.
inline void prefer_large_pages(void* block, std::size_t bytes) {
#if SGES_BUILTINS && defined(__linux__)
    constexpr std::uintptr_t page = 4096;
    constexpr std::size_t large = std::size_t{1} << 22;
    if (bytes < large) return;
    std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(block) + page - 1) & ~(page - 1);
    std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(block) + bytes) & ~(page - 1);
    madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);  // or nothing is lost
#else
    (void)block, (void)bytes;
#endif
}

}  // namespace sges

// A second version of a function for processors with AVX2, chosen when the library is loaded.
#if SGES_BUILTINS && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SGES_FOR_EACH_MACHINE __attribute__((target_clones("avx2", "default")))
#else
#define SGES_FOR_EACH_MACHINE
#endif

#if SGES_BUILTINS
#define SGES_INLINE inline __attribute__((always_inline))
#define SGES_RESTRICT __restrict__
#else
#define SGES_INLINE inline
#define SGES_RESTRICT
#endif

// The next loop may write to where it reads, but nowhere that it reads later.
#if SGES_BUILTINS && !defined(__clang__)
#define SGES_SIDE_BY_SIDE _Pragma("GCC ivdep")
#else
#define SGES_SIDE_BY_SIDE
#endif

namespace sges {

// Begin to fetch bytes into the cache, because they will be read soon.
inline void prefetch(const void* from, std::size_t bytes) {
#if SGES_BUILTINS
    for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(static_cast<const char*>(from) + at, 0, 2);
#else
    (void)from, (void)bytes;
#endif
}

}  // namespace sges
