// SPDX-License-Identifier: BSD-3-Clause
// struct_ilu: incomplete LU of a structured block matrix, dependencies kept, parallel over hyperplanes.
//
// Luo et al., "StructILU", ICS 2025: Algorithms 1 and 2, section 4.1. The factorisation is
// precond/struct_ilu/elimination.hpp, the solves are precond/triangular/wavefront/wavefront.hpp, and
// precond/factors/ilu_factors.hpp says what is kept.
#pragma once

#include "core/device/rtc.hpp"
#include "precond/ilu/ilu_preconditioner.hpp"
#include "precond/walks/tuning.hpp"

namespace hyperplane {

/// Exact factors under exact solves. `tuning` of both.
std::unique_ptr<IluPreconditioner> make_struct_ilu(const Context& context, const IluOptions& options = {},
                                                   const StructIluTuning& tuning = {});
/// Exact factors under the solve given.
std::unique_ptr<IluPreconditioner> make_exact_ilu(const Context& context, const IluOptions& options,
                                                  std::unique_ptr<TriangularSolve> solve);

/// Compiles every kernel of both for an architecture, without a device; in reduced storage those that double precision
/// does not have.
std::vector<rtc::KernelResources> compile_struct_ilu(const IluPattern& pattern, const std::string& architecture,
                                                     const StructIluTuning& tuning = {});

/// Rows of the registration table: struct_ilu, and jacobi_sweeps, the same factors under Jacobi sweeps.
PreconditionerRow struct_ilu_row();
PreconditionerRow jacobi_sweeps_row();

}  // namespace hyperplane
