// SPDX-License-Identifier: BSD-3-Clause
// What the passes of a preconditioner's own solves can do besides for a smoother of multigrid, or for a Richardson
// iteration: scale and add what they write, compute the residual that they read, and take vectors in single precision.
#pragma once

#include "core/matrix/single_matrix.hpp"

namespace hyperplane {

/// The interface of a preconditioner M of a matrix A whose solves can do some of this. Where they cannot, a function
/// returns false and does nothing; the answer depends on A and M alone. What solve_to computes has the bits of a solve
/// and an update after it.
class SmootherPasses {
public:
    virtual ~SmootherPasses() = default;
    /// z = omega M^-1 r or, if `adds`, z = z + omega M^-1 r.
    virtual bool solve_to(const Vector& /*r*/, double /*omega*/, bool /*adds*/, Vector& /*z*/) const { return false; }
    virtual bool solve_to(const SingleVector& /*r*/, double /*omega*/, bool /*adds*/, SingleVector& /*z*/) const {
        return false;
    }
    /// x = x + omega M^-1 (b - A x), where A is the matrix of the set-up; t is overwritten.
    virtual bool step(const Vector& /*b*/, double /*omega*/, Vector& /*x*/, Vector& /*t*/) const { return false; }
    /// The same, where `a` is a copy of A.
    virtual bool step(const SingleMatrix& /*a*/, const SingleVector& /*b*/, double /*omega*/, SingleVector& /*x*/,
                      SingleVector& /*t*/) const {
        return false;
    }
    /// z = M^-1 r.
    virtual bool apply(const SingleVector& /*r*/, SingleVector& /*z*/) const { return false; }
};

}  // namespace hyperplane
