// SPDX-License-Identifier: BSD-3-Clause
// subdomain_ildu0 on general matrices: ILU(0) of parts of the matrix's graph, the couplings between parts left out
// (Gondhalekar, Haugen, Gibson, Feng, Mapping Sparse Triangular Solves to GPUs via Fine-grained Domain Decomposition).
//
// The factors lie in the order of the rows, as those of sync_free_ilu; their pattern is A's without the couplings
// between parts, so that no row depends on a row of another part.
#pragma once

#include <memory>
#include <vector>

#include "core/graph/parts.hpp"
#include "precond/general/pattern/fill.hpp"

namespace hyperplane {

/// How the rows are divided.
struct PartOptions {
    Index most_rows = 0;                                      ///< block rows of a part at most
    bool consecutive = false;                                 ///< consecutive rows in place of METIS's parts
    std::shared_ptr<const std::vector<int>> given = nullptr;  ///< the part of each row, where it is known already

    bool operator==(const PartOptions&) const = default;

    /// Rows of a part whose vector fits a GPU's shared memory with room for several thread blocks.
    static Index default_rows(int dof);
    /// The most rows that the deck may ask for.
    static Index largest_rows(int dof);
};

/// The pattern of factors, in the host's memory.
struct FactorPattern {
    FilledPattern filled = {};
    GraphParts parts = {};                          ///< where couplings between parts are left out
    std::shared_ptr<const RowSlab> slab = nullptr;  ///< the rows on a rank, where couplings cross ranks
    Index peak = 0;                                 ///< bytes held at most while it was found; 0 where nobody asks
};

/// How the rows of `a`, which the host can read, are divided.
GraphParts divided_rows(const Context& host, const BlockPattern& a, const PartOptions& options,
                        const std::string& label);

/// A's pattern without the couplings between parts, and with all diagonal blocks. `a` is one that the host can read.
FactorPattern decoupled_pattern(const Context& host, const std::shared_ptr<const BlockPattern>& a,
                                const PartOptions& options, const std::string& label);

/// The pattern of a rank's rows without the couplings to rows of other ranks, with the fill of levels up to k and all
/// diagonal blocks. `a` is one that the host can read.
FilledPattern filled_within_rank(const Context& host, const BlockPattern& a, int k, const std::string& label);

}  // namespace hyperplane
