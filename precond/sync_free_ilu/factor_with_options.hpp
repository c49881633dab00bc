// SPDX-License-Identifier: BSD-3-Clause
// The numeric set-up as the options want it: the pivot policy, and what a report says about rounded factors.
#pragma once

#include <functional>

#include "core/interfaces/preconditioner.hpp"
#include "core/matrix/bsr_matrix.hpp"
#include "precond/factors/pivots.hpp"
#include "precond/factors/rounding_events.hpp"
#include "precond/sync_free_ilu/options.hpp"

namespace hyperplane {

/// Factors `a` by build(alpha, inverter) as the pivot policy says (factor_with_policy), with messages that fit the
/// options.
SetupReport factor_with_options(const BsrMatrix& a, const SyncFreeOptions& options,
                                const std::function<void(double alpha, PivotInverter& inverter)>& build);
/// Enters in the report what was met when the factors of `a` were rounded. Throws SetupError, with the row, if a value
/// did not fit.
void judge_rounding(const Rounding& met, const BsrMatrix& a, const SyncFreeOptions& options, SetupReport& report);

}  // namespace hyperplane
