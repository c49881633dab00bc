// SPDX-License-Identifier: BSD-3-Clause
// The factorisation of a point of five to eight unknowns by a warp, on tensor cores (tensor_blocks.cuh), where the
// eliminations are tables that a kernel reads while it runs. Registers cannot be indexed by such tables, so the blocks
// X_e of the point lie in shared memory:
//
//     for each lower l    X_e(p) -= E_l(p) G_u(p+l) for all u, e = l + u;    W_l(p) = E_l(p) D^-1(p+l)
//                         D^-1(p) = inverse of X_0(p);                       G_u(p) = D^-1(p) X_u(p)
//
// A block has 8 x 8 values there, those beyond DOF are zeros. A lane has the same two values of a block as of a result
// and as of a left operand, so it reads only what it has written itself, except in PointBlocks::scale.
#pragma once

#include "precond/factors/pivot_log.hpp"
#include "precond/factors/tensor_blocks.cuh"

namespace hyperplane {

static_assert(points == 1 && steps == 2 && OPERANDS_AS_RESULTS, "a lane's part of a left operand is that of a result");

constexpr int padded_block = 64;

/// The place of coefficient (row, col) in a block in shared memory.
__device__ __forceinline__ int padded_place(int row, int col) {
    return row * 8 + col;
}

/// A lane of the warp that has a point, and the point's blocks in shared memory, [entry][8][8].
struct PointBlocks : Lane {
    double* const blocks;

    __device__ PointBlocks(int thread, double* blocks_) : Lane(thread), blocks(blocks_) {}

    __device__ __forceinline__ Block at(int e) const {
        const double2 two = *(const double2*)(blocks + e * padded_block + 2 * lane);
        return {two.x, two.y};
    }
    __device__ __forceinline__ void put(int e, const Block& x) const {
        *(double2*)(blocks + e * padded_block + 2 * lane) = double2{x.v[0], x.v[1]};
    }
    /// A block whose padding is zero as left operand.
    __device__ __forceinline__ static Operand left(const Block& x) { return {x.v[0], x.v[1]}; }
    /// X_e, or what is stored in its place, as right operand. Lanes read what others have put.
    __device__ __forceinline__ Operand right_at(int e) const {
        Operand x;
#pragma unroll
        for (int h = 0; h < steps; ++h) x.v[h] = blocks[e * padded_block + padded_place(col(h), n)];
        return x;
    }
    /// A right operand whose coefficients `coefficient(row, col)` returns; it is called inside the block alone.
    template <class Coefficient>
    __device__ __forceinline__ Operand right(const Coefficient& coefficient) const {
        Operand x;
#pragma unroll
        for (int h = 0; h < steps; ++h) x.v[h] = n < DOF && col(h) < DOF ? coefficient(col(h), n) : 0.0;
        return x;
    }

    /// X_e -= left right for the pairs [begin, end): `target(pair)` is e, or -1 if the pair is left out, and
    /// `right(pair)` loads the right operand. The pairs have different e, and `at_once` loads are under way together.
    template <int at_once, class Target, class Right>
    __device__ __forceinline__ void subtract(const Operand& left, int begin, int end, const Target& target,
                                             const Right& right) const {
        const Operand minus = {-left.v[0], -left.v[1]};
#pragma unroll 1
        for (int first = begin; first < end; first += at_once) {
            Operand met[at_once];
            int to[at_once];
#pragma unroll
            for (int q = 0; q < at_once; ++q) to[q] = first + q < end ? target(first + q) : -1;
#pragma unroll
            for (int q = 0; q < at_once; ++q) {
                met[q] = {0.0, 0.0};
                if (to[q] >= 0) met[q] = right(first + q);
            }
#pragma unroll
            for (int q = 0; q < at_once; ++q) {
                if (to[q] < 0) continue;
                Block x = at(to[q]);
                multiply_add<1>(minus, met[q], x);
                put(to[q], x);
            }
        }
    }
    /// W_l = left right
    __device__ __forceinline__ void put_product(int l, const Operand& left, const Operand& right) const {
        Block w{};
        multiply_add<1>(left, right, w);
        put(l, w);
    }
    /// X_e = left X_e. Lanes read what others have put: the warp calls __syncwarp() before the first of several calls.
    __device__ __forceinline__ void scale(int e, const Operand& left) const {
        const Operand x = right_at(e);
        Block product{};
        multiply_add<1>(left, x, product);
        __syncwarp();
        put(e, product);
    }

    /// The inverse of x, or zero if a pivot cannot be used; `own` is A's block, `row` the point's number in the grid.
    /// Sets `ratio` to the smallest |pivot| / |A's diagonal|, in lane 0.
    __device__ __forceinline__ Block inverted(Block x, const Block& own, const PivotJudge& judge, long long row,
                                              double& ratio) const {
        double mine = 1.0, diagonal = 1.0;  // of row `lane`
        invert(x, own, [&](int q, double met, double its, double scale) {
            if (lane == q) mine = met, diagonal = its;
            return judge.usable(met, its, scale, row * DOF + q, lane == 0);
        });
        ratio = fmin(1.0, judge.ratio(mine, diagonal));
#pragma unroll
        for (int step = 4; step > 0; step /= 2) ratio = fmin(ratio, __shfl_xor_sync(~0u, ratio, step));
        return x;
    }

    /// Writes a block to `to`, row by row.
    __device__ __forceinline__ void store(double* to, const Block& x) const {
        double* const mine = to + r * DOF + c;
        if (DOF % 2 == 0) {
            if (inside(0)) *(double2*)mine = double2{x.v[0], x.v[1]};
        } else {
#pragma unroll
            for (int m = 0; m < 2; ++m)
                if (inside(m)) mine[m] = x.v[m];
        }
    }
};

}  // namespace hyperplane
