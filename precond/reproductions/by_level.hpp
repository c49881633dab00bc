// SPDX-License-Identifier: BSD-3-Clause
// Elimination and solves a level at a time, one launch a level on a GPU: what struct_ilu's tiles, which need one
// launch, are measured against (StructILU paper, section 4.1).
#pragma once

#include "precond/ilu/ilu_preconditioner.hpp"

namespace hyperplane {

/// ILU(k) as struct_ilu makes it, in double precision; boosts no pivots.
std::unique_ptr<IluPreconditioner> make_ilu_by_level(const Context& context, const IluOptions& options);

}  // namespace hyperplane
