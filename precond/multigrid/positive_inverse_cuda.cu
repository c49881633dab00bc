// SPDX-License-Identifier: BSD-3-Clause
// Columns of the inverse on a GPU, a warp each. When row i of a column is known, all rows that it couples to get their
// term of it: lane t holds rows 32 m + t of the rows that are under way, for the number m of a chunk of 32 rows and
// PIECES - 1 chunks after it. So a row takes the time of a shuffle and of a multiplication, whatever the band. Factors
// are loaded some rows ahead.
#include <algorithm>

#include "core/device/cuda.hpp"
#include "precond/multigrid/positive_inverse.hpp"

namespace hyperplane::multigrid {
namespace {

constexpr int warps_of_block = 4;

struct ColumnArguments {
    const double* by_column;  // l_ki at [i][k - i - 1]
    const double* by_row;     // l_ik at [i][i - k - 1]
    const double* inverse_pivots;
    double* inverse;
    int n, band;
};

/// The factors by which a known row, of number `s` in its chunk, is multiplied: of rows at a distance of
/// 32 piece + sign (lane - s) in the direction in which the solve goes.
template <int pieces, bool up>
struct Factors {
    double of[pieces];

    __device__ __forceinline__ void load(const ColumnArguments& a, const double* from, int i, int s, int lane) {
#pragma unroll
        for (int piece = 0; piece < pieces; ++piece) {
            const int distance = 32 * piece + (up ? s - lane : lane - s);
            const bool coupled = i < a.n && distance > 0 && distance <= a.band;
            of[piece] = coupled ? __ldg(from + i * a.band + distance - 1) : 0.0;
        }
    }
};

/// The terms of all rows of a chunk, which begins at row `base`, in the rows that they couple to.
template <int pieces, bool up>
__device__ __forceinline__ void pass_chunk(const ColumnArguments& a, int base, int lane, double (&value)[pieces]) {
    constexpr int ahead = pieces <= 4 ? 8 : 4;
    const double* const from = up ? a.by_row : a.by_column;
    const auto number = [](int step) { return up ? 31 - step : step; };
    Factors<pieces, up> now[ahead], next[ahead];
#pragma unroll
    for (int at = 0; at < ahead; ++at) next[at].load(a, from, base + number(at), number(at), lane);
#pragma unroll 1
    for (int first = 0; first < 32; first += ahead) {
#pragma unroll
        for (int at = 0; at < ahead; ++at) {
            now[at] = next[at];
            if (const int s = number(first + ahead + at); first + ahead < 32) next[at].load(a, from, base + s, s, lane);
        }
#pragma unroll
        for (int at = 0; at < ahead; ++at) {
            const double known = __shfl_sync(~0u, value[0], number(first + at));
#pragma unroll
            for (int piece = 0; piece < pieces; ++piece) value[piece] = fma(-now[at].of[piece], known, value[piece]);
        }
    }
}

template <int pieces>
__global__ void __launch_bounds__(32 * warps_of_block) invert_columns(const ColumnArguments a) {
    const int column = int(blockIdx.x * warps_of_block + threadIdx.x / 32), lane = int(threadIdx.x % 32);
    if (column >= a.n) return;
    double* const result = a.inverse + (long long)column * a.n;
    const auto holds = [&](int row) { return row >= column && row < a.n; };
    const int first = column / 32 * 32, last = (a.n - 1) / 32 * 32;
    double value[pieces] = {};
    value[0] = first + lane == column ? 1.0 : 0.0;
    for (int base = first; base <= last; base += 32) {
        pass_chunk<pieces, false>(a, base, lane, value);
        if (holds(base + lane)) result[base + lane] = __dmul_rn(value[0], a.inverse_pivots[base + lane]);
#pragma unroll
        for (int piece = 1; piece < pieces; ++piece) value[piece - 1] = value[piece];
        value[pieces - 1] = 0.0;
    }
    const auto scaled = [&](int row) { return holds(row) ? result[row] : 0.0; };
#pragma unroll
    for (int piece = 0; piece < pieces; ++piece) value[piece] = scaled(last - 32 * piece + lane);
    for (int base = last; base >= first; base -= 32) {
        const double entering = scaled(base - 32 * pieces + lane);
        pass_chunk<pieces, true>(a, base, lane, value);
        if (const int row = base + lane; holds(row)) result[row] = a.inverse[(long long)row * a.n + column] = value[0];
#pragma unroll
        for (int piece = 1; piece < pieces; ++piece) value[piece - 1] = value[piece];
        value[pieces - 1] = entering;
    }
}

using ColumnKernel = void (*)(ColumnArguments);

/// The kernel with fewest pieces of 32 rows that hold what a chunk couples to.
ColumnKernel kernel_of(int band) {
    const int pieces = (band + 31) / 32 + 1;
    return pieces <= 2 ? invert_columns<2> : pieces <= 4 ? invert_columns<4> : invert_columns<8>;
}

}  // namespace

void PositiveInverse::invert_on_gpu(const Context& context, double* inverse) const {
    const int n = int(n_), band = int(std::max<Index>(band_, 1));
    const Buffer<double> there = copied_to(context, "multigrid: coarsest inverse", packed_);
    const double* const from = there.data();
    const ColumnArguments arguments{from, from + n * band, from + 2 * n * band, inverse, n, band};
    const ColumnKernel kernel = kernel_of(band);
    kernel<<<cuda::blocks_for(n_, warps_of_block), 32 * warps_of_block, 0, cuda::stream(context)>>>(arguments);
    cuda::launched(context, "coarsest inverse");
}

}  // namespace hyperplane::multigrid
