// A subdomain's vector in shared memory: what the kernels of subdomain_solve.cuh and subdomain_graph.cuh share. A
// block of threads has one subdomain; component c of a point lies in `cell`, CELLS apart from component to component,
// rows of SX points PITCH apart. What lies between rows and around the vector is 0, and zeros of the factors refer to
// it, or to any other number.
//
// Definitions, besides that of narrow_values.cuh: DOF, LOWER (entries of the lower triangle), DELTA {from a point's cell
// to each lower neighbour's}, SX, SY, SZ, PITCH, CELLS, MARGIN (values before and behind), THREADS, NATURAL (the layout
// of vectors), UNROLLED (tables are indexed by constants once loops are unrolled).

struct Arguments {
    const Value* factors;  // [subdomain][subdomain_values]
    const double* in;
    double* out;
    const int* cells;  // of the points, step by step; by local number in subdomain_graph.cuh
    int* graph;
    long long subdomain_values, slots;
    int nx, ny, nz, level_y, level_z, count_x, count_y, padding;
};

#if UNROLLED
#define TABLE __device__ constexpr int
#else
#define TABLE __constant__ const int
#endif
TABLE delta[] = DELTA;

extern __shared__ __align__(16) double shared[];
constexpr int vector_size = (DOF * CELLS + 2 * MARGIN + 1) / 2 * 2;

/// Component 0 of cell 0.
__device__ __forceinline__ double* vector_begin() {
    return shared + MARGIN;
}

/// From a cell to its neighbour's at the lower entry e, or at the upper one that mirrors it.
template <bool upper>
__device__ __forceinline__ int way(int e) {
    return upper ? -delta[e] : delta[e];
}

/// Where a subdomain lies in the grid.
struct Box {
    int x, y, z;

    __device__ explicit Box(const Arguments& a)
        : x(int(blockIdx.x) % a.count_x * SX),
          y(int(blockIdx.x) / a.count_x % a.count_y * SY),
          z(int(blockIdx.x) / (a.count_x * a.count_y) * SZ) {}

    /// Slot of a cell's point, -1 where there is none.
    __device__ __forceinline__ long long slot(const Arguments& a, int cell) const {
        const int i = cell % PITCH, j = cell / PITCH % SY, k = cell / (PITCH * SY);
        const int px = x + i, py = y + j, pz = z + k;
        if (i >= SX || px >= a.nx || py >= a.ny || pz >= a.nz) return -1;
        if (NATURAL) return px + a.nx * (py + (long long)a.ny * pz);
        return ((long long)((px + a.level_y * py + a.level_z * pz) % a.nx) * a.nz + pz) * a.ny + py;
    }
};

/// The subdomain's part of `in` comes to shared memory; up to `most` values of a thread are on their way at a time.
template <int threads, int most>
__device__ void load_vector(const Arguments& a, const Box& box, int thread) {
    for (int at = thread; at < MARGIN; at += threads) {
        shared[at] = 0.0;
        shared[MARGIN + DOF * CELLS + at] = 0.0;
    }
    constexpr int turns = (CELLS + threads - 1) / threads, batch = turns < most ? turns : most;
    for (int turn = 0; turn < turns; turn += batch) {
        const int first = thread + turn * threads;
        long long slot[batch];
#pragma unroll
        for (int b = 0; b < batch; ++b) slot[b] = first + b * threads < CELLS ? box.slot(a, first + b * threads) : -1;
#pragma unroll(DOF < 4 ? DOF : 1)
        for (int c = 0; c < DOF; ++c) {
            double value[batch];
#pragma unroll
            for (int b = 0; b < batch; ++b) value[b] = slot[b] < 0 ? 0.0 : a.in[c * a.slots + slot[b]];
#pragma unroll
            for (int b = 0; b < batch; ++b)
                if (first + b * threads < CELLS) vector_begin()[c * CELLS + first + b * threads] = value[b];
        }
    }
}

/// And goes to `out`.
template <int threads>
__device__ void store_vector(const Arguments& a, const Box& box, int thread) {
    for (int cell = thread; cell < CELLS; cell += threads) {
        const long long slot = box.slot(a, cell);
        if (slot < 0) continue;
#pragma unroll(DOF < 8 ? DOF : 8)
        for (int c = 0; c < DOF; ++c) a.out[c * a.slots + slot] = vector_begin()[c * CELLS + cell];
    }
}
