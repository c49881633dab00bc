// SPDX-License-Identifier: BSD-3-Clause
// The multigrid preconditioner of HPCG, for `bench hpcg`.
//
// Dongarra, Heroux, Luszczek, "High-performance conjugate-gradient benchmark", Int. J. High Perform. Comput. Appl. 30,
// 2016. Four grids, each with half the points of the one before along each axis and with the same operator: 26 on the
// diagonal, -1 for each neighbour of the 27 points that is inside. From x = 0, on each grid,
//
//     1. a sweep of symmetric Gauss-Seidel; on the last grid, that is all
//     2. the next grid's right-hand side is b - A x at the points with even indices
//     3. the next grid's cycle; its result is added to x at these points
//     4. a sweep of symmetric Gauss-Seidel
//
// The order of the points in a sweep is not prescribed. Here M of the sweeps is any preconditioner, so x = M^-1 b in
// step 1 and x += M^-1 (b - A x) in step 4. In step 2 the residual is computed at the points where it is needed.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/interfaces/preconditioner.hpp"
#include "core/matrix/struct_matrix.hpp"

namespace hyperplane {

/// Sets the coefficients of a matrix with the stencil box27 to HPCG's.
void fill_hpcg(StructMatrix& a);

class HpcgCycle : public Preconditioner {
public:
    static constexpr int grids = 4;
    /// Makes M of the sweeps on one grid.
    using MakeSweep = std::function<std::unique_ptr<Preconditioner>(const StructMatrix& a)>;

    explicit HpcgCycle(MakeSweep make) : make_(std::move(make)) {}

    /// `matrix` has HPCG's coefficients. Throws UsageError if an extent is no multiple of eight.
    SetupReport setup(const SystemMatrix& matrix) override;
    void apply(const Vector& r, Vector& z) const override { cycle(0, r, z); }
    PreconditionerTraits traits() const override { return {.fixed = true, .symmetric = true}; }
    Index bytes_per_apply() const override;

    const StructMatrix& matrix(int grid) const { return grid == 0 ? *a_ : *levels_[grid].matrix; }

private:
    struct Level {
        std::unique_ptr<StructMatrix> matrix;  ///< empty on grid 0
        std::unique_ptr<Preconditioner> sweep;
        Buffer<Int3> offsets;  ///< of the matrix's entries
        Vector b, x, r, t;     ///< b and x not on grid 0, r and t not on the last one
    };
    void cycle(int grid, const Vector& b, Vector& x) const;

    MakeSweep make_;
    const StructMatrix* a_ = nullptr;
    mutable std::vector<Level> levels_;  // the vectors are scratch
};

}  // namespace hyperplane
