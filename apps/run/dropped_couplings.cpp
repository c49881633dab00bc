// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/dropped_couplings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "core/matrix/row_cuts.hpp"
#include "core/ranks/all_cuts.hpp"

namespace hyperplane {
namespace {

struct Couplings {
    Index dropped = 0, all = 0;
};

/// The rank of each of the items that are cut before `cuts`, behind which stands the number of items.
template <class Cut>
std::vector<int> ranks_of_items(const std::vector<Cut>& cuts) {
    std::vector<int> ranks;
    for (std::size_t rank = 0; rank + 1 < cuts.size(); ++rank) ranks.resize(std::size_t(cuts[rank + 1]), int(rank));
    return ranks;
}

Couplings of_planes(const Context& context, const Grid& grid, const Stencil& stencil) {
    const std::vector<int> rank_of = ranks_of_items(cuts_between_ranks(context, grid.nz));
    Couplings found;
    for (const Int3 offset : stencil.offsets()) {
        const Index of_plane =
            Index(std::max(0, grid.nx - std::abs(offset.x))) * std::max(0, grid.ny - std::abs(offset.y));
        for (int k = std::max(0, -offset.z); k < std::min(grid.nz, grid.nz - offset.z); ++k) {
            found.all += of_plane;
            if (rank_of[std::size_t(k)] != rank_of[std::size_t(k + offset.z)]) found.dropped += of_plane;
        }
    }
    return found;
}

Couplings of_rows(const Context& context, const BlockPattern& all, int dof) {
    const std::vector<int> rank_of = ranks_of_items(row_cuts(all, dof, context.ranks()->size(), context.backend()));
    Couplings found{0, all.blocks()};
    for (Index row = 0; row < all.rows(); ++row)
        for (Index at = all.row_begin()[row]; at < all.row_begin()[row + 1]; ++at)
            found.dropped += rank_of[std::size_t(row)] != rank_of[std::size_t(all.column()[at])];
    return found;
}

}  // namespace

std::string dropped_couplings(const Case& a_case) {
    if (!a_case.plan.traits.drops_couplings) return "";
    const SystemShape& shape = a_case.shape();
    const Couplings blocks = shape.pattern ? of_rows(a_case.context, *shape.pattern->whole(), shape.dof)
                                           : of_planes(a_case.context, shape.grid, shape.stencil);
    const Index entries = Index(shape.dof) * shape.dof;
    return fmt::format("{} of the matrix's {} entries", blocks.dropped * entries, blocks.all * entries);
}

std::string dropped_couplings(const RecordData& record) {
    const auto at = record.environment.find(dropped_couplings_item);
    return at == record.environment.end() ? "" : at->second;
}

}  // namespace hyperplane
