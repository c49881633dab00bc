// SPDX-License-Identifier: BSD-3-Clause
// Products of blocks of three to eight unknowns on tensor cores: a warp has one block at a time, or two of up to four
// unknowns, in registers. Definitions: DOF, OPERANDS_AS_RESULTS.
//
// A product is D = A B + C with 8 x 4 values of A, 4 x 8 of B and 8 x 8 of C, D (mma.m8n8k4), twice where a block has
// more than four columns. Of two blocks, one has rows and columns 0 to 3, the other 4 to 7; the parts of their
// products off the diagonal are not used.
#pragma once

#include "precond/factors/gauss_jordan.hpp"

namespace hyperplane {

constexpr int points = DOF <= 4 ? 2 : 1, size = 8 / points;  // of a warp; rows of a block with its padding
constexpr int steps = size == 4 ? 1 : 2;                     // products of 4 columns
constexpr int block_size = DOF * DOF;

/// A block as a result: rows lane / 4, columns 2 (lane % 4) and the next.
struct Block {
    double v[2];
};
/// As a left operand: row lane / 4, columns col(h). As a right one: rows col(h), column lane / 4.
struct Operand {
    double v[steps];
};

/// A lane's part of blocks.
struct Lane {
    const int lane, which;  // of the warp's blocks
    const int r, c;         // row and first column of a result
    const int n;            // row of a left operand, column of a right one
    const bool in_rows;     // of a result

    __device__ explicit Lane(int thread)
        : lane(thread % 32),
          which(points == 2 ? lane / 16 : 0),
          r(lane / 4 - size * which),
          c(2 * (lane % 4) - size * which),
          n(r),
          in_rows(r < DOF) {}

    /// This lane's column of a left operand and row of a right one. Their order is free. With OPERANDS_AS_RESULTS a
    /// lane's part of a result is its part of a left operand, or half of it; else its rows of a right operand are
    /// consecutive.
    __device__ __forceinline__ int col(int h) const {
        const int k = lane % 4;
        return !OPERANDS_AS_RESULTS ? k + 4 * h : steps == 2 ? 2 * k + h : 2 * (k % 2) + (k / 2 ^ which);
    }

    /// Whether this thread's columns of a result are the block's.
    __device__ bool inside(int m) const { return in_rows && unsigned(c + m) < unsigned(DOF); }

    __device__ static double from(double value, int lane_) { return __shfl_sync(~0u, value, lane_); }

    /// Column `column` of this thread's row of a result; each thread may choose another column.
    __device__ static double of_row(const Block& x, int row, int column) {
        const int source = 4 * row + column / 2;
        const double even = from(x.v[0], source), odd = from(x.v[1], source);
        return column % 2 ? odd : even;
    }
    __device__ Operand as_left(const Block& x) const {
        Operand left;
        if constexpr (!OPERANDS_AS_RESULTS) {
#pragma unroll
            for (int h = 0; h < steps; ++h) {
                const double value = of_row(x, lane / 4, col(h) + size * which);
                left.v[h] = col(h) < DOF ? value : 0.0;
            }
        } else if constexpr (steps == 2) {
#pragma unroll
            for (int h = 0; h < steps; ++h) left.v[h] = col(h) < DOF ? x.v[h] : 0.0;
        } else {
            const double others = __shfl_xor_sync(~0u, x.v[1], 2);
            left.v[0] = col(0) >= DOF ? 0.0 : lane % 4 / 2 == which ? x.v[0] : others;
        }
        return left;
    }
    __device__ Operand as_right(const Block& x) const {
        Operand right;
#pragma unroll
        for (int h = 0; h < steps; ++h) right.v[h] = of_row(x, col(h) + size * which, lane / 4);
        return right;
    }
    /// sum += left right, of four columns of `left`.
    __device__ static void multiply_add(double left, double right, Block& sum) {
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
            : "+d"(sum.v[0]), "+d"(sum.v[1])
            : "d"(left), "d"(right));
    }
    /// The same of two left operands and sums, in the time of one (mma.m16n8k4).
    __device__ static void multiply_add(double left, double other_left, double right, Block& sum, Block& other_sum) {
#if __CUDA_ARCH__ >= 900
        asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
            : "+d"(sum.v[0]), "+d"(sum.v[1]), "+d"(other_sum.v[0]), "+d"(other_sum.v[1])
            : "d"(left), "d"(other_left), "d"(right));
#else
        multiply_add(left, right, sum);
        multiply_add(other_left, right, other_sum);
#endif
    }
    /// sum += sign * left right
    template <int sign>
    __device__ static void multiply_add(const Operand& left, const Operand& right, Block& sum) {
#pragma unroll
        for (int h = 0; h < steps; ++h) multiply_add(sign * left.v[h], right.v[h], sum);
    }

    /// Step p of the Gauss-Jordan elimination of x (FGBILU paper, Algorithm 8). `row`: p's of the result; `here`:
    /// column p of this thread's row.
    __device__ __forceinline__ void eliminate(Block& x, int p, int row, double here, double inverse) const {
#pragma unroll
        for (int m = 0; m < 2; ++m) {
            const double above = from(x.v[m], 4 * row + lane % 4);
            const double scaled = scaled_by_pivot(c + m == p, above, inverse);
            x.v[m] = eliminated(r == p, c + m == p, x.v[m], here, scaled);
        }
    }

    /// Where this lane's value of a right operand lies in a block, or in its transpose. Lanes of rows and columns
    /// beyond the block read its last ones: these are multiplied by zeros of the left operand, or contribute to results
    /// outside.
    __device__ int place_of(bool transposed, int h) const {
        const int row = min(col(h), DOF - 1), column = min(n, DOF - 1);
        return transposed ? column * DOF + row : row * DOF + column;
    }
};

}  // namespace hyperplane
