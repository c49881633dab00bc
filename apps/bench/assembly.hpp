// SPDX-License-Identifier: BSD-3-Clause
// Times of making a linear system: F(u), and the matrices of a Newton step.
#pragma once

#include <string>
#include <vector>

#include "apps/run/case.hpp"
#include "core/timer.hpp"

namespace hyperplane {

struct AssemblyPart {
    std::string name;  ///< residual, matrix, preconditioner matrix
    Timing seconds;
    double bytes = 0.0;  ///< fewest that must move: of a matrix those written, of F also the states it reads
};

struct AssemblyBench {
    std::vector<AssemblyPart> parts;
    /// ||(F(u + e v) - F(u - e v)) / 2e - A v|| / ||A v||, v random: rounding where A is the derivative of F, large
    /// where the deck takes another matrix.
    double against_differences = 0.0;
};

/// The deck's first linear system, made `repeats` times after warm-ups.
AssemblyBench bench_assembly(const Case& a_case, int repeats);

}  // namespace hyperplane
