// SPDX-License-Identifier: BSD-3-Clause
// Jacobi sweeps on triangular systems on a CPU, a run of points at a time (precond/triangular/jacobi/sweeps.hpp).
#pragma once

#include "precond/factors/reduced.hpp"
#include "precond/walks/wavefront.hpp"

namespace hyperplane {

/// One sweep with a triangle.
struct TriangleSweep {
    Side side;
    const double* b;  ///< null: zero
    const double* x;  ///< null: zero
    double* out;
    int dof;
    bool times_inverse;  ///< D^-1 multiplies the sum over neighbours, which in the lower sweep includes b
};

/// Computes out[component * stride + t] for the points t of a run, where coefficients and neighbours advance by one
/// from a point to the next: goes_by_runs(f) must hold. `out` must not overlap x. Factors is FactorView or
/// ReducedFactorView<float>.
template <class Factors>
void sweep_run(const Factors& f, const TriangleSweep& sweep, const Run& run, double* out, Index stride);

/// Whether the address of each coefficient advances by one from a point of a run to the next.
inline bool goes_by_runs(const FactorView& f) {
    return f.triangles.slot_stride == 1 && f.inverse.slot_stride == 1;
}
inline bool goes_by_runs(const ReducedFactorView<float>& f) {
    return f.values.slot_stride == 1;
}

}  // namespace hyperplane
