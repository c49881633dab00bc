// SPDX-License-Identifier: BSD-3-Clause
// A step of a smoother, or of a Richardson iteration, in the passes of a preconditioner's own solves.
#pragma once

#include "core/vector/vector.hpp"

namespace hyperplane {

/// The interface of a preconditioner that can do more than solve in a pass over memory.
class FusedStep {
public:
    virtual ~FusedStep() = default;
    /// x = x + omega M^-1 (b - A x), where A is the matrix of the set-up; t is overwritten. Returns false, and does
    /// nothing, where M has no such passes. The answer depends on matrix and M alone.
    virtual bool step(const Vector& b, double omega, Vector& x, Vector& t) const = 0;
};

}  // namespace hyperplane
