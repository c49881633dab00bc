// SPDX-License-Identifier: BSD-3-Clause
// Where the coefficients of a point are among its subdomain's values, for host and kernels.
#pragma once

namespace hyperplane {

/// Row r and column c of entry e of a triangle have the index (lower or upper) + (e * dof + c) * stride + r *
/// row_stride. The exponent of half_scaled for row r of W, G or D^-1 (part 0, 1 or 2, as in
/// precond/factors/reduced.hpp) is at byte exponents[part] + r * row_stride.
struct SubdomainPlace {
    int lower, upper, stride, row_stride;
    int exponents[3];
};

}  // namespace hyperplane
