// SPDX-License-Identifier: BSD-3-Clause
// Where the parts of all ranks lie. Code that needs only its own rank's part calls part_of (core/ranks/cuts.hpp).
#pragma once

#include <vector>

#include "core/device/context.hpp"

namespace hyperplane {

/// The first plane of each rank's part of a grid with so many planes along z, and the number of planes behind them. The
/// context must have ranks.
std::vector<int> cuts_between_ranks(const Context& context, int planes);
/// The number of planes of which cuts lie at multiples alone (core/ranks/aligned.hpp). The context must have ranks.
int planes_between_cuts(const Context& context);

}  // namespace hyperplane
