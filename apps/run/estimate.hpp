// SPDX-License-Identifier: BSD-3-Clause
// Estimates the time of a run before it runs: the bytes of an iteration divided by the memory's bandwidth.
#pragma once

#include "apps/run/case.hpp"

namespace hyperplane {

/// The rate of copies within `bytes` of the context's memory (at most 256 MiB), read plus written bytes a second. If
/// that fits in a cache, it is the cache's rate. Takes about 50 ms.
double memory_rate(const Context& context, Index bytes);

struct Estimate {
    double iteration_bytes = 0.0;    ///< fewest bytes that an iteration moves
    double rate = 0.0;               ///< memory_rate for the bytes that the run holds
    double iteration_seconds = 0.0;  ///< iteration_bytes / rate: no iteration is faster, most are slower
    double most_seconds = 0.0;  ///< of solver.max_iterations iterations in every time step, without set-up and assembly
};

/// Measures; throws OutOfMemory.
Estimate estimate(const Case& a_case);

/// A time with three digits in a suitable unit: "0.714 ms", "3.25 min".
std::string in_words(double seconds);

}  // namespace hyperplane
