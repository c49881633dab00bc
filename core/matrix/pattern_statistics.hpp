// SPDX-License-Identifier: BSD-3-Clause
// What tables and records say of the pattern of a general matrix.
#pragma once

#include "core/types.hpp"

namespace hyperplane {

/// Rows and columns are block rows and block columns.
struct PatternStatistics {
    Index rows = 0, blocks = 0;
    Index shortest = 0, longest = 0;  ///< the fewest and the most blocks of a row
    Index lower_bandwidth = 0;        ///< max i - j of a stored block (i, j), at least 0
    Index upper_bandwidth = 0;        ///< max j - i of a stored block (i, j), at least 0
    Index lower_levels = 0;           ///< levels of the rows by the blocks below the diagonal
    Index upper_levels = 0;           ///< levels of the rows by the blocks above the diagonal
    Index missing_diagonals = 0;      ///< rows without a diagonal block
    bool symmetric = false;           ///< with (i, j) also (j, i) is stored
    Index in_long_rows = 0;           ///< blocks of the rows that BlockPattern::is_long_row tells
    double mean() const { return rows > 0 ? double(blocks) / double(rows) : 0.0; }
    double rows_a_lower_level() const { return lower_levels > 0 ? double(rows) / double(lower_levels) : 0.0; }
};

}  // namespace hyperplane
