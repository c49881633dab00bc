// par_ilu: incomplete factors by fixed-point sweeps, solved exactly or by Jacobi sweeps.
//
// Chow, Patel, SIAM J. Sci. Comput. 37, 2015; equations in precond/factor_sweeps.hpp. Pattern, storage and exact solves
// are struct_ilu's, Jacobi sweeps those of precond/triangle_sweeps.hpp.
#pragma once

#include "precond/registry.hpp"

namespace hyperplane {

PreconditionerRow par_ilu_row();

}  // namespace hyperplane
