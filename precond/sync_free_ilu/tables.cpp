// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/tables.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

namespace hyperplane {
namespace {

constexpr int warp_lanes = 32, least_lanes = 4;
constexpr Index most_steps = 64;  // of a short row

struct Counts {
    Index below;  // the diagonal
    Index from;   // the diagonal on
    Index all() const { return below + from; }
};

class Rows {
public:
    Rows(const FilledPattern& filled, bool symmetric)
        : begin_(filled.pattern->row_begin()), diagonal_(filled.diagonal), symmetric_(symmetric) {}
    Counts of(Index row) const { return {diagonal_[row] - begin_[row], begin_[row + 1] - diagonal_[row]}; }
    /// The lanes of a row, 0 if it is long. A row with many steps has more, because each loads the pivot of one.
    int lanes(const Counts& row) const {
        const Index entries = symmetric_ ? row.from : row.all();
        if (entries > warp_lanes || row.below > most_steps) return 0;
        return std::max(least_lanes, int(std::bit_ceil(unsigned(std::max(entries, (row.below + 1) / 2)))));
    }
    /// Long rows first, then those with the most lanes, of these those with the most steps: so few places stay empty.
    int class_of(int row) const {
        const Counts counts = of(row);
        const int own = lanes(counts);
        if (own == 0) return 0;
        return 1 + std::countr_zero(unsigned(warp_lanes / own)) * int(most_steps + 1) + int(most_steps - counts.below);
    }
    static constexpr int classes = 1 + 4 * int(most_steps + 1);

private:
    const Index* begin_;
    const Buffer<Index>& diagonal_;
    bool symmetric_;
};

/// Sorts the rows of one level by class; rows of one class stay in their order.
void sort_level(const Rows& rows, const int* level, Index count, int* sorted) {
    if (count < Rows::classes) {
        std::copy(level, level + count, sorted);
        std::stable_sort(sorted, sorted + count, [&](int a, int b) { return rows.class_of(a) < rows.class_of(b); });
        return;
    }
    std::array<Index, Rows::classes> next{};
    for (Index at = 0; at < count; ++at) ++next[rows.class_of(level[at])];
    Index before = 0;
    for (Index& one : next) before += std::exchange(one, before);
    for (Index at = 0; at < count; ++at) sorted[next[rows.class_of(level[at])]++] = level[at];
}

}  // namespace

TableShape table_shape(const FilledPattern& filled, bool symmetric) {
    const Rows rows(filled, symmetric);
    Index longest = 0;
    for (Index row = 0; row < filled.pattern->rows(); ++row) longest = std::max(longest, rows.of(row).from);
    return {symmetric, longest <= 256 ? 1 : longest <= 65536 ? 2 : 4};
}

bool tables_pay(const FilledPattern& filled, const TableShape& shape) {
    const Rows rows(filled, shape.symmetric);
    const Index entries = filled.pattern->blocks();
    Index in_long_rows = 0, offsets = 0;
    for (Index row = 0; row < filled.pattern->rows(); ++row) {
        const Counts counts = rows.of(row);
        const int lanes = rows.lanes(counts);
        offsets += counts.below * lanes;
        if (lanes == 0) in_long_rows += counts.all();
    }
    return in_long_rows * 4 <= entries && offsets * shape.offset_bytes <= 2 * entries * Index(sizeof(double)) &&
           entries <= Index(std::numeric_limits<unsigned>::max());
}

TableOrder table_order(const Context& host, const FilledPattern& filled, const TableShape& shape,
                       const std::string& label) {
    const RowLevels levels = levels_of(host, *filled.pattern, Side::lower, label);
    const Rows rows(filled, shape.symmetric);
    TableOrder result;
    result.row = Buffer<int>(host, label, levels.rows.size());
    result.levels = levels.levels();
    for (Index level = 0; level < levels.levels(); ++level) {
        const Index begin = levels.begin[level], end = levels.begin[level + 1];
        sort_level(rows, levels.rows.data() + begin, end - begin, result.row.data() + begin);
        for (Index at = begin; at < end;) {
            const Counts first = rows.of(result.row[at]);
            const int lanes = rows.lanes(first);
            TableSlice slice{result.pivots, result.offsets, int(at), int(first.below), 1, lanes};
            while (lanes > 0 && slice.rows < warp_lanes / lanes && at + slice.rows < end &&
                   rows.lanes(rows.of(result.row[at + slice.rows])) == lanes)
                ++slice.rows;
            if (lanes == 0) slice.offsets = std::exchange(result.in_long_rows, result.in_long_rows + first.all());
            result.pivots += first.below * slice.rows;
            result.offsets += first.below * slice.rows * lanes;
            result.slices.push_back(slice);
            at += slice.rows;
        }
    }
    return result;
}

}  // namespace hyperplane
