// SPDX-License-Identifier: BSD-3-Clause
// How groups of threads share the elimination of one row (StructILU paper, section 4.2.2, Figure 4(c) and (d)).
//
// An entry needs the lower entries l of its eliminations (l, u). So the entries of a row have levels of their own, and
// those of a level are independent. The groups compute one stage after the other and wait for each other in between. A
// stage is a level, or several consecutive levels if that takes less time than to wait; upper entries, which no other
// entry needs, are computed in whatever stage has time for them.
#pragma once

#include <vector>

#include "precond/factors/eliminations.hpp"

namespace hyperplane {

/// Which group of threads computes each entry of a row, and in which stage.
struct IntraRowSchedule {
    std::vector<int> group, stage;  ///< of each entry that is computed, from 0
    int stages = 0;
    int operations = 0;  ///< of the slowest group in each stage, in sum: the paper's N_fp

    /// Each level is a stage, as in the paper. `pairs` are those of `entries` entries, the first `lower` of which are
    /// below the diagonal. A product of blocks or an inversion is one operation.
    static IntraRowSchedule by_levels(const Eliminations& pairs, int lower, int entries, int groups);
    /// The stages that take least time if a wait between stages takes as long as `waiting` operations. All sets of
    /// stages are tried; a row with more than most_levels levels has too many of them, and each level is a stage.
    static constexpr int most_levels = 12;
    static IntraRowSchedule fastest(const Eliminations& pairs, int lower, int entries, int groups, int waiting);
};

}  // namespace hyperplane
