// SPDX-License-Identifier: BSD-3-Clause
// The orders in which the kernels of a rank's GPU work on its rows of factors that are coupled between ranks. The host
// finds them. Rows are numbered as they lie in memory (precond/general/pattern/rank_pattern.hpp).
#pragma once

#include "precond/general/orders/orders.hpp"

namespace hyperplane {

/// In the host's memory. `rows`: the number of own rows; levels are those that these have among themselves. Ranks have
/// no levels in common, so orders do not keep where levels begin.
Orders orders_of_rank(const Context& host, const FilledPattern& filled, Index rows, const OrderNeeds& needs,
                      const std::string& label);
/// A copy in a GPU's memory.
Orders copied_to_gpu(const Context& gpu, const Orders& orders, const std::string& label);

}  // namespace hyperplane
