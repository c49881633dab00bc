// SPDX-License-Identifier: BSD-3-Clause
// Products of blocks of three to eight unknowns on tensor cores: a warp has one block at a time in registers, or two if
// there are at most four unknowns. Definitions: DOF, OPERANDS_AS_RESULTS.
//
// One instruction, mma.m8n8k4, computes D = A B + C, where A is 8 x 4, B is 4 x 8, and C and D are 8 x 8; blocks of
// more than four columns need two. If a warp has two blocks, one takes rows and columns 0 to 3, the other 4 to 7, and
// the off-diagonal parts of the result are not used.
#pragma once

#include "precond/factors/gauss_jordan.hpp"
#include "precond/factors/mma.cuh"

namespace hyperplane {

constexpr int points = DOF <= 4 ? 2 : 1, size = 8 / points;  // blocks of a warp; rows of a padded block
constexpr int steps = size == 4 ? 1 : 2;                     // instructions for a product
constexpr int block_size = DOF * DOF;

/// A lane's part of a block that is a result: row lane / 4, column 2 (lane % 4) and the next one.
struct Block {
    double v[2];
};
/// A lane's part of a block that is an operand. Left: row lane / 4, columns col(h). Right: rows col(h), column lane /
/// 4.
struct Operand {
    double v[steps];
};

/// Which parts of blocks a lane has.
struct Lane {
    const int lane, which;  // which of the warp's blocks
    const int r, c;         // row and first column of a result
    const int n;            // row of a left operand, column of a right one
    const bool in_rows;     // whether r is a row of the block, not of its padding

    __device__ explicit Lane(int thread)
        : lane(thread % 32),
          which(points == 2 ? lane / 16 : 0),
          r(lane / 4 - size * which),
          c(2 * (lane % 4) - size * which),
          n(r),
          in_rows(r < DOF) {}

    /// This lane's column of a left operand, and its row of a right one. A product may take columns in any order. With
    /// OPERANDS_AS_RESULTS the order is such that a lane's part of a result is its part of a left operand, or half of
    /// it; otherwise such that the four lanes have consecutive rows of a right operand. It is the same for both blocks
    /// of a warp, so that the last bits of a product do not depend on where its point is.
    __device__ __forceinline__ int col(int h) const {
        const int k = lane % 4;
        return !OPERANDS_AS_RESULTS ? k + 4 * h : steps == 2 ? 2 * k + h : 2 * (k % 2) + k / 2;
    }

    /// Whether this lane's element c + m of a result is in the block, not in its padding.
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
            const double others = __shfl_xor_sync(~0u, which == 0 ? x.v[1] : x.v[0], 2);
            left.v[0] = col(0) >= DOF ? 0.0 : lane % 4 / 2 != which ? others : which == 0 ? x.v[0] : x.v[1];
        }
        return left;
    }
    __device__ Operand as_right(const Block& x) const {
        Operand right;
#pragma unroll
        for (int h = 0; h < steps; ++h) right.v[h] = of_row(x, col(h) + size * which, lane / 4);
        return right;
    }
    /// sum += left right, for four columns of `left`.
    __device__ static void multiply_add(double left, double right, Block& sum) {
        multiply_add_8x8x4(left, right, sum.v);
    }
    /// The same for two left operands and two sums, in the time of one.
    __device__ static void multiply_add(double left, double other_left, double right, Block& sum, Block& other_sum) {
        multiply_add_16x8x4(left, other_left, right, sum.v, other_sum.v);
    }
    /// sum += sign * left right
    template <int sign>
    __device__ static void multiply_add(const Operand& left, const Operand& right, Block& sum) {
#pragma unroll
        for (int h = 0; h < steps; ++h) multiply_add(sign * left.v[h], right.v[h], sum);
    }

    /// Step p of the Gauss-Jordan elimination of x (FGBILU paper, Algorithm 5). `row` is the row of the result that has
    /// p, and `here` is column p of this lane's row.
    __device__ __forceinline__ void eliminate(Block& x, int p, int row, double here, double inverse) const {
#pragma unroll
        for (int m = 0; m < 2; ++m) {
            const double above = from(x.v[m], 4 * row + lane % 4);
            const double scaled = scaled_by_pivot(c + m == p, above, inverse);
            x.v[m] = eliminated(r == p, c + m == p, x.v[m], here, scaled);
        }
    }

    /// Replaces x by its inverse, or by zero if a pivot cannot be used (Gauss-Jordan elimination, FGBILU paper,
    /// Algorithm 5). precond/struct_ilu/tensor.cuh has a second text of it, with the same steps (`eliminate`): there
    /// other points of the tile wait for each inversion, so what a caller does here in `usable` is put off or cut
    /// short. `own` is A's block; `usable(p, pivot, own diagonal, scale)` returns the pivot to divide by, or 0 if it
    /// cannot be used, where `scale` is the largest coefficient of x and of A's block.
    template <class Usable>
    __device__ __forceinline__ void invert(Block& x, const Block& own, const Usable& usable) const {
        double scale = 0.0;
#pragma unroll
        for (int m = 0; m < 2; ++m)
            if (inside(m)) scale = fmax(scale, fmax(fabs(own.v[m]), fabs(x.v[m])));
#pragma unroll
        for (int step = 16 / points; step > 0; step /= 2) scale = fmax(scale, __shfl_xor_sync(~0u, scale, step));
        bool gave_up = false;
#pragma unroll
        for (int p = 0; p < DOF; ++p) {
            const int row = p + size * which;  // row and column of the pivot in the result
            const int lane_of_pivot = 4 * row + row / 2;
            const double met = from(x.v[p % 2], lane_of_pivot), diagonal = from(own.v[p % 2], lane_of_pivot);
            const double here = from(x.v[p % 2], lane / 4 * 4 + row / 2);
            double pivot = 1.0;
            if (!gave_up) {
                pivot = usable(p, met, diagonal, scale);
                if (pivot == 0.0) gave_up = true, pivot = 1.0;
            }
            eliminate(x, p, row, here, 1.0 / pivot);
        }
#pragma unroll
        for (int m = 0; m < 2; ++m)
            if (gave_up || !inside(m)) x.v[m] = 0.0;
    }

    /// The place of this lane's value of a right operand in a block or in its transpose. Lanes in the padding read what
    /// other lanes read in the same instruction, which costs no further sector of memory: of a row in the padding the
    /// values are multiplied by zeros of the left operand, and of a column there they contribute to elements in the
    /// padding of the result.
    __device__ int place_of(bool transposed, int h) const {
        const int row = col(h) < DOF ? col(h) : min(col(h) % (size / steps), DOF - 1);
        const int column = min(n, DOF - 1);
        return transposed ? column * DOF + row : row * DOF + column;
    }
};

}  // namespace hyperplane
