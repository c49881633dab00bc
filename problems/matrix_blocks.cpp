// SPDX-License-Identifier: BSD-3-Clause
#include "problems/matrix_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.hpp"

namespace hyperplane {
namespace {

/// Whether every dof rows have the same columns, in runs of dof that begin at multiples of dof.
bool fills_blocks(const CsrMatrix& a, int dof) {
    if (a.rows % dof != 0) return false;
    for (Index row = 0; row < a.rows; ++row) {
        const Index first = row - row % dof, begin = a.row_begin[row], like = a.row_begin[first];
        const Index count = a.row_begin[row + 1] - begin;
        if (count % dof != 0 || count != a.row_begin[first + 1] - like) return false;
        for (Index at = 0; at < count; ++at) {
            const Index expected = at % dof == 0 ? a.column[like + at] : a.column[like + at - at % dof] + at % dof;
            if (a.column[begin + at] != expected || (at % dof == 0 && expected % dof != 0)) return false;
        }
    }
    return true;
}

/// Calls body(block column) for each block of a block row in ascending order.
template <class Body>
void for_each_block(const CsrMatrix& a, int dof, Index row, const Body& body) {
    std::array<Index, max_dof> at;
    for (int r = 0; r < dof; ++r) at[r] = a.row_begin[row * dof + r];
    for (;;) {
        Index next = a.rows;
        for (int r = 0; r < dof; ++r)
            if (at[r] < a.row_begin[row * dof + r + 1]) next = std::min(next, a.column[at[r]] / dof);
        if (next == a.rows) return;
        body(next, at);
        for (int r = 0; r < dof; ++r)
            while (at[r] < a.row_begin[row * dof + r + 1] && a.column[at[r]] / dof == next) ++at[r];
    }
}

}  // namespace

int found_block_size(const CsrMatrix& a) {
    for (int dof = max_dof; dof > 1; --dof)
        if (fills_blocks(a, dof)) return dof;
    return 1;
}

std::unique_ptr<BsrMatrix> in_blocks(const Context& host, const CsrMatrix& a, int dof, const std::string& where,
                                     const std::string& label) {
    const Index rows = a.rows / dof;
    if (rows > most_block_rows)
        throw UsageError(fmt::format("{}: {} block rows are more than {}", where, rows, most_block_rows));
    const bool full = fills_blocks(a, dof);  // then the blocks of a row are those of its first line
    const int size = dof * dof, threads = host.threads_for(Index(a.column.size()));
    Buffer<Index> row_begin(host, label, rows + 1);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (Index row = 0; row < rows; ++row) {
        if (full)
            row_begin[row + 1] = a.row_begin[(row + 1) * dof] / size;
        else
            for_each_block(a, dof, row, [&](Index, const auto&) { ++row_begin[row + 1]; });
    }
    if (!full)
        for (Index row = 0; row < rows; ++row) row_begin[row + 1] += row_begin[row];
    Buffer<int> column(host, label, row_begin[rows]);
    Buffer<double> values(host, label, column.size() * size);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (Index row = 0; row < rows; ++row) {
        Index block = row_begin[row];
        if (full) {
            const Index first = a.row_begin[row * dof], count = row_begin[row + 1] - block;
            for (Index b = 0; b < count; ++b) column[block + b] = int(a.column[first + b * dof] / dof);
            for (int r = 0; r < dof; ++r)
                for (Index b = 0; b < count; ++b)
                    std::copy_n(a.value.data() + first + (r * count + b) * dof, dof,
                                values.data() + ((block + b) * dof + r) * dof);
            continue;
        }
        for_each_block(a, dof, row, [&](Index j, const auto& at) {
            column[block] = int(j);
            for (int r = 0; r < dof; ++r)
                for (Index k = at[r]; k < a.row_begin[row * dof + r + 1] && a.column[k] / dof == j; ++k)
                    values[(block * dof + r) * dof + a.column[k] % dof] = a.value[k];
            ++block;
        });
    }
    return std::make_unique<BsrMatrix>(std::make_shared<const BlockPattern>(std::move(row_begin), std::move(column)),
                                       dof, false, std::move(values));
}

}  // namespace hyperplane
