// SPDX-License-Identifier: BSD-3-Clause
// The mixture of the Cahn-Hilliard problem: the potential W with derivatives, initial states and manufactured solution.
#pragma once

#include <cmath>
#include <numbers>

#include "core/random.hpp"
#include "problems/domain.hpp"

namespace hyperplane {

/// The second derivatives of W; with one field only uu.
struct Curvature {
    double uu, uv, vv;
};

enum class MixtureStart { smooth, random, wall, manufactured };

/// The parameters of the equations, small enough to be passed by value. The fields are u and, if there are two, v.
struct Mixture {
    double eps[2] = {0.05, 0.05};  ///< eps_u, eps_v
    double tau[2] = {1.0, 1.0};
    double b1 = 0.0, b2 = 1.0;
    double sigma = 20.0;
    double mean[2] = {-0.4, -0.2};  ///< the means of the fields over the cells, which are conserved

    /// g = (W_u, W_v) at the fields w.
    template <int fields>
    HYPERPLANE_HD void potential(const double* w, double* g) const {
        g[0] = w[0] * w[0] * w[0] - w[0];
        if constexpr (fields == 2) {
            g[0] += b1 * w[1] - 0.5 * b2 * w[1] * w[1];
            g[1] = w[1] * w[1] * w[1] - w[1] + b1 * w[0] - b2 * w[0] * w[1];
        }
    }
    template <int fields>
    HYPERPLANE_HD Curvature curvature(const double* w) const {
        if constexpr (fields == 1) return {3 * w[0] * w[0] - 1, 0.0, 0.0};
        return {3 * w[0] * w[0] - 1, b1 - b2 * w[1], 3 * w[1] * w[1] - 1 - b2 * w[0]};
    }
    /// W at the fields w.
    template <int fields>
    HYPERPLANE_HD double energy(const double* w) const {
        const double a = w[0] * w[0] - 1;
        if constexpr (fields == 1) return 0.25 * a * a;
        const double b = w[1] * w[1] - 1;
        return 0.25 * (a * a + b * b) + b1 * w[0] * w[1] - 0.5 * b2 * w[0] * w[1] * w[1];
    }
};

/// A product of cosines over the box, c cos(k_0 pi x / L_x) cos(k_1 pi y / L_y) cos(k_2 pi z / L_z): its value, its
/// gradient and its eigenvalue k^2 of -Laplace. Flat axes have no factor.
struct CosineProduct {
    double value, gradient[3], square;
};

HYPERPLANE_HD inline CosineProduct cosine_product(const Domain& domain, const Position& at, int kx, int ky, int kz) {
    const int k[3] = {kx, ky, kz};
    CosineProduct product{1.0, {1.0, 1.0, 1.0}, 0.0};
    for (int axis = 0; axis < 3; ++axis) {
        if (domain.flat(axis)) {
            product.gradient[axis] = 0.0;
            continue;
        }
        const double w = k[axis] * std::numbers::pi / domain.lengths[axis];
        const double c = std::cos(w * at[axis]), s = std::sin(w * at[axis]);
        product.value *= c;
        for (int other = 0; other < 3; ++other) product.gradient[other] *= other == axis ? -w * s : c;
        product.square += w * w;
    }
    return product;
}

/// The fields at time 0:
///   smooth         u = mean + A cos(2 pi x / Lx) cos(3 pi y / Ly) cos(pi z / Lz), v the same with 1, 2, 3
///   random         mean + A times uniform numbers in (-1, 1), corrected by a constant so that the mean is exact
///   wall           u = tanh((x - Lx / 2) / (sqrt 2 eps_u)), v = its mean
///   manufactured   at time t, u = cos(pi x) cos(pi y) cos(2 pi z) (1 + sin(10 t) / 2) / 2,
///                  v = mean_v + 0.4 cos(2 pi x) cos(pi y) cos(pi z) cos(8 t), lengths scaled to the box
struct MixtureState {
    MixtureStart kind = MixtureStart::smooth;
    Domain domain;
    Mixture mixture;
    double amplitude = 0.4;
    std::uint64_t seed = 1;

    HYPERPLANE_HD double field(int c, Int3 p, double time) const {
        const Position at = domain.position(p);
        switch (kind) {
            case MixtureStart::smooth: {
                const double cosines =
                    c == 0 ? cosine_product(domain, at, 2, 3, 1).value : cosine_product(domain, at, 1, 2, 3).value;
                return mixture.mean[c] + amplitude * cosines;
            }
            case MixtureStart::random:
                return mixture.mean[c] + amplitude * random_symmetric(seed, std::uint64_t(2 * domain.grid.row(p) + c));
            case MixtureStart::wall:
                if (c == 1) return mixture.mean[1];
                return std::tanh((at[0] - domain.lengths[0] / 2) / (std::sqrt(2.0) * mixture.eps[0]));
            case MixtureStart::manufactured: break;
        }
        return manufactured_mean(c) + manufactured_amplitude(c, time) * manufactured_shape(c, at).value;
    }
    HYPERPLANE_HD double manufactured_mean(int c) const { return c == 0 ? 0.0 : mixture.mean[1]; }
    HYPERPLANE_HD CosineProduct manufactured_shape(int c, const Position& at) const {
        return c == 0 ? cosine_product(domain, at, 1, 1, 2) : cosine_product(domain, at, 2, 1, 1);
    }
    HYPERPLANE_HD static double manufactured_amplitude(int c, double t) {
        return c == 0 ? 0.5 * (1 + 0.5 * std::sin(10 * t)) : 0.4 * std::cos(8 * t);
    }
    HYPERPLANE_HD static double manufactured_rate(int c, double t) {
        return c == 0 ? 2.5 * std::cos(10 * t) : -3.2 * std::sin(8 * t);
    }

    /// The source s with which the manufactured fields solve the equations,
    /// s = tau u_t - Laplace(W_u - eps^2 Laplace u), and in the last field also + sigma (u - mean).
    template <int fields>
    HYPERPLANE_HD void source(Int3 p, double time, double* s) const {
        const Position at = domain.position(p);
        double w[2] = {}, lap[2] = {}, slope[2][3] = {};
        for (int c = 0; c < fields; ++c) {
            const CosineProduct shape = manufactured_shape(c, at);
            const double a = manufactured_amplitude(c, time);
            w[c] = manufactured_mean(c) + a * shape.value;
            lap[c] = -shape.square * a * shape.value;
            for (int axis = 0; axis < 3; ++axis) slope[c][axis] = a * shape.gradient[axis];
            s[c] = mixture.tau[c] * manufactured_rate(c, time) * shape.value +
                   mixture.eps[c] * mixture.eps[c] * shape.square * shape.square * a * shape.value;
            if (c == fields - 1) s[c] += mixture.sigma * a * shape.value;
        }
        double uu = 0.0, uv = 0.0, vv = 0.0;  // inner products of the gradients
        for (int axis = 0; axis < 3; ++axis) {
            uu += slope[0][axis] * slope[0][axis];
            uv += slope[0][axis] * slope[1][axis];
            vv += slope[1][axis] * slope[1][axis];
        }
        // Laplace(g(w)) = g' Laplace w + g'' grad w . grad w
        const Curvature g = mixture.curvature<fields>(w);
        s[0] -= g.uu * lap[0] + 6 * w[0] * uu;
        if constexpr (fields == 2) {
            s[0] -= g.uv * lap[1] - mixture.b2 * vv;
            s[1] -= g.uv * lap[0] + g.vv * lap[1] + 6 * w[1] * vv - 2 * mixture.b2 * uv;
        }
    }
};

}  // namespace hyperplane
