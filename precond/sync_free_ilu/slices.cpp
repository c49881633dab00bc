// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/slices.hpp"

#include <algorithm>
#include <utility>

#include "precond/sync_free_ilu/by_level.hpp"

namespace hyperplane {
namespace {

constexpr int warp = 32;
/// A row gets more lanes until none has more blocks than this.
constexpr Index blocks_of_a_lane = 4;

/// The number of groups of lanes of a row with so many blocks, a power of two, by its exponent.
int lanes_exponent(Index blocks, int dof) {
    int exponent = 0;
    while ((2 << exponent) * dof <= warp && blocks > blocks_of_a_lane << exponent) ++exponent;
    return exponent;
}

/// The classes in which rows of a level are sorted: those with most lanes first, and of these the longest, so that
/// slices have few places without a block. A row with `widths` blocks a lane, or more, is one of the widest.
constexpr int widths = 8, slice_classes = 6 * widths;
int class_of(Index blocks, int dof) {
    const int exponent = lanes_exponent(blocks, dof);
    const Index width = (blocks + (Index(1) << exponent) - 1) >> exponent;
    return slice_classes - 1 - exponent * widths - int(std::min<Index>(width, widths - 1));
}

/// The number of blocks of each row of a triangle.
Buffer<int> blocks_of_rows(const Context& host, const FilledPattern& filled, Side side, const std::string& label) {
    const Index rows = filled.pattern->rows();
    const Index* const begin = filled.pattern->row_begin();
    Buffer<int> blocks(host, label, rows);
#pragma omp parallel for schedule(static) num_threads(host.threads_for(rows))
    for (Index row = 0; row < rows; ++row)
        blocks[row] =
            int(side == Side::lower ? filled.diagonal[row] - begin[row] : begin[row + 1] - filled.diagonal[row] - 1);
    return blocks;
}

/// Consecutive levels.
struct SlicesOfLevels {
    std::vector<SolveSlice> slices;
    Index places = 0;
    std::vector<Index> count = std::vector<Index>(slice_classes, 0);
};

}  // namespace

Buffer<int> SlicedOrder::position(const Context& host, const std::string& label) const {
    Buffer<int> result(host, label, row.size());
#pragma omp parallel for schedule(static) num_threads(host.threads_for(row.size()))
    for (Index at = 0; at < row.size(); ++at) result[row[at]] = int(at);
    return result;
}

SlicedOrder sliced_order(const Context& host, const FilledPattern& filled, const RowLevels& levels, Side side, int dof,
                         const std::string& label) {
    const Buffer<int> blocks = blocks_of_rows(host, filled, side, label);
    SlicedOrder result{Buffer<int>(host, label, levels.rows.size()), {}, 0, levels.levels()};
    const std::vector<SlicesOfLevels> parts =
        made_by_level<SlicesOfLevels>(host, levels, [&](SlicesOfLevels& part, Index level) {
            const Index begin = levels.begin[level], end = levels.begin[level + 1];
            sort_by_class(
                levels.rows.data() + begin, end - begin, [&](int row) { return class_of(blocks[row], dof); },
                part.count, result.row.data() + begin);
            for (Index at = begin; at < end;) {
                const int exponent = lanes_exponent(blocks[result.row[at]], dof), lanes = 1 << exponent;
                SolveSlice slice{part.places, int(at), 0, 0, lanes};
                for (; at < end && slice.rows < warp / (lanes * dof); ++at, ++slice.rows) {
                    const Index own = blocks[result.row[at]];
                    if (lanes_exponent(own, dof) != exponent) break;
                    slice.width = std::max(slice.width, int((own + lanes - 1) / lanes));
                }
                part.places += Index(slice.width) * slice.rows * lanes;
                part.slices.push_back(slice);
            }
        });
    std::vector<Index> before;  // each part
    for (const SlicesOfLevels& part : parts)
        before.push_back(std::exchange(result.places, result.places + part.places));
    result.slices =
        joined_slices<SolveSlice>(parts, [&](SolveSlice& slice, std::size_t part) { slice.begin += before[part]; });
    return result;
}

}  // namespace hyperplane
