// SPDX-License-Identifier: BSD-3-Clause
// Cahn and Hilliard's equations: two phases that separate, and a copolymer that orders itself within one of them.
//
// Two fields u and v (Avalos, Higuchi, Teramoto, Yabu, Nishiura 2016): the energy
//   E = int eps_u^2 |grad u|^2 / 2 + eps_v^2 |grad v|^2 / 2 + W(u, v) + sigma |(-Laplace)^(-1/2) (v - v_mean)|^2 / 2
//   W = (u^2 - 1)^2 / 4 + (v^2 - 1)^2 / 4 + b1 u v - b2 u v^2 / 2
// falls along
//   tau_u u_t = Laplace(W_u - eps_u^2 Laplace u)
//   tau_v v_t = Laplace(W_v - eps_v^2 Laplace v) - sigma (v - v_mean)
// One field: the first alone, W = (u^2 - 1)^2 / 4, with the term of sigma (Ohta, Kawasaki 1986).
//
// Cells, no flux of u, v and both potentials through the boundary: the Laplacian L has 7 points, neighbours beyond the
// boundary left out, so that L^2 has exactly the offsets of diamond25 everywhere and 1^T L = 0 keeps the masses.
//   F = tau u_t - L (g - eps^2 L u_theta) + sigma (u_theta - u_mean)
//   implicit   u_theta = u at the end of the step, g = W'(u_theta), u_t as the time scheme has it
//   avf        u_t = (u - old) / dt, u_theta = (u + old) / 2, g the mean of W' along the line from old to u, by two
//   Gauss
//              points exact for this W of fourth degree: E falls by dt <mu, -L mu> and so for any dt (average vector
//              field; Celledoni et al. 2012). Second order; large steps do not damp rough data, so that the first ones
//              are implicit Euler's
#pragma once

#include <memory>

#include "core/interfaces/input_files.hpp"
#include "core/interfaces/problem.hpp"
#include "core/parameters/parameters.hpp"

namespace hyperplane {

ParameterTable cahn_hilliard_parameters();
std::unique_ptr<Problem> create_cahn_hilliard(const Parameters& parameters, const Context& context,
                                              const InputFiles& files);

}  // namespace hyperplane
