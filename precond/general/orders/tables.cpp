// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/orders/tables.hpp"

#include <limits>
#include <utility>

#include "precond/general/orders/by_level.hpp"

namespace hyperplane {
namespace {

/// Consecutive levels.
struct TablesOfLevels {
    std::vector<TableSlice> slices;
    TableSizes sizes;
    std::vector<Index> count = std::vector<Index>(TableRule::classes, 0);
};

}  // namespace

TableShape table_shape(const RowCounts& counts, bool symmetric) {
    return {symmetric, counts.longest <= 256 ? 1 : counts.longest <= 65536 ? 2 : 4};
}

bool tables_pay(const RowCounts& counts, const TableShape& shape) {
    return counts.in_long_rows * 4 <= counts.blocks &&
           counts.offsets * shape.offset_bytes <= 2 * counts.blocks * Index(sizeof(double)) &&
           counts.blocks <= Index(std::numeric_limits<unsigned>::max());
}

TableOrder table_order(const Context& host, const FilledPattern& filled, const RowLevels& levels,
                       const TableShape& shape, const std::string& label) {
    const TableRule rule{shape.symmetric};
    TableOrder result{Buffer<int>(host, label, levels.rows.size()), {}, {}, levels.levels()};
    const auto entries_at = [&](Index at) { return entries_of(filled, result.row[at]); };
    const std::vector<TablesOfLevels> parts =
        made_by_level<TablesOfLevels>(host, levels, [&](TablesOfLevels& part, Index level) {
            const Index begin = levels.begin[level], end = levels.begin[level + 1];
            sort_by_class(
                levels.rows.data() + begin, end - begin,
                [&](int row) { return rule.class_of(entries_of(filled, row)); }, part.count, result.row.data() + begin);
            for (Index at = begin; at < end;) {
                const RowEntries first = entries_at(at);
                const int lanes = rule.lanes_of(first);
                TableSizes& sizes = part.sizes;
                TableSlice slice{sizes.pivots, sizes.offsets, int(at), first.below, 1, lanes};
                while (lanes > 0 && slice.rows < TableRule::warp / lanes && at + slice.rows < end &&
                       rule.lanes_of(entries_at(at + slice.rows)) == lanes)
                    ++slice.rows;
                if (lanes == 0) slice.offsets = std::exchange(sizes.in_long_rows, sizes.in_long_rows + first.all());
                sizes.pivots += Index(first.below) * slice.rows;
                sizes.offsets += Index(first.below) * slice.rows * lanes;
                part.slices.push_back(slice);
                at += slice.rows;
            }
        });
    std::vector<TableSizes> before;  // each part
    for (const TablesOfLevels& part : parts) {
        before.push_back(result.sizes);
        result.sizes.pivots += part.sizes.pivots;
        result.sizes.offsets += part.sizes.offsets;
        result.sizes.in_long_rows += part.sizes.in_long_rows;
    }
    result.slices = joined_slices<TableSlice>(host, parts, label, [&](TableSlice& slice, std::size_t part) {
        slice.pivots += before[part].pivots;
        slice.offsets += slice.lanes > 0 ? before[part].offsets : before[part].in_long_rows;
    });
    result.sizes.slices = result.slices.size();
    return result;
}

}  // namespace hyperplane
