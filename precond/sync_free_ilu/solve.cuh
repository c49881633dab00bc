// SPDX-License-Identifier: BSD-3-Clause
// The solve with one triangle of a general matrix's factors, without synchronisation between levels.
//
// LANES threads of a warp have one block row: lane l takes column l mod DOF of the blocks l / DOF, l / DOF + GROUP, ...
// It loads a block's coefficients, waits for the record {value, epoch} that it multiplies them with, and adds. The
// lanes' sums are added pairwise, so the order of each sum follows from the pattern alone.
//
// Definitions: DOF, LANES (a power of two, DOF <= LANES <= 32), UPPER (U z = y, otherwise L y = r).

#include "precond/sync_free_ilu/waiting.cuh"

namespace hyperplane {

constexpr int threads = 128, rows_of_block = threads / LANES, group = LANES / DOF;

extern "C" __global__ void __launch_bounds__(threads) general_solve(const __grid_constant__ GeneralSolveArguments a) {
    u64 epoch;
    const unsigned part = take_ticket(a.state, epoch);
    const int lane = threadIdx.x % LANES, c = lane % DOF, first = lane / DOF;
    const unsigned mask = lanes_of_row<LANES>();
    const long long index = (long long)part * rows_of_block + threadIdx.x / LANES;
    if (index < a.rows) {
        const long long row = __ldg(a.order + index), diagonal = __ldg(a.diagonal + row);
        const long long begin = UPPER ? diagonal + 1 : __ldg(a.row_begin + row);
        const long long end = UPPER ? __ldg(a.row_begin + row + 1) : diagonal;
        const int mine = lane < DOF ? lane : DOF - 1;
        const double given = UPPER ? a.in_record[row * DOF + mine].value : __ldg(a.in + row * DOF + mine);
        double sum[DOF];
#pragma unroll
        for (int r = 0; r < DOF; ++r) sum[r] = 0.0;
        if (first < group)
            for (long long at = begin + first; at < end; at += group) {
                const double* const block = a.values + at * DOF * DOF + c;
                double v[DOF];
#pragma unroll
                for (int r = 0; r < DOF; ++r) v[r] = __ldg(block + r * DOF);
                const double x = wait_for_record(a.records + (long long)__ldg(a.column + at) * DOF + c, epoch);
#pragma unroll
                for (int r = 0; r < DOF; ++r) sum[r] += v[r] * x;
            }
        __syncwarp(mask);
        double total = 0.0;
#pragma unroll
        for (int r = 0; r < DOF; ++r) {
#pragma unroll
            for (int distance = LANES / 2; distance > 0; distance /= 2)
                sum[r] += __shfl_xor_sync(mask, sum[r], distance, LANES);
            if (lane == r) total = sum[r];
        }
        double x = given - total;
        if (UPPER) {
            const double* const inverse = a.values + (diagonal * DOF + mine) * DOF;
            double z = 0.0;
#pragma unroll
            for (int q = 0; q < DOF; ++q) z += __ldg(inverse + q) * __shfl_sync(mask, x, q, LANES);
            x = z;
        }
        if (lane < DOF) {
            store_record(a.records + row * DOF + lane, x, epoch);
            if (UPPER) a.out[row * DOF + lane] = x;
        }
    }
    end_part(a.state, epoch, a.parts);
}

}  // namespace hyperplane
