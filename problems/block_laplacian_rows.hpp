// SPDX-License-Identifier: BSD-3-Clause
// The matrix rows of block_laplacian.hpp: a formula in the sense of linear_rows.hpp.
#pragma once

#include "problems/linear_rows.hpp"
#include "problems/source_term.hpp"

namespace hyperplane {

/// The same blocks at every point, but zero where the neighbour lies outside the grid.
struct BlockRows {
    static constexpr int entries = 7, dof = 3;
    std::array<Int3, entries> offsets;
    Grid grid;
    double block[entries][dof][dof];
    double source_scale;  ///< h^2
    SourceKind source;
    std::uint64_t seed;

    HYPERPLANE_HD void coefficients(Int3 p, double* c) const {
        for (int e = 0; e < entries; ++e) {
            const bool inside = grid.contains(grid.wrapped(p + offsets[e]));
            for (int row = 0; row < dof; ++row)
                for (int col = 0; col < dof; ++col) c[(e * dof + row) * dof + col] = inside ? block[e][row][col] : 0.0;
        }
    }
    HYPERPLANE_HD double right_hand_side(Int3 p, int row) const {
        if (source == SourceKind::row_sum) return row_sum(*this, p, row);
        return source_scale * plain_source(source, seed + std::uint64_t(row), grid, p);
    }
};

}  // namespace hyperplane
