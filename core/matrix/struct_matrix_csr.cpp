// SPDX-License-Identifier: BSD-3-Clause
// A structured matrix as a CSR matrix, and its values from one.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/matrix/struct_matrix.hpp"

namespace hyperplane {

CsrMatrix StructMatrix::to_csr() const {
    CsrMatrix csr;
    csr.rows = unknowns();
    csr.row_begin.reserve(csr.rows + 1);
    csr.row_begin.push_back(0);
    std::vector<std::pair<Index, int>> columns;  // first column of a block, entry
    for (Index at_row = 0; at_row < grid().points(); ++at_row) {
        const Int3 point = grid().point(at_row);
        columns.clear();
        for (int e = 0; e < stencil_.size(); ++e) {
            const Int3 neighbour = grid().wrapped(point + stencil_[e]);
            if (grid().contains(neighbour)) columns.emplace_back(grid().row(neighbour) * dof(), e);
        }
        std::sort(columns.begin(), columns.end());
        for (int row = 0; row < dof(); ++row) {
            for (const auto& [column, e] : columns)
                for (int col = 0; col < dof(); ++col) {
                    csr.column.push_back(column + col);
                    csr.value.push_back(at(point, e, row, col));
                }
            csr.row_begin.push_back(Index(csr.column.size()));
        }
    }
    return csr;
}

void StructMatrix::assign(const CsrMatrix& csr) {
    if (csr.rows != unknowns())
        throw UsageError(fmt::format("a matrix of {} rows does not fit {} x {} x {} points with {} unknowns each",
                                     csr.rows, grid().nx, grid().ny, grid().nz, dof()));
    lines_.forget();
    std::fill(values_.begin(), values_.end(), 0.0);
    for (Index row = 0; row < csr.rows; ++row) {
        const Int3 point = grid().point(row / dof());
        for (Index at = csr.row_begin[row]; at < csr.row_begin[row + 1]; ++at) {
            const Int3 neighbour = grid().point(csr.column[at] / dof());
            int entry = stencil_.find(neighbour + -point);
            for (int e = 0; entry < 0 && grid().any_periodic() && e < stencil_.size(); ++e)
                if (grid().wrapped(point + stencil_[e]) == neighbour) entry = e;
            if (entry < 0)
                throw UsageError(fmt::format("entry at row {}, column {} does not fit stencil {}", row + 1,
                                             csr.column[at] + 1, stencil_.name()));
            if (stores(entry))
                values(entry, int(row % dof()), int(csr.column[at] % dof()))[layout().slot(point)] += csr.value[at];
        }
    }
}

}  // namespace hyperplane
