// SPDX-License-Identifier: BSD-3-Clause
// What the choice of kernels needs to know of the rows of factors.
#pragma once

#include "precond/general/orders/row_classes.hpp"
#include "precond/general/pattern/fill.hpp"

namespace hyperplane {

struct RowCounts {
    static constexpr int lengths = 3;        ///< 4, 8 and 16
    static constexpr Index long_row = 2048;  ///< longer rows are long ones of fixed-point sweeps

    Index rows = 0, blocks = 0;
    Index missing = 0;                    ///< rows without a diagonal block; if there are any, the rest means nothing
    Index lower = 0;                      ///< blocks below the diagonal
    Index longer[lengths] = {};           ///< rows with more blocks than each length
    Index longest = 0;                    ///< the most blocks of a row from the diagonal on
    Index most = 0;                       ///< the most blocks of a row
    Index long_rows = 0;                  ///< rows of more than long_row blocks
    Index in_long_rows = 0, offsets = 0;  ///< of tables (TableRule): entries of long rows, and offsets of the others

    bool operator==(const RowCounts&) const = default;

    HYPERPLANE_HD void add(const RowEntries& row, const TableRule& rule) {
        const int lanes = rule.lanes_of(row);
        long_rows += row.all() > long_row;
        lower += row.below;
        for (int at = 0; at < lengths; ++at) longer[at] += row.all() > 4 << at;
        if (row.from > longest) longest = row.from;
        if (row.all() > most) most = row.all();
        if (lanes == 0) in_long_rows += row.all();
        offsets += Index(row.below) * lanes;
    }
    HYPERPLANE_HD void add(const RowCounts& others) {
        missing += others.missing;
        long_rows += others.long_rows;
        lower += others.lower;
        for (int at = 0; at < lengths; ++at) longer[at] += others.longer[at];
        if (others.longest > longest) longest = others.longest;
        if (others.most > most) most = others.most;
        in_long_rows += others.in_long_rows;
        offsets += others.offsets;
    }
};

/// The blocks of a row; `filled` is in the host's memory.
inline RowEntries entries_of(const FilledPattern& filled, Index row) {
    const Index* const begin = filled.pattern->row_begin() + row;
    return {int(filled.diagonal[row] - begin[0]), int(begin[1] - filled.diagonal[row])};
}
/// Returns the counts of `rows` rows, from filled.first on; by default they are all rows.
RowCounts row_counts(const FilledPattern& filled, bool symmetric, Index rows);
inline RowCounts row_counts(const FilledPattern& filled, bool symmetric) {
    return row_counts(filled, symmetric, filled.pattern->rows());
}

}  // namespace hyperplane
