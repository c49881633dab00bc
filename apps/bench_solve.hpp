// Times of a whole solve, broken down as Figure 10 of the StructILU paper: factorise, triangular
// solves, SpMV, other.
#pragma once

#include "apps/bench_kernels.hpp"
#include "apps/case.hpp"
#include "core/solver.hpp"

namespace hyperplane {

struct SolveBench {
    SolveReport report;                                    ///< the same in every repeat
    Timing factorise, solve;                               ///< seconds
    double spmv = 0.0, preconditioner = 0.0, other = 0.0;  ///< seconds of one solve
    double analysis = 0.0;                                 ///< seconds, cusparse_ilu's alone, once; in no sum
    Index work_bytes = 0;                                  ///< cusparse_ilu's buffers

    double total() const { return factorise.median + solve.median; }
};

/// The deck's first linear system: assembled once, then factored and solved `repeats` times after warm-ups. With
/// cusparse_ilu the products are cuSPARSE's too, and factorise is its numeric routine alone.
///
/// On a CPU a solve with a clock in each apply shares the time out. On a GPU an iteration is a graph that no clock sees
/// into: SpMV and M^-1 r are each timed alone, and counted as often as the method applies them; the rest is other.
/// Throws SetupError; a solve that does not converge is reported, not hidden.
SolveBench bench_solve(const Case& a_case, int repeats);

}  // namespace hyperplane
