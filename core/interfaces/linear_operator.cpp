// SPDX-License-Identifier: BSD-3-Clause
#include "core/interfaces/linear_operator.hpp"

#include "core/timer.hpp"
#include "core/vector/blas1.hpp"

namespace hyperplane {

void LinearOperator::apply_dot(const Vector& x, Vector& y, double* product) const {
    apply(x, y);
    dot(x, y, product);
}

std::vector<TimerRow> Preconditioner::take_part_times() {
    return {};
}

ApplicationCheck Preconditioner::check_application(const SystemMatrix& /*a*/, const Vector& /*r*/, const Vector& /*z*/,
                                                   const MakeInDouble& /*in_double*/) const {
    ApplicationCheck none;
    none.unchecked = "this preconditioner has no check";
    return none;
}

NumericSetup Preconditioner::numeric_setup(const SystemMatrix& a) {
    NumericSetup whole;
    whole.run = [this, &a] { setup(a); };
    return whole;
}

void LinearOperator::residual(const Vector& b, const Vector& x, Vector& r) const {
    apply(x, r);
    xpby(b, -1.0, r);
}

}  // namespace hyperplane
