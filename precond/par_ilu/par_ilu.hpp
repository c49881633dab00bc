// SPDX-License-Identifier: BSD-3-Clause
// par_ilu: incomplete factors by fixed-point sweeps, solved exactly or by Jacobi sweeps.
//
// Chow, Patel, SIAM J. Sci. Comput. 37, 2015; equations in precond/par_ilu/sweeps.hpp. The factorisation
// is precond/par_ilu/fixed_point.hpp, the solves are the wavefront's or Jacobi sweeps (precond/triangular).
#pragma once

#include "precond/row.hpp"

namespace hyperplane {

PreconditionerRow par_ilu_row();

}  // namespace hyperplane
