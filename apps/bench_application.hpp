// Checks of z = M^-1 r at the size that is timed, for every preconditioner (bench preconditioners).
//
// M is put together from its factors by loops over points that share nothing with the kernels that are timed: for those
// solved exactly
//
//     M = (D + E) D^-1 (D + F) or (I + W) D (I + G):   M z is compared with r, of large systems at a sample of the
//     points
//
// and for those swept (precond/triangle_sweeps.hpp) the sweeps are made once more. The factors are the preconditioner's
// own where it keeps them as precond/factor_view.hpp says; else those of another set-up, copied as
// precond/triangle_source.hpp does; for cuSPARSE those of struct_ilu.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "core/linear_operator.hpp"
#include "core/struct_matrix.hpp"
#include "precond/factor_storage.hpp"

namespace hyperplane {

struct ApplicationCheck {
    double error;  ///< of M z - r, or of z where it is swept, relative to the largest value
    double bound;  ///< what rounding may come to
    bool passed() const { return error <= bound; }  // false for a NaN
};

/// `m` is set up for `a`, and z its M^-1 r. `same` makes a preconditioner of the same factors, not set up, in double
/// precision. None where z is not the same twice: asynchronous sweeps on triangles.
std::optional<ApplicationCheck> check_application(const Preconditioner& m,
                                                  const std::function<std::unique_ptr<Preconditioner>()>& same,
                                                  FactorStorage storage, const StructMatrix& a, const Vector& r,
                                                  const Vector& z);

}  // namespace hyperplane
