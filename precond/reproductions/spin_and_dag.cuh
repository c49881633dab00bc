// SPDX-License-Identifier: BSD-3-Clause
// A thread block computes M^-1 r for one box of a grid by spinning or along the graph
// (precond/reproductions/walks.cuh). Factors are stored point by point (SubdomainOrder::Rows::by_point).
//
// Definitions, besides those of precond/subdomain/cells.cuh: OFFSET_X, OFFSET_Y, OFFSET_Z {coordinates of the lower
// entries' offsets}, MOST_LEVELS (largest number of levels of a triangle), SPIN (Algorithm 1, otherwise Algorithms 2
// and 3), EDGES (a thread has a row of one nonzero block, otherwise a row of a point).

#include "precond/reproductions/walks.cuh"
#include "precond/subdomain/cells.cuh"

namespace hyperplane {

TABLE offset_x[] = OFFSET_X;
TABLE offset_y[] = OFFSET_Y;
TABLE offset_z[] = OFFSET_Z;
constexpr int points_of_box = SX * SY * SZ, block_size = DOF * DOF;
constexpr int triangle_graph = 1 + MOST_LEVELS + 1 + points_of_box;

/// The scale of a point's row of W, G or D^-1 (part 0, 1 or 2); 1 if rows are not scaled.
__device__ __forceinline__ double scale_of_row(const Value* factors, int part, int p, int r) {
    if (!scaled_rows) return 1.0;
    const unsigned char* const kept = (const unsigned char*)(factors + points_of_box * (2 * LOWER + 1) * block_size);
    return scale_of(__ldg(kept + (part * points_of_box + p) * DOF + r));
}

/// The points of a box.
struct BoxOfPoints {
    const Arguments& a;
    const Box& box;
    const Value* factors;

    struct Point {
        int i, j, k;
        __device__ explicit Point(int local) : i(local % SX), j(local / SX % SY), k(local / (SX * SY)) {}
    };

    __device__ int points() const { return points_of_box; }
    __device__ bool exists(int p) const {
        const Point at(p);
        return box.x + at.i < a.nx && box.y + at.j < a.ny && box.z + at.k < a.nz;
    }
    template <bool upper>
    __device__ int couplings(int /*p*/) const {
        return LOWER;
    }
    /// The neighbour at the lower entry e or at its mirror, or -1 if it is outside the subdomain or the grid.
    template <bool upper>
    __device__ int neighbour(int p, int e) const {
        constexpr int sign = upper ? -1 : 1;
        const Point at(p);
        const int x = at.i + sign * offset_x[e], y = at.j + sign * offset_y[e], z = at.k + sign * offset_z[e];
        if (unsigned(x) >= SX || unsigned(y) >= SY || unsigned(z) >= SZ) return -1;
        if (box.x + x >= a.nx || box.y + y >= a.ny || box.z + z >= a.nz) return -1;
        return x + SX * (y + SY * z);
    }

    /// Column c of the block at a place begins at (place DOF + c) DOF. In the upper triangle D^-1 is at place 0.
    template <bool upper>
    struct Row {
        const BoxOfPoints& s;
        int p, cell;
        const Value* w;

        __device__ int places() const { return LOWER + upper; }
        __device__ int place(int e) const { return upper ? LOWER - e : e; }
        __device__ int entry(int place) const { return upper ? LOWER - place : place; }
        __device__ int neighbour(int place) const { return s.neighbour<upper>(p, entry(place)); }
        __device__ double coefficient(int place, int c, int r) const {
            const double value = widened(__ldg(w + (place * DOF + c) * DOF + r));
            return scaled_rows ? value * scale_of_row(s.factors, upper && place == 0 ? 2 : upper, p, r) : value;
        }
        __device__ double& own(int c) const { return vector_begin()[c * CELLS + cell]; }
        __device__ double other(int place, int c) const {
            return vector_begin()[c * CELLS + cell + cell_delta<upper>(entry(place))];
        }
    };
    template <bool upper>
    __device__ Row<upper> row(int p) const {
        const int first = upper ? points_of_box * LOWER + p * (LOWER + 1) : p * LOWER;
        return {*this, p, __ldg(a.cells + p), factors + first * block_size};
    }

    template <bool upper>
    __device__ int edges(const LevelGraph& /*graph*/, int first, int last) const {
        return (last - first) * LOWER;
    }
    template <bool upper>
    __device__ Edge edge(const LevelGraph& graph, int first, int /*last*/, int at) const {
        return {graph.order[first + at / LOWER], at % LOWER};
    }
};

__device__ __forceinline__ LevelGraph graph_of(const Arguments& a, bool upper) {
    int* const graph = a.graph + (2ll * blockIdx.x + upper) * triangle_graph;
    return {graph, graph + 1, graph + 1 + MOST_LEVELS + 1};
}

extern "C" __global__ void __launch_bounds__(THREADS) subdomain_graph(const __grid_constant__ Arguments a) {
    const Box box(a);
    const BoxOfPoints points{a, box, nullptr};
    const LevelGraph lower = graph_of(a, false), upper = graph_of(a, true);
    if (threadIdx.x == 0) *lower.count = *upper.count = MOST_LEVELS;
    __syncthreads();
    find_levels<false>(points, MOST_LEVELS, (int*)shared, lower);
    find_levels<true>(points, MOST_LEVELS, (int*)shared, upper);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) subdomain_walk(const __grid_constant__ Arguments a) {
    const Box box(a);
    const BoxOfPoints points{a, box, a.factors + blockIdx.x * a.subdomain_values};
    int* const done = (int*)(shared + vector_size);
    if (SPIN)
        for (int p = threadIdx.x; p < points_of_box; p += THREADS) done[p] = 0;
    load_vector<THREADS>(a, box, threadIdx.x);
    __syncthreads();
    solve_subdomain<SPIN, EDGES>(points, graph_of(a, false), graph_of(a, true), done);
    store_vector<THREADS>(a, box, threadIdx.x);
}

}  // namespace hyperplane
