// SPDX-License-Identifier: BSD-3-Clause
// The factors of a general matrix: M = L U, L with unit diagonal blocks, on the pattern of ILU(k).
//
//   values[block][row][col]      L below the diagonal, U above it, and the inverses of U's diagonal blocks
//
// Of a symmetric matrix M = (I + L) D (I + L)^T, and U = D (I + L)^T is stored as well, so that both solves read rows.
// In reduced precision they are W = L, D^-1 and G = D^-1 U (reduced_rows.hpp), which need no values in double.
#pragma once

#include "core/matrix/bsr_matrix.hpp"
#include "precond/general/pattern/fill.hpp"

namespace hyperplane {

/// How a GPU finds the entries that two rows share.
enum class FactorVariant {
    automatic,  ///< tables if they pay
    search,     ///< by a search in each numeric part
    table,      ///< once, in the symbolic part; of one unknown alone
    // As published, one by one (precond/reproductions/sync_free_rows.cuh); of one unknown alone.
    shared,
    vect,
    adapt,
    levs,
};
inline bool is_published(FactorVariant variant) {
    return variant >= FactorVariant::shared;
}

struct GeneralFactors {
    FilledPattern filled;
    int dof = 1;
    bool symmetric = false;
    Buffer<double> values;  ///< in the backend's memory
    bool unit = false;      ///< whether they are W, D^-1 and G = D^-1 U, as checks and exports read reduced factors

    const BlockPattern& pattern() const { return *filled.pattern; }
    Index value_count() const { return pattern().blocks() * dof * dof; }
};

}  // namespace hyperplane
