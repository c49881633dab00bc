// Winds of the convection-diffusion problem, divergence-free in the sense of face centres. With
// X = 2x/Lx - 1, Y = 2y/Ly - 1 and t = 2 pi (x/Lx, y/Ly, z/Lz):
//   const    (bx, by, bz)
//   rotate   (-Y, X, 0)
//   recirc   (2 Y (1 - X^2), -2 X (1 - Y^2), 0)
//   abc      (sin tz + cos ty, sin tx + cos tz, sin ty + cos tx)
// The component along d of rotate and abc does not vary along d; in recirc, where Lx = Ly, the
// differences of the two quadratics cancel.
#pragma once

#include <array>
#include <cmath>
#include <numbers>

#include "problems/domain.hpp"

namespace hyperplane {

enum class WindKind { constant, rotate, recirc, abc };

/// A small value.
struct Wind {
    WindKind kind = WindKind::rotate;
    std::array<double, 3> velocity{0.0, 0.0, 0.0};  ///< of const
    std::array<double, 3> lengths{1.0, 1.0, 1.0};

    /// Component `axis` at a position.
    HYPERPLANE_HD double component(int axis, const Position& at) const {
        const double x = at[0] / lengths[0], y = at[1] / lengths[1], z = at[2] / lengths[2];
        const double X = 2 * x - 1, Y = 2 * y - 1;
        constexpr double turn = 2 * std::numbers::pi;
        switch (kind) {
            case WindKind::constant: return velocity[axis];
            case WindKind::rotate: return axis == 0 ? -Y : axis == 1 ? X : 0.0;
            case WindKind::recirc: return axis == 0 ? 2 * Y * (1 - X * X) : axis == 1 ? -2 * X * (1 - Y * Y) : 0.0;
            case WindKind::abc:
                return axis == 0   ? std::sin(turn * z) + std::cos(turn * y)
                       : axis == 1 ? std::sin(turn * x) + std::cos(turn * z)
                                   : std::sin(turn * y) + std::cos(turn * x);
        }
        return 0.0;
    }
    /// Largest |component| in the domain.
    double largest(int axis) const {
        switch (kind) {
            case WindKind::constant: return std::abs(velocity[axis]);
            case WindKind::rotate: return axis == 2 ? 0.0 : 1.0;
            case WindKind::recirc: return axis == 2 ? 0.0 : 2.0;
            case WindKind::abc: return 2.0;
        }
        return 0.0;
    }
};

}  // namespace hyperplane
