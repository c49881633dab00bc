// SPDX-License-Identifier: BSD-3-Clause
// How Jacobi sweeps on one triangle come near to its exact solve: Figures 2 and 3 of Anzt, Chow, Dongarra, "Iterative
// sparse triangular solves for preconditioning", Euro-Par 2015.
//
// For T = I + N, where N is strictly triangular in some order of its rows, and b of ones, x_0 = 0 and x_(k+1) = b - N
// x_k. The error of x_k is (-N)^k times the solution. With as many sweeps as T has levels N^k is zero, so x_k is exact,
// but for the rounding of the solution that it is compared with.
#pragma once

#include <vector>

#include "core/matrix/struct_matrix.hpp"
#include "precond/triangular/jacobi/sweeps.hpp"

namespace hyperplane {

struct SweepConvergence {
    Index levels = 0;                   ///< rows of the longest chain of entries other than zero
    std::vector<double> residual{1.0};  ///< ||b - T x|| / ||b|| after 0, 1, 2, ... sweeps
    std::vector<double> error{1.0};     ///< ||x - y|| / ||y|| with the exact y
};

/// Records up to `most` sweeps of a triangle with ones on its diagonal, whose rows are `dof` to a point; in memory and
/// on the backend of `context`, by the mode and order of `options`. It ends early with a residual of zero or one that
/// is not finite, and with a sweep that changes no bit. Throws SetupError if a row depends on itself through others.
SweepConvergence sweep_convergence(const Context& context, const CsrMatrix& triangle, int dof, Side side,
                                   const SweepOptions& options, int most);

}  // namespace hyperplane
