// SPDX-License-Identifier: BSD-3-Clause
// Checks of z = M^-1 r at any size and on either backend: loops over points that share nothing with the kernels of
// preconditioners. They are what Preconditioner::check_application consists of.
#pragma once

#include <vector>

#include "core/interfaces/preconditioner.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "precond/factors/reduced.hpp"

namespace hyperplane {

struct SweepOptions;

/// Bounds of relative errors: of factors in double precision, 1e-10; if z is compared with factors in double precision,
/// what their rounding to the storage of M may cause; if it is compared with factors that were computed again and
/// rounded, what follows from the last bits of those that were rounded the other way.
double bound_of_double();
double bound_of_rounding(FactorStorage storage);
double bound_of_ties(FactorStorage storage);

/// max |x - y| / max |y|, in equal layouts.
double largest_difference(const Context& context, const Vector& x, const Vector& y);

/// The error of z = M^-1 r, where M = (D + E) D^-1 (D + F) or (I + W) D (I + G). From z follows the result y or v that
/// the lower solve must have had; the error is max |y - D^-1 (r - E y)| / max |y|, or max |v - r + W v| / max |v|. In
/// large systems only a sample of the points is checked.
double solve_error(const Context& context, const TriangleFactors& factors, const Vector& r, const Vector& z);
/// The error of z computed by synchronous Jacobi sweeps: max |z - z'| / max |z'|, where z' is the result of sweeps made
/// here.
double swept_error(const Context& context, const TriangleFactors& factors, const SweepOptions& options, const Vector& r,
                   const Vector& z);
/// The error of z = D^-1 r, where D is the block diagonal of A: max |D z - r| / max (|D| |z| + |r|).
double diagonal_error(const StructMatrix& a, const Vector& r, const Vector& z);

/// The error of z = p(D^-1 A) D^-1 r, given the zeros of e(x) = 1 - x p(x): max |z - z'| / max |z'|, where z' is
/// computed by z' <- z' + D^-1 (r - A z') / zero, one step for each zero. Couplings that wrap around the grid are part
/// of A.
double polynomial_error(const StructMatrix& a, const std::vector<double>& zeros, const Vector& r, const Vector& z);

/// The checks of solves and of sweeps that read factors where they are stored. Asynchronous sweeps are not checked,
/// since their results differ from run to run.
ApplicationCheck check_solves(const Context& context, const TriangleFactors& factors, const Vector& r, const Vector& z);
ApplicationCheck check_sweeps(const Context& context, const TriangleFactors& factors, const SweepOptions& options,
                              const Vector& r, const Vector& z);
/// The check of a fused pair (precond/factors/exported.hpp), whose factors are computed again in double precision,
/// exported, and rounded to `storage`.
ApplicationCheck check_exported(const StructMatrix& a, FactorStorage storage, const Vector& r, const Vector& z,
                                const Preconditioner::MakeInDouble& in_double);
/// The check of a preconditioner whose factors no loop over points can read: it uses the factors of another
/// preconditioner.
ApplicationCheck check_by_another(const SystemMatrix& a, FactorStorage storage, const Vector& r, const Vector& z,
                                  const Preconditioner::MakeInDouble& another);

}  // namespace hyperplane
