#include "core/linear_operator.hpp"

#include "core/blas1.hpp"

namespace hyperplane {

double LinearOperator::apply_dot(const Vector& x, Vector& y) const {
    apply(x, y);
    return dot(x, y);
}

}  // namespace hyperplane
