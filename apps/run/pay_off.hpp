// SPDX-License-Identifier: BSD-3-Clause
// From how many solves with one set-up on a costly set-up pays.
#pragma once

#include <optional>

#include "core/types.hpp"

namespace hyperplane {

/// Seconds before the first solve, and of each; or of each application of a preconditioner.
struct SetupAndSolve {
    double before = 0.0, each = 0.0;
};

/// The number of solves from which on a candidate takes less time in all than the baseline; none if that never happens.
std::optional<Index> solves_to_pay_off(const SetupAndSolve& baseline, const SetupAndSolve& candidate);

}  // namespace hyperplane
