// SPDX-License-Identifier: BSD-3-Clause
// The memory of preconditioners of a general matrix of which only the numbers of rows and blocks are known, as from the
// head of its file. Their plans (precond/registry_row.hpp) need its pattern.
#pragma once

#include <algorithm>
#include <functional>

#include "core/device/context.hpp"
#include "core/parameters/parameters.hpp"

namespace hyperplane {

/// A square matrix of dof x dof blocks.
struct BlockCounts {
    Index rows, blocks;  ///< block rows, and blocks that are stored
    int dof;

    Index value_bytes() const { return blocks * dof * dof * Index(sizeof(double)); }
    /// The blocks of a full matrix of so many rows; a smaller number if no machine could hold as many.
    Index blocks_if_full() const {
        const Index most = (Index(1) << 55) / (dof * dof);
        return rows <= most / std::max<Index>(rows, 1) ? rows * rows : most;
    }
};

/// What PreconditionerPlan says, on a CPU.
struct CountedPlan {
    Index bytes = 0;             ///< if all diagonal blocks are stored, and of what `most_when` names nothing is there
    Index most_bytes = 0;        ///< if some are not, if the most threads have work, and under the condition
    Index setup_bytes = 0;       ///< held in addition during a set-up
    Index most_setup_bytes = 0;  ///< the same where most_bytes are held; at least setup_bytes
    /// What the pattern decides besides, as in "rows of the factors fill up"; empty: nothing.
    const char* most_when = "";
    /// Threads share the rows of a level, and blocks that are missing on the diagonal are stored.
    bool by_level = false;
};

using PlanByCounts = std::function<CountedPlan(const Parameters&, const Context&, const BlockCounts&)>;

}  // namespace hyperplane
