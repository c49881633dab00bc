// SPDX-License-Identifier: BSD-3-Clause
// Loops with indices that are compile-time constants, so that small arrays stay in registers.
#pragma once

#include <type_traits>
#include <utility>

#include "core/types.hpp"

namespace hyperplane {

/// Calls body(0), ..., body(N - 1), each with a std::integral_constant.
template <int N, class Body>
HYPERPLANE_HD void for_constants(const Body& body) {
    const auto each = [&]<int... k>(std::integer_sequence<int, k...>) {
        (body(std::integral_constant<int, k>{}), ...);
    };
    each(std::make_integer_sequence<int, N>{});
}

/// three[which] for an index known at run time only, without addressing an array in memory.
template <class T>
HYPERPLANE_HD const T& one_of(const T (&three)[3], int which) {
    return which == 0 ? three[0] : which == 1 ? three[1] : three[2];
}

}  // namespace hyperplane
