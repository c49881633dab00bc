// SPDX-License-Identifier: BSD-3-Clause
// Selects code that is compiled for a fixed number of unknowns a point, for numbers that are common.
#pragma once

#include <type_traits>

namespace hyperplane {

/// Calls body(std::integral_constant<int, dof>()) if dof is one of the template's arguments, and
/// body(std::integral_constant<int, 0>()) otherwise.
template <int first, int... others, class Body>
decltype(auto) with_known_dof(int dof, const Body& body) {
    if (dof == first) return body(std::integral_constant<int, first>());
    if constexpr (sizeof...(others) > 0)
        return with_known_dof<others...>(dof, body);
    else
        return body(std::integral_constant<int, 0>());
}

}  // namespace hyperplane
