// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/slices.hpp"

#include <algorithm>
#include <array>
#include <utility>

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

class Triangle {
public:
    Triangle(const FilledPattern& filled, Side side) : filled_(filled), side_(side) {}
    Index blocks(int row) const {
        const Index* const begin = filled_.pattern->row_begin() + row;
        return side_ == Side::lower ? filled_.diagonal[row] - begin[0] : begin[1] - filled_.diagonal[row] - 1;
    }

private:
    const FilledPattern& filled_;
    Side side_;
};

/// Sorts `count` rows of one level into `sorted`: those with most lanes first, and of these the longest, so that slices
/// have few places without a block; equal ones stay in their order.
void sort_level(const Triangle& triangle, int dof, const int* rows, Index count, int* sorted) {
    constexpr int widths = 8, classes = 6 * widths;  // a row with `widths` blocks a lane, or more, is one of the widest
    const auto class_of = [&](int row) {
        const Index blocks = triangle.blocks(row);
        const int exponent = lanes_exponent(blocks, dof);
        const Index width = (blocks + (Index(1) << exponent) - 1) >> exponent;
        return classes - 1 - exponent * widths - int(std::min<Index>(width, widths - 1));
    };
    std::array<Index, classes> next{};
    for (Index at = 0; at < count; ++at) ++next[class_of(rows[at])];
    Index before = 0;
    for (Index& one : next) before += std::exchange(one, before);
    for (Index at = 0; at < count; ++at) sorted[next[class_of(rows[at])]++] = rows[at];
}

}  // namespace

Buffer<int> SlicedOrder::position(const Context& host, const std::string& label) const {
    Buffer<int> result(host, label, row.size());
    for (Index at = 0; at < row.size(); ++at) result[row[at]] = int(at);
    return result;
}

SlicedOrder sliced_order(const Context& host, const FilledPattern& filled, Side side, int dof,
                         const std::string& label) {
    const RowLevels levels = levels_of(host, *filled.pattern, side, label);
    const Triangle triangle(filled, side);
    SlicedOrder result{Buffer<int>(host, label, levels.rows.size()), {}, 0, levels.levels()};
    for (Index level = 0; level < levels.levels(); ++level) {
        const Index begin = levels.begin[level], end = levels.begin[level + 1];
        sort_level(triangle, dof, levels.rows.data() + begin, end - begin, result.row.data() + begin);
        for (Index at = begin; at < end;) {
            const int exponent = lanes_exponent(triangle.blocks(result.row[at]), dof), lanes = 1 << exponent;
            SolveSlice slice{result.places, int(at), 0, 0, lanes};
            for (; at < end && slice.rows < warp / (lanes * dof); ++at, ++slice.rows) {
                const Index blocks = triangle.blocks(result.row[at]);
                if (lanes_exponent(blocks, dof) != exponent) break;
                slice.width = std::max(slice.width, int((blocks + lanes - 1) / lanes));
            }
            result.places += Index(slice.width) * slice.rows * lanes;
            result.slices.push_back(slice);
        }
    }
    return result;
}

}  // namespace hyperplane
