// Times of a whole solve, broken down as Figure 10 of the StructILU paper: factorise, triangular
// solves, SpMV, other.
#pragma once

#include "apps/bench_kernels.hpp"
#include "apps/case.hpp"
#include "core/solver.hpp"

namespace hyperplane {

struct SolveBench {
    SolveReport report;                                    ///< the same in every repeat
    Timing setup, solve;                                   ///< seconds
    double spmv = 0.0, preconditioner = 0.0, other = 0.0;  ///< seconds of one solve, mean over repeats
};

/// The deck's first linear system: assembled once, then set up and solved `repeats` times after a
/// warm-up. Throws SetupError; a solve that does not converge is reported, not hidden.
SolveBench bench_solve(const Case& a_case, int repeats);

}  // namespace hyperplane
