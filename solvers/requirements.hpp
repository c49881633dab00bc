// SPDX-License-Identifier: BSD-3-Clause
// What methods demand of a preconditioner. Each throws UsageError, naming both.
#pragma once

#include <string>

#include "core/interfaces/linear_operator.hpp"

namespace hyperplane {

/// The same operator in every iteration.
void require_fixed(const char* solver, const std::string& preconditioner, const PreconditionerTraits& traits);
void require_symmetric(const char* solver, const std::string& preconditioner, const PreconditionerTraits& traits);

}  // namespace hyperplane
