// SPDX-License-Identifier: BSD-3-Clause
// SparseMatrix: a matrix of any pattern, as another program holds it. Public: what is declared here stays compatible
// within a minor version (docs/library.md).
#pragma once

#include <cstdint>
#include <span>
#include <variant>

namespace hyperplane {

/// A square matrix in compressed rows of blocks (BSR; with blocks of 1 x 1: CSR). Its arrays belong to the program;
/// they lie in the host's memory, or all three in the memory of the GPU SolverSettings::gpu, where the values then
/// stay:
///
///   the blocks of block row i are row_begin[i], ..., row_begin[i + 1] - 1; block k lies in block column columns[k];
///   its coefficient in row r and column c of the block is values[(k * block + r) * block + c]
struct SparseMatrix {
    /// One value more than there are block rows, beginning with 0; integers of 64 or 32 bits.
    std::variant<std::span<const std::int64_t>, std::span<const std::int32_t>> row_begin{};
    /// The block columns; they ascend within a row, and none occurs twice.
    std::span<const std::int32_t> columns{};
    std::span<const double> values{};
    /// The number of rows, and of columns, of a block: 1 to 32.
    int block = 1;
};

}  // namespace hyperplane
