// SPDX-License-Identifier: BSD-3-Clause
// The points of one level, for host and kernels.
#pragma once

#include "core/host_device.hpp"

namespace hyperplane {

/// A level as a rectangle of columns (j, k): `width` consecutive j in each plane k, from the first j that has a point,
/// rounded down to the beginning of a sector of memory. Some columns have no point.
struct Hyperplane {
    enum { sector = 4 };  // doubles in a sector

    int level, width, first_k, columns;
    unsigned reciprocal;  // 2^32 / width, rounded up, if this gives column / width for every column; else 0

    /// The coordinates of a column's point on a grid with nx points along x and levels i + y j + z k. The column has a
    /// point only if i >= 0 and j < ny.
    HYPERPLANE_HD void find(int nx, int y, int z, int column, int* i, int* j, int* k) const {
        const int plane = reciprocal > 0 ? int((unsigned long long)column * reciprocal >> 32) : column / width;
        *k = first_k + plane;
        const int before = level - z * *k - (nx - 1);  // y j must be at least this
        const int first_j = before > 0 ? (before + y - 1) / y / sector * sector : 0;
        *j = first_j + column - plane * width;
        *i = level - y * *j - z * *k;
    }
};

}  // namespace hyperplane
