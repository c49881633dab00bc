// SPDX-License-Identifier: BSD-3-Clause
// Times of a whole solve, broken down as Figure 10 of the StructILU paper: factorise, triangular
// solves, SpMV, other.
#pragma once

#include "apps/bench/setup.hpp"
#include "apps/run/case.hpp"
#include "core/interfaces/solver.hpp"

namespace hyperplane {

struct SolveBench {
    SolveReport report;  ///< the same in every repeat
    SetupTimes factorise;
    Timing solve;                                          ///< seconds
    double spmv = 0.0, preconditioner = 0.0, other = 0.0;  ///< seconds of one solve's iterations
    double ends = 0.0;                                     ///< the rest: seconds before the first and after the last
    /// Bytes of the vectors that `other` reads and writes: as its passes are, and if every x^T y fell out of the
    /// product or apply before it.
    double other_bytes = 0.0, fewest_bytes = 0.0;

    double total() const { return factorise.again.median + solve.median; }
};

/// The deck's first linear system: assembled once, then factored and solved `repeats` times after warm-ups. With
/// cusparse_ilu the products are cuSPARSE's too, and factorise is its numeric routine alone.
///
/// On a CPU a solve with a clock in each apply shares the time out. On a GPU an iteration is a graph that no clock sees
/// into. There the difference of two solves of different length is the time of iterations alone. A x and M^-1 r are
/// each timed alone and counted as often as the method does them; the rest of the difference is other, taken to the
/// whole solve by its bytes; what all iterations leave of the whole is `ends`. Throws SetupError; a solve that does not
/// converge is reported, not hidden.
SolveBench bench_solve(const Case& a_case, int repeats);

}  // namespace hyperplane
