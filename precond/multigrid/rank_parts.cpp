// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/rank_parts.hpp"

#include <algorithm>
#include <memory>

#include "core/ranks/all_cuts.hpp"
#include "core/ranks/planned.hpp"

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
    if (!cut() || is_last(grid, stencil, options, number)) return false;
    if (number > 0 && grid.points() <= options.replicated_points) return false;
    // A coarse stencil reaches over at most two planes where z is coarsened, and else as far as this one.
    const int reach = stencil.planes(), coarse_reach = std::clamp(reach, 1, 2);
    const RankParts coarse = coarsened({false, false, true});
    for (int rank = 0; rank + 1 < int(begins_.size()); ++rank)
        if (planes(rank) < std::max(2, reach + 1) || coarse.planes(rank) < coarse_reach) return false;
    return true;
}

Layout RankParts::layout(const Layout& whole, const Stencil& stencil) const {
    if (!cut()) return whole;
    return whole.of_planes(begins_[rank_], begins_[rank_ + 1], std::max(1, stencil.planes()));
}

Context RankParts::planning(const Context& context) const {
    if (!cut()) return Context::cpu(context.threads());
    return Context::cpu(context.threads(), std::make_shared<PlannedRank>(rank_, begins_));
}

void RankParts::gather(const Context& context, Index plane, const std::vector<double*>& arrays) const {
    const Index first = begins_[rank_] * plane, count = planes(rank_) * plane;
    std::vector<double> mine, all(std::size_t(begins_.back() * plane) * arrays.size());
    for (const double* array : arrays) mine.insert(mine.end(), array + first, array + first + count);
    context.ranks()->all_gather(mine, all);
    const double* from = all.data();
    for (int rank = 0; rank + 1 < int(begins_.size()); ++rank)
        for (double* array : arrays) {
            std::copy_n(from, planes(rank) * plane, array + begins_[rank] * plane);
            from += planes(rank) * plane;
        }
}

}  // namespace hyperplane::multigrid
