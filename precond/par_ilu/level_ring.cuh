// SPDX-License-Identifier: BSD-3-Clause
// A kernel that makes all sweeps of a level (precond/par_ilu/levels.cuh) keeps the last levels in a ring. This file
// says which blocks of a level the ring holds, and in which order a sweep reads them.
#pragma once

#include "precond/par_ilu/tensor.cuh"

namespace hyperplane {

constexpr int window = 8;  // blocks of the ring that are requested ahead of their use

/// Whether a pair reads F_u of a lower neighbour.
__device__ constexpr bool is_read(int u) {
    for (int pair = 0; pair < pairs; ++pair)
        if (pair_u[pair] == u) return true;
    return false;
}
/// The number of entries before e that are read, and that sweeps change or do not change.
__device__ constexpr int read_before(int e, bool changed) {
    int count = 0;
    for (int u = LOWER + 1; u < e; ++u) count += is_read(u) && has_pairs(u) == changed;
    return count;
}
constexpr int fixed_values = read_before(ENTRIES, false), sweep_values = 1 + read_before(ENTRIES, true);

/// The blocks of the ring that a sweep uses, in this order: D^-1 of each lower neighbour, then the F of each pair that
/// sweeps change.
__device__ constexpr bool is_streamed(int pair) {
    return has_pairs(pair_u[pair]);
}
__device__ constexpr int item_of(int pair) {
    int item = LOWER;
    for (int before = 0; before < pair; ++before) item += is_streamed(before);
    return item;
}
__device__ constexpr int kept_before(int pair) {
    return pair - (item_of(pair) - LOWER);
}
__device__ constexpr int pair_of(int item) {
    int pair = 0;
    while (item_of(pair) != item || !is_streamed(pair)) ++pair;
    return pair;
}
constexpr int items = item_of(pairs), kept_blocks = pairs + LOWER - items;
constexpr int padded_items = (items + window - 1) / window * window;  // the window has the same items in each sweep

}  // namespace hyperplane
