// SPDX-License-Identifier: BSD-3-Clause
// What a run will take, before it runs: the bytes of an iteration over the rate at which memory delivers them.
#pragma once

#include "apps/run/case.hpp"

namespace hyperplane {

/// Read plus write rate, bytes a second, of copies that go back and forth over `bytes` of the context's memory (at
/// most 256 MiB); what fits a cache is copied at the cache's rate. Takes some 50 ms.
double memory_rate(const Context& context, Index bytes);

struct Estimate {
    double iteration_bytes = 0.0;    ///< fewest an iteration moves
    double rate = 0.0;               ///< memory_rate of what the run holds
    double iteration_seconds = 0.0;  ///< iteration_bytes / rate: no iteration is faster, most are slower
    double most_seconds = 0.0;       ///< of solver.max_iterations in every time step; set-up and assembly come on top
};

/// Measures; throws OutOfMemory.
Estimate estimate(const Case& a_case);

/// "0.714 ms", "3.25 min": a time in three digits and a unit fit for it.
std::string in_words(double seconds);

}  // namespace hyperplane
