// One Jacobi sweep on a triangular factor, on a GPU (precond/triangle_sweeps.hpp); precond/factor_view.hpp says what
// the factors are.
//
// One unknown: a thread a point, all reads of consecutive values. Several: a block's coefficients are read by
// neighbouring threads, 16 bytes each where DOF is even, so that a warp reads whole lines; a thread sums what its
// columns and rows give over all neighbours, and threads of a point add up once, in shared memory. Coefficients are
// read once and leave the caches first.
//
// A neighbour's slot is the slot plus a constant of its offset, modulo the slots. Where the neighbour lies outside the
// grid that is some other point, multiplied by the zero stored there, as in core/spmv.cuh; a periodic matrix that D-ILU
// shares stores what wraps, and points are followed instead (SKIP_OUTSIDE).
//
// Definitions: DOF, ENTRIES (of the triangle), UPPER, MIRRORED (the lower triangle is read as the upper one's
// transpose), UNIT, SKIP_OUTSIDE, NATURAL, LEVEL_Y, LEVEL_Z, OFFSET_X/Y/Z; POINTS of a block of threads and ROW_GROUPS,
// the threads that share a point's rows.

struct Arguments {
    const double* triangle;  // its first entry's coefficients; mirrored, the lower one's
    const double* inverse;   // D^-1
    const double* b;         // null: zero
    const double* x;
    double* out;
    long long entry_stride;
    int slots, nx, ny, nz;
    int delta[ENTRIES];  // slot of p + o minus slot of p, modulo the slots, in [0, slots)
};

__device__ constexpr int offset_x[] = OFFSET_X;
__device__ constexpr int offset_y[] = OFFSET_Y;
__device__ constexpr int offset_z[] = OFFSET_Z;

/// Whether the neighbour at offset e is a point of the grid.
__device__ __forceinline__ bool has_neighbour(const Arguments& a, int slot, int e) {
    if (!SKIP_OUTSIDE) return true;
    int i, j, k;
    if (NATURAL) {
        i = slot % a.nx, j = slot / a.nx % a.ny, k = slot / (a.nx * a.ny);
    } else {
        j = slot % a.ny, k = slot / a.ny % a.nz;
        i = (slot / (a.ny * a.nz) - LEVEL_Y * j - LEVEL_Z * k) % a.nx;
        if (i < 0) i += a.nx;
    }
    return unsigned(i + offset_x[e]) < unsigned(a.nx) && unsigned(j + offset_y[e]) < unsigned(a.ny) &&
           unsigned(k + offset_z[e]) < unsigned(a.nz);
}

__device__ __forceinline__ int neighbour(const Arguments& a, int slot, int e) {
    const int there = slot + a.delta[e];
    return there >= a.slots ? there - a.slots : there;
}

/// Where the coefficients of entry e begin.
__device__ __forceinline__ const double* entry(const Arguments& a, int e) {
    return a.triangle + (MIRRORED ? ENTRIES - 1 - e : e) * a.entry_stride;
}

#if DOF == 1

__device__ __forceinline__ int slot_of_thread() {
    return blockIdx.x * POINTS + threadIdx.x;
}

/// `times_inverse`: the couplings' sum, or in the lower sweep all, is multiplied by D^-1.
template <bool times_inverse>
__device__ __forceinline__ void sweep_point(const Arguments& a) {
    const int slot = slot_of_thread();
    if (slot >= a.slots) return;
    const double b = a.b ? __ldg(a.b + slot) : 0.0, inverse = times_inverse ? __ldcs(a.inverse + slot) : 1.0;
    double sum = UPPER ? 0.0 : b;
#pragma unroll
    for (int e = 0; e < ENTRIES; ++e) {
        const int there = neighbour(a, slot, e);
        if (has_neighbour(a, slot, e)) sum -= __ldcs(entry(a, e) + (MIRRORED ? there : slot)) * __ldg(a.x + there);
    }
    a.out[slot] = (UPPER ? b : 0.0) + inverse * sum;
}

extern "C" __global__ void __launch_bounds__(POINTS) sweep(const __grid_constant__ Arguments a) {
    sweep_point<false>(a);
}

extern "C" __global__ void __launch_bounds__(POINTS) scaled_sweep(const __grid_constant__ Arguments a) {
    sweep_point<true>(a);
}

/// out = D^-1 b
extern "C" __global__ void __launch_bounds__(POINTS) scale(const __grid_constant__ Arguments a) {
    if (const int slot = slot_of_thread(); slot < a.slots) a.out[slot] = __ldcs(a.inverse + slot) * __ldg(a.b + slot);
}

#else

static_assert(UNIT && !SKIP_OUTSIDE, "factors of several unknowns are kept with unit triangles");

constexpr int width = DOF % 2 == 0 ? 2 : 1;  // columns of a thread
constexpr int column_groups = DOF / width;
constexpr int rows = (DOF + ROW_GROUPS - 1) / ROW_GROUPS;  // of a thread: group, group + ROW_GROUPS, ...
constexpr int point_threads = column_groups * ROW_GROUPS;
constexpr int threads = POINTS * point_threads;
constexpr int unrolled_entries = DOF <= 3 ? (ENTRIES < 13 ? ENTRIES : 13) : 3;

// What threads of a point add up; the padding keeps them out of each other's banks.
constexpr int pitch = POINTS + 2, group_pitch = DOF * pitch + 4;
__shared__ double partial[(column_groups > ROW_GROUPS ? column_groups : ROW_GROUPS) * group_pitch];
__shared__ double whole[DOF * pitch];

/// Coefficients that lie together.
struct Values {
    double v[width];

    __device__ __forceinline__ explicit Values(const double* from) {
        if constexpr (width == 2) {
            const double2 both = __ldcs((const double2*)from);
            v[0] = both.x, v[1] = both.y;
        } else {
            v[0] = __ldcs(from);
        }
    }
    __device__ __forceinline__ Values() = default;
};

/// Who a thread is: of its products it has some rows and columns, of the results one component of one point.
struct Worker {
    int point, column, group;         // its first column, and which rows
    int slot;                         // of the point, the last one's where there is none
    int component, result_point, at;  // `at`: slot of the result, -1 where there is none

    __device__ explicit Worker(const Arguments& a) {
        const int thread = threadIdx.x, first = blockIdx.x * POINTS;
        point = thread / point_threads;
        column = thread % column_groups * width;
        group = thread % point_threads / column_groups;
        slot = min(first + point, a.slots - 1);
        component = thread / POINTS, result_point = thread % POINTS;
        at = component < DOF && first + result_point < a.slots ? first + result_point : -1;
    }

    /// Adds a block times x, x's components `stride` apart; of a mirrored block the transpose. Sums of its own rows; of
    /// its own columns where the block is mirrored.
    template <bool mirrored, int sums>
    __device__ __forceinline__ void add_product(double (&sum)[sums], const double* block, const double* x,
                                                long long stride) const {
        Values values[rows];
#pragma unroll
        for (int i = 0; i < rows; ++i)
            if (const int row = group + i * ROW_GROUPS; DOF % ROW_GROUPS == 0 || row < DOF)
                values[i] = Values(block + row * DOF + column);
        if constexpr (mirrored) {
#pragma unroll
            for (int i = 0; i < rows; ++i)
                if (const int row = group + i * ROW_GROUPS; DOF % ROW_GROUPS == 0 || row < DOF) {
                    const double value = x[row * stride];
#pragma unroll
                    for (int m = 0; m < width; ++m) sum[m] += values[i].v[m] * value;
                }
        } else {
#pragma unroll
            for (int m = 0; m < width; ++m) {
                const double value = x[(column + m) * stride];
#pragma unroll
                for (int i = 0; i < rows; ++i)
                    if (DOF % ROW_GROUPS == 0 || group + i * ROW_GROUPS < DOF) sum[i] += values[i].v[m] * value;
            }
        }
    }

    /// What all threads of the result's point have summed of its component.
    template <bool mirrored, int sums>
    __device__ __forceinline__ double total(const double (&sum)[sums]) const {
        const int mine = mirrored ? group : column / width;
#pragma unroll
        for (int i = 0; i < sums; ++i)
            if (const int row = mirrored ? column + i : group + i * ROW_GROUPS; mirrored || row < DOF)
                partial[mine * group_pitch + row * pitch + point] = sum[i];
        __syncthreads();
        double result = 0.0;
        if (at >= 0)
#pragma unroll
            for (int g = 0; g < (mirrored ? ROW_GROUPS : column_groups); ++g)
                result += partial[g * group_pitch + component * pitch + result_point];
        return result;
    }
};

/// b minus the triangle times x, of this thread's result.
__device__ __forceinline__ double swept(const Arguments& a, const Worker& worker) {
    double sum[MIRRORED ? width : rows] = {};
#pragma unroll(unrolled_entries)
    for (int e = 0; e < ENTRIES; ++e) {
        const int there = neighbour(a, worker.slot, e);
        worker.add_product<MIRRORED>(sum, entry(a, e) + (long long)(MIRRORED ? there : worker.slot) * (DOF * DOF),
                                     a.x + there, a.slots);
    }
    const double b = a.b && worker.at >= 0 ? __ldg(a.b + (long long)worker.component * a.slots + worker.at) : 0.0;
    return b - worker.total<MIRRORED>(sum);
}

__device__ __forceinline__ void store(const Arguments& a, const Worker& worker, double value) {
    if (worker.at >= 0) a.out[(long long)worker.component * a.slots + worker.at] = value;
}

__device__ __forceinline__ const double* inverse_of(const Arguments& a, const Worker& worker) {
    return a.inverse + (long long)worker.slot * (DOF * DOF);
}

extern "C" __global__ void __launch_bounds__(threads) sweep(const __grid_constant__ Arguments a) {
    const Worker worker(a);
    store(a, worker, swept(a, worker));
}

/// The same times D^-1.
extern "C" __global__ void __launch_bounds__(threads) scaled_sweep(const __grid_constant__ Arguments a) {
    const Worker worker(a);
    const double value = swept(a, worker);
    if (worker.component < DOF) whole[worker.component * pitch + worker.result_point] = value;
    __syncthreads();
    double sum[rows] = {};
    worker.add_product<false>(sum, inverse_of(a, worker), whole + worker.point, pitch);
    store(a, worker, worker.total<false>(sum));
}

/// out = D^-1 b
extern "C" __global__ void __launch_bounds__(threads) scale(const __grid_constant__ Arguments a) {
    const Worker worker(a);
    double sum[rows] = {};
    worker.add_product<false>(sum, inverse_of(a, worker), a.b + worker.slot, a.slots);
    store(a, worker, worker.total<false>(sum));
}

#endif
