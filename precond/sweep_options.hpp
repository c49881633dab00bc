// SPDX-License-Identifier: BSD-3-Clause
// How often and in which order Jacobi sweeps replace triangular solves (precond/triangular/jacobi/sweeps.hpp).
#pragma once

namespace hyperplane {

enum class SweepMode { sync, block_async };
enum class BlockOrder { dependency, forward, backward, natural };

struct SweepOptions {
    int lower = 5, upper = 5;  ///< numbers of sweeps, at least 1
    SweepMode mode = SweepMode::sync;
    BlockOrder order = BlockOrder::dependency;  ///< of block_async
};

}  // namespace hyperplane
