// SPDX-License-Identifier: BSD-3-Clause
// The values of a problem's vectors in the given order (core/matrix/row_order.hpp): whatever leaves the program or
// enters it passes through here.
#pragma once

#include <span>
#include <vector>

#include "core/interfaces/problem.hpp"

namespace hyperplane {

/// The values by block row of the given order, which on a grid is natural order; dof fastest. As to_natural, those of
/// all ranks on rank 0 and none on the others.
inline std::vector<double> in_given_order(const SystemShape& shape, const Vector& x) {
    std::vector<double> values = to_natural(x);
    return shape.order() && !values.empty() ? shape.order()->to_given(values, x.dof()) : values;
}

/// Does the same for a vector of equations, such as b, whose rows may have been moved apart from the unknowns.
inline std::vector<double> equations_in_given_order(const SystemShape& shape, const Vector& b) {
    std::vector<double> values = to_natural(b);
    return shape.order() && !values.empty() ? shape.order()->equations_to_given(values, b.dof()) : values;
}

/// The inverse of in_given_order; throws FileError if the sizes differ.
inline void from_given_order(const SystemShape& shape, std::span<const double> values, Vector& x) {
    const bool fits = Index(values.size()) == x.space().all_block_rows() * x.dof();
    if (shape.order() && fits)
        from_natural(shape.order()->to_places(values, x.dof()), x);
    else
        from_natural(values, x);
}

}  // namespace hyperplane
