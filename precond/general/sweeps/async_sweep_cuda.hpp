// SPDX-License-Identifier: BSD-3-Clause
// Block-asynchronous Jacobi sweeps with a triangle of a general matrix on a GPU; async_sweep.cuh is the kernel's text.
#pragma once

#include "core/device/rtc.hpp"
#include "core/matrix/bsr_matrix.hpp"
#include "precond/general/sweeps/async_arguments.hpp"
#include "precond/triangular/jacobi/sweeps.hpp"

namespace hyperplane {

class AsyncSweepCuda {
public:
    /// Serves triangles with the pattern of `triangle`; their blocks of rows begin in the order `turns`.
    AsyncSweepCuda(const BsrMatrix& triangle, Turns turns);

    /// x <- b - T x once, in place.
    void sweep(const BsrMatrix& triangle, const Vector& b, Vector& x) const;

    /// Bytes that it holds.
    static Index bytes() { return Index(sizeof(unsigned)); }
    /// What NVRTC compiles for a triangle with so many blocks a row on average.
    static rtc::Programs programs(double mean, int dof);

private:
    Turns turns_;
    mutable Buffer<unsigned> next_;  ///< the counter of blocks
    rtc::Kernel<AsyncSweepArguments> kernel_;
};

}  // namespace hyperplane
