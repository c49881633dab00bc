// SPDX-License-Identifier: BSD-3-Clause
// What is known about the incomplete factors of a structured matrix before values are computed: their pattern,
// symmetry, layout and storage. A symbolic set-up depends on nothing else.
#pragma once

#include "core/grid/layout.hpp"
#include "core/grid/stencil.hpp"
#include "precond/factors/eliminations.hpp"
#include "precond/factors/storage.hpp"

namespace hyperplane {

/// The stencil of a matrix of diagonal blocks.
inline const Stencil& point_stencil() {
    static const Stencil point("point", {{0, 0, 0}});
    return point;
}

struct IluPattern {
    Layout layout;      ///< of matrix and factors
    Stencil stencil;    ///< of the factors: the matrix's stencil with the fill of ILU(k)
    Stencil a_stencil;  ///< of the matrix
    int dof = 1;
    bool symmetric = false;                                   ///< one triangle is stored
    bool shares = false;                                      ///< D-ILU: E and F are the matrix's own entries
    FactorStorage storage = FactorStorage::double_precision;  ///< of the factors that solves read
    /// On a GPU, of one of several ranks: the layout's grid is its planes and, at either end, `halo` planes that the
    /// ranks beside it compute. A matrix and vectors in natural layout are a part of the whole grid nevertheless; slot
    /// 0 of the pattern is the first slot that they have in memory.
    bool of_rank = false;
    int halo = 0;

    /// Number of entries of the factors that are stored.
    int kept() const { return shares ? 1 : symmetric ? stencil.diagonal() + 1 : stencil.size(); }
    Eliminations eliminations() const { return {stencil, shares, symmetric}; }

    friend bool operator==(const IluPattern& a, const IluPattern& b) {
        return a.layout == b.layout && a.layout.grid().periodic == b.layout.grid().periodic &&
               a.stencil.offsets() == b.stencil.offsets() && a.a_stencil.offsets() == b.a_stencil.offsets() &&
               a.dof == b.dof && a.symmetric == b.symmetric && a.shares == b.shares && a.storage == b.storage &&
               a.of_rank == b.of_rank && a.halo == b.halo;
    }
};

/// The pattern of ILU(fill_level) of a matrix in `layout`. If elimination changes the diagonal alone, E and F are the
/// matrix's own entries (D-ILU), unless `may_share` is false or, on a GPU, the storage is in reduced precision or
/// points have several unknowns: a GPU reads blocks faster if they are contiguous.
inline IluPattern ilu_pattern(const Layout& layout, const Stencil& a, int fill_level, int dof, bool symmetric,
                              Backend backend, FactorStorage storage = FactorStorage::double_precision,
                              bool may_share = true) {
    IluPattern p{layout, a.filled(fill_level), a, dof, symmetric, false, storage};
    p.shares = may_share && (backend == Backend::cpu || (dof == 1 && !is_reduced(storage))) &&
               p.stencil.size() == a.size() && !p.stencil.eliminates_off_diagonal();
    // Solves and factorisation proceed by the levels of the factors' stencil in any layout. A natural layout may have
    // been constructed with other levels.
    if (layout.kind() == LayoutKind::natural) p.layout = layout.with_levels(p.stencil.level_map());
    return p;
}

}  // namespace hyperplane
