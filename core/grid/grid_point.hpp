// SPDX-License-Identifier: BSD-3-Clause
// What kernels that include core/grid/grid_point.cuh are specialised on, and their arguments' `delta`.
#pragma once

#include <span>

#include "core/device/rtc.hpp"
#include "core/grid/layout.hpp"

namespace hyperplane {

/// `offsets`: of the kernel's entries.
rtc::Definitions grid_point_definitions(const Layout& layout, std::span<const Int3> offsets);

/// Throws UsageError where a kernel's argument has no room for the entries of a stencil.
void check_entries(std::size_t entries, std::size_t room);

/// Writes, for each offset, the slot of p + offset minus the slot of p, modulo the slots. Throws UsageError where there
/// are more offsets than `deltas` has room for.
void slot_deltas(const Layout& layout, std::span<const Int3> offsets, std::span<int> deltas);

}  // namespace hyperplane
