// SPDX-License-Identifier: BSD-3-Clause
// The Euler equations of an ideal gas, U_t + sum_d dF_d(U)/dx_d = 0, U = (rho, rho u, rho v, rho w, E),
// p = (gamma - 1) (E - rho |u|^2 / 2).
//
// Finite volumes on cells: the states at a face follow from slopes of q = (rho, u, v, w, p) (euler_reconstruction.hpp),
// and each face has one flux (euler_flux.hpp). The flux at face i + 1/2 depends on cells i - 1 .. i + 2, so a row has
// exactly the offsets of star13, or of star7 if everything is of first order:
//   F_i = rate[0] U + rate[1] U_old + rate[2] U_older + sum_d (F_{i+1/2} - F_{i-1/2}) / h_d
// Each boundary has two cells beyond it: with outflow copies of the nearest cell, with wall mirror images, with
// farfield and exact prescribed states. Derivatives with respect to copies and mirror images are added to those of the
// cells that they follow.
//
// An incomplete factorisation of the exact second-order Jacobian is useful up to Courant numbers of about 5. That of
// upwind2, on the same stencil, is useful beyond if the flow is smooth; that of first, on star7, was so in all tests.
#pragma once

#include <memory>
#include <vector>

#include "core/interfaces/input_files.hpp"
#include "core/interfaces/problem.hpp"
#include "core/parameters/parameters.hpp"
#include "problems/domain.hpp"

namespace hyperplane {

ParameterTable euler_parameters();
std::vector<OwnLengths> euler_lengths();
std::unique_ptr<Problem> create_euler(const Parameters& parameters, const Context& context, const InputFiles& files);

}  // namespace hyperplane
