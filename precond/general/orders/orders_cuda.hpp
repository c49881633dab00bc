// SPDX-License-Identifier: BSD-3-Clause
// The orders in which a GPU's kernels work on the rows of factors, found on the GPU: a stable radix sort by level and
// class, and sums that give each slice its place. They are those that the host finds (slices.hpp, tables.hpp).
#pragma once

#include <string>

#include "precond/general/orders/levels_cuda.hpp"
#include "precond/general/orders/orders.hpp"

namespace hyperplane {

/// In the GPU's memory, as `pattern` and the places of its `diagonal` blocks are.
Orders orders_on_gpu(const Context& gpu, const BlockPattern& pattern, const Buffer<Index>& diagonal,
                     const OrderNeeds& needs, const std::string& label);

/// [row]: its position in an order; and the position in `lower` of each position of `upper`. All in the GPU's memory.
Buffer<int> positions_on_gpu(const Context& gpu, const Buffer<int>& order, const std::string& label);
Buffer<int> between_on_gpu(const Context& gpu, const Buffer<int>& lower_position, const Buffer<int>& upper,
                           const std::string& label);

/// For a plan: `filled` is in the host's memory. The GPU finds them where the pattern fits its memory, otherwise the
/// host does; they are the same.
OrderSizes sizes_of_orders(const Context& gpu, const FilledPattern& filled, const OrderNeeds& needs,
                           const std::string& label);

}  // namespace hyperplane
