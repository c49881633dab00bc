// SPDX-License-Identifier: BSD-3-Clause
// Matrices with pivots that cannot be used, at known cells.
#pragma once

#include "core/error.hpp"
#include "on_device.hpp"
#include "precond/support.hpp"

namespace hyperplane::testing_support {

using reference::Box;
using reference::Dense;
using reference::Offset;
using reference::StencilMatrix;

inline constexpr Box box{7, 5, 3};
inline constexpr Offset bad_cell{3, 2, 1};

/// Sets every coupling to and from a cell to zero.
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

/// A random SPD matrix, in which the bad cell has no couplings and `block` on the diagonal.
inline StencilMatrix with_block(const std::string& stencil, const Dense& block) {
    StencilMatrix a = reference::random_spd_matrix(box, reference::stencil_named(stencil).offsets, block.rows, 81);
    isolate(a, bad_cell);
    a.blocks[box.row(bad_cell)].at({}) = block;
    return a;
}

/// A matrix in which the bad cell is coupled only to the cell before it, by [1 c; c d] in the last component: there its
/// pivot is d - c^2, while A's diagonal is d.
inline StencilMatrix with_pair(const std::string& stencil, int dof, double c, double d) {
    StencilMatrix a = with_block(stencil, diagonal_block(dof, d));
    const Offset before = bad_cell + Offset{-1, 0, 0};
    isolate(a, before);
    a.blocks[box.row(before)].at({}) = reference::identity(dof);
    a.blocks[box.row(before)].at({1, 0, 0})(dof - 1, dof - 1) = c;
    a.blocks[box.row(bad_cell)].at({-1, 0, 0})(dof - 1, dof - 1) = c;
    return a;
}

/// The outcome of a set-up: its report and M^-1 of a random vector, or the message of its failure.
struct Outcome {
    SetupReport report;
    std::string message;
    std::vector<double> z;
};

inline Outcome outcome_of(Preconditioner& m, const StructMatrix& a) {
    Outcome result;
    try {
        result.report = m.setup(a);
    } catch (const SetupError& error) {
        result.message = error.what();
        return result;
    }
    result.z = applied(m, a, reference::Random(1).vector(int(a.unknowns())));
    return result;
}

/// Expects the same modified pivots at the same cells, with equal values up to rounding.
inline void expect_equal_reports(const SetupReport& actual, const SetupReport& expected) {
    EXPECT_EQ(actual.pivots_modified, expected.pivots_modified);
    EXPECT_EQ(actual.shift, expected.shift);
    EXPECT_NEAR(actual.smallest_pivot_ratio, expected.smallest_pivot_ratio, 1e-12);
    EXPECT_EQ(actual.smallest_pivot_cell, expected.smallest_pivot_cell);
    ASSERT_EQ(actual.modified.size(), expected.modified.size());
    for (std::size_t at = 0; at < actual.modified.size(); ++at) {
        SCOPED_TRACE(at);
        EXPECT_EQ(actual.modified[at].cell, expected.modified[at].cell);
        EXPECT_EQ(actual.modified[at].component, expected.modified[at].component);
        EXPECT_NEAR(actual.modified[at].value, expected.modified[at].value, 1e-14);
    }
}

}  // namespace hyperplane::testing_support
