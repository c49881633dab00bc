// SPDX-License-Identifier: BSD-3-Clause
// What the operator of the next grid is computed from: the matrix of a grid, and where that is one of several ranks'
// parts, its planes beside the cuts.
//
// The rows of coarse plane K need those of fine planes 2 K - 1 to 2 K + 1, and coefficients of points that these are
// coupled to. For the first and the last coarse plane of a rank they may lie one plane further away than the halo of
// the rank's matrix reaches. These planes are computed from copies of a few planes near the cuts, with wider halos.
#pragma once

#include <optional>
#include <vector>

#include "precond/multigrid/coarsening.hpp"
#include "precond/multigrid/copied_lines.hpp"

namespace hyperplane::multigrid {

/// Planes of coarse points, as a layout, and a matrix that has all they are computed from.
struct Source {
    const StructMatrix* a;
    Layout planes;

    /// Appends the numbers of the lines of the matrix, whose equal lines are known, from which the weights of a coarse
    /// line are computed.
    void append_lines(const Coarsening& grids, int j, int k, std::vector<int>& numbers) const;

private:
    friend class Sources;
    Source(const StructMatrix& of, const Layout& coarse) : a(&of), planes(coarse) {}
};

class Sources {
public:
    /// `coarse`: the layout of the coarse grid, or of the rank's part. Exchanges planes with the ranks beside this one,
    /// if the grid is cut and coarsened along z.
    Sources(const StructMatrix& a, const Coarsening& grids, const Layout& coarse);
    Sources(const Sources&) = delete;
    Sources& operator=(const Sources&) = delete;

    /// The matrix of the grid.
    const StructMatrix& matrix() const { return a_; }
    const std::vector<Source>& list() const { return list_; }
    /// Bytes of the context's memory that it takes to make these for a matrix with so many coefficients a point.
    static Index bytes(const Layout& part, const Stencil& stencil, Index coefficients);

private:
    const StructMatrix& a_;
    std::optional<StructMatrix> low_, high_;  ///< near the first and the last own plane
    std::vector<Source> list_;
};

}  // namespace hyperplane::multigrid
