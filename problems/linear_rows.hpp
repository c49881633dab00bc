// SPDX-License-Identifier: BSD-3-Clause
// Assembly of a linear problem from a formula at a point.
//
// A formula is a small struct for host and device that is copied by value. It has
//     static constexpr int entries, dof;                     stencil size, unknowns a point
//     std::array<Int3, entries> offsets;                     in natural order
//     Grid grid;
//     void coefficients(Int3 p, double* c) const;            c[e][row][col], zero if p + offset e is outside the grid
//     double right_hand_side(Int3 p, int row) const;
// and describes A u = b by rows: sum_e c[e] u(p + offset e) = b(p).
//
// linear_rows_loops.hpp defines the loops over points; X_loops.cpp instantiates those of problem X and is compiled for
// the device, too, if the CUDA backend is built.
#pragma once

#include <array>

#include "core/interfaces/problem.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "problems/domain.hpp"

namespace hyperplane {

template <int N>
std::array<Int3, N> offsets_of(const Stencil& stencil) {
    std::array<Int3, N> offsets;
    for (int e = 0; e < N; ++e) offsets[e] = stencil[e];
    return offsets;
}

/// a = A, for the entries that `a` stores.
template <class Formula>
void assemble_rows(const Formula& formula, StructMatrix& a);

/// f = A u - b.
template <class Formula>
void residual_rows(const Formula& formula, const Vector& u, Vector& f);

/// u(p) = value(p) at every point, for one unknown a point.
template <class Value>
void set_points(const Value& value, Vector& u);

/// Row `row` of A 1 at p: the sum of its coefficients.
template <class Formula>
HYPERPLANE_HD double row_sum(const Formula& formula, Int3 p, int row = 0) {
    constexpr int dof = Formula::dof;
    double c[Formula::entries * dof * dof];
    formula.coefficients(p, c);
    double sum = 0.0;
    for (int e = 0; e < Formula::entries; ++e)
        for (int col = 0; col < dof; ++col) sum += c[(e * dof + row) * dof + col];
    return sum;
}

/// A formula for grids of nodes with a Dirichlet boundary, from one for interior nodes. Rows of boundary nodes are
/// u = g; in other rows the term of a boundary neighbour moves to the right-hand side, which keeps a symmetric operator
/// symmetric (Bueler, PETSc for PDEs, chapter 6).
///
/// Interior has coefficients(p, c) for an unbounded grid (zero along flat axes), source(p) and
/// boundary_value(position).
template <class Interior>
struct DirichletNodes {
    static constexpr int entries = Interior::entries, dof = 1;
    std::array<Int3, entries> offsets;
    Grid grid;
    Domain domain;
    Interior interior;
    bool rhs_is_row_sum = false;  ///< b = A 1, whose solution is 1

    DirichletNodes(const Stencil& stencil, const Domain& on, const Interior& formula, bool row_sums)
        : offsets(offsets_of<entries>(stencil)),
          grid(on.grid),
          domain(on),
          interior(formula),
          rhs_is_row_sum(row_sums) {}

    HYPERPLANE_HD double boundary_value(Int3 p) const {
        return rhs_is_row_sum ? 1.0 : interior.boundary_value(domain.position(grid.wrapped(p)));
    }
    HYPERPLANE_HD void coefficients(Int3 p, double* c) const {
        if (domain.on_boundary(p)) {
            for (int e = 0; e < entries; ++e) c[e] = e == entries / 2 ? 1.0 : 0.0;
            return;
        }
        interior.coefficients(p, c);
        for (int e = 0; e < entries; ++e)
            if (domain.on_boundary(p + offsets[e])) c[e] = 0.0;
    }
    HYPERPLANE_HD double right_hand_side(Int3 p, int = 0) const {
        if (rhs_is_row_sum) return row_sum(*this, p);
        if (domain.on_boundary(p)) return boundary_value(p);
        double c[entries];
        interior.coefficients(p, c);
        double b = interior.source(p);
        for (int e = 0; e < entries; ++e)
            if (const Int3 q = p + offsets[e]; domain.on_boundary(q)) b -= c[e] * boundary_value(q);
        return b;
    }
};

/// An initial state: g on boundary nodes, 0 elsewhere.
template <class Rows>
struct BoundaryState {
    Rows rows;
    HYPERPLANE_HD double operator()(Int3 p) const { return rows.domain.on_boundary(p) ? rows.boundary_value(p) : 0.0; }
};

}  // namespace hyperplane
