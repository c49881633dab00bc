// SPDX-License-Identifier: BSD-3-Clause
// What messages about the pivots of a symmetric general matrix advise.
#pragma once

#include <string>

#include "precond/factors/pivots.hpp"

namespace hyperplane {

/// What to do about a pivot of a symmetric matrix that is not positive enough, for the message of preconditioner
/// `name`; empty if the matrix is not symmetric or its pivots may have either sign.
std::string advice_if_indefinite(bool symmetric, const PivotRules& rules, const std::string& name);

}  // namespace hyperplane
