// SPDX-License-Identifier: BSD-3-Clause
// Where a coefficient of factors lies, for host and kernels: the place of entry, slot, row and column among values that
// begin at 0, each entry having room for `slots`.
//
//     together   [entry][slot][row][col]     a block is contiguous, those of neighbouring slots follow each other; what
//                                            kernels on a GPU read
//     apart      [entry][row][col][slot]     as StructMatrix keeps them; what a CPU reads
#pragma once

#include "core/host_device.hpp"

namespace hyperplane {

enum class CoefficientOrder { apart, together };

template <class Count>
HYPERPLANE_HD_INLINE constexpr Count place_together(Count slots, int dof, int entry, Count slot, int row, int col) {
    return (entry * slots + slot) * (dof * dof) + (row * dof + col);
}
template <class Count>
HYPERPLANE_HD_INLINE constexpr Count place_apart(Count slots, int dof, int entry, Count slot, int row, int col) {
    return (entry * (dof * dof) + (row * dof + col)) * slots + slot;
}
template <class Count>
HYPERPLANE_HD_INLINE constexpr Count place_of(CoefficientOrder places, Count slots, int dof, int entry, Count slot,
                                              int row, int col) {
    return places == CoefficientOrder::together ? place_together(slots, dof, entry, slot, row, col)
                                                : place_apart(slots, dof, entry, slot, row, col);
}

}  // namespace hyperplane
