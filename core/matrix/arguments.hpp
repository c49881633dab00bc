// SPDX-License-Identifier: BSD-3-Clause
// The argument of a structured matrix's products on a GPU (core/matrix/spmv.cuh).
#pragma once

namespace hyperplane {

/// Real: double or float.
template <int entries, class Real = double>
struct SpmvArguments {
    const Real* a;  // [entry][row][col][stride]
    const Real* x;
    const Real* b;  // of a residual
    Real* y;
    int slots, stride, nx, ny, nz, periodic_x, periodic_y, periodic_z;
    int first, end;      // slots whose rows are computed; those around them are a rank's halo
    int delta[entries];  // core/grid/grid_point.cuh
};
static_assert(sizeof(SpmvArguments<7>) == 104);

/// The argument of spmv_dot, a product that also forms the sums of x'y over pieces of planes
/// (core/vector/sum_order.hpp).
template <int entries>
struct SpmvDotArguments {
    double* partial;                 // [piece]
    int plane, pieces, length;       // slots of a plane, its pieces, and slots of a piece; the last one may have fewer
    int odd;                         // 1 where slot 0 has an odd number in the whole grid
    SpmvArguments<entries> product;  // the last member, since a kernel knows fewer entries than the host's type
};
static_assert(sizeof(SpmvDotArguments<7>) == 128);

}  // namespace hyperplane
