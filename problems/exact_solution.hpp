// SPDX-License-Identifier: BSD-3-Clause
// Manufactured solutions u(x, y, z) = X(x) Y(y) Z(z) and the derivatives that sources need.
//
//   manuexp    -x e^(y+z)                                Bueler, PETSc for PDEs, c/ch6
//   manupoly   x^2 (1-x^2) y^2 (y^2-1) z^2 (z^2-1)       the same
//   manusin    sin(pi x) sin(pi y) sin(2 pi z)
#pragma once

#include <array>
#include <cmath>
#include <numbers>

#include "problems/domain.hpp"

namespace hyperplane {

enum class ExactKind { none, manuexp, manupoly, manusin };

/// One factor of a separable function and its derivatives.
struct AxisFactor {
    double value, first, second, fourth;
};

/// A manufactured solution, small enough to be passed by value. Derivatives along flat axes count as zero.
struct ExactSolution {
    ExactKind kind = ExactKind::none;
    std::array<bool, 3> active{true, true, true};  ///< axes that are not flat

    static ExactSolution on(const Domain& domain, ExactKind kind) {
        return {kind, {!domain.flat(0), !domain.flat(1), !domain.flat(2)}};
    }

    HYPERPLANE_HD AxisFactor factor(int axis, double t) const {
        switch (kind) {
            case ExactKind::manuexp: {
                if (axis == 0) return {-t, -1.0, 0.0, 0.0};
                const double e = std::exp(t);
                return {e, e, e, e};
            }
            case ExactKind::manupoly: {
                const double sign = axis == 0 ? -1.0 : 1.0;  // t^2 (t^2 - 1), mirrored along x
                return {sign * t * t * (t * t - 1), sign * (4 * t * t * t - 2 * t), sign * (12 * t * t - 2), sign * 24};
            }
            case ExactKind::manusin: {
                const double w = axis == 2 ? 2 * std::numbers::pi : std::numbers::pi;
                const double s = std::sin(w * t), c = std::cos(w * t);
                return {s, w * c, -w * w * s, w * w * w * w * s};
            }
            case ExactKind::none: break;
        }
        return {0.0, 0.0, 0.0, 0.0};
    }
    HYPERPLANE_HD double value(const Position& at) const {
        return factor(0, at[0]).value * factor(1, at[1]).value * factor(2, at[2]).value;
    }
    /// du/dx, du/dy, du/dz
    HYPERPLANE_HD Position gradient(const Position& at) const {
        const AxisFactor f[3] = {factor(0, at[0]), factor(1, at[1]), factor(2, at[2])};
        return {active[0] ? f[0].first * f[1].value * f[2].value : 0.0,
                active[1] ? f[0].value * f[1].first * f[2].value : 0.0,
                active[2] ? f[0].value * f[1].value * f[2].first : 0.0};
    }
    /// sum_d c_d d^2u/dx_d^2
    HYPERPLANE_HD double laplacian(const Position& at, const std::array<double, 3>& c) const {
        const AxisFactor f[3] = {factor(0, at[0]), factor(1, at[1]), factor(2, at[2])};
        double sum = 0.0;
        for (int d = 0; d < 3; ++d)
            if (active[d]) sum += c[d] * f[d].second * f[(d + 1) % 3].value * f[(d + 2) % 3].value;
        return sum;
    }
    /// The Laplacian of the Laplacian.
    HYPERPLANE_HD double bilaplacian(const Position& at) const {
        const AxisFactor f[3] = {factor(0, at[0]), factor(1, at[1]), factor(2, at[2])};
        double sum = 0.0;
        for (int d = 0; d < 3; ++d) {
            const int e = (d + 1) % 3, g = (d + 2) % 3;
            if (active[d]) sum += f[d].fourth * f[e].value * f[g].value;
            if (active[d] && active[e]) sum += 2 * f[d].second * f[e].second * f[g].value;
        }
        return sum;
    }
};

}  // namespace hyperplane
