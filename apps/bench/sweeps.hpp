// SPDX-License-Identifier: BSD-3-Clause
// hyperplane bench sweeps DECK...: how Jacobi sweeps on each triangle of a preconditioner's factors come near to the
// exact solve.
#pragma once

#include "apps/base/invocation.hpp"
#include "apps/run/case.hpp"
#include "precond/general/sweeps/convergence.hpp"

namespace hyperplane {

struct SweepsBench {
    SweepOptions options;  ///< the deck's mode and order; synchronous where it has none
    SweepConvergence lower, upper;
};

/// Assembles a deck's first linear system, sets its preconditioner up, and records up to `most` sweeps of each
/// triangle. Throws UsageError for a preconditioner without triangles, and SetupError.
SweepsBench bench_sweeps(const Case& a_case, int most);

/// The verb `bench sweeps DECK...`: prints a table, and writes it as JSON if asked to. Returns the exit status.
int bench_all_sweeps(const Invocation& invocation);

}  // namespace hyperplane
