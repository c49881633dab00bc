// SPDX-License-Identifier: BSD-3-Clause
// Winds of the convection-diffusion problem. The divergence computed from the values at face centres is zero. With
// X = 2x/Lx - 1, Y = 2y/Ly - 1 and t = 2 pi (x/Lx, y/Ly, z/Lz):
//   const    (bx, by, bz)
//   rotate   (-Y, X, 0)
//   recirc   (2 Y (1 - X^2), -2 X (1 - Y^2), 0)
//   abc      (sin tz + cos ty, sin tx + cos tz, sin ty + cos tx)
// In rotate and abc, the component along d does not vary along d; in recirc with Lx = Ly, the differences of the
// two quadratic functions cancel.
#pragma once

#include <array>
#include <cmath>
#include <numbers>

#include "problems/domain.hpp"

namespace hyperplane {

enum class WindKind { constant, rotate, recirc, abc };

/// A wind, small enough to be passed by value.
struct Wind {
    WindKind kind = WindKind::rotate;
    std::array<double, 3> velocity{0.0, 0.0, 0.0};  ///< for const
    std::array<double, 3> lengths{1.0, 1.0, 1.0};

    /// Component `axis` at a position.
    HYPERPLANE_HD double component(int axis, const Position& at) const {
        switch (kind) {
            case WindKind::constant: return velocity[axis];
            case WindKind::rotate: return axis == 0 ? -centred(1, at) : axis == 1 ? centred(0, at) : 0.0;
            case WindKind::recirc: {
                if (axis == 2) return 0.0;
                const double X = centred(0, at), Y = centred(1, at);
                return axis == 0 ? 2 * Y * (1 - X * X) : -2 * X * (1 - Y * Y);
            }
            case WindKind::abc: {
                const int before = (axis + 2) % 3, after = (axis + 1) % 3;
                return std::sin(angle(before, at)) + std::cos(angle(after, at));
            }
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

private:
    HYPERPLANE_HD double centred(int axis, const Position& at) const { return 2 * (at[axis] / lengths[axis]) - 1; }
    HYPERPLANE_HD double angle(int axis, const Position& at) const {
        return 2 * std::numbers::pi * (at[axis] / lengths[axis]);
    }
};

}  // namespace hyperplane
