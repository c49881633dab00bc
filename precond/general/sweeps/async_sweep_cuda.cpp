// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/sweeps/async_sweep_cuda.hpp"

#include <algorithm>
#include <bit>

#include "core/matrix/bsr_product_cuda.hpp"
#include "precond/general/pattern/on_gpu.hpp"

namespace hyperplane {
namespace {

constexpr unsigned async_threads = 256;
constexpr int longest = 512;  // as in products
constexpr Index block_rows = TriangleSweeps::block_points;

rtc::Source async_source() {
    return precond_source("precond/general/sweeps/async_sweep.cuh");
}

/// A quarter of the threads that a row of products has, as was the fastest (docs/log/jacobi_sweep.md).
int lanes_for(double mean, int dof) {
    return std::max(BsrProductCuda::lanes_for(mean, dof) / 4, int(std::bit_ceil(unsigned(dof))));
}

rtc::Definitions definitions(double mean, int dof) {
    return {{"DOF", std::to_string(dof)},
            {"LANES", std::to_string(lanes_for(mean, dof))},
            {"THREADS", std::to_string(async_threads)},
            {"BLOCK_ROWS", std::to_string(block_rows)}};
}

}  // namespace

AsyncSweepCuda::AsyncSweepCuda(const BsrMatrix& triangle, Turns turns)
    : turns_(turns),
      next_(triangle.context(), "sweeps", 1),
      kernel_(triangle.context(), async_source(), definitions(triangle.pattern()->mean(), triangle.dof()),
              "async_sweep") {}

void AsyncSweepCuda::sweep(const BsrMatrix& triangle, const Vector& b, Vector& x) const {
    const BlockPattern& pattern = triangle.here();
    if (pattern.rows() == 0) return;
    kernel_.launch({unsigned((pattern.rows() + block_rows - 1) / block_rows)}, async_threads, 0,
                   {.row_begin = as_pointers(pattern.row_begin()),
                    .column = pattern.column(),
                    .values = triangle.values(),
                    .b = b.data(),
                    .x = x.data(),
                    .next = turns_ == Turns::any ? nullptr : next_.data(),
                    .rows = pattern.rows(),
                    .longest = longest,
                    .descending = turns_ == Turns::descending});
}

rtc::Programs AsyncSweepCuda::programs(double mean, int dof) {
    return {{async_source(), definitions(mean, dof), "asynchronous sweep"}};
}

}  // namespace hyperplane
