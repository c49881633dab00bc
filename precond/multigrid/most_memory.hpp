// SPDX-License-Identifier: BSD-3-Clause
// The most memory that a hierarchy may take, whichever axes the values of a matrix let it coarsen.
#pragma once

#include <array>
#include <map>

#include "precond/multigrid/smoother_plan.hpp"

namespace hyperplane::multigrid {

/// The shape of the same matrix on another grid.
MatrixShape with(const MatrixShape& a, const Grid& grid, const Stencil& stencil);

Index matrix_bytes(const PreconditionerSetting& setting);

/// The most memory that any choice of axes can lead to: each grid is coarsened along one axis.
class MostMemory {
public:
    MostMemory(const SmootherPlans& smoothers, const CoarseningOptions& options)
        : smoothers_(smoothers), options_(options) {}

    Index of(const PreconditionerSetting& finest);

private:
    /// From a grid on, which is the result of coarsening along the axes of `mask` in any order.
    Index from(PreconditionerSetting setting, int mask, int grid);

    const SmootherPlans& smoothers_;
    const CoarseningOptions& options_;
    std::map<int, Stencil> stencils_;
    std::map<std::array<int, 4>, Index> known_;
};

}  // namespace hyperplane::multigrid
