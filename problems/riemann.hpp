// SPDX-License-Identifier: BSD-3-Clause
// The exact solution of the Riemann problem of an ideal gas (Toro, Riemann Solvers and Numerical Methods for Fluid
// Dynamics, chapter 4): two uniform states, separated by a membrane at x = 0 that is removed at t = 0.
#pragma once

#include <algorithm>
#include <cmath>

#include "problems/euler_flux.hpp"

namespace hyperplane {

/// A shock tube with two states (rho, u, p), small enough to be passed by value.
struct Riemann {
    struct Side {
        double rho, u, p;
    };
    Side left{1.0, 0.0, 1.0}, right{0.125, 0.0, 0.1};
    double gamma = 1.4;
    double pressure = 0.0, velocity = 0.0;  ///< between the outer waves

    Riemann() = default;
    /// Computes the pressure between the waves by Newton's method; the data must not lead to vacuum.
    Riemann(Side l, Side r, double heat_ratio) : left(l), right(r), gamma(heat_ratio) {
        pressure = 0.5 * (l.p + r.p);
        for (int step = 0; step < 100; ++step) {
            const double mismatch = jump(l, pressure) + jump(r, pressure) + r.u - l.u;
            const double next =
                std::max(pressure - mismatch / (slope(l, pressure) + slope(r, pressure)), 1e-3 * pressure);
            const bool done = std::abs(next - pressure) <= 1e-15 * pressure;
            pressure = next;
            if (done) break;
        }
        velocity = 0.5 * (l.u + r.u + jump(r, pressure) - jump(l, pressure));
    }

    /// The density between a side's outer wave and the contact.
    HYPERPLANE_HD double density(const Side& side) const {
        const double ratio = pressure / side.p, g = (gamma - 1) / (gamma + 1);
        return side.rho * (ratio > 1.0 ? (ratio + g) / (g * ratio + 1) : std::pow(ratio, 1 / gamma));
    }
    double shock_speed_right() const {
        return right.u +
               sound(right) * std::sqrt((gamma + 1) / (2 * gamma) * (pressure / right.p) + (gamma - 1) / (2 * gamma));
    }
    /// The state on the ray x / t = speed.
    HYPERPLANE_HD Side at(double speed) const {
        if (speed <= velocity) return sample(left, speed);
        const Side mirrored{right.rho, -right.u, right.p}, found = sample(mirrored, -speed, -velocity);
        return {found.rho, -found.u, found.p};
    }

private:
    HYPERPLANE_HD double sound(const Side& side) const { return std::sqrt(gamma * side.p / side.rho); }
    /// The change of velocity across a side's outer wave as a function of the pressure behind it; slope() is its
    /// derivative.
    double jump(const Side& side, double p) const {
        if (p <= side.p) return 2 * sound(side) / (gamma - 1) * (std::pow(p / side.p, (gamma - 1) / (2 * gamma)) - 1);
        return (p - side.p) * std::sqrt(2 / ((gamma + 1) * side.rho) / (p + (gamma - 1) / (gamma + 1) * side.p));
    }
    double slope(const Side& side, double p) const {
        if (p <= side.p) return std::pow(p / side.p, -(gamma + 1) / (2 * gamma)) / (side.rho * sound(side));
        const double b = (gamma - 1) / (gamma + 1) * side.p;
        return std::sqrt(2 / ((gamma + 1) * side.rho) / (p + b)) * (1 - 0.5 * (p - side.p) / (p + b));
    }
    /// The state at a speed left of the contact.
    HYPERPLANE_HD Side sample(const Side& side, double speed) const { return sample(side, speed, velocity); }
    HYPERPLANE_HD Side sample(const Side& side, double speed, double contact) const {
        const double c = sound(side), ratio = pressure / side.p;
        const Side behind{density(side), contact, pressure};
        if (ratio > 1.0) {
            const double shock = side.u - c * std::sqrt((gamma + 1) / (2 * gamma) * ratio + (gamma - 1) / (2 * gamma));
            return speed < shock ? side : behind;
        }
        const double tail = contact - sound(behind);
        if (speed <= side.u - c) return side;
        if (speed >= tail) return behind;
        const double fan = 2 / (gamma + 1) + (gamma - 1) / ((gamma + 1) * c) * (side.u - speed);
        return {side.rho * std::pow(fan, 2 / (gamma - 1)), 2 / (gamma + 1) * (c + (gamma - 1) / 2 * side.u + speed),
                side.p * std::pow(fan, 2 * gamma / (gamma - 1))};
    }
};

}  // namespace hyperplane
