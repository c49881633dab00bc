// SPDX-License-Identifier: BSD-3-Clause
// The most memory that a hierarchy may take, whichever axes the values of a matrix let it coarsen.
#pragma once

#include <array>
#include <deque>
#include <map>

#include "precond/multigrid/smoother_plan.hpp"

namespace hyperplane::multigrid {

/// The shape of the same matrix on another grid.
MatrixShape with(const MatrixShape& a, const Grid& grid, const Stencil& stencil);

/// On several ranks these are the bytes of this rank's part with its halo.
Index matrix_bytes(const PreconditionerSetting& setting);
Index vector_bytes(const PreconditionerSetting& setting);
/// Bytes of the tables with which a GPU estimates a smoother's damping, whether it needs to or not.
Index damping_bytes(const PreconditionerSetting& setting);
/// Bytes of x and b in double precision, if a grid has any: `keeps_matrix` says whether it has a matrix of its own.
Index double_bytes(const PreconditionerSetting& setting, const CoarseningOptions& options, int grid, bool keeps_matrix);
/// Bytes that a grid has for cycles in single precision, with or without a smoother; 0 where they are not.
Index single_bytes(const PreconditionerSetting& setting, const CoarseningOptions& options, int grid, bool smoothed);
/// Bytes of the copies of planes beside cuts, from which the next grid's matrix is computed; 0 of a whole grid.
Index copy_bytes(const PreconditionerSetting& setting);

/// A grid of a hierarchy, before there is a matrix: its setting is that of one rank, or of this rank's part.
struct PlannedGrid {
    PreconditionerSetting setting;
    RankParts ranks;
    bool gathered = false;   ///< grid 0, though the run cuts it, as a whole
    Index gather_bytes = 0;  ///< of the first whole grid: held while every rank receives all values of a vector

    PlannedGrid(const PreconditionerSetting& finest, const CoarseningOptions& options);
    /// The grid of this number, which follows from this one.
    PlannedGrid next(const Coarsening& grids, const Stencil& stencil, const CoarseningOptions& options,
                     int number) const;
    bool keeps_matrix(int number) const { return number > 0 || gathered; }
    /// `stencil`: of the coarse grid.
    Index interpolation_bytes(const Coarsening& grids, const Stencil& stencil, bool rounded) const;

private:
    void become_whole();
};

/// The most memory that any choice of axes can lead to: each grid is coarsened along one axis or several.
class MostMemory {
public:
    MostMemory(const SmootherPlans& smoothers, const CoarseningOptions& options)
        : smoothers_(smoothers), options_(options) {}

    Index of(const PlannedGrid& finest) { return from(finest, 0); }

private:
    /// From a grid on.
    Index from(const PlannedGrid& at, int grid);
    /// The place of a stencil among those that were met. Which one a grid has, depends on the grids before it, not on
    /// the coarsened axes alone, since offsets that leave a coarse grid are left out.
    int place_of(const Stencil& stencil);
    /// The stencil of the coarse grid, found once for all grids that are large enough for all offsets.
    const Stencil& coarse_stencil_of(int stencil, const Coarsening& grids);

    const SmootherPlans& smoothers_;
    const CoarseningOptions& options_;
    std::deque<Stencil> stencils_;
    std::map<std::array<int, 5>, int> coarse_;   ///< by stencil, axes, and points as far as offsets reach
    std::map<std::array<int, 6>, Index> known_;  ///< by points, stencil, whether it is cut, and its number
};

}  // namespace hyperplane::multigrid
