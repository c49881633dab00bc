// SPDX-License-Identifier: BSD-3-Clause
// The solves of FGBILU exchange records {value, epoch} between ranks on GPUs, one for each unknown of the planes next
// to a cut. The kernel of a hyperplane stores those of its points into the memory of the rank that comes next, whose
// kernels poll them (precond/triangular/edges_between_ranks.hpp). A kernel waits for no later hyperplane of the other
// rank, so the kernels end if the GPUs run at the same time.
#pragma once

#include "precond/fgbilu/blocks.cuh"
#if HALO_PLANES > 0
#include "core/device/epochs.cuh"
#include "core/ranks/waiting_cuda.cuh"

namespace hyperplane {

/// The number of the solve that runs. Kernels of the lower solve do not read the upper one's, and the other way round.
template <bool lower>
__device__ __forceinline__ u64 epoch_of_solve(const Arguments& a) {
    return __ldcg(a.epochs + (lower ? 0 : 1));
}
/// Called by the first kernel of a solve, when those of the other triangle have ended: counts that triangle's next one.
template <bool lower>
__device__ __forceinline__ void count_next_solve(const Arguments& a) {
    if (blockIdx.x == 0 && threadIdx.x == 0) ++a.epochs[lower ? 1 : 0];
}

/// The record of an unknown of a point, for `first`, the first of the planes that have records. Neighbouring points of
/// a hyperplane have neighbouring records. Ranks number planes and levels differently, and records alike.
__device__ __forceinline__ Index record_of(const Arguments& a, const GridPoint& p, int first, int v) {
    const int k = p.k - first, level = (p.i + LEVEL_Y * p.j + LEVEL_Z * k) % a.nx;
    return ((Index(level) * HALO_PLANES + k) * a.ny + p.j) * DOF + v;
}

/// The value of a point that another rank computes. The kernel ends with an error where it does not come.
template <bool lower>
__device__ __forceinline__ double received(const Arguments& a, const GridPoint& p, int v) {
    const EpochRecord* const at = a.before + record_of(a, p, lower ? 0 : a.nz - HALO_PLANES, v);
    const u64 epoch = epoch_of_solve<lower>(a), begin = cuda::nanoseconds();
    for (unsigned turn = 1;; ++turn) {
        const Record record = load_record<Reach::all_gpus>(at);
        if (epoch_of(record) == epoch) return value_of(record);
        if (turn % 1024 == 0 && cuda::nanoseconds() - begin > cuda::patience) __trap();
    }
}

/// Stores a result for the next rank, if that needs it.
template <bool lower>
__device__ __forceinline__ void pass_on(const Arguments& a, const GridPoint& p, int v, double result) {
    const int first = lower ? a.nz - 2 * HALO_PLANES : HALO_PLANES;
    if (a.after && unsigned(p.k - first) < unsigned(HALO_PLANES))
        store_record<Reach::all_gpus>(a.after + record_of(a, p, first, v), result, epoch_of_solve<lower>(a));
}

}  // namespace hyperplane
#endif
