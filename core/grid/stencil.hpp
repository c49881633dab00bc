// SPDX-License-Identifier: BSD-3-Clause
// Stencils: the offsets at which a row of the matrix has entries.
#pragma once

#include <string>
#include <vector>

#include "core/types.hpp"

namespace hyperplane {

/// Smallest integer >= a / b for b > 0.
inline int ceil_div(int a, int b) {
    return a >= 0 ? (a + b - 1) / b : -(-a / b);
}

/// Coefficients of the level of a grid point, l(i,j,k) = i + y j + z k. In a factorisation or a triangular solve,
/// points of equal level do not depend on each other (StructILU paper, section 4.1).
struct LevelMap {
    int y = 1, z = 1;

    HYPERPLANE_HD int level(Int3 p) const { return p.x + y * p.y + z * p.z; }
    HYPERPLANE_HD friend constexpr bool operator==(LevelMap a, LevelMap b) { return a.y == b.y && a.z == b.z; }
};

/// An ordered set of offsets that contains (0,0,0) and, with each offset, its mirror.
///
/// Entries are numbered in natural order, so that entries [0, diagonal()) are the lower
/// triangle, ascending by column, and [diagonal() + 1, size()) the upper one; the mirror of
/// entry e is size() - 1 - e.
class Stencil {
public:
    /// Sorts `offsets`; throws UsageError if (0,0,0) or a mirror is missing, or an offset is given twice.
    Stencil(std::string name, std::vector<Int3> offsets);

    static Stencil star7();      ///< |x|+|y|+|z| <= 1
    static Stencil star13();     ///< axis offsets up to radius 2
    static Stencil diamond13();  ///< star7 and +-(1,-1,0), +-(1,0,-1), +-(0,1,-1): ILU(1) of star7
    static Stencil diamond25();  ///< |x|+|y|+|z| <= 2
    static Stencil box27();      ///< max(|x|,|y|,|z|) <= 1
    /// The ready-made stencils, as `hyperplane list stencils` shows them.
    static const std::vector<Stencil>& ready_made();
    /// The ready-made stencil of that name; throws UsageError if there is none.
    static Stencil by_name(const std::string& name);
    /// The smallest stencil that contains `offsets`: mirrors and the diagonal are added. If it equals a ready-made
    /// stencil it has that one's name, otherwise "custom<size>".
    static Stencil closure(std::vector<Int3> offsets);

    const std::string& name() const { return name_; }
    int size() const { return int(offsets_.size()); }
    int lower_size() const { return size() / 2; }
    int diagonal() const { return size() / 2; }
    int mirror(int entry) const { return size() - 1 - entry; }
    Int3 operator[](int entry) const { return offsets_[entry]; }
    const std::vector<Int3>& offsets() const { return offsets_; }
    /// Entry of an offset, -1 if the stencil does not contain it.
    int find(Int3 offset) const;
    /// Largest |component| of an offset.
    int radius() const;

    /// The smallest coefficients for which every lower offset has a negative level. They are the sums of the
    /// transformed coordinates of the StructILU paper's equations (1) and (2): star7 (1,1), diamond13 (2,3),
    /// box27 (2,4).
    LevelMap level_map() const;
    /// The skew: the smallest s >= 0 such that no lower offset leads to a larger j + s k. A solve that walks lines
    /// along x slab by slab in j + s k therefore never waits for a later slab.
    int line_skew() const;
    /// The largest distance along z of an offset.
    int planes() const { return -offsets_.front().z; }

    /// The pattern of ILU(`level`) on an unbounded grid: an elimination with entries of fill levels p and q gives an
    /// entry of fill level p + q + 1 (Saad, Iterative Methods, section 10.3.3).
    Stencil filled(int level) const;
    /// True if elimination changes off-diagonal entries. If not (star7), ILU(0) changes only the diagonal and keeps
    /// the matrix's off-diagonal entries (D-ILU).
    bool eliminates_off_diagonal() const;

private:
    std::string name_;
    std::vector<Int3> offsets_;
};

}  // namespace hyperplane
