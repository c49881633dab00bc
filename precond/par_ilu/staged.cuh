// SPDX-License-Identifier: BSD-3-Clause
// A sweep over the factors of points of six or eight unknowns whose entries have many pairs: the blocks of neighbours
// are copied to shared memory in rows (precond/par_ilu/staged_copies.cuh, which also lists the definitions). Here a row
// consists of the blocks of one entry at consecutive points. A consumer warp has one point of each plane of a run; one
// more warp inverts X_0. If a block of a row is the right operand of products for the points of both planes, tensor
// cores multiply both left operands by it with one instruction.
#pragma once

#include "precond/par_ilu/staged_copies.cuh"

namespace hyperplane {

/// The term of a row that has this shift, or -1 if there is none.
__device__ constexpr int term_at(int row, int shift) {
    for (int term = row_terms[row]; term < row_terms[row + 1]; ++term)
        if (term_shift[term] == shift) return term;
    return -1;
}

/// The value that is `offset` bytes from a shared address.
template <class T, int offset>
__device__ __forceinline__ T from_shared(unsigned address) {
    return *(const T*)((const char*)__cvta_shared_to_generic(address) + offset);
}

/// A lane of a consumer warp, which has one point of each plane of a run. The lane reads the same place of every block.
struct RunSweep {
    static constexpr int plane_bytes = width * block_size * 8, row_bytes = row_size * 8;
    static_assert(steps == 2 && OPERANDS_AS_RESULTS, "a lane's columns of a left operand lie side by side");

    const Arguments& a;
    const Lane lane;
    const int place;  // of the point in its plane
    // Shared addresses of this lane's part of the first plane's block: two columns of a row for a left operand or a
    // result, and the first of two rows of a column for a right operand. A lane in the padding has the block's last
    // ones.
    unsigned left_part, right_part;
    static constexpr int next_row = DOF < 8 ? DOF * 8 : 4 * DOF * 8;  // bytes between the two rows, see place_of
    RowPipeline row;
    EntryPipeline entry;
    unsigned near;             // 16 bits for each point: bit l is set if lower neighbour l is in the grid, bit 15 if
                               // the point is; none is set in lanes of the padding
    unsigned result[planes];   // place of this lane's part of an entry, in pairs of doubles
    Operand w[LOWER][planes];  // E_l(p), then W_l(p)
    Block x[ENTRIES][planes];  // sums over pairs

    __device__ explicit RunSweep(const Arguments& arguments)
        : a(arguments), lane(threadIdx.x), place(threadIdx.x / 32) {
        const unsigned rows = shared_address(row_memory + place * block_size);
        left_part = rows + 8 * place_of(min(lane.r, DOF - 1), min(lane.c, DOF - 2));
        right_part = rows + 8 * place_of(min(lane.col(0), DOF - 2), min(lane.n, DOF - 1));
    }

    __device__ __forceinline__ int place_in_run(int plane) const { return place + plane * width; }

    __device__ __forceinline__ void begin(const Run& run) {
        const int slot = run.slot(a, place);
        near = 0;
#pragma unroll
        for (int q = 0; q < planes; ++q) {
            const int mine = slot + q * a.middle * a.inner;
            result[q] = (unsigned(mine) * block_size + lane.r * DOF + lane.c) / 2;
            if (!run.has(place_in_run(q)) || lane.c >= DOF) continue;
            const Point p(a, mine);
            near |= 0x8000u << 16 * q;
#pragma unroll
            for (int l = 0; l < LOWER; ++l)
                if (p.has_neighbour(a, l)) near |= 1u << (16 * q + l);
        }
    }
    /// Whether the point of a plane has lower neighbour l or, for l = 15, exists.
    __device__ __forceinline__ bool has(int plane, int l) const {
        return (near & 1u << (16 * plane + l)) != 0;
    }

    /// Loads E_l(p) as left operand, which is zero if there is no neighbour.
    template <int l, int offset>
    __device__ __forceinline__ void take_own(unsigned stage) {
        unrolled<0, planes>([&](auto plane) {
            constexpr int q = plane.value;
            w[l][q] = Operand{};
            if (has(q, l)) {
                const double2 values = from_shared<double2, offset + q * plane_bytes>(left_part + stage);
                w[l][q] = Operand{values.x, values.y};
            }
        });
    }

    /// Multiplies W, or E, by the blocks of a row. The block of plane p is the right operand of the first point's term
    /// with shift p, and of the second point's term with shift p - 1. With `zero` the right operand is zero in lanes of
    /// the padding.
    template <int index, int offset, bool zero, class Sum>
    __device__ __forceinline__ void multiply_row(unsigned stage, const Sum& sum) {
        constexpr int count = term_shift[row_terms[index + 1] - 1] + planes;  // terms are sorted by shift
        Operand right[count] = {};
        unrolled<0, count>([&](auto plane) {
            constexpr int p = plane.value;
            if constexpr (term_at(index, p) >= 0 || term_at(index, p - 1) >= 0)
                if (!zero || lane.n < DOF)
                    unrolled<0, steps>([&](auto step) {
                        constexpr int h = step.value;
                        right[p].v[h] =
                            from_shared<double, offset + p * plane_bytes + h * next_row>(right_part + stage);
                    });
        });
        unrolled<0, steps>([&](auto step) {
            constexpr int h = step.value;
            unrolled<0, count>([&](auto plane) {
                constexpr int p = plane.value, first = term_at(index, p), second = term_at(index, p - 1);
                const double b = right[p].v[h];
                if constexpr (first >= 0 && second >= 0)
                    Lane::multiply_add(w[term_l[first]][0].v[h], w[term_l[second]][1].v[h], b, sum(first, 0),
                                       sum(second, 1));
                else if constexpr (first >= 0)
                    Lane::multiply_add(w[term_l[first]][0].v[h], b, sum(first, 0));
                else if constexpr (second >= 0)
                    Lane::multiply_add(w[term_l[second]][1].v[h], b, sum(second, 1));
            });
        });
    }

    template <int index>
    __device__ __forceinline__ void take_row() {
        constexpr int begin = row_terms[index], end = row_terms[index + 1];
        if (index % row_warps == 0) row.wait_full();
        constexpr int offset = index % row_warps * row_bytes;
        const unsigned stage = row.at() * (row_warps * row_bytes);
        if constexpr (row_kind[index] == 0) {
            take_own<term_l[begin], offset>(stage);
        } else if constexpr (row_kind[index] == 1) {
            // Columns in the padding must be zero, because in a left operand they are multiplied by what follows the
            // block.
            Block product[end - begin][planes] = {};
            multiply_row<index, offset, DOF % 4 != 0>(
                stage, [&](int term, int q) -> Block& { return product[term - begin][q]; });
            unrolled<begin, end>([&](auto term) {
                constexpr int t = term.value;
#pragma unroll
                for (int q = 0; q < planes; ++q)
                    w[term_l[t]][q] = Operand{product[t - begin][q].v[0], product[t - begin][q].v[1]};
            });
        } else {
            unrolled<begin, end>([&](auto term) {
                constexpr int e = term_e[term.value];
                if constexpr (first_term[e] == term.value) x[e][0] = x[e][1] = Block{};
            });
            multiply_row<index, offset, false>(stage, [&](int term, int q) -> Block& { return x[term_e[term]][q]; });
        }
        if (index % row_warps == row_warps - 1 || index == ROWS - 1) row.release();
    }

    /// Subtracts the sum over pairs from A's block and stores the result; X_0 and A's block are stored for the
    /// inverting warp. Lanes of the padding store nothing.
    template <int e>
    __device__ __forceinline__ void finish(InversePipeline inverse) {
        if constexpr (a_entry[e] >= 0) entry.wait_full();
        if constexpr (e == LOWER) inverse.wait_empty();
        unrolled<0, planes>([&](auto plane) {
            constexpr int q = plane.value;
            double2 own{};
            if constexpr (a_entry[e] >= 0)
                own = from_shared<double2, entries_place * 8 + q * plane_bytes>(left_part +
                                                                                entry.at() * (entry_size * 8));
            if constexpr (e == LOWER) {
                double* const to = row_memory + inverse_place + inverse.at() * 2 * inverse_size +
                                   place_in_run(q) * staged_size + lane.r * DOF + lane.c;
#pragma unroll
                for (int m = 0; m < 2; ++m) {
                    const double value = m ? own.y : own.x;
                    const double shifted = lane.r == lane.c + m ? value + a.alpha * value : value;
                    if (lane.inside(m)) to[m] = shifted - x[e][q].v[m], to[inverse_size + m] = value;
                }
            } else if (has(q, 15) && lane.in_rows) {
                __stcs((double2*)a.entry[e].after + result[q], double2{own.x - x[e][q].v[0], own.y - x[e][q].v[1]});
            }
        });
        if constexpr (e == LOWER) inverse.commit();
        if constexpr (a_entry[e] >= 0) entry.release();
    }

    __device__ __forceinline__ void take(InversePipeline inverse) {
        unrolled<0, ROWS>([&](auto index) {
            constexpr int r = index.value;
            take_row<r>();
            unrolled<row_terms[r], row_terms[r + 1]>([&](auto term) {
                if constexpr (row_kind[r] == 2 && last_term[term_e[term.value]] == term.value)
                    finish<term_e[term.value]>(inverse);
            });
        });
    }
};

/// The inverting warp: inverts X_0 of one run after the other and stores D^-1; the last sweep reports on pivots.
__device__ void invert_runs(const Arguments& a) {
    constexpr int warp_points = 4;
    const int lane = threadIdx.x % 32;
    for_each_run(a, false, [&](const Run& run, InversePipeline pipe) {
        double* const blocks = row_memory + inverse_place + pipe.at() * 2 * inverse_size;
        pipe.wait_full();
#pragma unroll 1
        for (int first = 0; first < run_points; first += warp_points) {
            double* const mine = blocks + (first + lane / 8) * staged_size;
            const int mine_at = first + lane / 8;
            invert_columns(a, mine, mine + inverse_size, run.has(mine_at) ? run.slot(a, mine_at) : -1,
                           a.ratio != nullptr);
            __syncwarp();
            for (int q = lane; q < warp_points * block_size; q += 32) {
                const int at = first + q / block_size, element = q % block_size;
                if (run.has(at))
                    __stcs(a.entry[LOWER].after + (size_t)run.slot(a, at) * block_size + element,
                           blocks[at * staged_size + element]);
            }
        }
        pipe.release();
    });
}

extern "C" __global__ void __launch_bounds__(row_threads, 1) factor_sweep(const __grid_constant__ Arguments a) {
    const int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        RowPipeline::init(32 * row_warps);
        EntryPipeline::init(32);
        InversePipeline::init(consumers);
        RunPipeline::init(1);
    }
    __syncthreads();
    if (warp == consumers + row_warps + 1) return invert_runs(a);
    if (warp == consumers + row_warps) return produce_entries(a);
    if (warp >= consumers) return produce_rows(a, __shfl_sync(~0u, warp, 0) - consumers);  // uniform in a warp
    RunSweep mine(a);
    for_each_run(a, false, [&](const Run& run, InversePipeline inverse) {
        mine.begin(run);
        mine.take(inverse);
    });
}

}  // namespace hyperplane
