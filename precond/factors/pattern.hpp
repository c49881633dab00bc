// SPDX-License-Identifier: BSD-3-Clause
// What is known of the incomplete factors of a structured matrix before any value: their pattern, symmetry, layout and
// storage. Everything that a symbolic set-up decides follows from it.
#pragma once

#include "core/grid/layout.hpp"
#include "core/grid/stencil.hpp"
#include "precond/factors/eliminations.hpp"
#include "precond/factors/storage.hpp"

namespace hyperplane {

struct IluPattern {
    Layout layout;      ///< of matrix and factors
    Stencil stencil;    ///< of the factors: the matrix's, filled to the level that is kept
    Stencil a_stencil;  ///< of the matrix
    int dof = 1;
    bool symmetric = false;                                   ///< one triangle is stored
    bool shares = false;                                      ///< D-ILU: E and F are the matrix's own entries
    FactorStorage storage = FactorStorage::double_precision;  ///< of the factors that solves read

    /// Entries that are kept of the factors.
    int kept() const { return shares ? 1 : symmetric ? stencil.diagonal() + 1 : stencil.size(); }
    Eliminations eliminations() const { return {stencil, shares, symmetric}; }

    friend bool operator==(const IluPattern& a, const IluPattern& b) {
        return a.layout == b.layout && a.layout.grid().periodic == b.layout.grid().periodic &&
               a.stencil.offsets() == b.stencil.offsets() && a.a_stencil.offsets() == b.a_stencil.offsets() &&
               a.dof == b.dof && a.symmetric == b.symmetric && a.shares == b.shares && a.storage == b.storage;
    }
};

/// The pattern of ILU(fill_level) of a matrix in `layout`. D-ILU shares the matrix's E and F where elimination changes
/// the diagonal alone, unless `may_share` is false, the storage is reduced, or a GPU is to read blocks of several
/// unknowns, which it reads faster where they lie in one piece.
inline IluPattern ilu_pattern(const Layout& layout, const Stencil& a, int fill_level, int dof, bool symmetric,
                              Backend backend, FactorStorage storage = FactorStorage::double_precision,
                              bool may_share = true) {
    IluPattern p{layout, a.filled(fill_level), a, dof, symmetric, false, storage};
    p.shares = may_share && !is_narrow(storage) && (backend == Backend::cpu || dof == 1) &&
               p.stencil.size() == a.size() && !p.stencil.eliminates_off_diagonal();
    // Solves and factorisation go level by level in any layout; the natural one need not know the factors' levels.
    if (layout.kind() == LayoutKind::natural)
        p.layout = Layout(LayoutKind::natural, layout.grid(), p.stencil.level_map());
    return p;
}

}  // namespace hyperplane
