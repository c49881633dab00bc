// SPDX-License-Identifier: BSD-3-Clause
// How groups of threads overlap the eliminations of successive rows of a line (StructILU paper, section 4.2.2, the
// two-substage pipeline, Figure 4(e) and (f)).
//
// At level L the groups finish the row of level L and begin that of level L + 1. What a row needs of points two levels
// back or more is known by then; what it needs of the level before is not. So a row has four stages:
//
//     0, 1   at the level before its own
//     2, 3   at its own level
//
// and a level has two substages, stages 0 and 2, then 1 and 3, between which the groups wait for each other once.
#pragma once

#include <vector>

#include "precond/factors/eliminations.hpp"

namespace hyperplane {

struct RowPipeline {
    std::vector<int> group;         ///< of each entry that is computed
    std::vector<int> update_stage;  ///< of each elimination (l, u), in the order of Eliminations
    std::vector<int> known_at;      ///< the stage after which E of a lower entry, or the sum of another one, is known
    std::vector<int> ends_at;       ///< the stage of W_e = E_e D^-1(p+e), of the inversion, of G_e = D^-1 X_e
    int operations = 0;             ///< of the slowest group in each substage, in sum: the paper's N_fp

    /// `levels` are those of the entries' offsets, the first `lower` of which are negative. Both triangles are
    /// computed.
    RowPipeline(const Eliminations& pairs, const std::vector<int>& levels, int lower, int groups);
};

}  // namespace hyperplane
