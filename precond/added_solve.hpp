// SPDX-License-Identifier: BSD-3-Clause
// Applications of a preconditioner that scale or add their result in the pass that writes it, for smoothers.
#pragma once

#include "core/vector/single_vector.hpp"
#include "core/vector/vector.hpp"

namespace hyperplane {

/// The interface of a preconditioner whose solves may do so. The bits are those of a solve and an update after it.
class AddedSolve {
public:
    virtual ~AddedSolve() = default;
    /// z = omega M^-1 r or, if `adds`, z = z + omega M^-1 r. Returns false, and does nothing, where M has no such
    /// solves. The answer depends on M alone.
    virtual bool solve_to(const Vector& r, double omega, bool adds, Vector& z) const = 0;
    virtual bool solve_to(const SingleVector& r, double omega, bool adds, SingleVector& z) const = 0;
};

}  // namespace hyperplane
