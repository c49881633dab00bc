// SPDX-License-Identifier: BSD-3-Clause
// What works on several ranks.
#pragma once

#include "core/parameters/parameters.hpp"

namespace hyperplane {

/// Throws one UsageError that lists what in a deck does not work on several ranks, with what does.
void check_ranks(const Parameters& parameters);

}  // namespace hyperplane
