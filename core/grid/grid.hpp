// SPDX-License-Identifier: BSD-3-Clause
// The structured grid: extents, spacing and which axes are periodic.
#pragma once

#include <array>

#include "core/types.hpp"

namespace hyperplane {

/// A box of nx x ny x nz points, x fastest; 2-D is nz = 1.
struct Grid {
    int nx = 1, ny = 1, nz = 1;
    std::array<double, 3> spacing{1.0, 1.0, 1.0};       ///< h_x, h_y, h_z in domain units
    std::array<double, 3> origin{0.0, 0.0, 0.0};        ///< coordinates of point (0, 0, 0)
    std::array<bool, 3> periodic{false, false, false};  ///< axes along which A x wraps; triangular solves never do
    bool cell_centred = false;                          ///< the points are cells, not nodes
    bool plain_rows = false;                            ///< no grid: the points are block rows, one after another

    /// What stands for a grid where there is none, so that a block row has a place (row, 0, 0).
    static Grid of_rows(Index block_rows) {
        Grid rows;
        rows.nx = int(block_rows);
        rows.plain_rows = true;
        return rows;
    }

    HYPERPLANE_HD Index points() const { return Index(nx) * ny * nz; }
    HYPERPLANE_HD bool contains(Int3 p) const {
        return p.x >= 0 && p.x < nx && p.y >= 0 && p.y < ny && p.z >= 0 && p.z < nz;
    }
    /// Number of a point in natural order, i + nx (j + ny k).
    HYPERPLANE_HD Index row(Int3 p) const { return p.x + Index(nx) * (p.y + Index(ny) * p.z); }
    /// The inverse of row(), for any integer type.
    template <class Count>
    HYPERPLANE_HD Int3 point(Count row) const {
        return {int(row % Count(nx)), int(row / Count(nx) % Count(ny)), int(row / (Count(nx) * Count(ny)))};
    }
    /// The point `p`, wrapped along periodic axes and unchanged along the others.
    HYPERPLANE_HD Int3 wrapped(Int3 p) const {
        if (periodic[0]) p.x = (p.x + nx) % nx;
        if (periodic[1]) p.y = (p.y + ny) % ny;
        if (periodic[2]) p.z = (p.z + nz) % nz;
        return p;
    }
    HYPERPLANE_HD bool any_periodic() const { return periodic[0] || periodic[1] || periodic[2]; }
    double x(int i) const { return origin[0] + i * spacing[0]; }
    double y(int j) const { return origin[1] + j * spacing[1]; }
    double z(int k) const { return origin[2] + k * spacing[2]; }
};

}  // namespace hyperplane
