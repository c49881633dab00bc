// SPDX-License-Identifier: BSD-3-Clause
// Sums of products some of which are rounded before they are added: those with couplings around periodic axes. No
// compiler may fuse them with the sum.
#pragma once

#include <vector>

#include "core/vector/run_kernel.hpp"

namespace hyperplane {

/// y[t] += a[t] x[t] for t in [0, count), each product rounded before it is added.
void add_rounded_products(const double* a, const double* x, double* y, int count);

/// A position near the end of a line, some of whose neighbours lie around periodic axes.
struct EndOfLine {
    struct Wrapped {
        int term;
        Index a, x;  ///< how far the coefficient and its value lie from where the term has them
    };
    std::vector<int> inside;  ///< numbers of the terms whose neighbours lie inside the grid
    std::vector<Wrapped> wrapped;
};

/// The sum of the products of these terms at position t: those inside the grid fused with the sum, then the others,
/// each rounded before it is added.
double sum_at_end(const EndOfLine& end, const RunTerm* terms, int t);

}  // namespace hyperplane
