// SPDX-License-Identifier: BSD-3-Clause
// Jacobi sweeps on triangular systems on a CPU, a run of points at a time (precond/triangular/jacobi/sweeps.hpp).
#pragma once

#include "precond/factors/view.hpp"
#include "precond/walks/wavefront.hpp"

namespace hyperplane {

/// One sweep at the points of a run: from a point to the next, coefficients and neighbours advance by one.
struct TriangleRunSweep {
    const FactorView& f;  ///< goes_by_runs(f) holds
    Direction direction;
    const double* b;  ///< null: zero
    const double* x;  ///< null: zero
    int dof;
    bool times_inverse;  ///< D^-1 multiplies the sum over neighbours, which in the lower sweep includes b

    /// Computes out[component * stride + t] for the points t of a run. `out` must not overlap x.
    void operator()(const Run& run, double* out, Index stride) const;
};

/// Whether the address of each coefficient advances by one from a point of a run to the next.
inline bool goes_by_runs(const FactorView& f) {
    return f.triangles.slot_stride == 1 && f.inverse.slot_stride == 1;
}

}  // namespace hyperplane
