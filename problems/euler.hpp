// SPDX-License-Identifier: BSD-3-Clause
// The Euler equations of an ideal gas, U_t + sum_d dF_d(U)/dx_d = 0, U = (rho, rho u, rho v, rho w, E),
// p = (gamma - 1) (E - rho |u|^2 / 2).
//
// Finite volumes on cells: states at the faces by slopes of q = (rho, u, v, w, p) (euler_reconstruction.hpp), one
// flux across each face (euler_flux.hpp). The flux at face i + 1/2 depends on cells i - 1 .. i + 2, so a row has
// exactly the offsets of star13, or of star7 where nothing is of second order:
//   F_i = rate[0] U + rate[1] U_old + rate[2] U_older + sum_d (F_{i+1/2} - F_{i-1/2}) / h_d
// Beyond a boundary there are two cells a side: outflow, the nearest cell; wall, mirrored; farfield and exact,
// prescribed. Derivatives of the first two go to the cells that they copy.
//
// An incomplete factorisation of the exact second-order Jacobian is of use up to Courant numbers of about 5. That of
// upwind2, on the same stencil, is beyond where the flow is smooth; that of first, on star7, always was.
#pragma once

#include <memory>

#include "core/interfaces/input_files.hpp"
#include "core/interfaces/problem.hpp"
#include "core/parameters/parameters.hpp"

namespace hyperplane {

ParameterTable euler_parameters();
std::unique_ptr<Problem> create_euler(const Parameters& parameters, const Context& context, const InputFiles& files);

}  // namespace hyperplane
