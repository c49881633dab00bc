// SPDX-License-Identifier: BSD-3-Clause
// FGBILU's solves: lower v = r - W v, upper z = D^-1 v - G z; where E and F are the matrix's y = D^-1 (r - E y) and
// z = y - D^-1 F z.
//
// One kernel solves one hyperplane, by Algorithm 10 with the columns of the blocks distributed over threads: a thread
// has column v of the blocks of all neighbours, in every row or in rows part, part + PARTS, ..., so that it multiplies
// a value of a neighbour as soon as it has loaded it. Sums over columns are made in shared memory; there a thread has
// row v.
//
// The point's own coefficients do not depend on the hyperplane before, so a kernel loads them before it waits for that
// hyperplane's kernel (AHEAD: they fit registers; OVERLAPPED: kernels follow each other by programmatic dependent
// launch). Values of other hyperplanes are loaded past the first-level cache, which may hold older ones. With W and G,
// D^-1 is not multiplied with a sum over neighbours: that product, too, is computed before the wait, and one barrier is
// enough behind it.
//
// Definitions, beside precond/fgbilu/blocks.cuh's: SOLVE_POINTS, PARTS, AHEAD, OVERLAPPED, PAUSE (ns, of give_way).

#include "precond/fgbilu/between_ranks.cuh"

namespace hyperplane {

constexpr int solve_threads = DOF * PARTS * SOLVE_POINTS, shares = (DOF + PARTS - 1) / PARTS;
// Only the threads of part 0 need sums; with two parts, often in one warp, the branch costs more than it saves.
constexpr bool others_skip_sums = PARTS > 2;

/// Leaves the multiprocessor's load units to the hyperplane that is being solved, for which all others wait: what this
/// kernel loads ahead is needed some hyperplanes later.
__device__ __forceinline__ void give_way() {
#if OVERLAPPED && __CUDA_ARCH__ >= 900
    asm volatile("nanosleep.u32 %0;" ::"n"(PAUSE) : "memory");
#endif
}

/// 2^k of a row; 1 where rows have none. TOGETHER: those of the lower solve are contiguous, those of the upper one lie
/// in pairs, of G and D^-1.
template <bool lower>
__device__ __forceinline__ double scale_at(const Arguments& a, const unsigned char* exponents, int row, int slot) {
    const Index at = TOGETHER ? (Index(slot) * DOF + row) * (lower ? 1 : 2) : Index(row) * a.slots + slot;
    return scaled_rows ? scale_of(exponents[at]) : 1.0;
}

/// A thread's part of a point in one of the solves: column v of the sums over neighbours, then row v.
template <bool lower>
struct Part {
    static constexpr int first = lower ? 0 : LOWER + 1;  // entry
    static constexpr bool mirrored = SYMMETRIC && !lower, scaled_there = mirrored && scaled_rows;

    const int point, v, part;
    int slot;
    bool exists;
    const double* results;                              // row v of z
    double e[AHEAD ? lowers * shares : 1], d[shares];   // coefficients in column v of blocks; in row v of D^-1
    int there[AHEAD ? lowers : 1];                      // slots of neighbours
    double scales[scaled_there && AHEAD ? lowers : 1];  // scales of the neighbours' rows, if coefficients are mirrored
    double mine, known, scale;                          // r or y; the part without neighbours; the row's scale

    __device__ explicit Part(const Share<SOLVE_POINTS, DOF * PARTS>& share)
        : point(share.point), v(share.thread % DOF), part(share.thread / DOF) {}

    /// Number of this thread's n-th row, or n-th column of D^-1.
    __device__ __forceinline__ int share(int n) const { return part + n * PARTS; }
    __device__ __forceinline__ bool is_share(int n) const { return DOF % PARTS == 0 || share(n) < DOF; }

    __device__ __forceinline__ void find_neighbours(const Arguments& a, const Point& p) {
#pragma unroll
        for (int l = 0; l < LOWER; ++l) {
            there[l] = p.known_neighbour(a, first + l);
            asm volatile("" : "+r"(there[l]));  // so that the compiler does not defer it
        }
    }
    /// Loads what does not depend on other levels.
    __device__ __forceinline__ void begin(const Arguments& a, const Point& p) {
        slot = p.slot;
        exists = p.exists;
        results = a.z + Index(v) * a.slots;
        asm volatile("" : "+l"(results));  // so that the compiler computes it once, not at each use
        if constexpr (AHEAD) {
            if constexpr (mirrored) find_neighbours(a, p);
            const Index stride = triangle_stride(a), step = TOGETHER ? 1 : stride;
            // Where there is no neighbour the coefficients are multiplied by zero, whatever they are.
            const Value* const triangle =
                a.triangles + (mirrored ? place(stride, 0, 0, v, part) : place(stride, first, slot, part, v));
#pragma unroll
            for (int l = 0; l < LOWER; ++l) {
                const Value* const at = mirrored ? triangle + max(there[l], 0) + (LOWER - 1 - l) * block * stride
                                                 : triangle + l * block * stride;
#pragma unroll
                for (int n = 0; n < shares; ++n)
                    e[l * shares + n] = is_share(n) ? widened(at[n * PARTS * (mirrored ? 1 : DOF) * step]) : 0.0;
                if constexpr (scaled_there)
                    scales[l] = there[l] < 0 ? 1.0 : scale_at<lower>(a, a.of_triangle, v, there[l]);
                give_way();
            }
        }
        const Value* const inverse = inverse_at(a, slot, v, part);
#pragma unroll
        for (int n = 0; n < shares; ++n)
            d[n] = is_share(n) ? widened(inverse[n * PARTS * (TOGETHER ? 1 : a.stride)]) : 0.0;
        mine = exists ? __ldcg((lower ? a.r + Index(v) * a.slots : results) + slot) : 0.0;
        known = 0.0;
        scale = 1.0;
        if constexpr (UNIT) {
            if (!mirrored && exists) scale = scale_at<lower>(a, a.of_triangle, v, slot);
            if constexpr (!lower) {
#pragma unroll
                for (int n = 0; n < shares; ++n)
                    if (exists && is_share(n)) known += d[n] * __ldcg(a.z + Index(share(n)) * a.slots + slot);
                if (exists) known *= scale_at<lower>(a, a.of_inverse, v, slot);
                if constexpr (PARTS > 1) product_of(part) = known;
            }
        }
        if constexpr (AHEAD && !mirrored) find_neighbours(a, p);
    }

    /// The result of the neighbour at offset e, whose slot is `there`, or 0 where there is none.
    __device__ __forceinline__ double fetched(const Arguments& a, const Point& p, int e, int there) const {
        if (there < 0) return 0.0;
#if HALO_PLANES > 0
        const GridPoint end = p.at.neighbour(e);
        if (end.k < HALO_PLANES || end.k >= a.nz - HALO_PLANES) return received<lower>(a, end, v);
#endif
        return __ldcg(results + there);
    }
    /// Column v of the sums over neighbours, in this thread's rows.
    __device__ __forceinline__ void multiply(const Arguments& a, const Point& p, double (&sums)[shares]) const {
#pragma unroll
        for (int n = 0; n < shares; ++n) sums[n] = 0.0;
        if constexpr (AHEAD) {
            double value[lowers];
#pragma unroll
            for (int l = 0; l < LOWER; ++l) value[l] = fetched(a, p, first + l, there[l]);
#pragma unroll
            for (int l = 0; l < LOWER; ++l) {
                if constexpr (scaled_there) value[l] *= scales[l];
#pragma unroll
                for (int n = 0; n < shares; ++n) sums[n] += e[l * shares + n] * value[l];
            }
        } else {
            for (int l = 0; l < LOWER; ++l) {
                const int at = p.neighbour(a, first + l);
                if (at < 0) continue;
                const double value =
                    fetched(a, p, first + l, at) * (scaled_there ? scale_at<lower>(a, a.of_triangle, v, at) : 1.0);
#pragma unroll
                for (int n = 0; n < shares; ++n)
                    if (is_share(n)) sums[n] += widened(*coefficient(a, first + l, slot, at, share(n), v)) * value;
            }
        }
    }

    /// Place of row `row` of one of a point's vectors in shared memory.
    __device__ __forceinline__ int place_of(int vector, int row) const {
        return TOGETHER ? (vector * SOLVE_POINTS + point) * DOF + row : (vector * DOF + row) * SOLVE_POINTS + point;
    }
    /// The contribution of the columns of a part to row v of a product with D^-1.
    __device__ __forceinline__ double& product_of(int of_part) const {
        __shared__ double products[PARTS * DOF * SOLVE_POINTS];
        return products[place_of(of_part, v)];
    }
    __device__ __forceinline__ double product_of_all() const {
        double sum = 0.0;
#pragma unroll(PARTS <= 8 ? PARTS : 8)
        for (int q = 0; q < PARTS; ++q) sum += product_of(q);
        return sum;
    }
    /// Row v of the sum over neighbours, in the threads of part 0. All threads of the thread block call this.
    __device__ __forceinline__ double sum_of_columns(const Arguments& a, const Point& p) const {
        __shared__ double sums[SOLVE_POINTS * DOF * (DOF + TOGETHER)];
        // Rows are padded by one value, to avoid bank conflicts.
        const auto place = [&](int row, int col) {
            return TOGETHER ? (point * DOF + row) * (DOF + 1) + col : (col * DOF + row) * SOLVE_POINTS + point;
        };
        double own[shares];
        multiply(a, p, own);
        if constexpr (DOF == 1) return own[0];
#pragma unroll
        for (int n = 0; n < shares; ++n)
            if (is_share(n)) sums[place(share(n), v)] = own[n];
        __syncthreads();
        double sum = 0.0;
        if (others_skip_sums && part > 0) return sum;
#pragma unroll(DOF <= 8 ? DOF : 8)
        for (int c = 0; c < DOF; ++c) sum += sums[place(v, c)];
        return sum;
    }
    /// Row v of the product of D^-1 and a vector. The threads of part 0 have the vector's components and get the
    /// result.
    __device__ __forceinline__ double times_inverse(double row) const {
        if constexpr (DOF == 1) return d[0] * row;
        __shared__ double rows[DOF * SOLVE_POINTS];
        if (part == 0) rows[place_of(0, v)] = row;
        __syncthreads();
        double product = 0.0;
#pragma unroll
        for (int n = 0; n < shares; ++n)
            if (is_share(n)) product += d[n] * rows[place_of(0, share(n))];
        if constexpr (PARTS == 1) return product;
        product_of(part) = product;
        __syncthreads();
        return others_skip_sums && part > 0 ? 0.0 : product_of_all();
    }
    /// Row v of the result, in the threads of part 0.
    __device__ __forceinline__ double result(const Arguments& a, const Point& p) const {
        const double sum = sum_of_columns(a, p);
        if constexpr (!UNIT) return lower ? times_inverse(mine - sum) : mine - times_inverse(sum);
        const double rest = lower ? mine : PARTS > 1 ? product_of_all() : known;
        return rest - (scaled_rows ? scale * sum : sum);
    }
};

/// v = r - W v at the points of a level, or z = D^-1 v - G z; not UNIT: y = D^-1 (r - E y), or z -= D^-1 F z.
template <bool lower>
__device__ __forceinline__ void solve_level(const Arguments& a) {
    let_next_level_begin();
    Part<lower> mine{Share<SOLVE_POINTS, DOF * PARTS>()};
    const Point p(a, blockIdx.x * SOLVE_POINTS + mine.point);
#if HALO_PLANES > 0
    if (a.begins) count_next_solve<lower>(a);
#endif
    // One block waits even if it has no points, so that this level does not end before the one before it.
    if (!__any_sync(~0u, p.exists) && blockIdx.x > 0) return;
    mine.begin(a, p);
    wait_for_level();
    const double result = mine.result(a, p);
    if (p.exists && mine.part == 0) {
        a.z[Index(mine.v) * a.slots + p.slot] = result;
#if HALO_PLANES > 0
        pass_on<lower>(a, p.at, mine.v, result);
#endif
    }
}

extern "C" __global__ void __launch_bounds__(solve_threads, 1) fgbilu_lower(const __grid_constant__ Arguments a) {
    solve_level<true>(a);
}
extern "C" __global__ void __launch_bounds__(solve_threads, 1) fgbilu_upper(const __grid_constant__ Arguments a) {
    solve_level<false>(a);
}

}  // namespace hyperplane
