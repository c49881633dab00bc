// SPDX-License-Identifier: BSD-3-Clause
// Convection and diffusion, u_t + div(b u) - nu Laplace(u) = f on a box, u = g on its boundary, div b = 0.
//
// The points are nodes, and each row is multiplied by h^2, h the mean spacing. The face towards side s = +-1 of axis d,
// with D = nu h^2 / h_d^2 and B = s b_d(face centre) h^2 / h_d, gives the neighbour's coefficient c_N and adds c_P to
// the diagonal:
//   upwind    c_P = D + max(B, 0)       c_N = -D + min(B, 0)       first order, an M-matrix
//   central   c_P = D + B / 2           c_N = -D + B / 2           second order, oscillates where |B| > 2 D
//   sg        c_P = D Ber(-B / D)       c_N = -D Ber(B / D)        second order, an M-matrix
// with Ber(t) = t / (e^t - 1) (Scharfetter, Gummel 1969). The time derivative adds h^2 rate[0] to the diagonal and
// -h^2 (rate[1] old + rate[2] older) to the right-hand side h^2 f; for implicit Euler h^2 / dt and h^2 u_old / dt.
#pragma once

#include <cmath>
#include <memory>

#include "core/interfaces/input_files.hpp"
#include "core/interfaces/problem.hpp"
#include "core/parameters/parameters.hpp"
#include "problems/exact_solution.hpp"
#include "problems/wind.hpp"

namespace hyperplane {

ParameterTable convection_diffusion_parameters();
std::unique_ptr<Problem> create_convection_diffusion(const Parameters& parameters, const Context& context,
                                                     const InputFiles& files);

enum class Scheme { upwind, central, sg };

/// Ber(t) = t / (e^t - 1)
HYPERPLANE_HD inline double bernoulli(double t) {
    return std::abs(t) < 1e-8 ? 1.0 - t / 2 : t / std::expm1(t);
}

/// The terms that a face adds to the row of the point on one side: `centre` to the diagonal, `neighbour` to the
/// entry of the point on the other side.
struct FaceTerms {
    double centre, neighbour;
};

HYPERPLANE_HD inline FaceTerms face_terms(Scheme scheme, double D, double B) {
    switch (scheme) {
        case Scheme::upwind: return {D + std::fmax(B, 0.0), -D + std::fmin(B, 0.0)};
        case Scheme::central: return {D + B / 2, -D + B / 2};
        case Scheme::sg: return {D * bernoulli(-B / D), -D * bernoulli(B / D)};
    }
    return {0.0, 0.0};
}

}  // namespace hyperplane
