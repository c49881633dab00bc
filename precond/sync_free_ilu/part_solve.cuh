// SPDX-License-Identifier: BSD-3-Clause
// Both solves with the factors of parts that do not depend on each other, in one kernel (Gondhalekar, Haugen, Gibson,
// Feng, Mapping Sparse Triangular Solves to GPUs via Fine-grained Domain Decomposition, sections 3 and 4.4).
//
//     M = L D (I + G)      L and D from the factorisation, G = D^-1 U
//
// A thread block has one part. It reads the part's right-hand side into shared memory, goes through the levels of L and
// then through those of I + G, where each row begins with its own multiplication with D^-1, and writes the result; so
// r, z and the factors are moved once. Rows of a level are packed in slices of as many rows as a warp has threads for,
// a thread for each row of the system; its coefficients lie beside those of its neighbours, so a warp reads whole
// lines. A warp asks for its next slice before it waits for the level to end, since factors, unlike the vector, do not
// depend on what is computed. Within a part rows are numbered by the levels of L, with 16 bits.
//
// Factors in reduced precision are W, D^-1 and G, rounded before they are packed; the scales of a row multiply its
// sums.
//
// Definitions: DOF, THREADS (of a thread block), STORAGE (precond/factors/reduced_values.cuh); UNFUSED: a kernel for
// each solve.

#include "precond/factors/reduced_values.cuh"
#include "precond/sync_free_ilu/part_arguments.hpp"

namespace hyperplane {

constexpr int ahead = DOF < 6 ? 12 / (DOF + 1) : 1;           // entries of a row that are loaded ahead
constexpr int batch = DOF == 1 ? 4 : DOF <= 3 ? 2 : 1;        // those that are loaded together after these
constexpr int resident = DOF <= 4 && THREADS <= 192 ? 4 : 1;  // thread blocks of a solve on a multiprocessor

constexpr bool reduced = STORAGE != 0;

/// Copies the factors to the slices: L, U multiplied with D^-1 unless it is that already, and, by the slices of U,
/// D^-1. A warp has one slice.
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
    const Value* const factors = (const Value*)a.factors;
    const Value* const inverse = factors + (diagonal * DOF + r) * DOF;
    for (int e = 0; e < slice.length; ++e) {
        const Value* const block = factors + (begin + e) * DOF * DOF;
        Value* const packed = (Value*)side.values + (slice.block + e * slice.rows) * DOF * DOF + lane;
        for (int c = 0; c < DOF; ++c) {
            Value value = 0;
            if (begin + e < end) {
                if (upper && !reduced)
                    for (int q = 0; q < DOF; ++q) value += inverse[q] * block[q * DOF + c];
                else
                    value = block[r * DOF + c];
            }
            packed[c * slice.rows * DOF] = value;
        }
    }
    const long long position = slice.first + i, all_rows = a.rows_of_pattern;
    if (scaled_rows) side.exponents[position * DOF + r] = a.exponents[((upper ? 2 : 0) * all_rows + row) * DOF + r];
    if (!upper) return;
    if (scaled_rows) a.inverse_exponents[position * DOF + r] = a.exponents[(all_rows + row) * DOF + r];
    for (int c = 0; c < DOF; ++c)
        ((Value*)a.inverse)[(long long)slice.first * DOF * DOF + c * slice.rows * DOF + lane] = inverse[c];
}

/// One triangle of a part, as a warp goes through its slices of it. Offsets are from the part's first row and block.
template <bool upper>
struct Slices {
    const PartSlice* slices;
    const int* level_slices;
    const unsigned short *local, *columns;
    const Value *values, *inverse;
    const unsigned char *exponents, *inverse_exponents;
    int base;
    long long first_block;
    int level, last_level;  ///< of the slice that is loaded next
    int at, end;            ///< that slice, and the end of its level
    PartSlice next;

    // The slice that has been loaded.
    int its_level, rows, length, block;
    int own;  ///< the number of this thread's row
    int column[ahead];
    Value value[ahead][DOF], inverse_row[DOF];
    unsigned char exponent, inverse_exponent;  ///< of half_scaled

    __device__ Slices(const PartArguments& a, int part) {
        const PartSide& side = upper ? a.upper : a.lower;
        base = a.part_rows[part];
        level = side.part_levels[part], last_level = side.part_levels[part + 1];
        slices = side.slices, level_slices = side.level_slices;
        local = side.local + base;
        inverse = (const Value*)a.inverse + (long long)base * DOF * DOF;
        exponents = side.exponents, inverse_exponents = a.inverse_exponents;
        at = level_slices[level], end = level_slices[level + 1];
        first_block = slices[at].block;
        columns = side.columns + first_block;
        values = (const Value*)side.values + first_block * DOF * DOF;
        at += threadIdx.x / 32;
        find();
        load();
    }

    /// The warp's next slice, from `at` on. What is read here is used a slice later, so nothing waits for it.
    __device__ void find() {
        while (level < last_level && at >= end) {
            if (++level == last_level) return;
            at = end + threadIdx.x / 32;
            end = __ldg(level_slices + level + 1);
        }
        if (level < last_level) next = slices[at];
    }

    __device__ void load() {
        its_level = level;
        if (level == last_level) return;
        rows = next.rows, length = next.length, block = int(next.block - first_block);
        const int first = next.first - base, lane = threadIdx.x % 32, i = lane / DOF, width = rows * DOF;
        if (i < rows) {
            own = __ldg(local + first + i);
            if (scaled_rows) exponent = __ldg(exponents + (long long)next.first * DOF + lane);
            if (upper) {
                if (scaled_rows) inverse_exponent = __ldg(inverse_exponents + (long long)next.first * DOF + lane);
                const Value* const from = inverse + (long long)first * DOF * DOF + lane;
#pragma unroll
                for (int c = 0; c < DOF; ++c) inverse_row[c] = __ldcs(from + c * width);
            }
            const unsigned short* const numbers = columns + block + i;
            const Value* const from = values + (long long)block * DOF * DOF + lane;
#pragma unroll
            for (int b = 0; b < ahead; ++b)
                if (b < length) {
                    column[b] = __ldg(numbers + b * rows);
#pragma unroll
                    for (int c = 0; c < DOF; ++c) value[b][c] = __ldcs(from + (b * DOF + c) * width);
                }
        }
        at += THREADS / 32;
        find();
    }

    /// What is left of a row after the entries that were loaded ahead.
    __device__ double subtract_rest(double sum, const double* x) const {
        const int lane = threadIdx.x % 32, i = lane / DOF, width = rows * DOF;
        for (int e = ahead; e < length; e += batch) {
            Value more[batch][DOF];
            int number[batch];
#pragma unroll
            for (int b = 0; b < batch; ++b)
                if (e + b < length) {
                    const long long packed = block + (long long)(e + b) * rows;
                    number[b] = __ldg(columns + packed + i);
#pragma unroll
                    for (int c = 0; c < DOF; ++c) more[b][c] = __ldcs(values + packed * DOF * DOF + c * width + lane);
                }
#pragma unroll
            for (int b = 0; b < batch; ++b)
                if (e + b < length) {
#pragma unroll
                    for (int c = 0; c < DOF; ++c) sum -= widened(more[b][c]) * x[number[b] * DOF + c];
                }
        }
        return sum;
    }

    /// The rows of the loaded slice.
    __device__ void solve_slice(double* x) const {
        const int lane = threadIdx.x % 32, r = lane % DOF;
        const bool active = lane / DOF < rows;
        double* const row = x + (active ? own * DOF : 0);
        double sum = 0.0;
        if (active) {
            double own = 0.0;
            if (upper) {
#pragma unroll
                for (int c = 0; c < DOF; ++c) own += widened(inverse_row[c]) * row[c];
                if (scaled_rows) own *= scale_of(inverse_exponent);
            } else {
                own = row[r];
            }
            if (!reduced) sum = own;
#pragma unroll
            for (int b = 0; b < ahead; ++b)
                if (b < length) {
#pragma unroll
                    for (int c = 0; c < DOF; ++c) sum -= widened(value[b][c]) * x[column[b] * DOF + c];
                }
            sum = subtract_rest(sum, x);
            if (reduced) sum = own + (scaled_rows ? scale_of(exponent) * sum : sum);
        }
        if (upper) __syncwarp();
        if (active) row[r] = sum;
    }

    /// x = T^-1 x for the unit triangle T of the part, or T^-1 D^-1 x for the upper one.
    __device__ void solve(double* x, int first_level) {
        for (int one = first_level; one < last_level; ++one) {
            while (its_level == one) {
                solve_slice(x);
                load();
            }
            __syncthreads();
        }
    }
};

/// The rows of a part, and its vector in shared memory, where rows are numbered by the levels of L.
struct PartVector {
    const PartArguments& a;
    double* x;
    int base, values;

    __device__ PartVector(const PartArguments& of, double* shared) : a(of), x(shared) {
        base = a.part_rows[blockIdx.x];
        values = (a.part_rows[blockIdx.x + 1] - base) * DOF;
    }
    /// Calls body(address in the vector, place in memory) for the values of this thread.
    template <class Body>
    __device__ void for_each(const Body& body) const {
#pragma unroll 4
        for (int at = threadIdx.x; at < values; at += THREADS) {
            const int place = base + at / DOF, c = at % DOF;
            body(x + __ldg(a.places + place) * DOF + c, (long long)__ldg(a.rows + place) * DOF + c);
        }
    }
    __device__ void store() const {
        double* const out = a.out;
        for_each([&](const double* value, long long place) { out[place] = *value; });
    }
};

#if UNFUSED

// In two kernels: first the lower solve, whose result is the right-hand side of the upper one and is overwritten by it.
template <bool upper>
__device__ __forceinline__ void solve_triangle(const PartArguments& a, double* x) {
    const PartVector vector(a, x);
    Slices<upper> slices(a, blockIdx.x);
    const double* const in = a.in;
    vector.for_each([&](double* value, long long place) { *value = in[place]; });
    __syncthreads();
    slices.solve(x, (upper ? a.upper : a.lower).part_levels[blockIdx.x]);
    vector.store();
}

extern "C" __global__ void __launch_bounds__(THREADS, resident)
    solve_lower_parts(const __grid_constant__ PartArguments a) {
    extern __shared__ double part_vector[];
    solve_triangle<false>(a, part_vector);
}
extern "C" __global__ void __launch_bounds__(THREADS, resident)
    solve_upper_parts(const __grid_constant__ PartArguments a) {
    extern __shared__ double part_vector[];
    solve_triangle<true>(a, part_vector);
}

#else

extern "C" __global__ void __launch_bounds__(THREADS, resident) solve_parts(const __grid_constant__ PartArguments a) {
    extern __shared__ double part_vector[];
    double* const x = part_vector;
    const int part = blockIdx.x;
    {
        Slices<false> lower(a, part);
        const double* const in = a.in;
        PartVector(a, x).for_each([&](double* value, long long place) { *value = __ldg(in + place); });
        __syncthreads();
        lower.solve(x, a.lower.part_levels[part]);
    }
    Slices<true> upper(a, part);
    upper.solve(x, a.upper.part_levels[part]);
    PartVector(a, x).store();  // its size would take registers that the solves have no room for
}

#endif

}  // namespace hyperplane
