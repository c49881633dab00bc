// SPDX-License-Identifier: BSD-3-Clause
// Times of the vector operations of Krylov methods beside the memory's limit and, on a GPU, beside cuBLAS.
#pragma once

#include <string>
#include <vector>

#include "apps/base/invocation.hpp"
#include "core/device/context.hpp"
#include "core/timer.hpp"

namespace hyperplane {

struct VectorOperation {
    std::string name;         ///< its equations: "y = a x + y, y^T y"
    int vectors = 0;          ///< vectors that it must read or write, each counted once for either
    Timing seconds;           ///< ours, a pass over memory
    int cublas_calls = 0;     ///< calls of cuBLAS that do the same
    Timing cublas;            ///< all of them; only with cublas_calls > 0 and on a GPU
    double difference = 0.0;  ///< of the results, relative to the largest; compared before anything is timed
};

/// The bytes of all vectors that bench_vectors holds for this size.
double vectors_memory(const Context& context, Index size);

/// Times each operation on vectors of `size` values. On a GPU calls are replayed as graphs, as in iterations. Throws
/// Error(expectation) if cuBLAS computes anything else, and DeviceError if it cannot be loaded.
std::vector<VectorOperation> bench_vectors(const Context& context, Index size, int repeats);

/// The verb `bench vectors`: prints a table, and writes it as JSON if asked to. Returns the exit status.
int bench_all_vectors(const Invocation& invocation, int repeats);

}  // namespace hyperplane
