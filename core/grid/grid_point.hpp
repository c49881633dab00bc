// SPDX-License-Identifier: BSD-3-Clause
// The host's side of grid_point.cuh: what kernels that follow points of a grid are specialised on.
#pragma once

#include <span>
#include <vector>

#include "core/device/rtc.hpp"
#include "core/grid/layout.hpp"

namespace hyperplane {

/// What grid_point.cuh asks for; `offsets` of a kernel's entries.
rtc::Definitions grid_point_definitions(const Layout& layout, std::span<const Int3> offsets);

/// Its `delta`.
std::vector<int> slot_deltas(const Layout& layout, std::span<const Int3> offsets);

}  // namespace hyperplane
