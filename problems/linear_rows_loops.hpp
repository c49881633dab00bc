// SPDX-License-Identifier: BSD-3-Clause
// The loops over points of linear_rows.hpp, for the files that instantiate them.
#pragma once

#include "core/device/for_each_point.hpp"
#include "core/grid/neighbour_slot.hpp"
#include "core/matrix/views.hpp"
#include "problems/linear_rows.hpp"

namespace hyperplane {

template <class Formula>
struct AssembleRow {
    Formula formula;
    MatrixView a;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        constexpr int dof = Formula::dof;
        double c[Formula::entries * dof * dof];
        formula.coefficients(p, c);
        for (int e = 0; e < Formula::entries; ++e)
            for (int row = 0; row < dof && e < a.stored_entries; ++row)
                for (int col = 0; col < dof; ++col) a.at(e, row, col, slot) = c[(e * dof + row) * dof + col];
    }
};

template <class Formula>
void assemble_rows(const Formula& formula, StructMatrix& a) {
    for_each_point(a.context(), a.layout(), "assemble", AssembleRow<Formula>{formula, view(a)});
}

template <class Formula>
struct ResidualRow {
    Formula formula;
    ConstVectorView u;
    VectorView f;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        constexpr int dof = Formula::dof;
        double c[Formula::entries * dof * dof], sum[dof];
        formula.coefficients(p, c);
        for (int row = 0; row < dof; ++row) sum[row] = -formula.right_hand_side(p, row);
        for (int e = 0; e < Formula::entries; ++e) {
            const Index neighbour = slot_of_neighbour(u.layout, formula.grid.wrapped(p + formula.offsets[e]));
            for (int row = 0; row < dof; ++row)
                for (int col = 0; col < dof; ++col) {
                    const double a = c[(e * dof + row) * dof + col];
                    if (a != 0.0) sum[row] += a * u.at(neighbour, col);
                }
        }
        for (int row = 0; row < dof; ++row) f.at(slot, row) = sum[row];
    }
};

template <class Formula>
void residual_rows(const Formula& formula, const Vector& u, Vector& f) {
    for_each_point(f.context(), f.layout(), "residual", ResidualRow<Formula>{formula, view(u), view(f)});
}

template <class Value>
struct SetPoint {
    Value value;
    VectorView u;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const { u.at(slot) = value(p); }
};

template <class Value>
void set_points(const Value& value, Vector& u) {
    for_each_point(u.context(), u.layout(), "initial state", SetPoint<Value>{value, view(u)});
}

}  // namespace hyperplane
