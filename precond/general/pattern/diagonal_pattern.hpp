// SPDX-License-Identifier: BSD-3-Clause
// The pattern of a block diagonal matrix.
#pragma once

#include <memory>
#include <numeric>
#include <string>

#include "core/matrix/block_pattern.hpp"

namespace hyperplane {

/// The pattern of `rows` block rows that has their diagonal blocks alone, in the host's memory.
inline std::shared_ptr<const BlockPattern> diagonal_pattern(const Context& host, Index rows, const std::string& label) {
    Buffer<Index> row_begin(host, label, rows + 1);
    Buffer<int> column(host, label, rows);
    std::iota(row_begin.begin(), row_begin.end(), Index(0));
    std::iota(column.begin(), column.end(), 0);
    return std::make_shared<const BlockPattern>(std::move(row_begin), std::move(column));
}

}  // namespace hyperplane
