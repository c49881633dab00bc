// SPDX-License-Identifier: BSD-3-Clause
// Incompressible flow in a lid-driven cavity by artificial compressibility, finite volumes, 4 unknowns a cell on star7:
// the linear systems of implicit upwind codes, and of more unknowns a cell made from them.
//
//   Q = (u, v, w, p)   Q_t + sum_d d/dx_d f_d(Q) = nu Laplace(u, v, w)   f_d = (u u_d + p e_d, beta u_d)
//
// Across a face with the states Q_L, Q_R beside it and Qm their mean, f_R - f_L = A_d(Qm) (Q_R - Q_L) exactly, and with
// B = A_d(Qm) - u_d I and c = sqrt(u_d^2 + beta)
//   |A_d| = |u_d| I + (u_d / c) B + ((c - |u_d|) / c^2) B^2
//   flux  = (f_L + f_R) / 2 - |A_d| (Q_R - Q_L) / 2 - nu (difference of the cells' velocities) / h
// Residual: Q_L, Q_R interpolated with kappa = 1/3, third order on smooth flow, with ghosts 2 u_wall - u_P and
// 2 p_P - p_N behind walls. On a wall momentum along it gets 2 nu (u_P - u_wall) / h, across it also the pressure
// 1.5 p_P - 0.5 p_N, mass nothing. Matrix: that of cell values for Q_L, Q_R and |A_d| frozen, on star7. Steps towards
// the steady state therefore correct a defect; they are not Newton's.
//
// More unknowns: several sets of such equations on one grid, each with its beta and step, and two scalars that the
// first set's velocity carries, by upwind differences. Blocks are then diagonal by set. coupling = householder turns
// them into full ones: with H = I - 2 w w^T / (w^T w) the unknowns of a cell are H x, its rows H F, every block H A H.
// H is orthogonal and its own inverse, and block ILU(0) commutes with it: iteration counts do not change.
#pragma once

#include <memory>

#include "core/interfaces/input_files.hpp"
#include "core/interfaces/problem.hpp"
#include "core/parameters/parameters.hpp"

namespace hyperplane {

ParameterTable artificial_compressibility_parameters();
std::unique_ptr<Problem> create_artificial_compressibility(const Parameters& parameters, const Context& context,
                                                           const InputFiles& files);

}  // namespace hyperplane
