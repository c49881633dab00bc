// SPDX-License-Identifier: BSD-3-Clause
// Jacobi sweeps on triangular systems on a CPU, many points at a time (precond/triangular/jacobi/sweeps.hpp).
#pragma once

#include "precond/factors/view.hpp"
#include "precond/walks/wavefront.hpp"

namespace hyperplane {

/// One sweep at points that follow each other: every coefficient and every neighbour advances by one.
struct TriangleRunSweep {
    const FactorView& f;  ///< goes_by_runs
    Direction direction;
    const double* b;  ///< null: zero
    const double* x;  ///< null: zero
    int dof;
    bool times_inverse;  ///< the couplings' sum, or in the lower sweep all, is multiplied by D^-1

    /// out[component * stride + t] of the points t of a run, which x does not hold.
    void operator()(const Run& run, double* out, Index stride) const;
};

/// Whether coefficients advance by one from a point of a run to the next.
inline bool goes_by_runs(const FactorView& f) {
    return f.triangles.slot_stride == 1 && f.inverse.slot_stride == 1;
}

}  // namespace hyperplane
