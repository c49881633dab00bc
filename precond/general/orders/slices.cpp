// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/orders/slices.hpp"

#include <algorithm>
#include <utility>

#include "precond/general/orders/by_level.hpp"

namespace hyperplane {
namespace {

/// Consecutive levels.
struct SlicesOfLevels {
    std::vector<SolveSlice> slices;
    Index places = 0;
    std::vector<Index> count = std::vector<Index>(SolveRule::classes, 0);
};

}  // namespace

SlicedSizes SlicedSizes::least(Index rows, Index blocks, int dof) {
    const int most_rows = std::max(1, SolveRule::warp / dof);
    return {(rows + most_rows - 1) / most_rows, blocks};
}

SlicedSizes SlicedSizes::most(Index rows, Index blocks) {
    // A row has more groups of lanes than one only if they are fewer than half of its blocks. Where a slice has several
    // rows, none has more blocks in a group than blocks_of_a_lane.
    return {rows, 2 * blocks + SolveRule::blocks_of_a_lane * rows};
}

SlicedOrder sliced_order(const Context& host, const FilledPattern& filled, const RowLevels& levels, Side side, int dof,
                         const std::string& label) {
    const SolveRule rule{dof, side == Side::upper};
    SlicedOrder result{Buffer<int>(host, label, levels.rows.size()), {}, 0, levels.levels(), {}};
    const auto entries_at = [&](Index at) { return entries_of(filled, result.row[at]); };
    const std::vector<SlicesOfLevels> parts =
        made_by_level<SlicesOfLevels>(host, levels, [&](SlicesOfLevels& part, Index level) {
            const Index begin = levels.begin[level], end = levels.begin[level + 1];
            sort_by_class(
                levels.rows.data() + begin, end - begin,
                [&](int row) { return rule.class_of(entries_of(filled, row)); }, part.count, result.row.data() + begin);
            for (Index at = begin; at < end;) {
                const int lanes = 1 << rule.lanes_exponent(entries_at(at));
                SolveSlice slice{part.places, int(at), 0, 0, lanes};
                for (; at < end && slice.rows < SolveRule::warp / (lanes * dof); ++at, ++slice.rows) {
                    const RowEntries own = entries_at(at);
                    if (1 << rule.lanes_exponent(own) != lanes) break;
                    slice.width = std::max(slice.width, rule.width_of(own, lanes));
                }
                part.places += Index(slice.width) * slice.rows * lanes;
                part.slices.push_back(slice);
            }
        });
    std::vector<Index> before;  // each part
    for (const SlicesOfLevels& part : parts)
        before.push_back(std::exchange(result.places, result.places + part.places));
    result.slices = joined_slices<SolveSlice>(
        host, parts, label, [&](SolveSlice& slice, std::size_t part) { slice.begin += before[part]; });
    for (Index at = 0; at < result.slices.size(); ++at)
        if (result.slices[at].first == levels.begin[Index(result.level_begin.size())])
            result.level_begin.push_back(int(at));
    result.level_begin.push_back(int(result.slices.size()));
    return result;
}

void keep_levels_if_used(SlicedOrder& lower, SlicedOrder& upper, SolveWay way, int dof) {
    if (solves_by_levels(way, lower.levels + upper.levels, (lower.places + upper.places) * dof * dof)) return;
    lower.level_begin = {};
    upper.level_begin = {};
}

}  // namespace hyperplane
