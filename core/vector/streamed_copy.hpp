// SPDX-License-Identifier: BSD-3-Clause
// Copies to memory that is not read soon, past a CPU's caches: a store that a cache takes first reads what it replaces.
#pragma once

#include <algorithm>
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "core/types.hpp"

namespace hyperplane {

/// Arrays of so many bytes in all are copied past the caches, which smaller ones stay in until they are read.
constexpr Index least_streamed = Index(8) << 20;

/// Copies of lines by one thread. Others may read them once it is destroyed and the threads have met.
class StreamedCopy {
public:
    explicit StreamedCopy(bool past_caches) : past_caches_(past_caches) {}
    StreamedCopy(const StreamedCopy&) = delete;
    StreamedCopy& operator=(const StreamedCopy&) = delete;

#if defined(__AVX2__)
    ~StreamedCopy() {
        if (past_caches_) _mm_sfence();
    }
    void copy(const double* from, int count, double* to) const {
        constexpr int width = 4, line = 8;  // values of a store, and of a line of the cache
        if (!past_caches_ || count < 4 * line) {
            std::copy_n(from, count, to);
            return;
        }
        const int first = int((64 - reinterpret_cast<std::uintptr_t>(to) % 64) % 64 / sizeof(double));
        const int end = first + (count - first) / line * line;
        std::copy_n(from, first, to);
        for (int t = first; t < end; t += width) _mm256_stream_pd(to + t, _mm256_loadu_pd(from + t));
        std::copy_n(from + end, count - end, to + end);
    }
#else
    void copy(const double* from, int count, double* to) const {
        std::copy_n(from, count, to);
    }
#endif

private:
    bool past_caches_;
};

}  // namespace hyperplane
