// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic of slots, for host and kernels: of points in the two kinds of layout (core/grid/layout.hpp), and of
// neighbours. The slot of a neighbour is a point's slot plus a constant of the neighbour's offset, `delta`, modulo the
// number of slots (Layout::slot_delta). Where the neighbour lies outside the grid, the sum is the slot of some other
// point.
//
// More files write the formulas out themselves. In precond/multicolor/placed_point.cuh, precond/walks/tile_lines.cuh
// and precond/multigrid/coarse_point.cuh (`shifted`) calls of these functions would change the machine code of kernels.
// precond/ilu/permutation_cuda.cu and precond/triangular/wavefront/blocks.cuh already have the level modulo nx. In
// precond/fgbilu/between_ranks.cuh records of a few planes are numbered likewise, and in
// precond/par_ilu/staged_copies.cuh slots move on by whole planes.
#pragma once

#include "core/host_device.hpp"

namespace hyperplane {

/// The slot of a point in natural order. Number is int where there are fewer than 2^31 slots, else a type of 64 bits.
template <class Number = int>
HYPERPLANE_HD_INLINE constexpr Number natural_slot(int i, int j, int k, int nx, int ny) {
    return i + nx * (j + Number(ny) * k);
}
/// The slot of a point in the hyperplane layout, given its level.
template <class Number = int>
HYPERPLANE_HD_INLINE constexpr Number hyperplane_slot(int level, int j, int k, int nx, int ny, int nz) {
    return (Number(level % nx) * nz + k) * ny + j;
}
/// The coordinate along x of a point of the hyperplane layout: `rest` is slot / (ny nz), the level modulo nx, minus the
/// part of j and k in the level. The other two are slot mod ny and slot / ny mod nz.
template <class Number>
HYPERPLANE_HD_INLINE constexpr int x_of_rest(Number rest, int nx) {
    const int i = int(rest % nx);
    return i < 0 ? i + nx : i;
}

/// `slot` plus `delta` modulo `slots`; both lie in [0, slots).
template <class Number>
HYPERPLANE_HD_INLINE constexpr Number slot_plus(Number slot, Number delta, Number slots) {
    if constexpr (sizeof(Number) > sizeof(int)) {
        const Number there = slot + delta;
        return there >= slots ? there - slots : there;
    } else {
        const unsigned there = unsigned(slot) + unsigned(delta);  // may exceed the largest int
        return int(there >= unsigned(slots) ? there - unsigned(slots) : there);
    }
}
/// `slot` plus `delta`, which lies in [0, slots), modulo the slots of a kernel's arguments.
template <class Arguments>
HYPERPLANE_HD_INLINE int shifted_slot(const Arguments& a, int slot, int delta) {
    return slot_plus<int>(slot, delta, a.slots);
}

}  // namespace hyperplane
