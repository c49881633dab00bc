// SPDX-License-Identifier: BSD-3-Clause
// The keys of multigrid in [preconditioner] and what they mean.
#pragma once

#include "precond/multigrid/multigrid.hpp"

namespace hyperplane::multigrid {

inline constexpr const char *section = "preconditioner", *smoother_section = "smoother";

ParameterTable parameters();
/// For a matrix of this shape. Throws UsageError where keys contradict each other.
MultigridOptions options_of(const Parameters& parameters, const PreconditionerSetting& setting);

}  // namespace hyperplane::multigrid
