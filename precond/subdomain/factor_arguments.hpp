// SPDX-License-Identifier: BSD-3-Clause
// The argument of the kernels that factor subdomains (precond/subdomain/factor.cuh).
#pragma once

#include "precond/factors/pivot_log.hpp"
#include "precond/subdomain/place.hpp"

namespace hyperplane {

struct SubdomainFactorArguments {
    const double* a;                     // A's coefficients [entry][row][col][a_stride]
    double* values;                      // [subdomain][subdomain_values]
    const SubdomainPlace* places;        // [local number]; row_stride is 1
    const int *points, *begin;           // local numbers level by level, and where each level begins
    const int *offsets, *a_entry;        // [entry]: x, y, z; A's entry
    const int *updates_begin, *updates;  // of each lower entry: pairs (u, e)
    PivotLog* log;
    PivotRatio* smallest;  // [subdomain]
    double alpha, tolerance, boost;
    long long a_stride, subdomain_values;
    int definite, natural, level_y, level_z;  // the rule of pivots; the layout of A
    int nx, ny, nz, size_x, size_y, size_z, count_x, count_y;
    int levels, lower, stored, mirror;  // A stores entries below `stored`; e and `mirror` - e mirror each other
};
static_assert(sizeof(SubdomainFactorArguments) == 192);

}  // namespace hyperplane
