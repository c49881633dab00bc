// SPDX-License-Identifier: BSD-3-Clause
// Both solves with the factors of parts that do not depend on each other, in one kernel (Gondhalekar, Haugen, Gibson,
// Feng, Mapping Sparse Triangular Solves to GPUs via Fine-grained Domain Decomposition, sections 3 and 4.4).
//
//     M = L D (I + G)      L and D from the factorisation, G = D^-1 U
//
// A thread block has one part. It reads the part's right-hand side into shared memory, goes through the levels of L,
// multiplies with D^-1, goes through the levels of I + G and writes the result; so r, z and the factors are moved once.
// Rows of a level are packed in slices of as many rows as a warp has threads for, a thread for each row of the system;
// its coefficients lie beside those of its neighbours, so a warp reads whole lines. Within a part rows are numbered by
// the levels of L, with 16 bits.
//
// Definitions: DOF, THREADS (of a thread block).

#include "precond/sync_free_ilu/part_arguments.hpp"

namespace hyperplane {

constexpr int batch = 4;  // entries of a row that are loaded together

/// Copies the factors to the slices: L, U multiplied with D^-1, and D^-1. A warp has one slice.
extern "C" __global__ void __launch_bounds__(THREADS) pack_parts(const __grid_constant__ PartArguments a) {
    const int all = a.lower.slice_count + a.upper.slice_count;
    const int index = blockIdx.x * (THREADS / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (index >= all) return;
    const bool upper = index >= a.lower.slice_count;
    const PartSide& side = upper ? a.upper : a.lower;
    const PartSlice slice = side.slices[upper ? index - a.lower.slice_count : index];
    const int i = lane / DOF, r = lane % DOF;
    if (i >= slice.rows) return;
    const int row = a.numbered[slice.base + side.local[slice.first + i]];
    const long long diagonal = a.diagonal[row];
    const long long begin = upper ? diagonal + 1 : a.row_begin[row], end = upper ? a.row_begin[row + 1] : diagonal;
    const double* const inverse = a.factors + (diagonal * DOF + r) * DOF;
    for (int e = 0; e < slice.length; ++e) {
        const double* const block = a.factors + (begin + e) * DOF * DOF;
        double* const packed = side.values + (slice.block + e * slice.rows) * DOF * DOF + lane;
        for (int c = 0; c < DOF; ++c) {
            double value = 0.0;
            if (begin + e < end) {
                if (upper)
                    for (int q = 0; q < DOF; ++q) value += inverse[q] * block[q * DOF + c];
                else
                    value = block[r * DOF + c];
            }
            packed[c * slice.rows * DOF] = value;
        }
    }
    if (upper) return;
    for (int c = 0; c < DOF; ++c)
        a.inverse[(long long)slice.first * DOF * DOF + c * slice.rows * DOF + lane] = inverse[c];
}

/// x = T^-1 x for a unit triangle T of the part.
__device__ void solve_side(const PartSide& side, int part, double* x) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, i = lane / DOF, r = lane % DOF;
    const int last_level = side.part_levels[part + 1];
    for (int level = side.part_levels[part]; level < last_level; ++level) {
        const int end = side.level_slices[level + 1];
        for (int at = side.level_slices[level] + warp; at < end; at += THREADS / 32) {
            const PartSlice slice = side.slices[at];
            if (i >= slice.rows) continue;
            const int width = slice.rows * DOF;
            double* const own = x + side.local[slice.first + i] * DOF + r;
            double sum = *own;
            for (int e = 0; e < slice.length; e += batch) {
                double value[batch][DOF];
                int column[batch];
#pragma unroll
                for (int b = 0; b < batch; ++b)
                    if (e + b < slice.length) {
                        const long long block = slice.block + (e + b) * slice.rows;
                        column[b] = __ldg(side.columns + block + i);
#pragma unroll
                        for (int c = 0; c < DOF; ++c)
                            value[b][c] = __ldcs(side.values + block * DOF * DOF + c * width + lane);
                    }
#pragma unroll
                for (int b = 0; b < batch; ++b)
                    if (e + b < slice.length) {
#pragma unroll
                        for (int c = 0; c < DOF; ++c) sum -= value[b][c] * x[column[b] * DOF + c];
                    }
            }
            *own = sum;
        }
        __syncthreads();
    }
}

/// x = D^-1 x.
__device__ void scale(const PartArguments& a, int part, double* x) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, i = lane / DOF;
    const int begin = a.lower.level_slices[a.lower.part_levels[part]];
    const int end = a.lower.level_slices[a.lower.part_levels[part + 1]];
    for (int at = begin + warp; at < end; at += THREADS / 32) {
        const PartSlice slice = a.lower.slices[at];
        const bool active = i < slice.rows;
        double* const row = x + (active ? a.lower.local[slice.first + i] * DOF : 0);
        double scaled = 0.0;
        if (active)
            for (int c = 0; c < DOF; ++c)
                scaled += __ldcs(a.inverse + (long long)slice.first * DOF * DOF + c * slice.rows * DOF + lane) * row[c];
        __syncwarp();
        if (active) row[lane % DOF] = scaled;
    }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(THREADS) solve_parts(const __grid_constant__ PartArguments a) {
    extern __shared__ double part_vector[];
    double* const x = part_vector;
    const int part = blockIdx.x, base = a.part_rows[part], values = (a.part_rows[part + 1] - base) * DOF;
    for (int at = threadIdx.x; at < values; at += THREADS) {
        const int place = base + at / DOF, c = at % DOF;
        x[a.places[place] * DOF + c] = __ldg(a.in + (long long)a.rows[place] * DOF + c);
    }
    __syncthreads();
    solve_side(a.lower, part, x);
    scale(a, part, x);
    solve_side(a.upper, part, x);
    for (int at = threadIdx.x; at < values; at += THREADS) {
        const int place = base + at / DOF, c = at % DOF;
        a.out[(long long)a.rows[place] * DOF + c] = x[a.places[place] * DOF + c];
    }
}

}  // namespace hyperplane
