// SPDX-License-Identifier: BSD-3-Clause
// Checks of z = M^-1 r with a general matrix, as precond/checks/applications.hpp has them on a grid. The host computes
// them in loops over rows.
#pragma once

#include "core/interfaces/preconditioner.hpp"
#include "core/matrix/bsr_matrix.hpp"
#include "precond/factors/ldu.hpp"
#include "precond/sweep_options.hpp"

namespace hyperplane {

/// The error of z = D^-1 r, where D is the block diagonal of a matrix that the host can read and that has all diagonal
/// blocks: max |D z - r| / max (|D| |z| + |r|).
double diagonal_error(const BsrMatrix& a, const Vector& r, const Vector& z);

/// The answer of a check for asynchronous sweeps, which cannot be checked, since their results differ from run to run.
ApplicationCheck no_check_of_asynchronous_sweeps();

/// The check of z computed from factors by synchronous Jacobi sweeps: its error is max |z - z'| / max |z'|, where z' is
/// the result of v = r - (L - I) v from v = 0 and z' = D^-1 v - (U - I) z' from z' = 0. `dof`: the size of D's blocks.
ApplicationCheck check_sweeps(const LduFactors& factors, int dof, const SweepOptions& options, const Vector& r,
                              const Vector& z);

}  // namespace hyperplane
