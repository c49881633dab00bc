// SPDX-License-Identifier: BSD-3-Clause
// MatrixShape: what is known of a matrix before it has values.
#pragma once

#include <utility>

#include "core/grid/grid.hpp"
#include "core/grid/stencil.hpp"

namespace hyperplane {

class MatrixShape {
public:
    /// The block rows are the points of a grid, and the offsets of a stencil couple them.
    MatrixShape(const Grid& grid, Stencil stencil, int dof, bool symmetric)
        : grid_(grid), stencil_(std::move(stencil)), dof_(dof), symmetric_(symmetric) {}

    const Grid& grid() const { return grid_; }
    const Stencil& stencil() const { return stencil_; }
    int dof() const { return dof_; }
    /// Whether the matrix equals its transpose to the last bit.
    bool symmetric() const { return symmetric_; }
    /// Number of block rows, of dof rows each.
    Index block_rows() const { return grid_.points(); }
    Index unknowns() const { return block_rows() * dof_; }

private:
    Grid grid_;
    Stencil stencil_;
    int dof_;
    bool symmetric_;
};

}  // namespace hyperplane
