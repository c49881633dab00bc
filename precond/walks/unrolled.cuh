// SPDX-License-Identifier: BSD-3-Clause
// Loops that are unrolled whatever their length, and tables for them.
//
// Definitions: UNROLLED, where a text uses TABLE.
#pragma once

namespace hyperplane {

/// Begins the definition of a table of integers: indexed by constants, once loops are unrolled, or (UNROLLED = 0) by
/// numbers that are known only while the kernel runs.
#if UNROLLED
#define TABLE __device__ constexpr int
#else
#define TABLE __constant__ const int
#endif

template <int n>
struct Constant {
    static constexpr int value = n;
};
/// Calls body(Constant<begin>), ..., body(Constant<end - 1>).
template <int begin, int end, class Body>
__device__ __forceinline__ void unrolled(const Body& body) {
    if constexpr (end - begin == 1) {
        body(Constant<begin>{});
    } else if constexpr (begin < end) {
        unrolled<begin, (begin + end) / 2>(body);  // in halves, since compilers limit how deep templates nest
        unrolled<(begin + end) / 2, end>(body);
    }
}

}  // namespace hyperplane
