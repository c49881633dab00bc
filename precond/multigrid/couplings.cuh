// SPDX-License-Identifier: BSD-3-Clause
// Sums of c_id / max_e c_ie over the points of a grid without periodic axes (coarsening.hpp), on a GPU. The
// coefficients are loaded for that, so what else a set-up needs to know of each row is found here, too: whether it is
// that of an M-matrix, and whether its couplings jump (examined_row.hpp); and a copy in single precision is made of
// them.
//
// Each block sums some tiles of 16 x 16 points of one plane, and the host adds the sums of the blocks. Which points a
// block has, and the order of its sum, depend on the whole grid alone: not on the layout, on the GPU, nor on the planes
// that a rank has. Neighbouring threads have neighbouring slots.
//
// Definitions: THREADS, DOF, ENTRIES, STORED, OFFSET_X, OFFSET_Y, OFFSET_Z.

#include "core/grid/slots.hpp"
#include "precond/multigrid/examined_row.hpp"
#include "precond/multigrid/grid_slots.cuh"

namespace hyperplane::multigrid {

__device__ constexpr int offset_x[] = OFFSET_X;
__device__ constexpr int offset_y[] = OFFSET_Y;
__device__ constexpr int offset_z[] = OFFSET_Z;

constexpr int tile = 16;
static_assert(tile * tile == THREADS);

constexpr int unroll_entries = DOF <= 2 ? ENTRIES : 1;

extern "C" __global__ void __launch_bounds__(THREADS, 3) couplings(const __grid_constant__ CouplingArguments a) {
    __shared__ double all[coupling_counts][THREADS];
    double total[coupling_counts] = {};
    const int one = threadIdx.x % tile, other = threadIdx.x / tile;
    const int of_tile_x = a.grid.natural ? one : other, of_tile_y = a.grid.natural ? other : one;
    const int across = (a.grid.nx + tile - 1) / tile, tiles = across * ((a.grid.ny + tile - 1) / tile);
    const int k = a.begin + int(blockIdx.x) / a.pieces;
    for (int at_tile = int(blockIdx.x) % a.pieces; at_tile < tiles; at_tile += a.pieces) {
        const int i = at_tile % across * tile + of_tile_x, j = at_tile / across * tile + of_tile_y;
        if (i >= a.grid.nx || j >= a.grid.ny) continue;
        const int slot = slot_of(a.grid, i, j, k);
        double square[3] = {0.0, 0.0, 0.0};
#pragma unroll 1
        for (int at = 0; at < DOF * DOF; ++at) {
            const int transposed = at % DOF * DOF + at / DOF;
            double sum[3] = {0.0, 0.0, 0.0};
            ExaminedRow<ENTRIES> traits;
#pragma unroll(unroll_entries)
            for (int e = 0; e < ENTRIES; ++e) {
                const double value =
                    e < STORED ? __ldg(a.a + (long long)(e * DOF * DOF + at) * a.a_stride + slot)
                               : __ldg(a.a + (long long)((ENTRIES - 1 - e) * DOF * DOF + transposed) * a.a_stride +
                                       shifted_slot(a, slot, a.delta[e]));
                if (offset_x[e] != 0) sum[0] += value;
                if (offset_y[e] != 0) sum[1] += value;
                if (offset_z[e] != 0) sum[2] += value;
                if (DOF == 1) traits.add(e, value);
                if (e < STORED && a.single)
                    a.single[(long long)(e * DOF * DOF + at) * a.a_stride + slot] = float(value);
            }
            if (DOF == 1 && a.examines) {
                total[3] += traits.is_other();
                total[4] += traits.jumps();
            }
#pragma unroll
            for (int d = 0; d < 3; ++d) square[d] += sum[d] * sum[d];
        }
        double most = 0.0;
#pragma unroll
        for (int d = 0; d < 3; ++d)
            if (a.candidates >> d & 1) most = fmax(most, square[d]);
#pragma unroll
        for (int d = 0; d < 3; ++d)
            if ((a.candidates >> d & 1) && most > 0.0) total[d] += sqrt(square[d] / most);
    }
#pragma unroll
    for (int d = 0; d < coupling_counts; ++d) all[d][of_tile_x + tile * of_tile_y] = total[d];
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
#pragma unroll
            for (int d = 0; d < coupling_counts; ++d) all[d][threadIdx.x] += all[d][threadIdx.x + half];
    }
    __syncthreads();
    if (threadIdx.x < coupling_counts) a.sums[coupling_counts * blockIdx.x + threadIdx.x] = all[threadIdx.x][0];
}

}  // namespace hyperplane::multigrid
