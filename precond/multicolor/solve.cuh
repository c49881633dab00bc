// SPDX-License-Identifier: BSD-3-Clause
// Multicolour solves on a GPU, with a kernel for the step of each colour. A thread has one place of the colour
// (precond/multicolor/coloured_points.hpp) and ROWS rows there. The next step's kernel begins while this one runs, and
// waits for its end (programmatic dependent launch).
//
// The place of a neighbour in its colour is the thread's place plus a constant, so a warp reads consecutive values of
// all arrays. `enter` copies r, in which the places of a colour are COLOURS apart, to coloured order and also computes
// the lower step of colour 1, which needs r alone. `leave` computes the upper step of colour 0 and copies z back to
// natural order. If a thread has all rows of a point, the last lower step also computes z = D^-1 v of its colour. With
// two colours, vectors are thus read and written as few times as possible.
//
// Coefficients are read once, so their loads mark them to be evicted from the caches first; values that the next step
// reads again stay there. In half precision the sum of a row is kept in units of the row's scale, a power of two; the
// scale of a mirrored row multiplies the value by which the row is multiplied.
//
// The points of a place, one of each colour, have consecutive numbers; those of neighbouring places in one colour do
// not. Therefore, with one unknown a point and more than two colours, r and z are copied through shared memory, so that
// a warp reads and writes them in natural order.
//
// If a neighbour is outside the grid, the stored coefficient is zero and is multiplied by the value of some other
// point. If the mirrored coefficient is read instead, and the neighbour's place would be before the first or after the
// last one, zero takes its place.
//
// On a rank's part of the grid there are also places of the planes next to the cuts, which other ranks compute. `enter`
// copies r to all of them; whatever else is stored there is replaced by what those ranks send before it is read.
//
// Definitions: THREADS (of a thread block), DOF, ROWS, COLOURS, SYMMETRIC, NATURAL, LEVEL_Y, LEVEL_Z (the layout of r
// and z), PART (1: of a rank's part of the grid), MOST_TERMS, AHEAD (precond/multicolor/ahead.cuh), STORAGE
// (precond/factors/reduced_values.cuh), REAL (double or float: the type of r, v, w and z; sums are in double
// precision).

#include "core/grid/slots.hpp"
#include "precond/multicolor/ahead.cuh"
#include "precond/multicolor/step.cuh"
#include "precond/walks/next_kernel.cuh"

namespace hyperplane {

// With several rows a thread, one thread block may take all registers: loads in flight hide the latency instead of more
// warps.
#if DOF == 1
#define LAUNCH_BOUNDS __launch_bounds__(THREADS)
#else
#define LAUNCH_BOUNDS __launch_bounds__(THREADS, 1)
#endif

constexpr bool through_shared = DOF == 1 && COLOURS > 2 && COLOURS <= 16;  // at most 34 KiB
constexpr int pitch = COLOURS | 1;  // values of a place in shared memory; odd, to avoid bank conflicts
constexpr int shared_values = through_shared ? THREADS * pitch : 1;

struct Point {
    int i, j, k;

    __device__ Point(const Step& s, int n) {
        if (PART) n -= s.before;  // the point of a negative number is outside
        k = n / s.plane;
        const int rest = n - k * s.plane;
        j = rest / s.line;
        i = rest - j * s.line;
    }
    __device__ bool inside(const Step& s) const {
        return unsigned(i) < unsigned(s.nx) && unsigned(j) < unsigned(s.ny) && unsigned(k) < unsigned(s.nz);
    }
    /// The point's slot in the layout of r and z.
    __device__ int slot(const Step& s) const {
        if (NATURAL) return natural_slot(i, j, k, s.nx, s.ny);
        return hyperplane_slot(i + LEVEL_Y * j + LEVEL_Z * k, j, k, s.nx, s.ny, s.nz);
    }
    /// Goes to the point whose number is larger by `numbers`, usually in the same line. The last line of a plane may be
    /// shorter than the others.
    __device__ void advance(const Step& s, int numbers) {
        i += numbers;
        const int in_plane = j * s.line + i;
        if (i < s.line && in_plane < s.plane) return;
        const int planes = in_plane / s.plane, rest = in_plane - planes * s.plane;
        k += planes;
        j = rest / s.line;
        i = rest - j * s.line;
    }
};

/// The place of a thread that has place `number` of a step, and whether there is such a place.
__device__ __forceinline__ int place_of(const Step& s, int number) {
    return PART ? s.first + number : number;
}
__device__ __forceinline__ bool has(const Step& s, int place) {
    return place < (PART ? s.last : s.stride);
}

/// Calls act(index in shared memory, slot) for the points of the thread block; consecutive threads have consecutive
/// points.
template <class Act>
__device__ __forceinline__ void for_points_of_block(const Step& s, Act act) {
    const int first = place_of(s, blockIdx.x * THREADS) * COLOURS;
    const int count = min(THREADS * COLOURS, (PART ? s.last * COLOURS : s.slots) - first);
    Point p(s, first + threadIdx.x);
#pragma unroll 4
    for (int n = threadIdx.x; n < count; n += THREADS) {
        if (p.inside(s)) act(n / COLOURS * pitch + n % COLOURS, p.slot(s));
        p.advance(s, THREADS);
    }
}

extern "C" __global__ void LAUNCH_BOUNDS enter(const __grid_constant__ Step s) {
    let_next_begin();
    wait_for_last();
    const int place = place_of(s, blockIdx.x * THREADS + threadIdx.x), first = ROWS == DOF ? 0 : blockIdx.y * ROWS;
    __shared__ Real points_of_block[shared_values];
    if (through_shared) {
        for_points_of_block(s, [&](int at, int slot) { points_of_block[at] = __ldg(s.r + slot); });
        __syncthreads();
    }
    if (!has(s, place)) return;
    Point p(s, COLOURS * place);
#pragma unroll
    for (int colour = 0; colour < COLOURS; ++colour) {
        const bool inside = p.inside(s);
        const int home = inside && !through_shared ? p.slot(s) : 0;
        double sum[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
            if (!inside || (DOF % ROWS != 0 && first + r >= DOF))
                sum[r] = 0.0;
            else
                sum[r] = double(through_shared ? points_of_block[threadIdx.x * pitch + colour]
                                               : __ldg(s.r + (long long)(first + r) * s.points + home));
        if (colour == 1) {
            change_units<of_w, false>(s, sum, first, place);
#pragma unroll(unrolled_terms)
            for (int t = 0; t < s.terms; ++t) {
                const int offset = s.term[t].base;
                Point q = p;
                q.i += (offset & 15) - 8, q.j += (offset >> 4 & 15) - 8, q.k += (offset >> 8) - 8;
                if (inside && q.inside(s)) add<-1>(s, sum, first, s.term[t].block, place, s.r + q.slot(s), s.points);
            }
            change_units<of_w, true>(s, sum, first, place);
            finish_lower(s, sum, first, place);
        } else {
            store(s.v, sum, first, s.slots, colour * s.stride + place);
        }
        p.advance(s, 1);
    }
}

extern "C" __global__ void LAUNCH_BOUNDS lower(const __grid_constant__ Step s) {
    let_next_begin();
    const int place = place_of(s, blockIdx.x * THREADS + threadIdx.x), first = ROWS == DOF ? 0 : blockIdx.y * ROWS;
    Ahead ahead;
    if (has(s, place)) ahead.load<of_w>(s, place, false);
    wait_for_last();
    if (!has(s, place)) return;
    double sum[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
        sum[r] = DOF % ROWS == 0 || first + r < DOF
                     ? double(s.v[(long long)(first + r) * s.slots + s.colour * s.stride + place])
                     : 0.0;
    ahead.subtract<of_w>(s, sum, first, place, s.v);
    finish_lower(s, sum, first, place);
}

extern "C" __global__ void LAUNCH_BOUNDS upper(const __grid_constant__ Step s) {
    let_next_begin();
    const int place = place_of(s, blockIdx.x * THREADS + threadIdx.x), first = ROWS == DOF ? 0 : blockIdx.y * ROWS;
    Ahead ahead;
    if (has(s, place)) ahead.load<of_g>(s, place, true);
    wait_for_last();
    if (!has(s, place)) return;
    double sum[ROWS] = {};
    ahead.upper_sum(s, sum, first, place);
    store(s.w, sum, first, s.slots, s.colour * s.stride + place);
}

extern "C" __global__ void LAUNCH_BOUNDS leave(const __grid_constant__ Step s) {
    let_next_begin();
    const int place = place_of(s, blockIdx.x * THREADS + threadIdx.x), first = ROWS == DOF ? 0 : blockIdx.y * ROWS;
    const bool has_place = has(s, place);
    Ahead ahead;
    if (has_place) ahead.load<of_g>(s, place, true);
    wait_for_last();
    double sum[ROWS] = {};
    if (has_place) ahead.upper_sum(s, sum, first, place);
    __shared__ Real points_of_block[shared_values];
    if (through_shared) {
#pragma unroll
        for (int colour = 0; colour < COLOURS; ++colour)
            if (has_place)
                points_of_block[threadIdx.x * pitch + colour] =
                    colour == 0 ? Real(sum[0]) : s.w[colour * s.stride + place];
        __syncthreads();
        for_points_of_block(s, [&](int at, int slot) { put(s, slot, points_of_block[at]); });
        return;
    }
    if (!has_place) return;
    Point p(s, COLOURS * place);
#pragma unroll
    for (int colour = 0; colour < COLOURS; ++colour) {
        if (colour > 0)
#pragma unroll
            for (int r = 0; r < ROWS; ++r)
                if (DOF % ROWS == 0 || first + r < DOF)
                    sum[r] = double(s.w[(long long)(first + r) * s.slots + colour * s.stride + place]);
        if (p.inside(s))
#pragma unroll
            for (int r = 0; r < ROWS; ++r)
                if (DOF % ROWS == 0 || first + r < DOF)
                    put(s, (long long)(first + r) * s.points + p.slot(s), Real(sum[r]));
        p.advance(s, 1);
    }
}

}  // namespace hyperplane
