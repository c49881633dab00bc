// SPDX-License-Identifier: BSD-3-Clause
// The points of one level, for hosts and kernels.
#pragma once

#include "core/host_device.hpp"

namespace hyperplane {

/// A level as a rectangle of columns (j, k): `width` points of each plane k, from the first j that has one, where whole
/// sectors of memory begin. Some columns have no point.
struct Hyperplane {
    enum { sector = 4 };  // numbers of 8 bytes

    int level, width, first_k, columns;
    unsigned reciprocal;  // 2^32 / width, rounded up, where that divides every column exactly; else 0

    /// Where a column's point is, on a grid of nx points along x and levels i + y j + z k; i >= 0 and j < ny only where
    /// the column has one.
    HYPERPLANE_HD void find(int nx, int y, int z, int column, int* i, int* j, int* k) const {
        const int plane = reciprocal > 0 ? int((unsigned long long)column * reciprocal >> 32) : column / width;
        *k = first_k + plane;
        const int before = level - z * *k - (nx - 1);  // what y j must make up for
        const int first_j = before > 0 ? (before + y - 1) / y / sector * sector : 0;
        *j = first_j + column - plane * width;
        *i = level - y * *j - z * *k;
    }
};

}  // namespace hyperplane
