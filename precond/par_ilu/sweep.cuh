// SPDX-License-Identifier: BSD-3-Clause
// One fixed-point sweep over the factors of all points, on a GPU (precond/par_ilu/sweeps.hpp):
//
//     X_e(p) <- A_e(p) - sum over l + u = e of W_l(p) F_u(p+l),     W_l(p) = E_l(p) D^-1(p+l)
//
// The values on the right are those of the sweep before, or, if new values replace old ones in place, whatever is in
// memory. All W_l(p) are computed first, then one entry after the other. An entry to which no pair (l, u) leads is A's
// in every sweep: the initial guess writes it where the result will be, and sweeps read it there. Sweeps for one and
// two unknowns are in precond/par_ilu/points.cuh, those for three to eight in precond/par_ilu/tensor.cuh; if pairs
// share much of what they read, they are in precond/par_ilu/staged.cuh. The last sweep also reports on pivots. With up
// to four unknowns it is a kernel of its own, which with one and two writes all entries; with more, the arguments say
// so (`ratio` is not null). From three unknowns on it is the kernel that makes unit triangles which reports
// coefficients that are not finite.
//
// Thread blocks take the points plane by plane of the layout's outermost axis, but only a few lines of its middle axis
// at a time, so that the second-level cache still holds what neighbours have written. precond/par_ilu/levels.cuh goes
// by levels instead, with all sweeps at once.
//
// The blocks that pairs need are loaded for a group of pairs at a time, which may belong to several entries. For larger
// blocks, pairs are ordered such that neighbouring points load the same block shortly after each other and find it in
// the first-level cache (Pairs in precond/par_ilu/sweeps_cuda.cpp).
//
// Factors are stored in the order `together` of precond/factors/coefficient_order.hpp, and are zero if the neighbour is
// outside the grid; for D-ILU (SHARES) all but D^-1 are A's. If a lower neighbour is outside the grid, the point itself
// takes its place, with W_l = 0.
//
// Definitions, besides those of core/grid/grid_point.cuh: DOF, ENTRIES, LOWER, A_ENTRY {for each entry, A's entry or
// -1}, PAIRS (their number), PAIR_L, PAIR_U, PAIR_E, FIRST_PAIR, LAST_PAIR; SYMMETRIC (one triangle is stored, and
// pivots must have the sign of A's diagonal), SHARES, PERIODIC (A has entries that wrap); BLOCKS (resident on a
// multiprocessor), ROUNDS and GUESS_ROUNDS (for precond/par_ilu/tensor.cuh), BY_ROWS (sweeps are
// staged).

#if DOF <= 2
#include "precond/par_ilu/points.cuh"
#elif BY_ROWS
#include "precond/par_ilu/staged.cuh"
#else
#include "precond/par_ilu/tensor.cuh"
#endif
#if DOF > 2
#include "precond/par_ilu/unit.cuh"
#endif

namespace hyperplane {

#if DOF <= 2
/// Writes X = A, the initial guess of the sweeps.
extern "C" __global__ void __launch_bounds__(threads) guess(const __grid_constant__ Arguments a) {
    sweep<false, true, false>(a);
}

extern "C" __global__ void __launch_bounds__(threads, BLOCKS) factor_sweep(const __grid_constant__ Arguments a) {
    sweep<true, false, false>(a);
}

/// Writes all entries and reports on pivots.
extern "C" __global__ void __launch_bounds__(threads, 1) last_sweep(const __grid_constant__ Arguments a) {
    sweep<true, true, true>(a);
}
#else
extern "C" __global__ void __launch_bounds__(threads) guess(const __grid_constant__ Arguments a) {
    sweep<Pass::guess>(a);
}

#if !BY_ROWS
extern "C" __global__ void __launch_bounds__(threads, BLOCKS) factor_sweep(const __grid_constant__ Arguments a) {
    sweep<Pass::sweep>(a);
}
#endif
#if DOF <= 4
extern "C" __global__ void __launch_bounds__(threads, 1) last_sweep(const __grid_constant__ Arguments a) {
    sweep<Pass::sweep, true>(a);
}
#endif
#endif

}  // namespace hyperplane
