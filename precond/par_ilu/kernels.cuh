// SPDX-License-Identifier: BSD-3-Clause
// The kernels of precond/par_ilu/sweep.cuh.

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
