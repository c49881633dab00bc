// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic of slots, for host and kernels. The slot of a neighbour is a point's slot plus a constant of the
// neighbour's offset, `delta`, modulo the number of slots (Layout::slot_delta). Where the neighbour lies outside the
// grid that is the slot of some other point.
#pragma once

#include "core/host_device.hpp"

namespace hyperplane {

/// `slot` plus `delta` modulo `slots`; both lie in [0, slots).
HYPERPLANE_HD_INLINE constexpr int slot_plus(int slot, int delta, int slots) {
    const unsigned there = unsigned(slot) + unsigned(delta);  // may exceed the largest int
    return int(there >= unsigned(slots) ? there - unsigned(slots) : there);
}
/// `slot` plus `delta`, which lies in [0, slots), modulo the slots of a kernel's arguments.
template <class Arguments>
HYPERPLANE_HD_INLINE int shifted_slot(const Arguments& a, int slot, int delta) {
    return slot_plus(slot, delta, a.slots);
}

}  // namespace hyperplane
