// SPDX-License-Identifier: BSD-3-Clause
// The entries of a row of a matrix file, in the order of their columns.
#pragma once

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "core/types.hpp"

namespace hyperplane {

/// Sorts one row, in which entries with the same column keep their order; returns whether a column is there twice.
/// `scratch` has memory that is kept from row to row.
inline bool sort_row(Index* column, double* value, Index size, std::vector<std::pair<Index, double>>& scratch) {
    if (!std::is_sorted(column, column + size)) {
        scratch.clear();
        for (Index at = 0; at < size; ++at) scratch.emplace_back(column[at], value[at]);
        std::stable_sort(scratch.begin(), scratch.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (Index at = 0; at < size; ++at) std::tie(column[at], value[at]) = scratch[std::size_t(at)];
    }
    return std::adjacent_find(column, column + size) != column + size;
}

}  // namespace hyperplane
