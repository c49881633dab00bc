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

Couplings of_planes(const Context& context, const Grid& grid, const Stencil& stencil) {
    const std::vector<int> cuts = cuts_between_ranks(context, grid.nz);
    Couplings found;
    for (const Int3 offset : stencil.offsets()) {
        const Index of_plane =
            Index(std::max(0, grid.nx - std::abs(offset.x))) * std::max(0, grid.ny - std::abs(offset.y));
        for (std::size_t rank = 0; rank + 1 < cuts.size(); ++rank) {
            for (int k = cuts[rank]; k < cuts[rank + 1]; ++k) {
                const int other = k + offset.z;
                if (other < 0 || other >= grid.nz) continue;
                found.all += of_plane;
                if (other < cuts[rank] || other >= cuts[rank + 1]) found.dropped += of_plane;
            }
        }
    }
    return found;
}

Couplings of_rows(const Context& context, const BlockPattern& all, int dof) {
    const std::vector<Index> cuts = row_cuts(all, dof, context.ranks()->size(), context.backend());
    Couplings found{0, all.blocks()};
    for (std::size_t rank = 0; rank + 1 < cuts.size(); ++rank)
        for (Index at = all.row_begin()[cuts[rank]]; at < all.row_begin()[cuts[rank + 1]]; ++at)
            found.dropped += all.column()[at] < cuts[rank] || all.column()[at] >= cuts[rank + 1];
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
