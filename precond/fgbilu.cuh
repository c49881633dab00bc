// FGBILU's kernels of one hyperplane: Algorithms 9 and 10 of Luo, Edwards, Luo, Mueller, Computers & Fluids 119, 2015;
// equations in fgbilu.hpp.
//
// A block of threads has points side by side, POINTS of them, which are its fastest index, so that a warp reads
// consecutive slots of a coefficient. Arrays in shared memory are [row][col][point].
//
// factor: a thread has one element (u, v) of its point. For each lower entry l the paper's s_1, and d of the point it
// leads to, are brought to shared memory and multiplied there; the inverse is made by one thread an element with two
// alternating buffers, so that a row takes one barrier.
//
// solves: PARTS threads share a row u, thread `part` has the columns part, part + PARTS, ...; with PARTS = DOF that is
// Algorithm 10. What does not come from the level before, the point's own coefficients, is read before this kernel
// waits for that level's (AHEAD and OVERLAPPED, where they follow each other by programmatic dependent launch). Values
// of other levels are read past the first-level cache, which may hold what was there before. In storage of fewer bits
// D^-1 stands before no sum over neighbours, so that what it gives is there before the wait, too.
//
// Definitions: STORAGE (narrow_values.cuh; 0 where points are factored), DOF, LOWER (2 LOWER + 1 entries),
// OFFSET_X/Y/Z {of all entries}, LEVEL_Y, LEVEL_Z, NATURAL (the layout), SYMMETRIC (one triangle stored, pivots must
// have A's sign), SHARES (E and F are A's and stay as they are), PAIR_BEGIN {LOWER + 1}, PAIR_U, PAIR_E (the
// eliminations of each l), FACTOR_POINTS, SOLVE_POINTS, PARTS, AHEAD (a thread's coefficients fit registers),
// OVERLAPPED.

typedef long long Index;

struct Arguments {
    int level, first_j, width, first_k, columns;  // fgbilu_steps.hpp's Hyperplane
    int nx, ny, nz, slots;
    int base;                // slot of column (0, 0), were it in the level
    Index stride, a_stride;  // of a coefficient of the factors, of A's
    Value* inverse;          // D^-1 [row][col][stride]
    Value* triangles;        // E and F, or W and G, [entry][row][col][stride]; SHARES: A's, a_stride
    const double* diagonal;  // A's [row][col][a_stride]
    const double* r;         // [row][slots]
    double* z;
    PivotRatio* ratios;  // [column]
    PivotLog* log;
    double tolerance, boost;
    const unsigned char *of_triangle, *of_inverse;  // scaled rows' exponents [row][slots]
    int shift[2 * LOWER + 2];  // from a point of this level to its neighbour's slot
};

__device__ constexpr int offset_x[] = OFFSET_X;
__device__ constexpr int offset_y[] = OFFSET_Y;
__device__ constexpr int offset_z[] = OFFSET_Z;
__constant__ const int pair_begin[] = PAIR_BEGIN;
__constant__ const int pair_u[] = PAIR_U;
__constant__ const int pair_e[] = PAIR_E;

/// A point of the level; where a column has none, or is none, `exists` is false and nothing is read.
struct Point {
    int i, j, k, slot;
    bool exists;

    __device__ Point(const Arguments& a, int column) {
        j = a.first_j + column % a.width, k = a.first_k + column / a.width;
        i = a.level - LEVEL_Y * j - LEVEL_Z * k;
        exists = column < a.columns && unsigned(i) < unsigned(a.nx);
        slot = NATURAL ? i + a.nx * (j + a.ny * k) : a.base + j + a.ny * k;
    }
    /// Slot of the neighbour at offset e, -1 where there is none.
    __device__ __forceinline__ int neighbour(const Arguments& a, int e) const {
        const int x = i + offset_x[e], y = j + offset_y[e], z = k + offset_z[e];
        const bool inside =
            unsigned(x) < unsigned(a.nx) && unsigned(y) < unsigned(a.ny) && unsigned(z) < unsigned(a.nz);
        return exists && inside ? slot + a.shift[e] : -1;
    }
    __device__ Index row(const Arguments& a) const { return i + a.nx * (j + Index(a.ny) * k); }
};

constexpr int block = DOF * DOF, lowers = LOWER > 0 ? LOWER : 1;

__device__ __forceinline__ Index triangle_stride(const Arguments& a) {
    return SHARES ? a.a_stride : a.stride;
}
/// Where coefficient (row, col) of `entry` lies that couples `slot` to `there`.
__device__ __forceinline__ Value* coefficient(const Arguments& a, int entry, int slot, int there, int row, int col) {
    if (SYMMETRIC && entry > LOWER)
        return a.triangles + ((2 * LOWER - entry) * block + col * DOF + row) * triangle_stride(a) + there;
    return a.triangles + (entry * block + row * DOF + col) * triangle_stride(a) + slot;
}

#if STORAGE == 0
// ---- factorisation

// Launch bounds ask for one block a multiprocessor: without that ptxas spills to have more of them.
constexpr int factor_threads = block * FACTOR_POINTS;
constexpr bool early = SHARES && LOWER <= 4;  // all that a point needs fits registers

/// Values of the block's points, one for each element.
struct Blocks {
    double values[block][FACTOR_POINTS];

    __device__ __forceinline__ double& at(int row, int col, int point) { return values[row * DOF + col][point]; }
    /// <x^{row,:}, y^{:,col}>
    __device__ static double product(Blocks& x, Blocks& y, int row, int col, int point) {
        double sum = 0.0;
#pragma unroll(DOF <= 8 ? DOF : 8)
        for (int k = 0; k < DOF; ++k) sum += x.at(row, k, point) * y.at(k, col, point);
        return sum;
    }
};

/// Replaces a point's block, of which this thread has the element x at (u, v), by its inverse.
__device__ __forceinline__ double invert(const Arguments& a, const Point& p, int column, int point, int u, int v,
                                         double x, double own, Blocks& one, Blocks& two) {
    __shared__ double diagonal[DOF][FACTOR_POINTS], unusable[DOF][FACTOR_POINTS];
    const PivotJudge judge{a.log, a.tolerance, a.boost, SYMMETRIC};
    const bool tells = p.exists && u == 0 && v == 0;
    // The largest entry, row by row, then of the rows.
    __syncthreads();
    one.at(u, v, point) = fmax(fabs(x), fabs(own));
    if (u == v) diagonal[u][point] = own;
    __syncthreads();
    if (v == 0) {
        double largest = 0.0;
        for (int k = 0; k < DOF; ++k) largest = fmax(largest, one.at(u, k, point));
        two.at(u, 0, point) = largest;
    }
    __syncthreads();
    double scale = 0.0, ratio = 1.0;
    for (int k = 0; k < DOF; ++k) scale = fmax(scale, two.at(k, 0, point));
    bool failed = false;
    unsigned changed = 0;  // bits of the rows whose pivots were not used as they are
    __syncthreads();
    for (int r = 0; r < DOF; ++r) {
        Blocks& s = r % 2 ? two : one;
        if (u == r || v == r) s.at(u, v, point) = x;
        __syncthreads();
        const double met = s.at(r, r, point), mine = diagonal[r][point];
        if (failed) continue;
        ratio = fmin(ratio, judge.ratio(met, mine));
        const double pivot = p.exists ? judge.usable(met, mine, scale, 0, false) : 1.0;
        failed = pivot == 0.0;
        if (tells && (failed || pivot != met)) changed |= 1u << r, unusable[r][point] = met;
        const double by = 1.0 / pivot;
        if (u == r)
            x = v == r ? by : x * by;
        else
            x = v == r ? -x * by : x - s.at(u, r, point) * s.at(r, v, point) * by;
    }
    if (tells) a.ratios[column].take(ratio, p.row(a));
    for (int r = 0; r < DOF && changed >> r; ++r)
        if (changed >> r & 1u) {
            const bool last = (changed >> r) == 1u;  // a row that failed is the last one that was looked at
            record(a.log, !(failed && last), p.row(a) * DOF + r, unusable[r][point]);
        }
    return failed ? 0.0 : x;
}

extern "C" __global__ void __launch_bounds__(factor_threads, 1) fgbilu_factor(const __grid_constant__ Arguments a) {
    __shared__ Blocks left, right, product, next;
    const int point = threadIdx.x % FACTOR_POINTS, element = threadIdx.x / FACTOR_POINTS;
    const int u = element / DOF, v = element % DOF, column = blockIdx.x * FACTOR_POINTS + point;
    const Point p(a, column);
    if (__syncthreads_count(p.exists) == 0) return;
    double* const mine = a.inverse + element * a.stride + p.slot;
    double x = p.exists ? *mine : u == v ? 1.0 : 0.0;
    const double own = p.exists ? a.diagonal[element * a.a_stride + p.slot] : x;
    // Elements of E_l and of D^-1 at p + l.
    double e[early ? lowers : 1], d[early ? lowers : 1];
    const auto fetch = [&](int l, int to) {
        const int there = p.neighbour(a, l);
        e[to] = there < 0 ? 0.0 : *coefficient(a, l, p.slot, there, u, v);
        d[to] = there < 0 ? 0.0 : a.inverse[element * a.stride + there];
    };
    if constexpr (early)
#pragma unroll
        for (int l = 0; l < LOWER; ++l) fetch(l, l);
#pragma unroll(early ? lowers : 1)
    for (int l = 0; l < LOWER; ++l) {
        const int there = p.neighbour(a, l), from = early ? l : 0;
        if constexpr (!early) fetch(l, 0);
        left.at(u, v, point) = e[from];
        right.at(u, v, point) = d[from];
        __syncthreads();
        product.at(u, v, point) = Blocks::product(left, right, u, v, point);
        for (int pair = pair_begin[l]; pair < pair_begin[l + 1]; ++pair) {
            const int e = pair_e[pair], end = e == LOWER ? p.slot : p.neighbour(a, e);
            const bool inside = there >= 0 && end >= 0;
            if (pair > pair_begin[l]) __syncthreads();
            next.at(u, v, point) = inside ? *coefficient(a, pair_u[pair], there, end, u, v) : 0.0;
            __syncthreads();
            const double change = Blocks::product(product, next, u, v, point);
            if (e == LOWER)
                x -= change;
            else if (inside)
                *coefficient(a, e, p.slot, end, u, v) -= change;
        }
    }
    x = invert(a, p, column, point, u, v, x, own, left, right);
    if (p.exists) *mine = x;
}
#endif

// ---- solves

constexpr int solve_threads = DOF * PARTS * SOLVE_POINTS, solve_columns = (DOF + PARTS - 1) / PARTS;
constexpr int solve_entries = (lowers + PARTS - 1) / PARTS;  // whose neighbours a thread fetches

/// The level before is complete, and what it wrote is seen.
__device__ __forceinline__ void wait_for_level() {
#if OVERLAPPED && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// The next level's kernel may begin once all blocks have come here.
__device__ __forceinline__ void let_next_begin() {
#if OVERLAPPED && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

constexpr bool unit = STORAGE > 0;  // the triangles are W and G

/// 2^k of a row; 1 where rows have none.
__device__ __forceinline__ double scale_at(const Arguments& a, const unsigned char* exponents, int row, int slot) {
    return scaled_rows ? scale_of(exponents[Index(row) * a.slots + slot]) : 1.0;
}

/// y = D^-1 (r - E y) at the points of a level, or z -= D^-1 F z; unit: v = r - W v, or z = D^-1 v - G z.
template <bool lower>
__device__ __forceinline__ void sweep_level(const Arguments& a) {
    __shared__ double near[DOF > 1 ? lowers : 1][DOF][SOLVE_POINTS], sums[PARTS][DOF][SOLVE_POINTS],
        products[PARTS][DOF][SOLVE_POINTS];
    let_next_begin();
    const int point = threadIdx.x % SOLVE_POINTS, u = threadIdx.x / SOLVE_POINTS % DOF;
    const int part = threadIdx.x / SOLVE_POINTS / DOF;
    const Point p(a, blockIdx.x * SOLVE_POINTS + point);
    constexpr int first = lower ? 0 : LOWER + 1;  // entry
    constexpr bool mirrored = SYMMETRIC && !lower, scaled_there = mirrored && scaled_rows;

    double e[AHEAD ? lowers * solve_columns : 1], d[solve_columns];
#pragma unroll
    for (int c = 0; c < solve_columns; ++c) {
        const int v = part + c * PARTS;
        d[c] = p.exists && v < DOF ? widened(a.inverse[(u * DOF + v) * a.stride + p.slot]) : 0.0;
        if constexpr (AHEAD)
#pragma unroll
            for (int l = 0; l < LOWER; ++l) {
                const int there = p.neighbour(a, first + l);
                e[l * solve_columns + c] =
                    there >= 0 && v < DOF ? widened(*coefficient(a, first + l, p.slot, there, u, v)) : 0.0;
            }
    }
    int there[solve_entries];
    double scales[solve_entries];  // of the neighbours' rows, which are those of mirrored coefficients
#pragma unroll
    for (int at = 0; at < solve_entries; ++at) {
        const int l = at * PARTS + part;
        there[at] = l < LOWER ? p.neighbour(a, first + l) : -1;
        scales[at] = scaled_there && there[at] >= 0 ? scale_at(a, a.of_triangle, u, there[at]) : 1.0;
    }
    const double* own = lower ? a.r : a.z;
    const double mine = p.exists && part == 0 ? __ldcg(own + Index(u) * a.slots + p.slot) : 0.0;
    double known = mine, scale = 1.0;  // what needs no neighbour, and the row's scale
    if constexpr (unit) {
        if (!mirrored && p.exists) scale = scale_at(a, a.of_triangle, u, p.slot);
        if constexpr (!lower) {
            known = 0.0;
#pragma unroll
            for (int c = 0; c < solve_columns; ++c)
                if (const int v = part + c * PARTS; p.exists && v < DOF)
                    known += d[c] * __ldcg(a.z + Index(v) * a.slots + p.slot);
            if (p.exists) known *= scale_at(a, a.of_inverse, u, p.slot);
        }
    }

    wait_for_level();
    const auto value_there = [&](int at) {
        const double value = __ldcg(a.z + Index(u) * a.slots + there[at]);
        return scaled_there ? scales[at] * value : value;
    };
    double sum = 0.0;
    if constexpr (DOF == 1) {
#pragma unroll
        for (int l = 0; l < LOWER; ++l)
            if (there[l] >= 0)
                sum += (AHEAD ? e[l] : widened(*coefficient(a, first + l, p.slot, there[l], 0, 0))) * value_there(l);
    } else {
#pragma unroll
        for (int at = 0; at < solve_entries; ++at)
            if (const int l = at * PARTS + part; l < LOWER)
                near[l][u][point] = there[at] >= 0 ? value_there(at) : 0.0;
        __syncthreads();
#pragma unroll(AHEAD ? lowers : 1)
        for (int l = 0; l < LOWER; ++l) {
            const int at = AHEAD ? 0 : p.neighbour(a, first + l);
            if (at < 0) continue;
#pragma unroll
            for (int c = 0; c < solve_columns; ++c) {
                const int v = part + c * PARTS;
                if (v >= DOF) continue;
                double value;
                if constexpr (AHEAD)
                    value = e[l * solve_columns + c];
                else
                    value = widened(*coefficient(a, first + l, p.slot, at, u, v));
                sum += value * near[l][v][point];
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
        if (part > 0) return;
        product = 0.0;
#pragma unroll(PARTS <= 8 ? PARTS : 8)
        for (int q = 0; q < PARTS; ++q) product += products[q][u][point];
    }
    if (p.exists) a.z[Index(u) * a.slots + p.slot] = lower || unit ? product : mine - product;
}

extern "C" __global__ void __launch_bounds__(solve_threads, 1) fgbilu_lower(const __grid_constant__ Arguments a) {
    sweep_level<true>(a);
}
extern "C" __global__ void __launch_bounds__(solve_threads, 1) fgbilu_upper(const __grid_constant__ Arguments a) {
    sweep_level<false>(a);
}
