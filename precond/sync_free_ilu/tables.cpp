// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/tables.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "precond/sync_free_ilu/by_level.hpp"

namespace hyperplane {
namespace {

constexpr int warp_lanes = 32, least_lanes = 4;
constexpr Index most_steps = 64;  // of a short row

struct Counts {
    int below = 0;  ///< the diagonal
    int from = 0;   ///< the diagonal on
    Index all() const { return Index(below) + from; }
};

/// The lanes of a row, 0 if it is long. A row with many steps has more, because each loads the pivot of one.
int lanes_of(const Counts& row, bool symmetric) {
    const Index entries = symmetric ? row.from : row.all();
    if (entries > warp_lanes || row.below > most_steps) return 0;
    return std::max(least_lanes, int(std::bit_ceil(unsigned(std::max<Index>(entries, (row.below + 1) / 2)))));
}

/// Long rows first, then those with the most lanes, of these those with the most steps: so few places stay empty.
constexpr int table_classes = 1 + 4 * int(most_steps + 1);
int class_of(const Counts& row, bool symmetric) {
    const int lanes = lanes_of(row, symmetric);
    if (lanes == 0) return 0;
    return 1 + std::countr_zero(unsigned(warp_lanes / lanes)) * int(most_steps + 1) + int(most_steps) - row.below;
}

Counts counts_of(const FilledPattern& filled, Index row) {
    const Index* const begin = filled.pattern->row_begin() + row;
    return {int(filled.diagonal[row] - begin[0]), int(begin[1] - filled.diagonal[row])};
}

/// Consecutive levels.
struct TablesOfLevels {
    std::vector<TableSlice> slices;
    Index pivots = 0, offsets = 0, in_long_rows = 0;
    std::vector<Index> count = std::vector<Index>(table_classes, 0);
};

}  // namespace

TableShape table_shape(const FilledPattern& filled, bool symmetric) {
    const Index rows = filled.pattern->rows();
    int longest = 0;
#pragma omp parallel for schedule(static) num_threads(filled.pattern->context().threads_for(rows)) \
    reduction(max                                                                                  \
              : longest)
    for (Index row = 0; row < rows; ++row) longest = std::max(longest, counts_of(filled, row).from);
    return {symmetric, longest <= 256 ? 1 : longest <= 65536 ? 2 : 4};
}

bool tables_pay(const FilledPattern& filled, const TableShape& shape) {
    const Index rows = filled.pattern->rows(), entries = filled.pattern->blocks();
    Index in_long_rows = 0, offsets = 0;
#pragma omp parallel for schedule(static) num_threads(filled.pattern->context().threads_for(rows)) \
    reduction(+ : in_long_rows, offsets)
    for (Index row = 0; row < rows; ++row) {
        const Counts counts = counts_of(filled, row);
        const int lanes = lanes_of(counts, shape.symmetric);
        offsets += Index(counts.below) * lanes;
        if (lanes == 0) in_long_rows += counts.all();
    }
    return in_long_rows * 4 <= entries && offsets * shape.offset_bytes <= 2 * entries * Index(sizeof(double)) &&
           entries <= Index(std::numeric_limits<unsigned>::max());
}

TableOrder table_order(const Context& host, const FilledPattern& filled, const RowLevels& levels,
                       const TableShape& shape, const std::string& label) {
    const Index rows = levels.rows.size();
    Buffer<Counts> counts(host, label, rows);
#pragma omp parallel for schedule(static) num_threads(host.threads_for(rows))
    for (Index row = 0; row < rows; ++row) counts[row] = counts_of(filled, row);
    TableOrder result;
    result.row = Buffer<int>(host, label, rows);
    result.levels = levels.levels();
    const std::vector<TablesOfLevels> parts =
        made_by_level<TablesOfLevels>(host, levels, [&](TablesOfLevels& part, Index level) {
            const Index begin = levels.begin[level], end = levels.begin[level + 1];
            sort_by_class(
                levels.rows.data() + begin, end - begin,
                [&](int row) { return class_of(counts[row], shape.symmetric); }, part.count, result.row.data() + begin);
            const auto lanes_at = [&](Index at) { return lanes_of(counts[result.row[at]], shape.symmetric); };
            for (Index at = begin; at < end;) {
                const Counts first = counts[result.row[at]];
                const int lanes = lanes_of(first, shape.symmetric);
                TableSlice slice{part.pivots, part.offsets, int(at), first.below, 1, lanes};
                while (lanes > 0 && slice.rows < warp_lanes / lanes && at + slice.rows < end &&
                       lanes_at(at + slice.rows) == lanes)
                    ++slice.rows;
                if (lanes == 0) slice.offsets = std::exchange(part.in_long_rows, part.in_long_rows + first.all());
                part.pivots += Index(first.below) * slice.rows;
                part.offsets += Index(first.below) * slice.rows * lanes;
                part.slices.push_back(slice);
                at += slice.rows;
            }
        });
    std::vector<TableOrder> before;  // each part; its sums alone
    for (const TablesOfLevels& part : parts) {
        TableOrder& sums = before.emplace_back();
        sums.pivots = std::exchange(result.pivots, result.pivots + part.pivots);
        sums.offsets = std::exchange(result.offsets, result.offsets + part.offsets);
        sums.in_long_rows = std::exchange(result.in_long_rows, result.in_long_rows + part.in_long_rows);
    }
    result.slices = joined_slices<TableSlice>(parts, [&](TableSlice& slice, std::size_t part) {
        slice.pivots += before[part].pivots;
        slice.offsets += slice.lanes > 0 ? before[part].offsets : before[part].in_long_rows;
    });
    return result;
}

}  // namespace hyperplane
