// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/orders/row_counts.hpp"

namespace hyperplane {

RowCounts row_counts(const FilledPattern& filled, bool symmetric, Index rows) {
    const TableRule rule{symmetric};
    RowCounts counts;
#pragma omp parallel num_threads(filled.pattern->context().threads_for(rows))
    {
        RowCounts own;
#pragma omp for schedule(static)
        for (Index row = 0; row < rows; ++row) own.add(entries_of(filled, filled.first + row), rule);
#pragma omp critical
        counts.add(own);
    }
    counts.rows = rows;
    counts.blocks = filled.pattern->blocks();
    return counts;
}

}  // namespace hyperplane
