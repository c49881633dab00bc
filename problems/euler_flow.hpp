// SPDX-License-Identifier: BSD-3-Clause
// The flows of the Euler problem: their initial, far-field and exact states.
//
//   pulse          p = 1 + A exp(-r^2 / 0.01) at the centre of the unit cube, rho = p^(1/gamma),
//                  u = sqrt(gamma) (0.5, 0.25, 0.1)
//   vortex         isentropic vortex of strength B in the stream (0.5, 0.5), r from the centre of the x-y plane
//                  (Yee, Sandham, Djomehri 1999): T = 1 - (gamma - 1) B^2 / (8 gamma pi^2) exp(1 - r^2),
//                  rho = T^(1 / (gamma - 1)), p = rho T, u' = B / (2 pi) exp((1 - r^2) / 2) (-y, x); exact for all t
//   sod            shock tube along x (Sod 1978), (1, 0, 1) and (0.125, 0, 0.1); exact for all t
//   blast          rho = 1, p = p_b within a tenth of the shortest side, p_a elsewhere, at rest
//   taylor_green   u = (sin x cos y cos z, -cos x sin y cos z, 0), rho = 1, p = 1 / (gamma M^2)
//                  + (cos 2x + cos 2y) (cos 2z + 2) / 16 on [0, 2 pi]^3, lengths scaled to the domain
#pragma once

#include <cmath>
#include <numbers>

#include "problems/domain.hpp"
#include "problems/riemann.hpp"

namespace hyperplane {

enum class GasCase { pulse, vortex, sod, blast, taylor_green };

/// A flow, small enough to be passed by value. States are primitive, in the axes of the grid.
struct GasFlow {
    GasCase kind = GasCase::pulse;
    Gas gas;
    Domain domain;
    double amplitude = 0.5;  ///< A of the pulse
    double strength = 5.0;   ///< B of the vortex
    double mach = 0.1;       ///< M of taylor_green
    double blast_pressure = 10.0, ambient_pressure = 0.1;
    Riemann tube;

    HYPERPLANE_HD static bool has_exact_state(GasCase kind) { return kind == GasCase::vortex || kind == GasCase::sod; }

    /// The state at time 0, and at any other time if the exact solution is known.
    HYPERPLANE_HD GasState<double> state(const Position& at, double time) const {
        switch (kind) {
            case GasCase::pulse: {
                const double p = 1 + amplitude * std::exp(-square_from_centre(at) / 0.01), c = std::sqrt(gas.gamma);
                return {std::pow(p, 1 / gas.gamma), 0.5 * c, 0.25 * c, 0.1 * c, p};
            }
            case GasCase::vortex: return vortex(at, time);
            case GasCase::sod: return sod(at, time);
            case GasCase::blast: {
                const double radius = 0.1 * shortest_side();
                const bool within = square_from_centre(at) < radius * radius;
                return {1.0, 0.0, 0.0, 0.0, within ? blast_pressure : ambient_pressure};
            }
            case GasCase::taylor_green: return taylor_green(at);
        }
        return {};
    }
    /// The undisturbed state beyond the boundary.
    HYPERPLANE_HD GasState<double> far(const Position& at) const {
        const double c = std::sqrt(gas.gamma);
        switch (kind) {
            case GasCase::pulse: return {1.0, 0.5 * c, 0.25 * c, 0.1 * c, 1.0};
            case GasCase::vortex: return {1.0, 0.5, 0.5, 0.0, 1.0};
            case GasCase::sod: return sod(at, 0.0);
            case GasCase::blast: return {1.0, 0.0, 0.0, 0.0, ambient_pressure};
            case GasCase::taylor_green: break;
        }
        return {1.0, 0.0, 0.0, 0.0, 1 / (gas.gamma * mach * mach)};
    }

private:
    HYPERPLANE_HD double square_from_centre(const Position& at) const {
        double square = 0.0;
        for (int axis = 0; axis < 3; ++axis) {
            const double d = at[axis] - domain.lengths[axis] / 2;
            if (!domain.flat(axis)) square += d * d;
        }
        return square;
    }
    HYPERPLANE_HD double shortest_side() const {
        double side = 0.0;
        for (int axis = 0; axis < 3; ++axis)
            if (!domain.flat(axis) && (side == 0.0 || domain.lengths[axis] < side)) side = domain.lengths[axis];
        return side;
    }
    /// Distance along an axis from the centre of the vortex, or from its nearest image if the axis is periodic.
    HYPERPLANE_HD double from_vortex(const Position& at, int axis, double time) const {
        const double length = domain.lengths[axis], d = at[axis] - length / 2 - 0.5 * time;
        return domain.grid.periodic[axis] ? d - length * std::round(d / length) : d;
    }
    HYPERPLANE_HD GasState<double> vortex(const Position& at, double time) const {
        const double x = from_vortex(at, 0, time), y = from_vortex(at, 1, time), r = x * x + y * y;
        const double pi = std::numbers::pi, g = gas.gamma;
        const double turn = strength / (2 * pi) * std::exp((1 - r) / 2);
        const double T = 1 - (g - 1) * strength * strength / (8 * g * pi * pi) * std::exp(1 - r);
        const double rho = std::pow(T, 1 / (g - 1));
        return {rho, 0.5 - turn * y, 0.5 + turn * x, 0.0, rho * T};
    }
    HYPERPLANE_HD GasState<double> sod(const Position& at, double time) const {
        const double x = at[0] - domain.lengths[0] / 2;
        const Riemann::Side side = time <= 0.0 ? (x < 0.0 ? tube.left : tube.right) : tube.at(x / time);
        return {side.rho, side.u, 0.0, 0.0, side.p};
    }
    HYPERPLANE_HD GasState<double> taylor_green(const Position& at) const {
        const double turn = 2 * std::numbers::pi;
        const double x = turn * at[0] / domain.lengths[0], y = turn * at[1] / domain.lengths[1];
        const double z = domain.flat(2) ? 0.0 : turn * at[2] / domain.lengths[2];
        const double p =
            1 / (gas.gamma * mach * mach) + (std::cos(2 * x) + std::cos(2 * y)) * (std::cos(2 * z) + 2) / 16;
        return {1.0, std::sin(x) * std::cos(y) * std::cos(z), -std::cos(x) * std::sin(y) * std::cos(z), 0.0, p};
    }
};

}  // namespace hyperplane
