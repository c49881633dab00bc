// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/rank_pattern.hpp"

#include <algorithm>

namespace hyperplane {

Index blocks_of_rank(const BlockPattern& a) {
    const RowSlab& slab = *a.slab();
    Index missing = 0;
    for (Index row = 0; row < a.rows(); ++row) missing += a.find(row, int(row)) < 0;
    return slab.before + Index(slab.upper.column.size()) + a.blocks() + missing;
}

FilledPattern pattern_of_rank(const Context& host, const BlockPattern& a, const std::string& label) {
    const RowSlab& slab = *a.slab();
    const Index all = slab.rows_in_memory();
    const int before = int(slab.before);
    FilledPattern made;
    made.first = before;
    made.diagonal = Buffer<Index>(host, label, all);
    made.place = Buffer<int>(host, label, a.blocks());
    Buffer<Index> row_begin(host, label, all + 1);
    Buffer<int> column(host, label, blocks_of_rank(a));
    Index next = 0;
    const auto add = [&](int slot) { column[next++] = slot + before; };
    for (Index row = 0; row < before; ++row) {
        made.diagonal[row] = next;
        add(int(row) - before);
        for (Index at = slab.upper.begin[row]; at < slab.upper.begin[row + 1]; ++at) add(slab.upper.column[at]);
        row_begin[row + 1] = next;
    }
    for (Index row = 0; row < a.rows(); ++row) {
        const Index begin = next;
        bool diagonal = false;  // has been passed
        const auto add_diagonal = [&] {
            made.diagonal[before + row] = next;
            add(int(row));
            diagonal = true;
        };
        for (Index at = a.row_begin()[row]; at < a.row_begin()[row + 1]; ++at) {
            const int j = a.column()[at];
            if (!diagonal && j >= row) add_diagonal();
            made.place[at] = int((j == row ? made.diagonal[before + row] : next) - begin);
            if (j != row) add(j);
        }
        if (!diagonal) add_diagonal();
        row_begin[before + row + 1] = next;
    }
    std::fill(row_begin.begin() + before + a.rows() + 1, row_begin.end(), next);
    made.pattern = std::make_shared<const BlockPattern>(std::move(row_begin), std::move(column));
    return made;
}

}  // namespace hyperplane
