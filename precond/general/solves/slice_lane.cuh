// SPDX-License-Identifier: BSD-3-Clause
// What one lane of a warp has of a slice (precond/general/orders/slices.hpp).
//
// Definitions: DOF.

#include "precond/general/orders/slice.hpp"

namespace hyperplane {

struct SliceLane {
    int row, group, r;  // of the slice, of the row, and of a block
    int first;          // the lane that has the row's first row of a block
    int blocks;         // that are adjacent: one of each group of each row
    int active;         // lanes of the warp that have a row
    long long position;

    __device__ __forceinline__ SliceLane(const SolveSlice& slice, int lane) {
        const int lanes = slice.lanes * DOF;
        row = lane / lanes;
        first = row * lanes;
        group = (lane - first) / DOF;
        r = (lane - first) % DOF;
        blocks = slice.rows * slice.lanes;
        active = blocks * DOF;
        position = (long long)slice.first + row;
    }
    __device__ __forceinline__ unsigned mask() const { return ~0u >> (32 - active); }
    /// Block e of the lane's group.
    __device__ __forceinline__ long long column(const SolveSlice& slice, int e, int lane) const {
        return slice.begin + (long long)e * blocks + lane / DOF;
    }
    /// Element (r, c) of that block.
    __device__ __forceinline__ long long value(const SolveSlice& slice, int e, int c, int lane) const {
        return ((slice.begin + (long long)e * blocks) * DOF + (long long)c * blocks) * DOF + lane;
    }
    /// Element (r, c) of the inverse of the row's diagonal block.
    __device__ __forceinline__ long long inverse(const SolveSlice& slice, int c) const {
        return ((long long)slice.first * DOF + c * slice.rows) * DOF + row * DOF + r;
    }
};

}  // namespace hyperplane
