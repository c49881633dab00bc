// SPDX-License-Identifier: BSD-3-Clause
// Times of the product of a deck's first matrix with a vector, beside the memory's limit, a copy of as many bytes, and
// on a GPU cuSPARSE.
#pragma once

#include <string>
#include <vector>

#include "apps/base/invocation.hpp"
#include "apps/run/case.hpp"
#include "core/timer.hpp"

namespace hyperplane {

/// One way to compute A x, or b - A x.
struct ProductTime {
    std::string name;
    Timing seconds;      ///< as in iterations
    double bytes = 0.0;  ///< fewest bytes that must move: matrix and vectors once, in this program's form
    /// ||y - A x|| / ||A x||, where A x is what the residual gives, whose sums have no rounding errors.
    double error = 0.0;
    std::string left_out;  ///< why it was not timed; empty if it was
};

struct ProductsBench {
    Index rows = 0;     ///< block rows
    Index entries = 0;  ///< coefficients of the pattern
    /// This program's product and residual; on a GPU also cuSPARSE's products, in CSR by both of its algorithms and,
    /// with several unknowns, in BSR.
    std::vector<ProductTime> ways;
    Timing copy;  ///< seconds of a copy that moves as many bytes as the product, with its start and end
};

/// Assembles the deck's first linear system and multiplies its matrix with a random vector.
ProductsBench bench_product(const Case& a_case, int repeats);

/// The verb `bench products DECK...`: prints a table, and writes it as JSON if asked to. Returns the exit status.
int bench_products(const Invocation& invocation, int repeats);

}  // namespace hyperplane
