// SPDX-License-Identifier: BSD-3-Clause
// Cahn and Hilliard's equations: two phases that separate, and a copolymer that orders itself within one of them.
//
// Two fields u and v (Avalos, Higuchi, Teramoto, Yabu, Nishiura 2016): the energy
//   E = int eps_u^2 |grad u|^2 / 2 + eps_v^2 |grad v|^2 / 2 + W(u, v) + sigma |(-Laplace)^(-1/2) (v - v_mean)|^2 / 2
//   W = (u^2 - 1)^2 / 4 + (v^2 - 1)^2 / 4 + b1 u v - b2 u v^2 / 2
// decreases along solutions of
//   tau_u u_t = Laplace(W_u - eps_u^2 Laplace u)
//   tau_v v_t = Laplace(W_v - eps_v^2 Laplace v) - sigma (v - v_mean)
// With one field, u is alone, W = (u^2 - 1)^2 / 4, and its equation has the term with sigma (Ohta, Kawasaki 1986).
//
// The points are cells, and no flux of u, v and both potentials passes the boundary. The Laplacian L has 7 points, and
// neighbours beyond the boundary are left out, so L^2 has exactly the offsets of diamond25 everywhere, and 1^T L = 0
// conserves the masses.
//   F = tau u_t - L (g - eps^2 L u_theta) + sigma (u_theta - u_mean)
//   implicit   u_theta = u at the end of the step, g = W'(u_theta), u_t by the time scheme
//   avf        average vector field (Celledoni et al. 2012): u_t = (u - old) / dt, u_theta = (u + old) / 2, g the mean
//              of W' along the line from old to u. Two Gauss points are exact for this W of degree four, so E decreases
//              by dt <mu, -L mu> for any dt. The scheme is of second order, but does not damp rough data if steps are
//              large, so the first steps are those of implicit Euler.
#pragma once

#include <memory>
#include <vector>

#include "core/interfaces/input_files.hpp"
#include "core/interfaces/problem.hpp"
#include "core/parameters/parameters.hpp"
#include "problems/domain.hpp"

namespace hyperplane {

ParameterTable cahn_hilliard_parameters();
std::vector<OwnLengths> cahn_hilliard_lengths();
std::unique_ptr<Problem> create_cahn_hilliard(const Parameters& parameters, const Context& context,
                                              const InputFiles& files);

}  // namespace hyperplane
