// SPDX-License-Identifier: BSD-3-Clause
// The keys of multigrid in [preconditioner] and what they mean.
#pragma once

#include "precond/multigrid/multigrid.hpp"

namespace hyperplane::multigrid {

inline constexpr const char *section = "preconditioner", *smoother_section = "smoother";

ParameterTable parameters();
/// The options that a deck gives for a matrix of this shape. Throws UsageError where keys contradict each other.
MultigridOptions options_of(const Parameters& parameters, const PreconditionerSetting& setting);
/// Why storage and storage_from have no effect on so many grids, and what to do, "has no effect: ..."; empty if they
/// have one. `source` says where the number comes from: "the values of this matrix lead to".
std::string storage_without_effect(const CoarseningOptions& options, const std::string& source, int grids);

}  // namespace hyperplane::multigrid
