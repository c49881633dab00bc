// SPDX-License-Identifier: BSD-3-Clause
// How the grids of a hierarchy are cut into the parts of ranks.
//
// Grid 0 is cut as the run is. A plane of a coarse grid belongs to the rank that has the fine plane with which it
// coincides, so the parts of coarse grids may differ in size. Once parts are too thin, or the grid is small, the last
// one or periodic along z, every rank has that grid and all further ones as a whole and computes what one rank would.
#pragma once

#include <vector>

#include "precond/multigrid/coarsening.hpp"

namespace hyperplane::multigrid {

class RankParts {
public:
    /// Makes the parts of a grid that every rank has as a whole.
    RankParts() = default;
    /// Makes the parts of grid 0 on the ranks of a context; without ranks, those of a whole grid.
    RankParts(const Context& context, const Grid& grid);

    bool cut() const { return !begins_.empty(); }
    /// The parts of the next grid, as they follow from these.
    RankParts coarsened(const Axes& axes) const;
    /// Whether the grid of this number stays cut: then its parts have the planes that the next grid's operator is
    /// computed from, whichever axes are coarsened.
    bool serve(const Grid& grid, const Stencil& stencil, const CoarseningOptions& options, int number) const;
    /// This rank's part of a natural layout, with a halo for a stencil and for interpolation.
    Layout layout(const Layout& whole, const Stencil& stencil) const;
    /// A context for which plans of preconditioners are those of this rank's part, and to which no work may be given.
    Context planning(const Context& context) const;
    /// Gives a vector or a matrix of the whole grid the values of all ranks; of each the rank's own planes are given.
    void gather(Vector& x) const;
    void gather(StructMatrix& a) const;
    /// Bytes that the two hold of a context's memory until they return, for so many unknowns a point.
    Index bytes_to_gather(const Context& context, const Grid& grid, int dof) const;

private:
    int planes(int rank) const { return begins_[rank + 1] - begins_[rank]; }
    /// The first slot of each rank's part, and the number of slots.
    std::vector<Index> slots(const Grid& grid) const;

    int rank_ = 0;
    std::vector<int> begins_;  ///< the first plane of each rank's part, and the number of planes; empty: not cut
};

}  // namespace hyperplane::multigrid
