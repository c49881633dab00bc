// SPDX-License-Identifier: BSD-3-Clause
// The argument of the kernels of Jacobi sweeps (precond/triangular/jacobi/jacobi_sweep.cuh).
#pragma once

namespace hyperplane {

template <class Value, int entries>
struct JacobiSweepArguments {
    Value* triangle;                                // first coefficient; if mirrored, of the lower triangle
    Value* inverse;                                 // D^-1
    const unsigned char *of_triangle, *of_inverse;  // exponents of scaled rows
    const double* b;                                // null stands for zero
    const double* x;
    double* out;
    long long entry_stride;
    int slots, nx, ny, nz;
    int delta[entries];  // of the triangle's entries, as in core/grid/grid_point.cuh
};
static_assert(sizeof(JacobiSweepArguments<const double, 3>) == 96);

}  // namespace hyperplane
