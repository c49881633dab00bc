// SPDX-License-Identifier: BSD-3-Clause
// The inverse of a pivot block whose pivots are judged (precond/factors/pivots.hpp), for loops over points and rows.
#pragma once

#include "precond/factors/gauss_jordan.hpp"

namespace hyperplane {

/// Replaces the m x m row-major block by its inverse, or by zeros if a pivot cannot be used, and returns the smallest
/// ratio of a pivot to A's diagonal, at most 1. given(r, c) is an element of A's block; rule.ratio(pivot, own) compares
/// a pivot with A's diagonal; use(r, pivot, own, scale) returns the value to divide by, or 0 to give up, where `scale`
/// is the largest absolute value of both blocks. NaN enlarges nothing: a pivot that is NaN is refused anyway.
template <class Given, class Rule, class Use>
HYPERPLANE_HD double invert_judged(int m, double* block, const Given& given, const Rule& rule, const Use& use) {
    double scale = 0.0, smallest = 1.0;
    for (int r = 0; r < m; ++r)
        for (int c = 0; c < m; ++c) scale = fmax(scale, fmax(fabs(given(r, c)), fabs(block[r * m + c])));
    const int given_up = invert_in_place(m, block, [&](int r, double pivot) {
        const double own = given(r, r);
        smallest = fmin(smallest, rule.ratio(pivot, own));
        return use(r, pivot, own, scale);
    });
    if (given_up >= 0)
        for (int at = 0; at < m * m; ++at) block[at] = 0.0;
    return smallest;
}

}  // namespace hyperplane
