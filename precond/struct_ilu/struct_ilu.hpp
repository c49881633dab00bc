// SPDX-License-Identifier: BSD-3-Clause
// struct_ilu: incomplete LU of a structured block matrix that respects all dependencies and is parallel over
// hyperplanes.
//
// Luo et al., "StructILU", ICS 2025: Algorithms 1 and 2, section 4.1. The factorisation is in
// precond/struct_ilu/elimination.hpp, the solves are in precond/triangular/wavefront/wavefront.hpp, and
// precond/factors/ilu_factors.hpp describes the factors.
#pragma once

#include "precond/ilu/ilu_preconditioner.hpp"
#include "precond/tuning.hpp"

namespace hyperplane {

/// Combines exact elimination and exact solves; `tuning` applies to both.
std::unique_ptr<IluPreconditioner> make_struct_ilu(const Context& context, const IluOptions& options = {},
                                                   const StructIluTuning& tuning = {});
/// Combines exact elimination and the given solve.
std::unique_ptr<IluPreconditioner> make_exact_ilu(const Context& context, const IluOptions& options,
                                                  std::unique_ptr<TriangularSolve> solve);

/// Rows of the registry: struct_ilu, and jacobi_sweeps, which combines the same factors with Jacobi sweeps.
PreconditionerRow struct_ilu_row();
PreconditionerRow jacobi_sweeps_row();

}  // namespace hyperplane
