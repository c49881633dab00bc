// SPDX-License-Identifier: BSD-3-Clause
// Requirements of methods on a preconditioner and on a matrix. Each function throws UsageError with the names of both.
#pragma once

#include <string>

#include "core/interfaces/linear_operator.hpp"

namespace hyperplane {

/// M must be the same operator in every iteration.
void require_fixed(const char* solver, const std::string& preconditioner, const PreconditionerTraits& traits);
void require_symmetric(const char* solver, const std::string& preconditioner, const PreconditionerTraits& traits);
/// `symmetric`: whether the matrix of the problem is.
void require_symmetric_operator(const char* solver, const std::string& problem, bool symmetric);

}  // namespace hyperplane
