// SPDX-License-Identifier: BSD-3-Clause
// What a log of roundings says (precond/factors/storage.hpp).
#pragma once

#include "precond/factors/pivot_log.hpp"
#include "precond/factors/storage.hpp"

namespace hyperplane {

/// The events of a log that the host has read; `parts` is that of rounding_by.
Rounding events_of(const RoundingLog& met, const Grid& grid, int dof, int parts);

}  // namespace hyperplane
