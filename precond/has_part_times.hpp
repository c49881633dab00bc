// SPDX-License-Identifier: BSD-3-Clause
// The interface of preconditioners that time the parts of their applications.
#pragma once

#include <vector>

#include "core/interfaces/linear_operator.hpp"
#include "core/timer.hpp"

namespace hyperplane {

/// A preconditioner that times the parts of its applications on a CPU, such as the grids of multigrid.
class HasPartTimes {
public:
    virtual ~HasPartTimes() = default;
    /// The parts of all applications since the last call, in the order of the work; empty on a GPU, where the host does
    /// not wait for single parts.
    virtual std::vector<TimerRow> take_part_times() = 0;
};

/// Those parts; empty for a preconditioner that does not time them.
inline std::vector<TimerRow> take_part_times_of(Preconditioner* preconditioner) {
    auto* const one = dynamic_cast<HasPartTimes*>(preconditioner);
    return one ? one->take_part_times() : std::vector<TimerRow>{};
}

}  // namespace hyperplane
