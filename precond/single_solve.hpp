// SPDX-License-Identifier: BSD-3-Clause
// Applications of a preconditioner to vectors in single precision, as smoothers of multigrid in single precision.
#pragma once

#include "core/matrix/single_matrix.hpp"

namespace hyperplane {

/// The interface of a preconditioner whose solves may read and write such vectors.
class SingleSolve {
public:
    virtual ~SingleSolve() = default;
    /// z = M^-1 r. Returns false, and does nothing, where M has no such solves. The answer depends on M alone.
    virtual bool apply(const SingleVector& r, SingleVector& z) const = 0;
    /// x = x + omega M^-1 (b - A x) in the passes of these solves, where `a` is a copy of the matrix of the set-up; t
    /// is overwritten. Returns false, and does nothing, where M has no such passes.
    virtual bool step(const SingleMatrix& /*a*/, const SingleVector& /*b*/, double /*omega*/, SingleVector& /*x*/,
                      SingleVector& /*t*/) const {
        return false;
    }
};

}  // namespace hyperplane
