// SPDX-License-Identifier: BSD-3-Clause
// Block-asynchronous Jacobi sweeps on one triangle of general factors: on a GPU by a kernel of its own, on a CPU with a
// thread for each block (precond/triangular/jacobi/sweeps.hpp).
#pragma once

#include <memory>

#include "core/matrix/bsr_matrix.hpp"
#include "precond/triangular/jacobi/sweeps.hpp"

namespace hyperplane {

class AsyncSweepCuda;

class BlockSweeps {
public:
    /// For triangles T of this one's pattern, without diagonal; `side` says which of the two triangles it is.
    BlockSweeps(const BsrMatrix& triangle, Side side, BlockOrder order);

    /// x <- b - T x once, in place.
    void sweep(const BsrMatrix& triangle, const Vector& b, Vector& x) const;

private:
    Turns turns_;
    std::shared_ptr<const AsyncSweepCuda> cuda_;  ///< on a GPU
};

}  // namespace hyperplane
