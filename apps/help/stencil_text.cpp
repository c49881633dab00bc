// SPDX-License-Identifier: BSD-3-Clause
#include "apps/help/stencil_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "precond/factors/eliminations.hpp"
#include "precond/factors/pattern.hpp"
#include "precond/multicolor/colouring.hpp"
#include "precond/struct_ilu/intra_row.hpp"
#include "precond/struct_ilu/row_pipeline.hpp"
#include "precond/triangular/wavefront/solve_shape.hpp"

namespace hyperplane {
namespace {

/// The operations of a row in the triangular solve: a product for each lower entry, and on a GPU, where groups of
/// threads sum terms of older levels ahead, those of the group that has most.
std::string operations_of_solve(const Stencil& stencil) {
    std::string text = fmt::format("lower solve: {} operations a row", stencil.lower_size());
    if constexpr (cuda_built) {
        const Layout layout(LayoutKind::hyperplane, {8, 8, 8}, stencil.level_map());  // of any extents
        const IluPattern pattern = ilu_pattern(layout, stencil, 0, 1, false, Backend::cuda);
        const wavefront_cuda::Groups groups(pattern, wavefront_cuda::Geometry(pattern), 1);
        int most = 0;
        for (int group = 0; group < groups.count(); ++group)
            most = std::max(most, groups.begin[group + 1] - groups.begin[group]);
        if (groups.count() > 1) text += fmt::format("; {} in a pipeline of {} groups", most, groups.count());
    }
    return text;
}

/// The operations of a row in the factorisation, and those of the group that has most where groups share a row.
std::string operations_of_factorisation(const Stencil& stencil) {
    const Eliminations pairs(stencil, false, false);
    const int lower = stencil.lower_size();
    std::vector<int> levels;
    for (const Int3 offset : stencil.offsets()) levels.push_back(stencil.level_map().level(offset));
    const auto sets = [&](int groups) {
        return IntraRowSchedule::by_levels(pairs, lower, stencil.size(), groups).operations;
    };
    const auto pipeline = [&](int groups) { return RowPipeline(pairs, levels, lower, groups).operations; };
    return fmt::format(
        "factorisation: {} operations a row; {} in level sets of 2 groups, {} of 4; {} in a pipeline of 2 groups, {} "
        "of 4",
        sets(1), sets(2), sets(4), pipeline(2), pipeline(4));
}

}  // namespace

std::string summary_of(const Stencil& stencil) {
    const LevelMap levels = stencil.level_map();
    std::vector<Int3> offsets = stencil.offsets();
    std::erase(offsets, Int3{});
    return fmt::format("{} entries, radius {}, levels i + {} j + {} k, {} colours", stencil.size(), stencil.radius(),
                       levels.y, levels.z, linear_colourings(offsets).front().colours);
}

std::vector<std::string> operations_on(const Stencil& stencil) {
    return {operations_of_solve(stencil), operations_of_factorisation(stencil)};
}

std::optional<std::string> explain_stencil(const std::string& name) {
    const auto& all = Stencil::ready_made();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Stencil& one) { return one.name() == name; });
    if (found == all.end()) return std::nullopt;
    std::vector<std::string> offsets;
    for (const Int3& p : found->offsets()) offsets.push_back(fmt::format("({}, {}, {})", p.x, p.y, p.z));
    return fmt::format(
        "stencil {0}\n{1}.\n\nThe row of a point (i, j, k) couples it to the points at these offsets:\n{2}\n\n"
        "Points of one level, and points of one colour, do not depend on one another, so that they are computed "
        "together.\n{3}.\n\nA problem decides which stencil its matrix has. `hyperplane bench --cases {0}:1:64` times "
        "kernels on this one,\nwith 1 unknown a point and 64 points a side.\n",
        name, summary_of(*found), fmt::join(offsets, " "), fmt::join(operations_on(*found), ".\n"));
}

}  // namespace hyperplane
