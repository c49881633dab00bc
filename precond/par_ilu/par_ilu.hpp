// SPDX-License-Identifier: BSD-3-Clause
// par_ilu: incomplete factors by fixed-point sweeps, with exact triangular solves or Jacobi sweeps.
//
// Chow, Patel, SIAM J. Sci. Comput. 37, 2015; the equations are in precond/par_ilu/sweeps.hpp. The solves, in wavefront
// order or by Jacobi sweeps, are in precond/triangular.
#pragma once

#include "precond/registry_row.hpp"

namespace hyperplane {

PreconditionerRow par_ilu_row();

}  // namespace hyperplane
