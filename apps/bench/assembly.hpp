// SPDX-License-Identifier: BSD-3-Clause
// Times of the assembly of a linear system: F(u), and the matrices of a Newton step.
#pragma once

#include <string>
#include <vector>

#include "apps/run/case.hpp"
#include "core/timer.hpp"

namespace hyperplane {

struct AssemblyPart {
    std::string name;  ///< residual, matrix, preconditioner matrix
    Timing seconds;
    /// Fewest bytes that must move: those of the matrix, twice for one of a file, which is copied; or those of F and of
    /// what it reads.
    double bytes = 0.0;
};

struct AssemblyBench {
    std::vector<AssemblyPart> parts;
    /// ||(F(u + e v) - F(u - e v)) / 2e - A v|| / ||A v|| for a random v. It is a rounding error if A is the derivative
    /// of F, and large if the deck uses another matrix.
    double against_differences = 0.0;
};

/// Assembles the deck's first linear system `repeats` times after warm-ups.
AssemblyBench bench_assembly(const Case& a_case, int repeats);

}  // namespace hyperplane
