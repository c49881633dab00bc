// SPDX-License-Identifier: BSD-3-Clause
// The failure of a set-up at a pivot that another policy or preconditioner may be able to use.
#pragma once

#include <string>

#include "core/error.hpp"
#include "precond/factors/pivots.hpp"

namespace hyperplane {

struct PivotError : SetupError {
    using SetupError::SetupError;
};

/// Throws PivotError where another policy may help, else SetupError: "`name`: the pivot at ..." and `remark`.
[[noreturn]] void refuse_pivots(const std::string& name, const PivotInverter& inverter, const PivotRules& rules,
                                const std::string& remark = "");

}  // namespace hyperplane
