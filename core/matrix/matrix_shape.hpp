// SPDX-License-Identifier: BSD-3-Clause
// MatrixShape: what is known of a matrix before it has values.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "core/grid/index_space.hpp"
#include "core/grid/stencil.hpp"

namespace hyperplane {

class BlockPattern;

/// The kinds of matrices.
enum class MatrixKind {
    structured,  ///< on a grid, with a stencil: StructMatrix
    general,     ///< with a pattern: BsrMatrix
};

class MatrixShape {
public:
    /// The block rows are the points of a grid, and the offsets of a stencil couple them. `planes_read`: along z on
    /// either side of a point, if the system's residual reads more than the stencil has.
    MatrixShape(const Grid& grid, Stencil stencil, int dof, bool symmetric, int planes_read = 0)
        : grid_(grid),
          stencil_(std::move(stencil)),
          dof_(dof),
          symmetric_(symmetric),
          block_rows_(grid.points()),
          halo_(std::max(planes_read, stencil_->planes())) {}
    /// The block rows are plain rows; `pattern` is one that the host can read.
    MatrixShape(std::shared_ptr<const BlockPattern> pattern, int dof, bool symmetric);

    MatrixKind kind() const { return pattern_ ? MatrixKind::general : MatrixKind::structured; }
    /// Grid and stencil of a structured matrix; they throw Error (internal) for a general one.
    const Grid& grid() const { return stencil_ ? grid_ : (refuse(), grid_); }
    const Stencil& stencil() const {
        if (!stencil_) refuse();
        return *stencil_;
    }
    /// The pattern of a general matrix; null for a structured one.
    const std::shared_ptr<const BlockPattern>& pattern() const { return pattern_; }
    int dof() const { return dof_; }
    /// Whether the matrix equals its transpose to the last bit.
    bool symmetric() const { return symmetric_; }
    /// Number of block rows, of dof rows each, of all ranks.
    Index block_rows() const { return block_rows_; }
    Index unknowns() const { return block_rows() * dof_; }
    /// The planes on either side of its own that a rank's part of a structured matrix and its vectors needs.
    int halo() const { return halo_; }
    /// The index space of a structured matrix in natural layout, or the plain rows of a general one; where ranks share
    /// these, of this rank.
    IndexSpace natural_space() const;

private:
    [[noreturn]] static void refuse();

    Grid grid_;
    std::optional<Stencil> stencil_;
    std::shared_ptr<const BlockPattern> pattern_;
    int dof_;
    bool symmetric_;
    Index block_rows_;
    int halo_ = 0;
};

}  // namespace hyperplane
