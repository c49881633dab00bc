// SPDX-License-Identifier: BSD-3-Clause
// A check of multigrid's cycle by a second, simpler one.
#pragma once

#include "precond/multigrid/multigrid.hpp"

namespace hyperplane::multigrid {

/// Makes the cycle z = M^-1 r once more, in loops over points of natural order that share only the smoothers'
/// applications with Multigrid::apply, and compares: max |z - z'| / max |z'|.
double cycle_error(const Hierarchy& hierarchy, const MultigridOptions& options, const Vector& r, const Vector& z);

}  // namespace hyperplane::multigrid
