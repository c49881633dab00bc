// SPDX-License-Identifier: BSD-3-Clause
#include "core/interfaces/linear_operator.hpp"

#include "core/vector/blas1.hpp"

namespace hyperplane {

void LinearOperator::apply_dot(const Vector& x, Vector& y, double* product) const {
    apply(x, y);
    dot(x, y, product);
}

void LinearOperator::residual(const Vector& b, const Vector& x, Vector& r) const {
    apply(x, r);
    xpby(b, -1.0, r);
}

}  // namespace hyperplane
