// SPDX-License-Identifier: BSD-3-Clause
// What works on several ranks.
#pragma once

#include <string>

#include "core/device/context.hpp"
#include "core/parameters/parameters.hpp"

namespace hyperplane {

/// Whether the matrix that a deck asks for is general.
bool has_general_matrix(const Parameters& parameters);

/// Throws one UsageError that lists what in a deck does not work on several ranks, with what does.
void check_ranks(const Parameters& parameters);

}  // namespace hyperplane
