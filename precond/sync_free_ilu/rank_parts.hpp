// SPDX-License-Identifier: BSD-3-Clause
// The parts of subdomain_ildu0 (precond/general/pattern/decoupled.hpp) on several ranks, where a rank solves whole
// parts.
//
// The parts are those of the whole matrix, whatever the ranks. A part belongs to the rank that has most of its rows. So
// a rank solves with rows of its own and, of parts that a cut between ranks divides, with rows of other ranks. They are
// numbered in the order of the whole matrix, so that the rows of each rank are consecutive. Before a solve ranks send
// the right-hand sides of rows that others solve, and afterwards receive the results.
#pragma once

#include <memory>
#include <vector>

#include "core/matrix/block_pattern.hpp"
#include "precond/general/pattern/decoupled.hpp"

namespace hyperplane {

struct SolvedParts {
    /// The blocks of a rank's rows of A that another rank factors, in the order of rows.
    struct Moved {
        int rank;
        std::vector<Index> places;  ///< of the blocks that this rank gives, in its rows of A
        Index first = 0, last = 0;  ///< of those that it receives, in the solved rows
    };

    std::shared_ptr<const BlockPattern> pattern;   ///< of the solved rows of A, without couplings between parts
    std::shared_ptr<const std::vector<int>> part;  ///< [solved row]
    std::vector<int> row;                          ///< [solved row]: its number in the whole matrix
    std::vector<Index> own_rows;                   ///< the slots of own rows that this rank solves
    std::vector<Index> own_blocks;                 ///< and the places of their blocks in its rows of A
    Index first_row = 0, first_block = 0;          ///< where own rows begin among the solved ones
    std::vector<Moved> moved;                      ///< of other ranks
    bool divided = false;                          ///< whether a cut divides any part, of whatever rank
    RowSlab there, back;        ///< exchanges: own rows to solved rows, and these to the results of other ranks
    Index returned = 0;         ///< rows that other ranks solve; their results come behind the solved rows
    std::vector<Index> result;  ///< [own row]: where its result is

    Index solved() const { return Index(row.size()); }
};

/// `a` has a rank's rows and keeps the whole pattern. All are in the memory of `host`.
SolvedParts parts_of_rank(const Context& host, const BlockPattern& a, int dof, const PartOptions& options,
                          const std::string& label);

}  // namespace hyperplane
