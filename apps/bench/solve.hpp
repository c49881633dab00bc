// SPDX-License-Identifier: BSD-3-Clause
// Times of a whole solve, divided as in Figure 10 of the StructILU paper: factorise, triangular solves, SpMV, other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/bench/setup.hpp"
#include "apps/run/case.hpp"
#include "apps/run/pay_off.hpp"
#include "core/interfaces/solver.hpp"

namespace hyperplane {

struct SolveBench {
    SolveReport report;  ///< the same in every repeat
    SetupTimes factorise;
    /// Seconds of a whole set-up by a new preconditioner, with analysis and memory: the first one of the process, whose
    /// kernels are loaded and whose memory is reserved as by a run, and later ones. What a plan has found out before is
    /// thrown away.
    double first_setup = 0.0;
    Timing whole_setup;
    /// The times of what came before the first system, of the whole set-up and of its parts: preparation/reading,
    /// preparation/ordering, setup, setup/symbolic, setup/numeric.
    std::vector<TimerRow> before;
    std::uint64_t system = 0;                              ///< fingerprint of A and b; 0: not asked for
    Timing solve;                                          ///< seconds
    double spmv = 0.0, preconditioner = 0.0, other = 0.0;  ///< seconds in the iterations of one solve
    double ends = 0.0;                                     ///< seconds before the first and after the last of these
    /// With cusparse_ilu: the format of the faster product, and the seconds of `solve` in which vectors are brought
    /// into cuSPARSE's order and back, which its own user would not need. They are in no other number.
    std::string product_format;
    double conversions = 0.0;
    /// Bytes of the vectors that `other` reads and writes: in its present passes, and if every x^T y were a by-product
    /// of the product or application before it.
    double other_bytes = 0.0, fewest_bytes = 0.0;

    double solve_seconds() const { return solve.median - conversions; }
    double total() const { return factorise.again.median + solve_seconds(); }
    double per_iteration() const { return report.iterations > 0 ? solve_seconds() / double(report.iterations) : 0.0; }
    /// The seconds of reading, ordering and a whole set-up, and those of a solve.
    SetupAndSolve costs() const;
};

/// Assembles the deck's first linear system once, then factors and solves it `repeats` times after warm-ups. With
/// cusparse_ilu the products are cuSPARSE's, too, in the format that is faster, and factorise is its numeric routine
/// alone.
///
/// On a CPU a solve with a clock in each application divides the time. On a GPU an iteration is a graph, in which no
/// clock can be read. There the difference in time between two solves of different length is that of iterations alone.
/// A x and M^-1 r are timed separately and multiplied by how often the method computes them; the rest of the difference
/// is `other`, which is scaled to the whole solve by its bytes; what remains of the whole solve's time is `ends`.
/// Throws SetupError. A solve that does not converge is reported as such.
///
/// `fingerprints`: whether `system` is needed, for which the host reads all coefficients once.
SolveBench bench_solve(Case& a_case, int repeats, bool fingerprints = false);

}  // namespace hyperplane
