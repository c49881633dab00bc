// SPDX-License-Identifier: BSD-3-Clause
// In-place inverse of a small dense block by Gauss-Jordan elimination without row exchanges (FGBILU paper,
// Algorithm 8). The blocks of problems such as Navier-Stokes and Euler need none.
#pragma once

#include <cmath>

#include "core/types.hpp"

namespace hyperplane {

/// Replaces the m x m row-major block `a` by its inverse. `accept(row, pivot)` is called for every pivot and returns
/// the number to divide by, or 0 to stop. Returns the row at which it stopped, or -1.
template <class Accept>
HYPERPLANE_HD int invert_in_place(int m, double* a, const Accept& accept) {
    for (int p = 0; p < m; ++p) {
        const double pivot = accept(p, a[p * m + p]);
        if (pivot == 0.0) return p;
        const double inverse = 1.0 / pivot;
        a[p * m + p] = 1.0;
        for (int col = 0; col < m; ++col) a[p * m + col] *= inverse;
        for (int row = 0; row < m; ++row) {
            if (row == p) continue;
            const double factor = a[row * m + p];
            a[row * m + p] = 0.0;
            for (int col = 0; col < m; ++col) a[row * m + col] -= factor * a[p * m + col];
        }
    }
    return -1;
}

}  // namespace hyperplane
