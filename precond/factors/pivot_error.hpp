// SPDX-License-Identifier: BSD-3-Clause
// The failure of a set-up at a pivot that another policy or preconditioner may be able to use.
#pragma once

#include <string>

#include "core/error.hpp"
#include "precond/factors/pivots.hpp"

namespace hyperplane {

/// Which policies change the first pivot that failed. A shift scales A's diagonal: where that and the pivot are zero,
/// it remains so. A boosted pivot is a fraction of its block's largest entry, or of its row's in a general matrix;
/// that entry must not be zero.
struct PivotRemedies {
    bool shift = true, boost = true;
};

struct PivotError : SetupError {
    PivotError(const std::string& message, PivotRemedies policies) : SetupError(message), remedies(policies) {}
    PivotRemedies remedies;
};

/// Throws PivotError where another policy or preconditioner may help, else SetupError: "`name`: the pivot at ..." and
/// `remark`; and `of_signs` unless the pivot and A's diagonal are zero there, or not finite. `a` is the matrix whose
/// factorisation failed; all ranks that have parts of it must call it.
[[noreturn]] void refuse_pivots(const std::string& name, const SystemMatrix& a, const PivotInverter& inverter,
                                const PivotRules& rules, const std::string& remark = "",
                                const std::string& of_signs = "");

}  // namespace hyperplane
