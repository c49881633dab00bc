// SPDX-License-Identifier: BSD-3-Clause
// Unit triangles of points of three to eight unknowns, on tensor cores (precond/par_ilu/tensor.cuh).
#pragma once

#include "precond/par_ilu/tensor.cuh"

namespace hyperplane {

/// Replaces E by W = E D^-1 and F by G = D^-1 F in `after`, and reports coefficients of E and F that are not finite.
extern "C" __global__ void __launch_bounds__(threads, 2) unit_triangles(const __grid_constant__ Arguments a) {
    constexpr int group_size = entries <= 13 ? 7 : 6;  // entries whose blocks are requested together
    const Chunk chunk(a, block_points<Pass::guess>);
#pragma unroll 1
    for (int round = 0; round < rounds<Pass::guess>; ++round) {
        const int first = round * round_points + threadIdx.x / 32 * points;
        if (first >= chunk.count) return;
        const PointOfWarp mine(a, chunk, first + threadIdx.x % 32 / (32 / points));
        const Point& p = mine.p;
        const Operand inverse = mine.left(a.entry[LOWER].after, p.slot, true);
        NotFinite not_finite;
        unrolled<0, (entries + group_size - 1) / group_size>([&](auto group) {
            constexpr int begin = group.value * group_size;
            constexpr int end = begin + group_size < entries ? begin + group_size : entries;
            Operand own[group_size], other[group_size];
            unrolled<begin, end>([&](auto entry) {
                constexpr int e = entry.value, at = e - begin;
                if constexpr (e < LOWER) {
                    own[at] = mine.left(a.entry[e].after, p.slot, p.has_neighbour(a, e));
                    other[at] = mine.right<false>(a.entry[LOWER].after, p.near_or_own(a, e));
                } else if constexpr (e > LOWER) {
                    own[at] = mine.right<false>(a.entry[e].after, p.slot);
                }
            });
            __syncwarp();  // all threads of a point have read its blocks
            unrolled<begin, end>([&](auto entry) {
                constexpr int e = entry.value, at = e - begin;
                if constexpr (e == LOWER) return;
                Block x{};
                if constexpr (e < LOWER)
                    mine.multiply_add<1>(own[at], other[at], x);
                else
                    mine.multiply_add<1>(inverse, own[at], x);
#pragma unroll
                for (int h = 0; h < steps; ++h)
                    not_finite.look_at(e, min(e < LOWER ? mine.r : mine.col(h), DOF - 1), own[at].v[h]);
                if (p.has_neighbour(a, e)) mine.store(a.entry[e].after, x);
            });
        });
        if (!__any_sync(~0u, not_finite.key != NotFinite::none)) continue;
        not_finite.gather<32 / points>();
        if (mine.exists && mine.lane % (32 / points) == 0) not_finite.report(a, p.slot);
    }
}

}  // namespace hyperplane
