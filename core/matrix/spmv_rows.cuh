// SPDX-License-Identifier: BSD-3-Clause
// The products of the rows of a slot, for the kernels of core/matrix/spmv.cuh, which has the definitions.
#pragma once

#include "core/grid/grid_point.cuh"
#include "core/matrix/arguments.hpp"
#include "core/matrix/sums.cuh"

namespace hyperplane {

using Arguments = SpmvArguments<ENTRIES, REAL>;

constexpr int unroll_entries = DOF <= 2 ? ENTRIES : 1;

#if EXACT
typedef ExactSum Sum;
#else
typedef PlainSum Sum;
#endif

/// Slot of the neighbour at offset e, -1 where there is none.
__device__ __forceinline__ int neighbour(const Arguments& a, int slot, int e) {
    if (!PERIODIC) return neighbour_slot(a, slot, e);
    GridPoint p = GridPoint::at(a, slot).neighbour(e);
    if (a.periodic_x) p.i = (p.i + a.nx) % a.nx;
    if (a.periodic_y) p.j = (p.j + a.ny) % a.ny;
    if (a.periodic_z) p.k = (p.k + a.nz) % a.nz;
    return p.in_grid(a) ? p.slot(a) : -1;
}

__device__ __forceinline__ REAL coefficient(const REAL* at) {
    return ONCE ? __ldcs(at) : __ldg(at);
}

/// Adds the products of ROWS rows of a slot, from first_row on.
__device__ __forceinline__ void add_products(const Arguments& a, int slot, int first_row, Sum (&sum)[ROWS]) {
#pragma unroll(unroll_entries)
    for (int e = 0; e < ENTRIES; ++e) {
        const int there = neighbour(a, slot, e);
        if (PERIODIC && there < 0) continue;
        const bool mirrored = e >= STORED;
        const REAL* block =
            a.a + (long long)(mirrored ? ENTRIES - 1 - e : e) * DOF * DOF * a.stride + (mirrored ? there : slot);
#pragma unroll(DOF <= 8 ? DOF : 4)
        for (int c = 0; c < DOF; ++c) {
            const double x = __ldg(a.x + (long long)c * a.slots + there);
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const int row = first_row + r;
                if (row < DOF)
                    sum[r].add_product(
                        coefficient(block + (long long)(mirrored ? c * DOF + row : row * DOF + c) * a.stride), x);
            }
        }
    }
}

}  // namespace hyperplane
