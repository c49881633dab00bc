#include "core/linear_operator.hpp"

#include "core/blas1.hpp"

namespace hyperplane {

double LinearOperator::apply_dot(const Vector& x, Vector& y) const {
    apply(x, y);
    return dot(x, y);
}

void LinearOperator::residual(const Vector& b, const Vector& x, Vector& r) const {
    apply(x, r);
    xpby(b, -1.0, r);
}

}  // namespace hyperplane
