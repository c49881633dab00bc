// SPDX-License-Identifier: BSD-3-Clause
// Interpolation weights (interpolation.hpp) and Galerkin products on a GPU, for grids without periodic axes.
//
// A thread has one coarse point. The host writes the sums out, term by term, for one stencil and the axes that are
// coarsened (setup_cuda.cpp); positions of fine points and coupled coarse points are found by their slots. Where a
// neighbour lies outside the grid the coefficient is zero, and where a child does not exist its weight is.
//
// Definitions, besides those of coarse_point.cuh: DOF, ENTRIES, STORED (of A; held: all, or those up to the diagonal),
// CHILDREN, COARSE_ENTRIES (held), COARSE_DIAGONAL, and the terms WEIGHTS and PRODUCT.

#include "precond/multigrid/coarse_point.cuh"

namespace hyperplane::multigrid {

using Arguments = SetupArguments;

/// The scalar that stands for an entry's block at the fine point `own`: the mean of its diagonal, in the symmetric part
/// of A. The neighbour is at `there`.
__device__ __forceinline__ double scalar(const Arguments& a, const CoarsePoint& p, int entry, int own, int there) {
    const auto coefficient = [&](int stored, int at, int c) {
        return loaded(a.own[stored] + c * (DOF + 1) * a.a_stride, p.fine, a.position[at], a.step.fine_slots);
    };
    double sum = 0.0;
#pragma unroll 1
    for (int c = 0; c < DOF; ++c)
        sum += entry < STORED ? loaded(a.own[entry] + c * (DOF + 1) * a.a_stride, own)
                              : coefficient(ENTRIES - 1 - entry, there, c);
    if (STORED < ENTRIES) return DOF == 1 ? sum : sum / DOF;
#pragma unroll 1
    for (int c = 0; c < DOF; ++c) sum += coefficient(ENTRIES - 1 - entry, there, c);
    return sum / (2 * DOF);
}

// b(0), the b of one subset of the child's axes after the other, and the other entries (weight_formula.hpp).
#define CHILD(at)                                                   \
    here = kept_shifted(p.fine, a.position[at], a.step.fine_slots); \
    magnitude = sigma = sum = b = 0.0;
#define VALUE(entry, there) value = scalar(a, p, entry, here, there), b += value, magnitude += fabs(value);
#define OWN own = b, b = 0.0;
#define SUBSET sigma -= b, sum -= b, b = 0.0;
#define SUBSET_TIMES(place) sigma -= b, sum -= b * w[place], b = 0.0;
#define END(place, x, y, z)                                                    \
    sigma -= b;                                                                \
    own = sigma > 0.0 && fabs(own - sigma) <= 1e-10 * magnitude ? sigma : own; \
    w[place] = own == 0.0 || !p.has_fine(a.step, x, y, z) ? 0.0 : sum / own;   \
    a.weight[place][p.slot] = w[place];                                        \
    if (a.rounds) a.single_weight[place][p.slot] = float(w[place]);

extern "C" __global__ void __launch_bounds__(THREADS, 1) interpolate(const __grid_constant__ Arguments a) {
    const CoarsePoint p(a.step);
    if (!p.exists) return;
    double w[CHILDREN], value, own, magnitude, sigma, sum, b;
    int here;  // the child's slot
    WEIGHTS
}

// A weight of the coarse point, coefficients of its child times that weight, and the terms of the coarse entries to
// which each belongs. The weight of a coarse point itself is 1. What a child needs is loaded within its own branch, so
// that the compiler does not keep it in registers for the other children.
#define OF_ITSELF(TERMS) \
    w = 1.0;             \
    TERMS
#define OF_CHILD(place, x, y, z, TERMS)                             \
    if (p.has_fine(a.step, x, y, z)) {                              \
        w = loaded(a.weight[place], p.slot, 0, a.step.order_slots); \
        TERMS                                                       \
    }
#define OF_PLANE(z, TERMS)                                          \
    if (unsigned((p.k << AXIS_Z) + z) < unsigned(a.step.fine.nz)) { \
        TERMS                                                       \
    }
#define HERE(at) here = kept_shifted(p.fine, a.position[at], a.step.fine_slots);
#define STORED_AT(entry) value = w * loaded(a.own[entry], here);
#define MIRRORED_AT(entry, at) value = w * loaded(a.mirrored[entry], p.fine, a.position[at], a.step.fine_slots);
#define TO_ITSELF(to) sum[to] += value;
#define TO_CHILD(to, place) sum[to] += value * loaded(a.weight[place], there[to]);

extern "C" __global__ void __launch_bounds__(THREADS, 1) product(const __grid_constant__ Arguments a) {
    const CoarsePoint p(a.step);
    if (!p.exists) return;
    double sum[COARSE_ENTRIES], w, value;
    int here, there[COARSE_ENTRIES];  // slots of the child and of the coupled points' weights
#pragma unroll
    for (int e = 0; e < COARSE_ENTRIES; ++e) {
        sum[e] = 0.0;
        there[e] = kept_shifted(p.slot, a.coupled[e], a.step.order_slots);
    }
    PRODUCT
    const int coarse = slot_of(a.step.coarse, p.i, p.j, p.k);
#pragma unroll
    for (int e = 0; e < COARSE_ENTRIES; ++e) {
        if (!p.has_coarse(a.step, a.offset[0][e], a.offset[1][e], a.offset[2][e])) sum[e] = 0.0;
        if (e == COARSE_DIAGONAL && a.on_diagonal && sum[e] == 0.0) sum[e] = 1.0;
        a.coarse[e][coarse] = sum[e];
    }
}

}  // namespace hyperplane::multigrid
