// SPDX-License-Identifier: BSD-3-Clause
// The orders in which the kernels of a rank's GPU work on its rows of factors that are coupled between ranks. The host
// finds them. Rows are numbered as they lie in memory (precond/general/pattern/rank_pattern.hpp).
#pragma once

#include "precond/general/orders/slices.hpp"

namespace hyperplane {

/// In the host's memory.
struct RankOrders {
    RowLevels lower_levels;  ///< of the own rows
    SlicedOrder lower, upper;
};

/// `rows`: the number of own rows; levels are those that these have among themselves.
RankOrders orders_of_rank(const Context& host, const FilledPattern& filled, Index rows, int dof,
                          const std::string& label);

/// A copy in a GPU's memory.
SlicedOrder copied_to_gpu(const Context& gpu, const SlicedOrder& order, const std::string& label);

}  // namespace hyperplane
