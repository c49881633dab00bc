// SPDX-License-Identifier: BSD-3-Clause
// Sums whose pieces a kernel of its own has formed.
#pragma once

#include "core/vector/sum_order.hpp"

namespace hyperplane::cuda {

/// Where a kernel on the context's stream writes the sums of the pieces of an order, which the next sum overwrites.
double* pieces(const Context& context);
/// Adds them up, those of all ranks, and stores the sum to *sum on the GPU.
void add_pieces(const Context& context, const SumOrder& order, double* sum);

}  // namespace hyperplane::cuda
