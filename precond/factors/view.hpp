// SPDX-License-Identifier: BSD-3-Clause
// Views of the factors of an incomplete factorisation, for loops over points on either backend.
//
//     M = (D + E) D^-1 (D + F)     or, if `unit`,     M = (I + W) D (I + G),  W = E D^-1,  G = D^-1 F
//
// For a symmetric M, F (or G) is not stored: F_u(p) is the transpose of the mirrored block at p + u.
#pragma once

#include <type_traits>

#include "core/matrix/struct_matrix.hpp"
#include "precond/factors/coefficient_order.hpp"

namespace hyperplane {

/// View of the coefficients of blocks, with a stride each for entry, slot, row and column.
template <class T>
struct BasicBlockView {
    T* values = nullptr;
    Index entry_stride = 0, slot_stride = 0, row_stride = 0, col_stride = 0;

    HYPERPLANE_HD T& at(int entry, Index slot, int row, int col) const {
        return values[entry * entry_stride + slot * slot_stride + row * row_stride + col * col_stride];
    }
    /// The view whose entry 0 is entry e of this one.
    BasicBlockView entry(int e) const {
        return {values + e * entry_stride, entry_stride, slot_stride, row_stride, col_stride};
    }
    template <class Const, std::enable_if_t<std::is_same_v<Const, const T>, int> = 0>
    operator BasicBlockView<Const>() const {
        return {values, entry_stride, slot_stride, row_stride, col_stride};
    }
};

using BlockView = BasicBlockView<double>;
using ConstBlockView = BasicBlockView<const double>;

/// View of blocks that lie as `places` says, each entry having room for `slots`.
template <class T>
BasicBlockView<T> blocks_at(CoefficientOrder places, T* values, Index slots, int dof) {
    const auto at = [&](int entry, Index slot, int row, int col) {
        return place_of(places, slots, dof, entry, slot, row, col);
    };
    return {values, at(1, 0, 0, 0), at(0, 1, 0, 0), at(0, 0, 1, 0), at(0, 0, 0, 1)};
}
/// View of contiguous blocks: the order in which a GPU stores its own factors.
template <class T>
BasicBlockView<T> blocks_together(T* values, Index slots, int dof) {
    return blocks_at(CoefficientOrder::together, values, slots, dof);
}

/// View of a matrix's entries from `first` on.
inline BlockView block_view(StructMatrix& a, int first = 0) {
    return blocks_at(CoefficientOrder::apart, a.values(first), a.stride(), a.dof());
}
inline ConstBlockView block_view(const StructMatrix& a, int first = 0) {
    return blocks_at(CoefficientOrder::apart, a.values(first), a.stride(), a.dof());
}

struct FactorView {
    Layout layout;
    ConstBlockView triangles;       ///< E and F, or W and G; entry `lower`, between them, is the diagonal
    ConstBlockView inverse;         ///< D^-1, entry 0
    const Int3* offsets = nullptr;  ///< of the entries; e and 2 lower - e mirror each other
    int lower = 0;                  ///< number of lower entries; as many upper ones follow the diagonal
    bool symmetric = false;         ///< only the lower triangle is stored
    bool unit = false;

    HYPERPLANE_HD double inverse_at(Index slot, int row, int col) const { return *inverse_place(slot, row, col); }
    HYPERPLANE_HD const double* inverse_place(Index slot, int row, int col) const {
        return &inverse.at(0, slot, row, col);
    }
    /// Coefficient of `entry` that couples the point at `slot` to its neighbour at `there`.
    HYPERPLANE_HD double at(int entry, Index slot, Index there, int row, int col) const {
        return *place(entry, slot, there, row, col);
    }
    /// The address of that coefficient.
    HYPERPLANE_HD const double* place(int entry, Index slot, Index there, int row, int col) const {
        if (symmetric && entry > lower) return &triangles.at(2 * lower - entry, there, col, row);
        return &triangles.at(entry, slot, row, col);
    }
    /// Coefficient of W, D^-1 or G, computed from E, D^-1 and F if necessary. `entry` must be one that is stored.
    HYPERPLANE_HD double unit_at(int entry, Index slot, Index there, int row, int col, int dof) const {
        if (entry == lower) return inverse.at(0, slot, row, col);
        if (unit) return triangles.at(entry, slot, row, col);
        double sum = 0.0;
        for (int k = 0; k < dof; ++k)
            sum += entry < lower ? triangles.at(entry, slot, row, k) * inverse.at(0, there, k, col)
                                 : inverse.at(0, slot, row, k) * triangles.at(entry, slot, k, col);
        return sum;
    }
};

}  // namespace hyperplane
