// SPDX-License-Identifier: BSD-3-Clause
// Incompressible flow by artificial compressibility, stabilised trilinear elements, 4 unknowns a node (u, v, w, p).
//
//   u_t + u . grad u + grad p - nu Laplace(u) = 0        p_t / beta + div u = 0        nu = 1 / Re
//
// A steady state does not depend on beta. The discretisation has Q1-Q1 elements on a tensor grid of boxes, 2 x 2 x 2
// Gauss points of weight w, SUPG and PSPG (Brooks, Hughes 1982; Tezduyar 1992). With R = u_t + u . grad u + grad p at a
// Gauss point, whose viscous term vanishes for Q1 on boxes,
//   F_i = sum w {N_a (R_i - dp/dx_i) + nu grad N_a . grad u_i - dN_a/dx_i p + tau (u . grad N_a) R_i}
//   F_p = sum w {N_a [p_t / beta + div u] + tau grad N_a . R}
//   tau = [(2 theta / dt)^2 + 4 sum (u_d / h_d)^2 + (4 nu sum h_d^-2)^2]^-1/2
// The u in tau is taken at the element's centre and at the beginning of the step, so that the Jacobian is exact.
// theta = 1 for steps in time; theta = 0 for steps towards a steady state, which therefore does not depend on dt.
//
// Boundary nodes are kept. If a component of the velocity is prescribed, its row is s (u_i - g), where s, the sum of
// w (c + 1 / tau) over the node's elements with c the rate of u_t, gives the row the magnitude of its neighbours. The
// pressure is never prescribed; beta fixes its constant. A plane of symmetry prescribes the normal component only; the
// other components have natural boundary conditions there. A grid with two nodes along z is a plane flow: both z faces
// are planes of symmetry, w = 0 everywhere, and u, v are those of two-dimensional Q1 elements.
#pragma once

#include <memory>
#include <vector>

#include "core/interfaces/input_files.hpp"
#include "core/interfaces/problem.hpp"
#include "core/parameters/parameters.hpp"
#include "problems/domain.hpp"

namespace hyperplane {

ParameterTable navier_stokes_parameters();
std::vector<OwnLengths> navier_stokes_lengths();
std::unique_ptr<Problem> create_navier_stokes(const Parameters& parameters, const Context& context,
                                              const InputFiles& files);

}  // namespace hyperplane
