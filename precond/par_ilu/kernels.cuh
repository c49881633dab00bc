// SPDX-License-Identifier: BSD-3-Clause
// The kernels of precond/par_ilu/sweep.cuh.

#if DOF <= 2
#include "precond/par_ilu/points.cuh"
#elif BY_ROWS
#include "precond/par_ilu/staged.cuh"
#else
#include "precond/par_ilu/tensor.cuh"
#endif

namespace hyperplane {

/// X = A: what sweeps begin with.
extern "C" __global__ void __launch_bounds__(threads) guess(const __grid_constant__ Arguments a) {
    sweep<false, true, false>(a);
}

#if !BY_ROWS
extern "C" __global__ void __launch_bounds__(threads, BLOCKS) factor_sweep(const __grid_constant__ Arguments a) {
    sweep<true, false, false>(a);
}
#endif

/// Writes all entries and tells of pivots.
extern "C" __global__ void __launch_bounds__(threads, 1) last_sweep(const __grid_constant__ Arguments a) {
    sweep<true, true, true>(a);
}

}  // namespace hyperplane
