// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/hierarchy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/profile.hpp"

namespace hyperplane::multigrid {

void check_coarsest(const Grid& grid, int dof) {
    if (grid.points() * dof <= most_dense_unknowns) return;
    throw UsageError(
        fmt::format("multigrid: the coarsest grid has {} x {} x {} points with {} unknowns each, and a dense solve "
                    "takes at most {} "
                    "unknowns. Raise preconditioner.grids, or lower preconditioner.coarsest_points",
                    grid.nx, grid.ny, grid.nz, dof, most_dense_unknowns));
}

void Hierarchy::clear() {
    coarsest_.reset();
    parts_.clear();
    shape_.reset();
    a_ = nullptr;
}

void Hierarchy::begin(const StructMatrix& a, const CoarseningOptions& options) {
    const bool same = shape_ && shape_->layout == a.layout() && shape_->periodic == a.grid().periodic &&
                      shape_->offsets == a.stencil().offsets() && shape_->dof == a.dof() &&
                      shape_->storage == a.storage();
    if (!same) clear();
    a_ = &a;
    shape_ = Shape{a.layout(), a.grid().periodic, a.stencil().offsets(), a.dof(), a.storage()};
    parts_.reserve(options.grids);  // references to a grid's matrix stay valid
    if (parts_.empty()) parts_.emplace_back();
}

void Hierarchy::coarsen(const CoarseningOptions& options, const SmootherChoices& smoothers) {
    for (int grid = 0;; ++grid) {
        const StructMatrix& a = matrix(grid);
        const bool small = a.grid().points() <= options.coarsest_points || grid + 1 >= options.grids;
        const Coarsening grids(a.grid(), small ? Axes{false, false, false} : strong_axes(a, options.strength));
        std::optional<Interpolation>& p = parts_[grid].interpolation;
        if (p && p->grids().axes == grids.axes) {
            const ProfileScope scope(a.context(), "interpolation");
            p->compute(a);
        } else {
            parts_.resize(grid + 1);
            p.reset();
            if (!grids.any()) return;
            const Stencil stencil = coarse_stencil(a.stencil(), grids);
            const Layout coarse = smoothers.on(grid + 1).layout(grids.coarse, stencil);
            {
                const ProfileScope scope(a.context(), "interpolation");
                p.emplace(a, grids, coarse);
            }
            parts_.emplace_back();
            parts_.back().matrix.emplace(a.context(), coarse, stencil, a.dof(), a.storage(), "multigrid: matrices");
        }
        {
            const ProfileScope scope(a.context(), "galerkin");
            galerkin_product(a, *p, *parts_[grid + 1].matrix);
        }
        if (options.rounds(grid)) p->round();
    }
}

SetupReport Hierarchy::setup(const StructMatrix& a, const CoarseningOptions& options, const SmootherChoices& smoothers,
                             const SmootherOptions& smoothing) {
    begin(a, options);
    {
        const ProfileScope scope(a.context(), "coarse grids");
        coarsen(options, smoothers);
    }
    SetupReport all;
    const int last = size() - 1;
    check_coarsest(matrix(last).grid(), a.dof());
    for (int grid = 0; grid <= last; ++grid) {
        GridParts& parts = parts_[grid];
        const StructMatrix& own = matrix(grid);
        const auto provide = [&](Vector& vector) {
            if (vector.size() == 0) vector = Vector(a.context(), own.layout(), a.dof(), "multigrid: vectors");
        };
        if (grid > 0) provide(parts.x), provide(parts.b);
        if (grid == last) {
            parts.smoother = {};
            parts.r = {};
            parts.t = {};
            continue;
        }
        provide(parts.r);
        provide(parts.t);
        const ProfileScope scope(a.context(), "smoothers");
        add_report(grid, parts.smoother.setup(own, smoothers.on(grid), smoothing, parts.r, parts.t), all);
    }
    const ProfileScope scope(a.context(), "coarsest grid");
    coarsest_.emplace(matrix(last));
    all.factor_bytes += bytes();
    return all;
}

/// Cells of coarse grids are reported as those of grid 0 that they coincide with.
void Hierarchy::add_report(int grid, const SetupReport& report, SetupReport& all) const {
    const auto on_finest = [&](Int3 p) {
        for (int finer = grid - 1; finer >= 0; --finer) {
            const Axes& axes = parts_[finer].interpolation->grids().axes;
            p = {axes[0] ? 2 * p.x : p.x, axes[1] ? 2 * p.y : p.y, axes[2] ? 2 * p.z : p.z};
        }
        return p;
    };
    all.pivots_modified += report.pivots_modified;
    for (PivotEvent event : report.modified) {
        if (all.modified.size() == SetupReport::max_events) break;
        event.cell = on_finest(event.cell);
        all.modified.push_back(event);
    }
    all.shift = std::max(all.shift, report.shift);
    if (report.smallest_pivot_ratio < all.smallest_pivot_ratio) {
        all.smallest_pivot_ratio = report.smallest_pivot_ratio;
        all.smallest_pivot_cell = on_finest(report.smallest_pivot_cell);
    }
    all.factor_bytes += report.factor_bytes;
    all.values_flushed += report.values_flushed;
}

Index Hierarchy::bytes() const {
    Index sum = coarsest_ ? coarsest_->bytes() : 0;
    for (const GridParts& parts : parts_) {
        if (parts.matrix) sum += parts.matrix->bytes();
        if (parts.interpolation) sum += parts.interpolation->bytes();
        sum += (parts.x.size() + parts.b.size() + parts.r.size() + parts.t.size()) * Index(sizeof(double));
    }
    return sum;
}

}  // namespace hyperplane::multigrid
