// SPDX-License-Identifier: BSD-3-Clause
// Incompressible flow in a lid-driven cavity by artificial compressibility, with finite volumes and 4 unknowns a cell
// on star7. The problem provides the linear systems of implicit upwind codes, and from them systems with more unknowns
// a cell.
//
//   Q = (u, v, w, p)   Q_t + sum_d d/dx_d f_d(Q) = nu Laplace(u, v, w)   f_d = (u u_d + p e_d, beta u_d)
//
// For a face between the states Q_L and Q_R with mean Qm, f_R - f_L = A_d(Qm) (Q_R - Q_L) holds exactly. With
// B = A_d(Qm) - u_d I and c = sqrt(u_d^2 + beta),
//   |A_d| = |u_d| I + (u_d / c) B + ((c - |u_d|) / c^2) B^2
//   flux  = (f_L + f_R) / 2 - |A_d| (Q_R - Q_L) / 2 - nu (difference of the cells' velocities) / h
// In the residual, Q_L and Q_R are interpolated with kappa = 1/3, third order for smooth flow, with ghost values
// 2 u_wall - u_P and 2 p_P - p_N behind walls. At a wall the flux of momentum is 2 nu (u_P - u_wall) / h, plus the
// pressure 1.5 p_P - 0.5 p_N in the normal component; the flux of mass is 0. The matrix, on star7, is the Jacobian for
// Q_L and Q_R equal to the cell values and |A_d| frozen. Steps towards the steady state are therefore those of a defect
// correction, not of Newton's method.
//
// More unknowns are several sets of such equations on one grid, each with its own beta and step, and two scalars that
// the first set's velocity transports, by upwind differences. Blocks are then block diagonal by set. coupling =
// householder makes them dense: with H = I - 2 w w^T / (w^T w), the unknowns of a cell are H x, its rows H F, and every
// block is H A H. H is orthogonal and its own inverse, and block ILU(0) commutes with it, so iteration counts do not
// change.
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
