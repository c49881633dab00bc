// SPDX-License-Identifier: BSD-3-Clause
// A thread block computes M^-1 r for one part of a general matrix by spinning or along the graph
// (precond/reproductions/walks.cuh).
//
//     M = L D (I + G)      L and D from the factorisation, G = D^-1 U
//
// Definitions: DOF, THREADS, SPIN (Algorithm 1, otherwise Algorithms 2 and 3), EDGES (a thread has a row of one nonzero
// block, otherwise a row of a block row).

#include "precond/reproductions/part_walk_arguments.hpp"
#include "precond/reproductions/walks.cuh"

namespace hyperplane {

typedef PartWalkArguments Arguments;
constexpr int block_size = DOF * DOF;

extern __shared__ __align__(16) double shared[];

/// Copies the factors row by row: L, D^-1 and G. A thread has one row of a block row.
extern "C" __global__ void __launch_bounds__(THREADS) pack_rows(const __grid_constant__ Arguments a) {
    const long long at = (long long)blockIdx.x * THREADS + threadIdx.x, position = at / DOF;
    if (position >= a.count) return;
    const int r = at % DOF, row = a.rows[position];
    const long long begin = a.row_begin[row], end = a.row_begin[row + 1], diagonal = a.diagonal[row];
    const double* const inverse = a.factors + (diagonal * DOF + r) * DOF;
    double* packed = a.values + a.begin[position] * block_size + r;
    for (long long from = begin; from < end; ++from, packed += block_size) {
        const double* const block = a.factors + from * block_size;
        for (int c = 0; c < DOF; ++c) {
            double value = block[r * DOF + c];
            if (from > diagonal) {
                value = 0.0;
                for (int q = 0; q < DOF; ++q) value += inverse[q] * block[q * DOF + c];
            }
            packed[c * DOF] = value;
        }
    }
}

/// The block rows of a part.
struct RowsOfPart {
    const Arguments& a;
    int base, count;

    __device__ explicit RowsOfPart(const Arguments& of) : a(of) {
        base = a.part_rows[blockIdx.x];
        count = a.part_rows[blockIdx.x + 1] - base;
    }
    __device__ int points() const { return count; }
    __device__ bool exists(int /*p*/) const { return true; }
    /// The first block of row p in L or, behind D^-1, in G.
    template <bool upper>
    __device__ long long first(int p) const {
        return __ldg(a.begin + base + p) + (upper ? __ldg(a.below + base + p) + 1 : 0);
    }
    template <bool upper>
    __device__ int couplings(int p) const {
        return upper ? int(__ldg(a.begin + base + p + 1) - first<true>(p)) : __ldg(a.below + base + p);
    }
    template <bool upper>
    __device__ int neighbour(int p, int k) const {
        return __ldg(a.columns + first<upper>(p) + k);
    }

    template <bool upper>
    struct Row {
        int p, blocks;
        const unsigned short* columns;  // of place 0
        const double* values;

        __device__ int places() const { return blocks; }
        __device__ int place(int k) const { return k + upper; }
        __device__ int neighbour(int place) const { return __ldg(columns + place); }
        __device__ double coefficient(int place, int c, int r) const {
            return __ldg(values + ((long long)place * DOF + c) * DOF + r);
        }
        __device__ double& own(int c) const { return shared[p * DOF + c]; }
        __device__ double other(int place, int c) const { return shared[neighbour(place) * DOF + c]; }
    };
    template <bool upper>
    __device__ Row<upper> row(int p) const {
        const long long at = first<upper>(p) - upper;
        return {p, couplings<upper>(p) + upper, a.columns + at, a.values + at * block_size};
    }

    /// Behind a graph's points are the numbers of couplings of those before each, and of all.
    __device__ const int* couplings_before(const LevelGraph& graph) const { return graph.order + count; }
    template <bool upper>
    __device__ int edges(const LevelGraph& graph, int first, int last) const {
        return couplings_before(graph)[last] - couplings_before(graph)[first];
    }
    template <bool upper>
    __device__ Edge edge(const LevelGraph& graph, int first, int last, int at) const {
        const int* const before = couplings_before(graph);
        const int number = before[first] + at;
        while (last - first > 1) {
            const int middle = (first + last) / 2;
            if (before[middle] <= number)
                first = middle;
            else
                last = middle;
        }
        return {graph.order[first], number - before[first]};
    }
    template <bool upper>
    __device__ void count_couplings(const LevelGraph& graph) const {
        int* const before = graph.order + count;
        if (threadIdx.x == 0) {
            before[0] = 0;
            for (int at = 0; at < count; ++at) before[at + 1] = before[at] + couplings<upper>(graph.order[at]);
        }
        __syncthreads();
    }
};

__device__ __forceinline__ LevelGraph graph_of(const RowsOfPart& s, bool upper) {
    // Numbers of a triangle: of levels, where they begin, of points and, with edges, of couplings.
    const long long fixed = EDGES ? 3 : 2, each = EDGES ? 3 : 2, own = fixed + each * s.count;
    int* const graph = s.a.graph + 2 * (fixed * blockIdx.x + each * s.base) + (upper ? own : 0);
    return {graph, graph + 1, graph + 1 + s.count + 1};
}

extern "C" __global__ void __launch_bounds__(THREADS) part_graph(const __grid_constant__ Arguments a) {
    const RowsOfPart rows(a);
    const LevelGraph lower = graph_of(rows, false), upper = graph_of(rows, true);
    if (threadIdx.x == 0) *lower.count = *upper.count = rows.count;
    __syncthreads();
    find_levels<false>(rows, rows.count, (int*)shared, lower);
    find_levels<true>(rows, rows.count, (int*)shared, upper);
    if (EDGES) {
        rows.count_couplings<false>(lower);
        rows.count_couplings<true>(upper);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) part_walk(const __grid_constant__ Arguments a) {
    const RowsOfPart rows(a);
    int* const done = (int*)(shared + rows.count * DOF);
    if (SPIN)
        for (int p = threadIdx.x; p < rows.count; p += THREADS) done[p] = 0;
    for (int at = threadIdx.x; at < rows.count * DOF; at += THREADS)
        shared[at] = __ldg(a.in + (long long)__ldg(a.rows + rows.base + at / DOF) * DOF + at % DOF);
    __syncthreads();
    solve_subdomain<SPIN, EDGES>(rows, graph_of(rows, false), graph_of(rows, true), done);
    for (int at = threadIdx.x; at < rows.count * DOF; at += THREADS)
        a.out[(long long)__ldg(a.rows + rows.base + at / DOF) * DOF + at % DOF] = shared[at];
}

}  // namespace hyperplane
