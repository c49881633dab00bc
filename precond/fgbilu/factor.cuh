// SPDX-License-Identifier: BSD-3-Clause
// FGBILU's factorisation of one hyperplane (Algorithm 9), with a thread for each element (u, v) of a point's block.
//
// For each lower entry l the paper's s_1 and the d of the neighbour are copied to shared memory and multiplied there.
// Where E and F are A's they do not depend on other hyperplanes, so they are loaded before the wait for the hyperplane
// before (OVERLAPPED), and the entries are eliminated together. In the inversion each thread keeps one element; two
// buffers are used in turn, so that a row needs one barrier.
//
// Definitions, beside precond/fgbilu/blocks.cuh's: PAIR_BEGIN {LOWER + 1 numbers}, PAIR_U, PAIR_E (the eliminations of
// each l), and the points of a thread block, FACTOR_POINTS and UNIT_POINTS.

#include "precond/fgbilu/blocks.cuh"

namespace hyperplane {

__constant__ const int pair_begin[] = PAIR_BEGIN;
__constant__ const int pair_u[] = PAIR_U;
__constant__ const int pair_e[] = PAIR_E;

constexpr int factor_threads = block * FACTOR_POINTS;
constexpr bool early = SHARES && LOWER <= 4;  // all coefficients of a point fit in registers
// If also all blocks of a point fit in shared memory, its lower entries are eliminated together, with two barriers.
constexpr bool together = early && 4 * LOWER * factor_threads * 8 <= 40 * 1024;
// Number of resident thread blocks: half a multiprocessor's threads if many loads are kept in registers, otherwise one,
// since for more ptxas would spill registers.
constexpr int factor_blocks = early && factor_threads <= 512 ? (__CUDA_ARCH__ >= 900 ? 1024 : 768) / factor_threads : 1;

/// A block of coefficients for each point of a thread block.
struct Blocks {
    double values[block * FACTOR_POINTS];

    __device__ __forceinline__ double& at(int row, int col, int point) {
        const int element = row * DOF + col;
        return values[TOGETHER ? point * block + element : element * FACTOR_POINTS + point];
    }
    /// <x^{row,:}, y^{:,col}>
    __device__ static double product(Blocks& x, Blocks& y, int row, int col, int point) {
        double sum = 0.0;
#pragma unroll(DOF <= 8 ? DOF : 8)
        for (int k = 0; k < DOF; ++k) sum += x.at(row, k, point) * y.at(k, col, point);
        return sum;
    }
};

/// Inverts a point's block, of which this thread has the element x at (u, v); returns that element of the inverse, or 0
/// if a pivot cannot be used.
__device__ __forceinline__ double invert(const Arguments& a, const Point& p, int column, int point, int u, int v,
                                         double x, double own, Blocks& one, Blocks& two) {
    __shared__ double diagonal[DOF][FACTOR_POINTS], unusable[DOF][FACTOR_POINTS];
    const PivotJudge judge{{a.tolerance, a.boost, SYMMETRIC}, a.log};
    const bool tells = p.exists && u == 0 && v == 0;
    // The largest coefficient of each row, then of all rows.
    __syncthreads();
    one.at(u, v, point) = fmax(fabs(x), fabs(own));
    if (u == v) diagonal[u][point] = own;
    __syncthreads();
    if (v == 0) {
        double largest = 0.0;
        for (int k = 0; k < DOF; ++k) largest = fmax(largest, one.at(u, k, point));
        two.at(u, 0, point) = largest;
    }
    __syncthreads();
    double scale = 0.0, ratio = 1.0;
    for (int k = 0; k < DOF; ++k) scale = fmax(scale, two.at(k, 0, point));
    bool failed = false;
    unsigned changed = 0;  // a bit for each row whose pivot could not be used
    __syncthreads();
    for (int r = 0; r < DOF; ++r) {
        Blocks& s = r % 2 ? two : one;
        if (u == r || v == r) s.at(u, v, point) = x;
        __syncthreads();
        const double met = s.at(r, r, point), mine = diagonal[r][point];
        if (failed) continue;
        ratio = fmin(ratio, judge.ratio(met, mine));
        const double pivot = p.exists ? judge.usable(met, mine, scale, 0, false) : 1.0;
        failed = pivot == 0.0;
        if (tells && (failed || pivot != met)) changed |= 1u << r, unusable[r][point] = met;
        const double by = 1.0 / pivot;
        if (u == r)
            x = v == r ? by : x * by;
        else
            x = v == r ? -x * by : x - s.at(u, r, point) * s.at(r, v, point) * by;
    }
    if (tells) a.ratios[column].take(ratio, p.row(a));
    for (int r = 0; r < DOF && changed >> r; ++r)
        if (changed >> r & 1u) {
            const bool last = (changed >> r) == 1u;  // after a row that failed no other is tested
            record(a.log, !(failed && last), p.row(a) * DOF + r, unusable[r][point]);
        }
    return failed ? 0.0 : x;
}

/// Subtracts E_l D^-1(p+l) F_u(p+l) from X_e for one l after the other; x is the thread's element of X_0.
__device__ __forceinline__ void eliminate_in_turn(const Arguments& a, const Point& p, int point, int u, int v,
                                                  Blocks& left, Blocks& right, double& x) {
    __shared__ Blocks product, next;
    // The elements of E_l and of D^-1 at p + l that this thread has loaded.
    double e[early ? lowers : 1], d[early ? lowers : 1];
    const auto fetch = [&](int l, int to) {
        const int there = p.neighbour(a, l);
        e[to] = there < 0 ? 0.0 : *coefficient(a, l, p.slot, there, u, v);
        d[to] = there < 0 ? 0.0 : *inverse_at(a, there, u, v);
    };
    if constexpr (early)
#pragma unroll
        for (int l = 0; l < LOWER; ++l) fetch(l, l);
#pragma unroll(early ? lowers : 1)
    for (int l = 0; l < LOWER; ++l) {
        const int there = p.neighbour(a, l), from = early ? l : 0;
        if constexpr (!early) fetch(l, 0);
        left.at(u, v, point) = e[from];
        right.at(u, v, point) = d[from];
        __syncthreads();
        product.at(u, v, point) = Blocks::product(left, right, u, v, point);
        for (int pair = pair_begin[l]; pair < pair_begin[l + 1]; ++pair) {
            const int e = pair_e[pair], end = e == LOWER ? p.slot : p.neighbour(a, e);
            const bool inside = there >= 0 && end >= 0;
            if (pair > pair_begin[l]) __syncthreads();
            next.at(u, v, point) = inside ? *coefficient(a, pair_u[pair], there, end, u, v) : 0.0;
            __syncthreads();
            const double change = Blocks::product(product, next, u, v, point);
            if (e == LOWER)
                x -= change;
            else if (inside)
                *coefficient(a, e, p.slot, end, u, v) -= change;
        }
    }
}

/// Subtracts E_l D^-1(p+l) F_u(p+l) from x for all l, where E and F are A's: of these the thread loads its elements
/// before it waits for the hyperplane before.
__device__ __forceinline__ void eliminate_together(const Arguments& a, const Point& p, int point, int u, int v,
                                                   Blocks* left, Blocks* right, double& x) {
    __shared__ Blocks product[lowers], next[lowers];
    int there[lowers];
    double e[lowers], d[lowers], f[lowers];
#pragma unroll
    for (int l = 0; l < LOWER; ++l) {
        there[l] = p.known_neighbour(a, l);
        e[l] = there[l] < 0 ? 0.0 : *coefficient(a, l, p.slot, there[l], u, v);
        f[l] = there[l] < 0 ? 0.0 : *coefficient(a, 2 * LOWER - l, there[l], p.slot, u, v);
    }
    wait_for_level();
#pragma unroll
    for (int l = 0; l < LOWER; ++l) d[l] = there[l] < 0 ? 0.0 : __ldcg(inverse_at(a, there[l], u, v));
#pragma unroll
    for (int l = 0; l < LOWER; ++l)
        left[l].at(u, v, point) = e[l], right[l].at(u, v, point) = d[l], next[l].at(u, v, point) = f[l];
    __syncthreads();
#pragma unroll
    for (int l = 0; l < LOWER; ++l) product[l].at(u, v, point) = Blocks::product(left[l], right[l], u, v, point);
    __syncthreads();
#pragma unroll
    for (int l = 0; l < LOWER; ++l) x -= Blocks::product(product[l], next[l], u, v, point);
}

extern "C" __global__ void __launch_bounds__(factor_threads, factor_blocks)
    fgbilu_factor(const __grid_constant__ Arguments a) {
    constexpr int sets = together ? lowers : 1;
    __shared__ Blocks lefts[sets], rights[sets];
    const Share<FACTOR_POINTS, block> share;
    const int point = share.point, u = share.thread / DOF, v = share.thread % DOF;
    const int column = blockIdx.x * FACTOR_POINTS + point;
    const Point p(a, column);
    let_next_level_begin();
    // A kernel that has no points waits, too: the next one begins when all before it have ended.
    const bool none = __syncthreads_count(p.exists) == 0;
    if (!together || none) wait_for_level();
    if (none) return;
    double* const mine = inverse_at(a, p.slot, u, v);
    double x = p.exists ? *mine : u == v ? 1.0 : 0.0;
    const double own = p.exists ? a.diagonal[share.thread * a.a_stride + p.slot] : x;
    if constexpr (together)
        eliminate_together(a, p, point, u, v, lefts, rights, x);
    else
        eliminate_in_turn(a, p, point, u, v, lefts[0], rights[0], x);
    x = invert(a, p, column, point, u, v, x, own, lefts[0], rights[0]);
    if (p.exists) *mine = x;
}

#if UNIT
/// Replaces E_l(p) by W_l(p) = E_l(p) D^-1(p+l) and F_u(p) by G_u(p) = D^-1(p) F_u(p) at all points. Blocks of entries
/// that lead out of the grid are not changed. A thread has row v of blocks of E and column v of blocks of F.
extern "C" __global__ void __launch_bounds__(UNIT_POINTS* DOF)
    fgbilu_unit_triangles(const __grid_constant__ Arguments a) {
    const Share<UNIT_POINTS, DOF> share;
    const int slot = blockIdx.x * UNIT_POINTS + share.point, v = share.thread;
    if (slot >= a.slots) return;
    const GridPoint p = GridPoint::at(a, slot);
    if (p.k < HALO_PLANES || p.k >= a.nz - HALO_PLANES) return;
    double met[DOF];
#pragma unroll 1
    for (int e = 0; e < (SYMMETRIC ? LOWER : 2 * LOWER + 1); ++e) {
        const GridPoint end = {p.i + entry_x[e], p.j + entry_y[e], p.k + entry_z[e]};
        if (e == LOWER || !end.in_grid(a) || !is_known_plane(a, end.k)) continue;
        const bool lower = e < LOWER;
        const int there = neighbour_slot(a, slot, e), of_inverse = lower ? there : slot;
#pragma unroll
        for (int k = 0; k < DOF; ++k) met[k] = *coefficient(a, e, slot, there, lower ? v : k, lower ? k : v);
#pragma unroll 1
        for (int n = 0; n < DOF; ++n) {
            double sum = 0.0;
#pragma unroll
            for (int k = 0; k < DOF; ++k) sum += met[k] * *inverse_at(a, of_inverse, lower ? k : n, lower ? n : k);
            *coefficient(a, e, slot, there, lower ? v : n, lower ? n : v) = sum;
        }
    }
}
#endif

}  // namespace hyperplane
