// SPDX-License-Identifier: BSD-3-Clause
// What the kernels that solve the parts of a general matrix read besides values (precond/sync_free_ilu/part_solve.cuh):
// the rows of each part in the order of levels, in slices. In the host's memory.
#pragma once

#include <vector>

#include "core/graph/parts.hpp"
#include "precond/general/orders/levels.hpp"
#include "precond/general/pattern/fill.hpp"
#include "precond/sync_free_ilu/part_arguments.hpp"

namespace hyperplane {

struct PartTables {
    /// Of one triangle; the arrays are those of PartSide.
    struct OfSide {
        std::vector<PartSlice> slices;
        std::vector<int> level_slices, part_levels;
        std::vector<unsigned short> local, columns;
    };
    OfSide lower, upper;
    std::vector<int> part_rows, numbered;  ///< as in PartArguments
    std::vector<unsigned short> places;

    /// The bytes of these tables and of the parts' rows, without the packed factors.
    Index bytes() const;
    /// The number of packed blocks, without those of the diagonal.
    Index blocks() const { return Index(lower.columns.size() + upper.columns.size()); }
};

/// No row of the pattern may depend on a row of another part, and no part may have more than 65,536 rows.
PartTables part_tables(const FilledPattern& filled, const GraphParts& parts, int dof);

}  // namespace hyperplane
