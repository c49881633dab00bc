// SPDX-License-Identifier: BSD-3-Clause
// From how many solves with one set-up on a costly set-up pays.
#pragma once

#include <optional>
#include <vector>

#include "core/types.hpp"
#include "io/record.hpp"

namespace hyperplane {

/// Seconds before the first solve, and of each; or of each application of a preconditioner.
struct SetupAndSolve {
    double before = 0.0, each = 0.0;
};

/// The costs of one set-up of `setup` seconds and of solves of `solve` seconds. What the timers have of the time before
/// the first system counts as set-up: reading, looking for blocks, ordering, and a symbolic part before the set-ups.
SetupAndSolve costs_with_preparation(const std::vector<TimerRow>& timers, double setup, double solve);
/// The costs of a run's mean set-up, with that preparation, and of its mean solve.
SetupAndSolve costs_of_solves(const RecordData& record);

/// The number of solves from which on a candidate takes less time in all than the baseline; none if that never happens.
std::optional<Index> solves_to_pay_off(const SetupAndSolve& baseline, const SetupAndSolve& candidate);

}  // namespace hyperplane
