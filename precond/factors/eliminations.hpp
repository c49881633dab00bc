// SPDX-License-Identifier: BSD-3-Clause
// The eliminations of an incomplete factorisation on a stencil: which pairs of a lower and an upper offset lead to an
// entry.
#pragma once

#include <vector>

#include "core/grid/stencil.hpp"

namespace hyperplane {

/// The pairs (l, u), l + u = e, of each entry e, in the order of Algorithm 1 of the StructILU paper.
struct Eliminations {
    std::vector<int> begin, l, u;  ///< those of e from begin[e] to begin[e + 1]

    /// `diagonal_only`: of D-ILU; `lower_only`: where one triangle is kept.
    Eliminations(const Stencil& stencil, bool diagonal_only, bool lower_only);
    int count() const { return int(l.size()); }
    /// The same by lower entry: (u, e) of l from begin[l] to begin[l + 1], in natural order.
    struct ByLower {
        std::vector<int> begin, u, e;
    };
    ByLower by_lower() const;
    /// The diagonal and all entries that pairs lead to: the others of the factors are the matrix's.
    std::vector<int> changed_entries() const;
};

/// What loops over points know of the pattern of factors of A: of each entry A's one or -1; of each lower entry where
/// its updates begin, and where the last one's end; the updates (u, e).
std::vector<int> update_tables(const Stencil& a, const Stencil& filled, const Eliminations& eliminations);

}  // namespace hyperplane
