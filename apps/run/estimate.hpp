// SPDX-License-Identifier: BSD-3-Clause
// Estimates the time of a run before it runs: the bytes of an iteration divided by the memory's bandwidth.
#pragma once

#include "apps/run/case.hpp"

namespace hyperplane {

/// A rate of copies, read plus written bytes a second.
struct MemoryRate {
    double best = 0.0;   ///< of the fastest copies, which no other program has disturbed
    double usual = 0.0;  ///< of the middle one of them all: lower where other programs share the processors
};
/// The rate of copies within `bytes` of the context's memory (at most 256 MiB). If that fits in a cache, it is the
/// cache's rate. Takes about 10 ms on a CPU and 50 ms on a GPU; large copies take longer.
MemoryRate memory_rate(const Context& context, Index bytes);

/// What lies between two times, in seconds.
struct TimeRange {
    double low = 0.0, high = 0.0;
};

struct Estimate {
    double iteration_bytes = 0.0;    ///< the fewest that an iteration moves
    double rate = 0.0;               ///< the best memory_rate of what the run holds
    double disturbance = 1.0;        ///< the rate of the best copies over that of the usual ones
    double iteration_seconds = 0.0;  ///< iteration_bytes / rate
    double most_seconds = 0.0;  ///< that solver.max_iterations in every time step take; set-up and assembly come on top
    TimeRange iteration;        ///< range_of_iteration(iteration_seconds)
    TimeRange all;              ///< of all solves: from few_iterations each to solver.max_iterations
};

/// Iterations of an easy solve, for the lower end of a range.
constexpr double few_iterations = 5.0;

/// The range of the time of an iteration whose bytes take `seconds` at the rate of a copy. Its geometric mean is within
/// a factor of 3 of what the decks in inputs/ take (tests/apps/estimate_rates.json).
TimeRange range_of_iteration(double seconds);

/// Measures; throws OutOfMemory.
Estimate estimate(const Case& a_case);

/// A time with three digits in a suitable unit: "0.714 ms", "3.25 min".
std::string in_words(double seconds);

}  // namespace hyperplane
