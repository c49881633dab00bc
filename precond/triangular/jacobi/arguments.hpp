// SPDX-License-Identifier: BSD-3-Clause
// The argument of the Jacobi sweeps' kernels (precond/triangular/jacobi/jacobi_sweep.cuh).
#pragma once

namespace hyperplane {

template <class Value, int entries>
struct JacobiSweepArguments {
    Value* triangle;                                // its first entry's coefficients; mirrored, the lower one's
    Value* inverse;                                 // D^-1
    const unsigned char *of_triangle, *of_inverse;  // scaled rows' exponents
    const double* b;                                // null: zero
    const double* x;
    double* out;
    long long entry_stride;
    int slots, nx, ny, nz;
    int delta[entries];  // core/grid/grid_point.cuh, of the triangle's entries
};
static_assert(sizeof(JacobiSweepArguments<const double, 3>) == 96);

}  // namespace hyperplane
