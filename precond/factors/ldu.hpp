// SPDX-License-Identifier: BSD-3-Clause
// The factors of a general matrix as other programs read them (hyperplane export --factors):
//
//     M = L D U
//
// L and U have ones on their diagonals, D has the dof x dof diagonal blocks. Rows are in the order of solution, in
// which L is lower and U is upper triangular; every entry of the factors' pattern is there, zeros included.
#pragma once

#include "core/matrix/struct_matrix.hpp"

namespace hyperplane {

struct LduFactors {
    CsrMatrix lower, diagonal, upper;
};

/// Interface of a preconditioner that consists of such factors.
class HasLduFactors {
public:
    virtual ~HasLduFactors() = default;
    /// Whether this object has factors; one that wraps another preconditioner has those that the other one has.
    virtual bool has_ldu() const { return true; }
    /// Copies of the factors of the last set-up, in the host's memory.
    virtual LduFactors ldu() const = 0;
};

}  // namespace hyperplane
