// SPDX-License-Identifier: BSD-3-Clause
// Checks of z = M^-1 r at the size that is timed, for every preconditioner (bench preconditioners).
//
// Loops over points (apps/bench/triangles.hpp) that share nothing with the kernels that are timed take z back to r
// where triangles are solved, of large systems at a sample of the points, and make the sweeps once more where they are
// swept. The factors are the preconditioner's own where it keeps them as precond/factors/view.hpp says; else those of
// another set-up, copied as precond/factors/exported.hpp does; for cuSPARSE those of struct_ilu.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "core/interfaces/linear_operator.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "precond/factors/storage.hpp"

namespace hyperplane {

struct ApplicationCheck {
    double error;  ///< of M z - r, or of z where it is swept, relative to the largest value
    double bound;  ///< what rounding may come to
    bool passed() const { return error <= bound; }  // false for a NaN
};

/// `m` is set up for `a`, and z its M^-1 r. `same` makes a preconditioner of the same factors, not set up, in double
/// precision. None where z is not the same twice: asynchronous sweeps on triangles. Throws Error(internal) for an `m`
/// of a kind that is new here.
std::optional<ApplicationCheck> check_application(const Preconditioner& m,
                                                  const std::function<std::unique_ptr<Preconditioner>()>& same,
                                                  FactorStorage storage, const StructMatrix& a, const Vector& r,
                                                  const Vector& z);

}  // namespace hyperplane
