// SPDX-License-Identifier: BSD-3-Clause
// How many OpenMP threads a loop is worth.
#pragma once

#include <omp.h>

#include "core/types.hpp"

namespace hyperplane {

/// Loops over fewer unknowns run on one thread, since waking others costs more than they save. Results
/// have the same bits either way. Changed by tests only: 0 sends small grids over several threads.
inline Index least_parallel_work = Index(1) << 15;

/// Threads for a loop over `unknowns` values of a vector.
inline int threads_for(Index unknowns) {
    return unknowns < least_parallel_work ? 1 : omp_get_max_threads();
}

}  // namespace hyperplane
