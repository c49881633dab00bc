// SPDX-License-Identifier: BSD-3-Clause
// For formulas whose small arrays are to stay in registers: indices known when compiled.
#pragma once

#include <type_traits>
#include <utility>

#include "core/types.hpp"

namespace hyperplane {

/// body(0), ..., body(N - 1), each with a std::integral_constant.
template <int N, class Body>
HYPERPLANE_HD void for_constants(const Body& body) {
    const auto each = [&]<int... k>(std::integer_sequence<int, k...>) {
        (body(std::integral_constant<int, k>{}), ...);
    };
    each(std::make_integer_sequence<int, N>{});
}

/// One of three, by a number known at run time only, without an address.
template <class T>
HYPERPLANE_HD const T& one_of(const T (&three)[3], int which) {
    return which == 0 ? three[0] : which == 1 ? three[1] : three[2];
}

}  // namespace hyperplane
