// SPDX-License-Identifier: BSD-3-Clause
// Loops over the unknowns of a point, compiled for numbers of them that are common.
#pragma once

#include <type_traits>

namespace hyperplane {

/// body(std::integral_constant<int, dof>()) where dof is one of `known`, body(std::integral_constant<int, 0>()) else.
template <int first, int... others, class Body>
decltype(auto) with_known_dof(int dof, const Body& body) {
    if (dof == first) return body(std::integral_constant<int, first>());
    if constexpr (sizeof...(others) > 0)
        return with_known_dof<others...>(dof, body);
    else
        return body(std::integral_constant<int, 0>());
}

}  // namespace hyperplane
