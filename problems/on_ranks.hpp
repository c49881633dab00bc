// SPDX-License-Identifier: BSD-3-Clause
// A problem on one of several ranks: every state is given its halo before the problem reads it.
#pragma once

#include <memory>

#include "core/interfaces/problem.hpp"

namespace hyperplane {

/// `problem` with states, and matrices that get their halos, too, whose halos are exchanged with the other ranks. All
/// ranks must call each function at the same time.
std::shared_ptr<const Problem> on_ranks(std::shared_ptr<const Problem> problem);

}  // namespace hyperplane
