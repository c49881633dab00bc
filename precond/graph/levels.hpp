// SPDX-License-Identifier: BSD-3-Clause
// The levels of a triangle: a row's level is one more than the largest of those that it depends on. Rows of one level
// do not depend on each other.
#pragma once

#include "core/matrix/block_pattern.hpp"

namespace hyperplane {

enum class Side {
    lower,  ///< a row depends on the columns before it
    upper,  ///< a row depends on the columns after it
};

/// The rows of a triangle by level, in the host's memory; those of one level ascend.
struct RowLevels {
    Buffer<int> rows;     ///< level by level
    Buffer<Index> begin;  ///< [level]: where its rows begin; one value more than there are levels

    Index levels() const { return begin.size() - 1; }
};

/// The levels of one triangle of a pattern that the host can read.
RowLevels levels_of(const Context& host, const BlockPattern& pattern, Side side, const std::string& label);

}  // namespace hyperplane
