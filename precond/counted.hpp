// SPDX-License-Identifier: BSD-3-Clause
// The memory of preconditioners of a general matrix of which only the numbers of rows and blocks are known, as from the
// head of its file. Their plans (precond/row.hpp) need its pattern.
#pragma once

#include <vector>

#include "core/device/context.hpp"
#include "core/parameters/registry.hpp"

namespace hyperplane {

/// A square matrix of dof x dof blocks.
struct BlockCounts {
    Index rows, blocks;  ///< block rows, and blocks that are stored
    int dof;

    Index value_bytes() const { return blocks * dof * dof * Index(sizeof(double)); }
};

/// What PreconditionerPlan says, on a CPU.
struct CountedPlan {
    Index bytes = 0;        ///< if all diagonal blocks are stored
    Index most_bytes = 0;   ///< if some are not, and if the most threads have work
    Index setup_bytes = 0;  ///< held in addition during a set-up
};

/// A preconditioner whose memory follows from the counts. The function throws UsageError for keys with which it does
/// not.
struct CountedRow {
    std::string name;
    std::function<CountedPlan(const Parameters&, const Context&, const BlockCounts&)> plan;
};
const std::vector<CountedRow>& counted_preconditioners();

/// The memory of the deck's preconditioner within its scaling. Throws UsageError if it does not follow from the counts.
CountedPlan plan_by_counts(const Parameters& parameters, const Context& context, const BlockCounts& a);

/// Throws UsageError: `where` needs the pattern.
[[noreturn]] void refuse_without_pattern(const std::string& where);

}  // namespace hyperplane
