// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/sweeps/block_sweeps.hpp"

#include <algorithm>
#include <vector>

#include "precond/general/sweeps/async_sweep_cuda.hpp"

namespace hyperplane {
namespace {

constexpr Index block_rows = TriangleSweeps::block_points;

/// A block of an asynchronous sweep on a CPU: its rows are computed, then written.
void sweep_block(const BsrMatrix& triangle, Index block, const double* b, double* x) {
    thread_local std::vector<double> products;
    const int dof = triangle.dof();
    const Index first = block * block_rows, last = std::min(first + block_rows, triangle.pattern()->rows());
    products.resize(std::size_t(block_rows * dof));
    bsr::multiply(*triangle.pattern(), dof, triangle.values(), x, products.data() - first * dof, first, last);
    for (Index at = first * dof; at < last * dof; ++at) x[at] = b[at] - products[at - first * dof];
}

}  // namespace

BlockSweeps::BlockSweeps(const BsrMatrix& triangle, Side side, BlockOrder order) : turns_(turns_of(order, side)) {
    if constexpr (cuda_built)
        if (triangle.context().backend() == Backend::cuda) cuda_ = std::make_shared<AsyncSweepCuda>(triangle, turns_);
}

void BlockSweeps::sweep(const BsrMatrix& triangle, const Vector& b, Vector& x) const {
    if constexpr (cuda_built)
        if (cuda_) return cuda_->sweep(triangle, b, x);
    const Index rows = triangle.pattern()->rows();
    for_each_turn((rows + block_rows - 1) / block_rows, triangle.context().threads_for(rows * triangle.dof()), turns_,
                  [&](Index block) { sweep_block(triangle, block, b.data(), x.data()); });
}

}  // namespace hyperplane
