// SPDX-License-Identifier: BSD-3-Clause
// par_ilu: incomplete factors by fixed-point sweeps, solved exactly or by Jacobi sweeps.
//
// Chow, Patel, SIAM J. Sci. Comput. 37, 2015; equations in precond/par_ilu/sweeps.hpp. Pattern, storage and exact
// solves are struct_ilu's, Jacobi sweeps those of precond/triangular/jacobi/sweeps.hpp.
#pragma once

#include "precond/registry.hpp"

namespace hyperplane {

PreconditionerRow par_ilu_row();

}  // namespace hyperplane
