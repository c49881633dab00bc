// SPDX-License-Identifier: BSD-3-Clause
// Elimination and triangular solves level by level; on a GPU each level is one kernel launch. This is the baseline
// against which struct_ilu's tiles, which need a single launch, are measured (StructILU paper, section 4.1).
#pragma once

#include "precond/ilu/ilu_preconditioner.hpp"

namespace hyperplane {

/// ILU(k) with the factors of struct_ilu, in double precision. Pivots are not boosted.
std::unique_ptr<IluPreconditioner> make_ilu_by_level(const Context& context, const IluOptions& options);

}  // namespace hyperplane
