// SPDX-License-Identifier: BSD-3-Clause
// Two-grid factors by Fourier analysis (Trottenberg, Oosterlee, Schueller, Multigrid, sections 4.3 to 4.5), for star7
// and box27 with constant coefficients, coarsened by two along all axes.
//
// Modes theta and theta + pi along any axes coincide on the coarse grid: eight harmonics h, whose bits are the axes
// with pi. The cycle maps their span into itself, so it is an 8 x 8 matrix T = S^post K S^pre for each theta:
//
//     A    diagonal, a_h = own - sum over the other offsets o of cos(o . theta_h)
//     K    I - p p^T A / (8 a_c), with the symbol p of interpolation and a_c = sum of p_h^2 a_h / 8
//     Q_c  the points of one colour, of two (1 + (-1)^c X) / 2, where X exchanges h and h + (pi, pi, pi); of eight,
//          whose bits are the parities of the coordinates, the product over axes of (1 + (-1)^c_d X_d) / 2, where X_d
//          exchanges h and h + pi along axis d
//
// Damped Jacobi is S = I - omega A / own. Gauss-Seidel by colours relaxes one colour after the other, with a factor
// I - Q_c A / own for each. Two colours, red and black, decouple the points of a colour for star7, eight for box27.
#pragma once

#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <vector>

#include "reference/dense.hpp"

namespace hyperplane::reference {

/// `own` on the diagonal, -1 for each other coupling.
struct ConstantStencil {
    bool box27 = false;
    double mass = 0.0;  ///< what a row adds up to

    double own() const { return (box27 ? 26.0 : 6.0) + mass; }
};

/// Of one theta.
class Harmonics {
public:
    Harmonics(const ConstantStencil& stencil, const std::array<double, 3>& theta) : stencil_(stencil) {
        for (int h = 0; h < 8; ++h) {
            double c[3];
            for (int axis = 0; axis < 3; ++axis) c[axis] = (h >> axis & 1 ? -1.0 : 1.0) * std::cos(theta[axis]);
            const double one = c[0] + c[1] + c[2], two = c[0] * c[1] + c[0] * c[2] + c[1] * c[2];
            const double three = c[0] * c[1] * c[2];
            a_[h] = stencil.own() - (stencil.box27 ? 2.0 * one + 4.0 * two + 8.0 * three : 2.0 * one);
            const std::array<double, 3> w = weights(stencil);
            p_[h] = 1.0 + 2.0 * w[0] * one + 4.0 * w[1] * two + 8.0 * w[2] * three;
        }
    }

    Dense damped_jacobi(double omega) const {
        Dense s(8, 8);
        for (int h = 0; h < 8; ++h) s(h, h) = 1.0 - omega * a_[h] / stencil_.own();
        return s;
    }

    /// Only the points whose coordinates add up to an even number, or only the others.
    Dense relaxed(bool odd) const {
        Dense s = identity(8);
        for (int h = 0; h < 8; ++h)
            for (const int from : {h, 7 - h}) s(h, from) -= (odd && from != h ? -0.5 : 0.5) * a_[from] / stencil_.own();
        return s;
    }

    /// Only the points the parities of whose coordinates are the bits of `parities`.
    Dense relaxed_of_eight(int parities) const {
        Dense s = identity(8);
        for (int h = 0; h < 8; ++h)
            for (int exchanged = 0; exchanged < 8; ++exchanged) {
                double sign = 1.0;
                for (int axis = 0; axis < 3; ++axis)
                    if (exchanged >> axis & parities >> axis & 1) sign = -sign;
                s(h, h ^ exchanged) -= sign / 8.0 * a_[h ^ exchanged] / stencil_.own();
            }
        return s;
    }

    Dense coarse_correction() const {
        double coarse = 0.0;
        for (int h = 0; h < 8; ++h) coarse += p_[h] * p_[h] * a_[h] / 8.0;
        Dense k = identity(8);
        for (int h = 0; h < 8; ++h)
            for (int from = 0; from < 8; ++from) k(h, from) -= p_[h] * p_[from] * a_[from] / (8.0 * coarse);
        return k;
    }

private:
    /// Of black-box interpolation to points that are odd along one, two and three axes, from each of the 2, 4 and 8
    /// coarse points around them.
    static std::array<double, 3> weights(const ConstantStencil& stencil) {
        const double m = stencil.mass;
        if (!stencil.box27) {
            const double one = 1.0 / (2.0 + m), two = 2.0 * one / (4.0 + m);
            return {one, two, 3.0 * two / (6.0 + m)};
        }
        const double one = 9.0 / (18.0 + m), two = (3.0 + 6.0 * one) / (24.0 + m);
        return {one, two, (1.0 + 3.0 * one + 3.0 * two) / (26.0 + m)};
    }

    ConstantStencil stencil_;
    std::array<double, 8> a_{}, p_{};
};

/// The limit of ||T^m||^(1/m), by squaring.
inline double spectral_radius(Dense t) {
    double logarithm = 0.0, power = 1.0;
    for (int squared = 0; squared < 40; ++squared) {
        const double size = max_abs(t);
        if (size == 0.0) return 0.0;
        logarithm += std::log(size) / power;
        for (double& value : t.values) value /= size;
        t = product(t, t);
        power *= 2.0;
    }
    return std::exp(logarithm);
}

/// What of eight harmonics is even along an axis of frequency pi / 2, where h and h + pi are mirror images.
inline Dense even_part(int axis) {
    Dense part(8, 8);
    for (int h = 0; h < 8; ++h) part(h, h) = part(h, h ^ 1 << axis) = 0.5;
    return part;
}

enum class Functions { all, even };  ///< even: about a point along each axis, so sums of products of cosines

/// The largest spectral radius of `cycle(harmonics)` over the frequencies of n periodic points along each axis, n
/// divisible by four. Symbols are the same for theta and -theta.
template <class Cycle>
double two_grid_factor(const ConstantStencil& stencil, int n, Functions functions, const Cycle& cycle) {
    double largest = 0.0;
    for (int x = 0; x <= n / 4; ++x)
        for (int y = 0; y <= n / 4; ++y)
            for (int z = 0; z <= n / 4; ++z) {
                const auto theta = [n](int k) { return 2.0 * std::numbers::pi * k / n; };
                Dense t = cycle(Harmonics(stencil, {theta(x), theta(y), theta(z)}));
                const std::array<int, 3> frequency{x, y, z};
                for (int axis = 0; axis < 3; ++axis)
                    if (functions == Functions::even && frequency[axis] == n / 4) t = product(t, even_part(axis));
                largest = std::max(largest, spectral_radius(t));
            }
    return largest;
}

}  // namespace hyperplane::reference
