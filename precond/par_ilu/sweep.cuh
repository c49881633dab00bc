// SPDX-License-Identifier: BSD-3-Clause
// One fixed-point sweep over the factors of all points, on a GPU (precond/par_ilu/sweeps.hpp):
//
//     X_e(p) <- A_e(p) - sum over l + u = e of W_l(p) F_u(p+l),     W_l(p) = E_l(p) D^-1(p+l)
//
// The right-hand sides are those of the sweep before, or, where new values replace old ones in place, whatever is
// there. All W_l(p) are computed first, then one entry after the other. An entry that no pair (l, u) leads to is A's in
// every sweep: the first sweep writes it, the last one where results are wanted, the others read it. One and two
// unknowns are swept by precond/par_ilu/points.cuh, three to eight by precond/par_ilu/tensor.cuh and, where pairs share
// much of what they read, all sweeps but the last by precond/par_ilu/staged.cuh.
//
// Blocks of threads take the points plane by plane of the layout's outermost axis, but only a few lines of its middle
// axis at a time, so that the second-level cache still holds what neighbours have written.
//
// The blocks that pairs need are loaded a group of pairs at a time, across entries. In larger blocks those that
// neighbouring points share are loaded shortly after each other (precond/par_ilu/sweeps_cuda.cpp gives the order), for
// the first-level cache: the sums of entries that differ along the innermost axis grow side by side.
//
// Factors lie as precond/factors/coefficient_order.hpp has them together, zero where the neighbour is outside the grid;
// those of D-ILU (SHARES) but D^-1 are A's. A lower neighbour outside the grid is replaced by the point itself, times
// W_l = 0.
//
// Definitions, besides those of core/grid/grid_point.cuh: DOF, ENTRIES, LOWER, A_ENTRY {for each entry, A's entry or
// -1}, PAIRS, PAIR_L, PAIR_U, PAIR_E, FIRST_PAIR, LAST_PAIR; SYMMETRIC (one triangle; pivots must have A's sign),
// SHARES, PERIODIC (A has entries that wrap); BLOCKS (resident on a multiprocessor), ROUNDS (of
// precond/par_ilu/tensor.cuh), BY_ROWS (sweeps but the last are staged).

#if DOF <= 2
#include "precond/par_ilu/points.cuh"
#elif BY_ROWS
#include "precond/par_ilu/staged.cuh"
#else
#include "precond/par_ilu/tensor.cuh"
#endif

namespace hyperplane {

/// X = A, the initial guess of the sweeps.
extern "C" __global__ void __launch_bounds__(threads) guess(const __grid_constant__ Arguments a) {
    sweep<false, true, false>(a);
}

#if !BY_ROWS
extern "C" __global__ void __launch_bounds__(threads, BLOCKS) factor_sweep(const __grid_constant__ Arguments a) {
    sweep<true, false, false>(a);
}
#endif

/// Writes all entries and reports on pivots.
extern "C" __global__ void __launch_bounds__(threads, 1) last_sweep(const __grid_constant__ Arguments a) {
    sweep<true, true, true>(a);
}

}  // namespace hyperplane
