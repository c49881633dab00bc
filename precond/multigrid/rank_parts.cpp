// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/rank_parts.hpp"

#include <algorithm>
#include <memory>

#include "core/ranks/all_cuts.hpp"
#include "core/ranks/planned.hpp"
#include "core/ranks/slab_ends.hpp"

namespace hyperplane::multigrid {

RankParts::RankParts(const Context& context, const Grid& grid) {
    if (!context.ranks()) return;
    rank_ = context.ranks()->rank();
    begins_ = cuts_between_ranks(context, grid.nz);
}

RankParts RankParts::coarsened(const Axes& axes) const {
    RankParts coarse = *this;
    if (axes[2])
        for (int& begin : coarse.begins_) begin = (begin + 1) / 2;  // coarse plane K lies on fine plane 2 K
    return coarse;
}

bool RankParts::serve(const Grid& grid, const Stencil& stencil, const CoarseningOptions& options, int number) const {
    if (!cut() || grid.periodic[2] || is_last(grid, stencil, options, number)) return false;
    if (number > 0 && grid.points() <= options.replicated_points) return false;
    // A coarse stencil reaches over at most two planes where z is coarsened, and else as far as this one.
    const int reach = stencil.planes(), coarse_reach = std::clamp(reach, 1, 2);
    const RankParts coarse = coarsened({false, false, true});
    const int together = options.planes_together ? options.planes_together(grid, stencil, number) : 1;
    for (const int begin : begins_)
        if (begin % together != 0 && begin != grid.nz) return false;
    for (int rank = 0; rank + 1 < int(begins_.size()); ++rank)
        if (planes(rank) < std::max(2, reach + 1) || coarse.planes(rank) < coarse_reach) return false;
    return true;
}

Layout RankParts::layout(const Layout& whole, const Stencil& stencil) const {
    if (!cut()) return whole;
    return whole.of_planes(begins_[rank_], begins_[rank_ + 1], std::max(1, stencil.planes()));
}

Context RankParts::planning(const Context& context) const {
    if (cut()) return context.planned(std::make_shared<PlannedRank>(rank_, begins_));
    if (context.backend() == Backend::cpu || !context.ranks()) return context.planned(nullptr);
    // On ranks on GPUs a factorisation has the natural layout, and copies in another one, of grids that are whole, too.
    return context.planned(std::make_shared<PlannedRank>(PlannedRank::with_whole_grids(context.ranks()->size())));
}

std::vector<Index> RankParts::slots(const Grid& grid) const {
    std::vector<Index> all;
    for (const int plane : begins_) all.push_back(Index(plane) * grid.nx * grid.ny);
    return all;
}

void RankParts::gather(Vector& x) const {
    gather_slots(x.context(), slots(x.layout().grid()), x.dof(), x.component(0), x.layout().slots());
}

void RankParts::gather(StructMatrix& a) const {
    const std::vector<Index> begins = slots(a.grid());
    for (double* const values : a.coefficients()) gather_slots(a.context(), begins, 1, values, 0);
}

Index RankParts::bytes_to_gather(const Context& context, const Grid& grid, int dof) const {
    return hyperplane::bytes_to_gather(context, slots(grid), dof);
}

}  // namespace hyperplane::multigrid
