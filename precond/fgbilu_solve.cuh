// FGBILU's sweeps: lower y = D^-1 (r - E y), upper z = y - D^-1 F z; in storage of fewer bits v = r - W v and
// z = D^-1 v - G z.
//
// A kernel a hyperplane. PARTS threads share a row u, thread `part` has the columns part, part + PARTS, ...; with
// PARTS = DOF that is Algorithm 10. What does not come from the hyperplane before, the point's own coefficients, is read
// before this kernel waits for that one's (AHEAD: they fit registers; OVERLAPPED: kernels follow each other by
// programmatic dependent launch). Values of other hyperplanes are read past the first-level cache, which may hold what
// was there before. In storage of fewer bits D^-1 stands before no sum over neighbours, so that what it gives is there
// before the wait, too.
//
// Definitions, beside fgbilu.cuh's: SOLVE_POINTS, PARTS, AHEAD, OVERLAPPED.

constexpr int solve_threads = DOF * PARTS * SOLVE_POINTS, solve_columns = (DOF + PARTS - 1) / PARTS;
constexpr int solve_entries = (lowers + PARTS - 1) / PARTS;  // whose neighbours a thread fetches
constexpr bool unit = STORAGE > 0;                           // the triangles are W and G

/// The hyperplane before is complete, and what it wrote is seen.
__device__ __forceinline__ void wait_for_level() {
#if OVERLAPPED && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// The next hyperplane's kernel may begin once all blocks have come here.
__device__ __forceinline__ void let_next_begin() {
#if OVERLAPPED && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// 2^k of a row; 1 where rows have none.
__device__ __forceinline__ double scale_at(const Arguments& a, const unsigned char* exponents, int row, int slot) {
    return scaled_rows ? scale_of(exponents[Index(row) * a.slots + slot]) : 1.0;
}

/// A thread's part of row u of a point, in one of the sweeps.
template <bool lower>
struct Row {
    static constexpr int first = lower ? 0 : LOWER + 1;  // entry
    static constexpr bool mirrored = SYMMETRIC && !lower, scaled_there = mirrored && scaled_rows;

    int point, u, part, slot;
    bool exists;
    double e[AHEAD ? lowers * solve_columns : 1], d[solve_columns];
    int there[solve_entries];                         // slots of the neighbours whose results it fetches
    double scales[scaled_there ? solve_entries : 1];  // of their rows, which are those of mirrored coefficients
    double mine, known, scale;                        // of r or y; what needs no neighbour; the row's scale

    __device__ Row()
        : point(threadIdx.x % SOLVE_POINTS),
          u(threadIdx.x / SOLVE_POINTS % DOF),
          part(threadIdx.x / SOLVE_POINTS / DOF) {}

    /// Reads what needs no result of another level.
    __device__ __forceinline__ void begin(const Arguments& a, const Point& p) {
        slot = p.slot;
        exists = p.exists;
        const Index step = triangle_stride(a);
        // Coefficients of column `part`; where a neighbour is missing they meet a zero, whatever they are.
        const Value* const inverse = a.inverse + (u * DOF + part) * a.stride + slot;
        const Value* const triangle =
            a.triangles + (mirrored ? (part * DOF + u) * step : (first * block + u * DOF + part) * step + slot);
#pragma unroll
        for (int c = 0; c < solve_columns; ++c) {
            const bool is_column = DOF % PARTS == 0 || part + c * PARTS < DOF;
            d[c] = is_column ? widened(inverse[c * PARTS * a.stride]) : 0.0;
            if constexpr (AHEAD)
#pragma unroll
                for (int l = 0; l < LOWER; ++l) {
                    const Value* const at = mirrored ? triangle + neighbour_slot(a, slot, first + l) : triangle;
                    const int entry = mirrored ? LOWER - 1 - l : l;
                    e[l * solve_columns + c] =
                        is_column ? widened(at[(entry * block + c * PARTS * (mirrored ? DOF : 1)) * step]) : 0.0;
                }
        }
#pragma unroll
        for (int at = 0; at < solve_entries; ++at) {
            const int l = at * PARTS + part;
            there[at] = l < LOWER ? p.neighbour(a, first + l) : -1;
            if constexpr (scaled_there) scales[at] = there[at] >= 0 ? scale_at(a, a.of_triangle, u, there[at]) : 1.0;
        }
        mine = exists && part == 0 ? __ldcg((lower ? a.r : a.z) + Index(u) * a.slots + slot) : 0.0;
        known = mine;
        scale = 1.0;
        if constexpr (unit) {
            if (!mirrored && exists) scale = scale_at(a, a.of_triangle, u, slot);
            if constexpr (!lower) {
                known = 0.0;
#pragma unroll
                for (int c = 0; c < solve_columns; ++c)
                    if (const int v = part + c * PARTS; exists && v < DOF)
                        known += d[c] * __ldcg(a.z + Index(v) * a.slots + slot);
                if (exists) known *= scale_at(a, a.of_inverse, u, slot);
            }
        }
    }

    /// Fetches the neighbours' results.
    __device__ __forceinline__ void fetch(const Arguments& a, double (&value)[solve_entries]) const {
#pragma unroll
        for (int at = 0; at < solve_entries; ++at) {
            value[at] = there[at] < 0 ? 0.0 : __ldcg(a.z + Index(u) * a.slots + there[at]);
            if constexpr (scaled_there) value[at] *= scales[at];
        }
    }

    /// Row u of the result, in the threads of part 0. All threads of the block take part.
    __device__ __forceinline__ double result(const Arguments& a, const Point& p,
                                             const double (&value)[solve_entries]) const {
        __shared__ double near[DOF > 1 ? lowers : 1][DOF][SOLVE_POINTS], sums[PARTS][DOF][SOLVE_POINTS],
            products[PARTS][DOF][SOLVE_POINTS];
        double sum = 0.0;
        if constexpr (DOF == 1) {
#pragma unroll
            for (int l = 0; l < LOWER; ++l)
                if (there[l] >= 0)
                    sum += (AHEAD ? e[l] : widened(*coefficient(a, first + l, slot, there[l], 0, 0))) * value[l];
        } else {
#pragma unroll
            for (int at = 0; at < solve_entries; ++at)
                if (const int l = at * PARTS + part; l < LOWER) near[l][u][point] = value[at];
            __syncthreads();
#pragma unroll(AHEAD ? lowers : 1)
            for (int l = 0; l < LOWER; ++l) {
                const int at = AHEAD ? 0 : p.neighbour(a, first + l);
                if (at < 0) continue;
#pragma unroll
                for (int c = 0; c < solve_columns; ++c) {
                    const int v = part + c * PARTS;
                    if (v >= DOF) continue;
                    double one;
                    if constexpr (AHEAD)
                        one = e[l * solve_columns + c];
                    else
                        one = widened(*coefficient(a, first + l, slot, at, u, v));
                    sum += one * near[l][v][point];
                }
            }
        }
        const double rest = unit ? known - scale * sum : lower ? mine - sum : sum;
        double product = 0.0;
        if constexpr (unit) {
            product = rest;
        } else if constexpr (DOF == 1) {
            product = d[0] * rest;
        } else {
            sums[part][u][point] = rest;
            __syncthreads();
#pragma unroll
            for (int c = 0; c < solve_columns; ++c) {
                const int v = part + c * PARTS;
                if (v >= DOF) continue;
                double z = 0.0;
#pragma unroll(PARTS <= 8 ? PARTS : 8)
                for (int q = 0; q < PARTS; ++q) z += sums[q][v][point];
                product += d[c] * z;
            }
        }
        if constexpr (PARTS > 1) {
            products[part][u][point] = product;
            __syncthreads();
            product = 0.0;
#pragma unroll(PARTS <= 8 ? PARTS : 8)
            for (int q = 0; q < PARTS; ++q) product += products[q][u][point];
        }
        return lower || unit ? product : mine - product;
    }
};

/// y = D^-1 (r - E y) at the points of a level, or z -= D^-1 F z; unit: v = r - W v, or z = D^-1 v - G z.
template <bool lower>
__device__ __forceinline__ void sweep_level(const Arguments& a) {
    let_next_begin();
    Row<lower> row;
    const Point p(a, blockIdx.x * SOLVE_POINTS + row.point);
    // One block waits even where it has no points, so that this level does not end before the one before has.
    if (!__any_sync(~0u, p.exists) && blockIdx.x > 0) return;
    row.begin(a, p);
    wait_for_level();
    double value[solve_entries];
    row.fetch(a, value);
    const double result = row.result(a, p, value);
    if (p.exists && row.part == 0) a.z[Index(row.u) * a.slots + p.slot] = result;
}

extern "C" __global__ void __launch_bounds__(solve_threads, 1) fgbilu_lower(const __grid_constant__ Arguments a) {
    sweep_level<true>(a);
}
extern "C" __global__ void __launch_bounds__(solve_threads, 1) fgbilu_upper(const __grid_constant__ Arguments a) {
    sweep_level<false>(a);
}
