// SPDX-License-Identifier: BSD-3-Clause
// The eliminations of an incomplete factorisation on a stencil: for each entry e, the pairs of a lower offset l and an
// upper offset u with l + u = e, because the block of e is reduced by the product of those of l and u.
#pragma once

#include <vector>

#include "core/grid/stencil.hpp"

namespace hyperplane {

/// The pairs (l, u), l + u = e, of each entry e, in the order of Algorithm 1 of the StructILU paper.
struct Eliminations {
    std::vector<int> begin, l, u;  ///< the pairs of entry e are at [begin[e], begin[e + 1])

    /// `diagonal_only` lists the pairs of the diagonal alone (D-ILU); `lower_only` omits those of upper entries, for
    /// factors of which one triangle is stored.
    Eliminations(const Stencil& stencil, bool diagonal_only, bool lower_only);
    int count() const { return int(l.size()); }
    /// The same eliminations sorted by lower entry: those of l are (u, e) at [begin[l], begin[l + 1]), e ascending.
    struct ByLower {
        std::vector<int> begin, u, e;
    };
    ByLower by_lower() const;
    /// The diagonal and all entries that eliminations change. All others are the same in the factors as in the matrix.
    std::vector<int> changed_entries() const;
};

/// Describes the pattern of A's factors to a loop over points, as three tables one after the other: for each entry of
/// `filled`, the number of A's entry with the same offset, or -1; for each lower entry, where its updates begin, and
/// finally where those of the last one end; all updates, as pairs (u, e).
std::vector<int> update_tables(const Stencil& a, const Stencil& filled, const Eliminations& eliminations);

/// View of the offsets of all entries, and of these tables, for loops over points.
struct UpdateTables {
    const Int3* offsets;
    const int *a_entry, *begin;  ///< A's entry of each entry; where the updates of each lower entry begin
    const int* updates;          ///< pairs (u, e): X_e -= E_l D^-1 F_u, e = l + u

    UpdateTables() = default;
    UpdateTables(const Int3* offsets, const int* tables, const Stencil& filled)
        : offsets(offsets), a_entry(tables), begin(tables + filled.size()), updates(begin + filled.lower_size() + 1) {}
};

}  // namespace hyperplane
