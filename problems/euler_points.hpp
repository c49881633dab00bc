// SPDX-License-Identifier: BSD-3-Clause
// Scalars at a point of the gas, from which the time step, bounds and diagnostics are reduced.
#pragma once

#include <cmath>

#include "problems/euler_rows.hpp"

namespace hyperplane {

/// U at a slot.
HYPERPLANE_HD inline GasState<double> conserved_at(const ConstVectorView& u, Index slot) {
    return {u.at(slot, 0), u.at(slot, 1), u.at(slot, 2), u.at(slot, 3), u.at(slot, 4)};
}

/// The initial U.
struct GasStart {
    GasFlow flow;
    VectorView u;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        const GasState<double> U = flow.gas.conserved(flow.state(flow.domain.position(p), 0.0));
        for (int c = 0; c < 5; ++c) u.at(slot, c) = U[c];
    }
};

/// The shortest time in which a signal crosses the cell: min h_d / (|u_d| + c).
struct GasCrossing {
    GasFlow flow;
    ConstVectorView u;
    VectorView value;

    HYPERPLANE_HD void operator()(Int3, Index slot) const {
        const GasState<double> q = flow.gas.primitive(conserved_at(u, slot));
        const double c = flow.gas.sound(q);
        double fastest = 0.0;
        for (int axis = 0; axis < 3; ++axis)
            if (!flow.domain.flat(axis))
                fastest = std::fmax(fastest, (std::abs(q[1 + axis]) + c) / flow.domain.grid.spacing[axis]);
        value.at(slot) = 1.0 / fastest;
    }
};

/// The largest s <= 1 such that density and pressure of U + s dU are at least `kept` times those of U. With
/// e(s) = (gamma - 1) (rho E - |m|^2 / 2), of degree two in s, the condition for the pressure is
/// e(s) - kept p rho(s) = a s^2 + b s + c >= 0.
struct GasBound {
    Gas gas;
    ConstVectorView u, du;
    VectorView value;
    static constexpr double kept = 0.2;

    HYPERPLANE_HD void operator()(Int3, Index slot) const {
        const GasState<double> U = conserved_at(u, slot), D = conserved_at(du, slot);
        double largest = 1.0;
        if (U[0] + D[0] < kept * U[0]) largest = (kept - 1) * U[0] / D[0];
        const double p = gas.primitive(U)[4], g = gas.less_one;
        const double mm = D[1] * D[1] + D[2] * D[2] + D[3] * D[3], um = U[1] * D[1] + U[2] * D[2] + U[3] * D[3];
        const double a = g * (D[0] * D[4] - 0.5 * mm);
        const double b = g * (U[0] * D[4] + D[0] * U[4] - um) - kept * p * D[0];
        const double c = (1 - kept) * p * U[0];
        const double square = b * b - 4 * a * c;
        if (square >= 0.0) {
            // the smallest positive root, computed without cancellation as 2c / (-b + sqrt) if -b + sqrt > 0
            const double denominator = -b + std::sqrt(square);
            const double root = denominator > 0.0 ? 2 * c / denominator : 1.0;
            largest = std::fmin(largest, root);
        }
        value.at(slot) = largest;
    }
};

/// A value that is positive only if density and pressure are: the pressure if it alone is not positive, otherwise the
/// density.
struct GasBadness {
    Gas gas;
    ConstVectorView u;
    VectorView value;

    HYPERPLANE_HD void operator()(Int3, Index slot) const {
        const GasState<double> q = gas.primitive(conserved_at(u, slot));
        value.at(slot) = q[0] > 0.0 && !(q[4] > 0.0) ? q[4] : q[0];
    }
};

/// rho |u|^2 / 2
struct GasKineticEnergy {
    ConstVectorView u;
    VectorView value;

    HYPERPLANE_HD void operator()(Int3, Index slot) const {
        const GasState<double> U = conserved_at(u, slot);
        value.at(slot) = 0.5 * (U[1] * U[1] + U[2] * U[2] + U[3] * U[3]) / U[0];
    }
};

/// Calls body(point, slot) at every point of the layout; instantiated in euler_loops.cpp.
template <class Body>
void visit_gas(const Context& context, const Layout& layout, const char* name, const Body& body);

}  // namespace hyperplane
