// Matrices with pivots that cannot be used, at known cells.
#pragma once

#include "precond/support.hpp"

namespace hyperplane::testing_support {

using reference::Box;
using reference::Dense;
using reference::Offset;
using reference::StencilMatrix;

inline constexpr Box box{7, 5, 3};
inline constexpr Offset bad_cell{3, 2, 1};

/// Takes every coupling to and from a cell away.
inline void isolate(StencilMatrix& a, Offset cell) {
    for (int row = 0; row < a.box.points(); ++row)
        for (auto& [offset, block] : a.blocks[row]) {
            const Offset p = a.box.point(row);
            if (!(offset == Offset{}) && (p == cell || p + offset == cell)) block = Dense(a.dof, a.dof);
        }
}

inline Dense diagonal_block(int dof, double value) {
    Dense block = reference::identity(dof);
    block(dof - 1, dof - 1) = value;
    return block;
}

/// Random SPD but for the bad cell, alone and with this block on the diagonal.
inline StencilMatrix with_block(const std::string& stencil, const Dense& block) {
    StencilMatrix a = reference::random_spd_matrix(box, reference::stencil_named(stencil).offsets, block.rows, 81);
    isolate(a, bad_cell);
    a.blocks[box.row(bad_cell)].at({}) = block;
    return a;
}

/// The bad cell is coupled to the one before it alone, [1 c; c d] in the last component: its pivot
/// there is d - c^2 while A's diagonal is d.
inline StencilMatrix with_pair(const std::string& stencil, int dof, double c, double d) {
    StencilMatrix a = with_block(stencil, diagonal_block(dof, d));
    const Offset before = bad_cell + Offset{-1, 0, 0};
    isolate(a, before);
    a.blocks[box.row(before)].at({}) = reference::identity(dof);
    a.blocks[box.row(before)].at({1, 0, 0})(dof - 1, dof - 1) = c;
    a.blocks[box.row(bad_cell)].at({-1, 0, 0})(dof - 1, dof - 1) = c;
    return a;
}

}  // namespace hyperplane::testing_support
