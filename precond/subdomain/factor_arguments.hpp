// SPDX-License-Identifier: BSD-3-Clause
// The argument of the kernels that factor subdomains (precond/subdomain/factor.cuh).
#pragma once

#include "precond/factors/pivot_log.hpp"
#include "precond/subdomain/place.hpp"

namespace hyperplane {

/// A product with E_l(p): X_e(p) -= E_l(p) G_u(p+l) or, if e is l, W_l(p) = E_l(p) D^-1(p+l). Here u counts from the
/// diagonal, so that it is 0 for D^-1; it is -1 where there is no product. All products of a group have the same l.
struct alignas(8) SubdomainProduct {
    static constexpr int group = 4;
    short l, u, e, padding;
};

/// The kernels' argument.
struct SubdomainFactorArguments {
    const double* a;                  // A's coefficients [entry][row][col][a_stride]
    double* values;                   // [subdomain][subdomain_values]
    const SubdomainPlace* places;     // [local number]; row_stride is 1
    const int* points;                // local numbers level by level
    const int *offsets, *a_entry;     // [entry]: x, y, z; A's entry
    const SubdomainProduct* product;  // of one lower entry after the other
    PivotLog* log;
    PivotRatio* smallest;  // [subdomain]
    double alpha, tolerance, boost;
    long long a_stride, subdomain_values;
    int definite, natural, level_y, level_z;  // the rule of pivots; the layout of A
    int nx, ny, nz, size_x, size_y, size_z, count_x, count_y;
    int products, lower, stored, mirror;  // A stores entries below `stored`; e and `mirror` - e mirror each other
};
static_assert(sizeof(SubdomainFactorArguments) == 176 && sizeof(SubdomainProduct) == 8);

}  // namespace hyperplane
