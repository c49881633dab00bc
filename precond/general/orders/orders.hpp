// SPDX-License-Identifier: BSD-3-Clause
// The orders in which a GPU's kernels work on the rows of factors.
#pragma once

#include <optional>

#include "precond/general/orders/slices.hpp"
#include "precond/general/orders/tables.hpp"

namespace hyperplane {

/// What is asked for.
struct OrderNeeds {
    int dof = 1;
    bool slices = false;                   ///< of both solves
    SolveWay way = SolveWay::sync_free;    ///< of these solves, which decides whether orders keep where levels begin
    std::optional<TableShape> table = {};  ///< of a factorisation by tables
    bool by_level = false;                 ///< of a factorisation by search

    bool any() const { return slices || table || by_level; }
    bool operator==(const OrderNeeds&) const = default;
};

/// The orders of a matrix in one memory, the host's or a GPU's.
struct Orders {
    std::optional<SlicedOrder> lower, upper;
    std::optional<TableOrder> table;
    Buffer<int> by_level;  ///< the rows by the levels of the lower triangle
};

/// The sizes of the orders.
struct OrderSizes {
    std::optional<SlicedSizes> lower, upper;
    std::optional<TableSizes> table;
};

inline OrderSizes sizes_of(const Orders& orders) {
    OrderSizes sizes;
    if (orders.lower) sizes.lower = orders.lower->sizes();
    if (orders.upper) sizes.upper = orders.upper->sizes();
    if (orders.table) sizes.table = orders.table->sizes;
    return sizes;
}

struct PlannedOrders {
    OrderNeeds needs;
    OrderSizes sizes;
};

}  // namespace hyperplane
