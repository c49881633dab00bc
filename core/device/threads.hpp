// SPDX-License-Identifier: BSD-3-Clause
// The number of OpenMP threads for a loop.
#pragma once

#include <omp.h>

#include "core/types.hpp"

namespace hyperplane {

/// Loops over fewer unknowns run on one thread, since waking the others costs more time than they save. Results have
/// the same bits either way. Only tests change this value: with 0, small grids use several threads, too.
inline Index least_parallel_work = Index(1) << 15;

/// Threads for a loop over `unknowns` values of a vector.
inline int threads_for(Index unknowns) {
    return unknowns < least_parallel_work ? 1 : omp_get_max_threads();
}

}  // namespace hyperplane
