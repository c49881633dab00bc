// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic of slots, for host and kernels. The slot of a neighbour is a point's slot plus a constant of the
// neighbour's offset, `delta`, modulo the number of slots (Layout::slot_delta). Where the neighbour lies outside the
// grid that is the slot of some other point.
#pragma once

#include "core/host_device.hpp"

namespace hyperplane {

/// A slot below 2 `slots`, modulo `slots`.
HYPERPLANE_HD_INLINE constexpr int wrapped_slot(int slot, int slots) {
    return slot >= slots ? slot - slots : slot;
}
/// `slot` plus `delta`, which lies in [0, slots), modulo the slots of a kernel's arguments.
template <class Arguments>
HYPERPLANE_HD_INLINE int shifted_slot(const Arguments& a, int slot, int delta) {
    const unsigned there = unsigned(slot) + unsigned(delta);  // may exceed the largest int
    return int(there >= unsigned(a.slots) ? there - unsigned(a.slots) : there);
}

}  // namespace hyperplane
