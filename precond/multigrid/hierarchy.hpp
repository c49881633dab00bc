// SPDX-License-Identifier: BSD-3-Clause
// The grids of a multigrid method: matrices, interpolation and smoothers of all of them.
//
// Grid 0 is the matrix's own. From each grid the next one follows by coarsening along the axes with strong couplings
// (coarsening.hpp), with black-box interpolation (interpolation.hpp) and the Galerkin product (galerkin.hpp). The last
// grid has few points, or cannot be made coarser; its matrix is inverted densely (dense_solve.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "precond/multigrid/dense_solve.hpp"
#include "precond/multigrid/galerkin.hpp"
#include "precond/multigrid/interpolation.hpp"
#include "precond/multigrid/smoother.hpp"

namespace hyperplane::multigrid {

struct CoarseningOptions {
    int coarsest_points = 150;        ///< a grid of at most so many points is the last one
    int grids = 32;                   ///< at most so many grids
    double strength = 0.5;            ///< threshold of strong_axes()
    std::optional<int> rounded_from;  ///< from this grid on weights are kept in single precision

    bool rounds(int grid) const { return rounded_from && grid >= *rounded_from; }
};

/// The smoother of each grid; the last one is that of all further grids, too.
struct SmootherChoices {
    std::vector<SmootherChoice> list;
    const SmootherChoice& on(int grid) const { return list[std::min(std::size_t(grid), list.size() - 1)]; }
};

/// One grid. The last one has neither interpolation nor smoother; grid 0 neither matrix nor x and b of its own.
struct GridParts {
    std::optional<StructMatrix> matrix;  ///< the Galerkin product; empty on grid 0
    std::optional<Interpolation> interpolation;
    Smoother smoother;
    Vector x, b, r, t;
};

class Hierarchy {
public:
    /// Builds all grids for `a`, which must exist as long as this object is used. What was made for a matrix of the
    /// same shape before, whose grids were coarsened along the same axes, gets new values in the same memory.
    SetupReport setup(const StructMatrix& a, const CoarseningOptions& options, const SmootherChoices& smoothers,
                      const SmootherOptions& smoothing);
    void clear();

    int size() const { return int(parts_.size()); }
    const StructMatrix& matrix(int grid) const { return grid == 0 ? *a_ : *parts_[grid].matrix; }
    GridParts& operator[](int grid) { return parts_[grid]; }
    const GridParts& operator[](int grid) const { return parts_[grid]; }
    const DenseSolve& coarsest() const { return *coarsest_; }
    Index bytes() const;

private:
    /// What the memory of all grids depends on, besides the axes along which they are coarsened.
    struct Shape {
        Layout layout;
        std::array<bool, 3> periodic;
        std::vector<Int3> offsets;
        int dof;
        MatrixStorage storage;
    };

    void begin(const StructMatrix& a, const CoarseningOptions& options);
    void coarsen(const CoarseningOptions& options, const SmootherChoices& smoothers);
    void add_report(int grid, const SetupReport& report, SetupReport& all) const;

    const StructMatrix* a_ = nullptr;
    std::optional<Shape> shape_;
    std::vector<GridParts> parts_;
    std::optional<DenseSolve> coarsest_;
};

/// Throws UsageError if the matrix of a coarsest grid is too large to be inverted densely.
void check_coarsest(const Grid& grid, int dof);

}  // namespace hyperplane::multigrid
