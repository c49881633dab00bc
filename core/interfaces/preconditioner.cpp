// SPDX-License-Identifier: BSD-3-Clause
#include "core/interfaces/preconditioner.hpp"

#include "core/timer.hpp"

namespace hyperplane {

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

}  // namespace hyperplane
