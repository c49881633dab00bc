// SPDX-License-Identifier: BSD-3-Clause
// For benchmarks: a preconditioner whose application is two triangular solves, the first of which can be called alone.
#pragma once

#include "core/vector/vector.hpp"

namespace hyperplane {

class HasLowerSolve {
public:
    virtual ~HasLowerSolve() = default;
    /// Whether this one's applications are two solves, after a set-up.
    virtual bool has_lower_solve() const { return true; }
    /// y = (I + W)^-1 r. Where apply converts vectors, y is not written, and r is what the last apply converted.
    virtual void lower_solve(const Vector& r, Vector& y) const = 0;
};

}  // namespace hyperplane
