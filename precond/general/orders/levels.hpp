// SPDX-License-Identifier: BSD-3-Clause
// The levels of a triangle: a row's level is one more than the largest of those that it depends on. Rows of one level
// do not depend on each other.
#pragma once

#include "core/matrix/block_pattern.hpp"
#include "precond/factors/side.hpp"

namespace hyperplane {

/// The rows of a triangle by level, in the host's memory; those of one level ascend.
struct RowLevels {
    Buffer<int> rows;     ///< level by level
    Buffer<Index> begin;  ///< [level]: where its rows begin; one value more than there are levels

    Index levels() const { return begin.size() - 1; }
};

/// The levels of both triangles.
struct BothLevels {
    RowLevels lower, upper;

    const RowLevels& of(Side side) const { return side == Side::lower ? lower : upper; }
};

/// The levels of one triangle, or of both at the same time, of a pattern that the host can read.
RowLevels levels_of(const Context& host, const BlockPattern& pattern, Side side, const std::string& label);
BothLevels levels_of_both(const Context& host, const BlockPattern& pattern, const std::string& label);

/// The rows sorted by level, where `depth` of a row is its level counted from 1.
RowLevels sorted_levels(const Context& host, const Buffer<int>& depth, Index levels, const std::string& label);

}  // namespace hyperplane
