// The factorisation with a thread for each row of a point: any stencil, any dof. Definitions: struct_ilu_factor.cuh.

constexpr int warp_cells = 32 / DOF;
constexpr int worker_threads = tile_threads(warp_cells);
constexpr int unroll_pairs = DOF <= 2 && LOWER < 14 ? 128 : 1;
constexpr int unroll_entries = DOF == 1 && LOWER < 14 ? 2 * LOWER + 1 : 1;

/// One row of a point's blocks; E[LOWER][DOF][worker_threads] lies in shared memory or in scratch.
struct Worker {
    const Arguments& a;
    double* const keep;
    int row, thread;
    Line line;
    double ratio = 1.0;
    int ratio_x = 0;

    __device__ Worker(const Arguments& arguments, const Tile& tile, int index, int thread_)
        : a(arguments),
          keep(KEEP ? shared : a.scratch + (long long)index * LOWER * DOF * worker_threads),
          row(thread_ % 32 % DOF),
          thread(thread_),
          line(a, tile, thread / 32 * warp_cells + thread % 32 / DOF, thread % 32 < warp_cells * DOF) {}

    /// G_u(p+l)[r][c] for l + u = e; F_u for D-ILU.
    __device__ double upper(int l, int u, int e, int r, int c, int slot) const {
        const int mirror = 2 * LOWER - u;
        if (SYMMETRIC) {
            const int there = near(a, slot, e);
            return SHARES ? __ldg(a_at(a, a_entry[mirror], c, r, there)) : load(x_at(a, mirror, c, r, there));
        }
        const int there = near(a, slot, l);
        return SHARES ? __ldg(a_at(a, a_entry[u], r, c, there)) : load(x_at(a, u, r, c, there));
    }
    /// E_l(p) of this row; W_l(p) for D-ILU.
    __device__ double& kept(int l, int c) const { return keep[(l * DOF + c) * worker_threads + thread]; }

    /// A row of W_l(p) from a row of E_l(p).
    __device__ void scale_by_inverse(int l, int slot, const double* e, double* out) const {
        const int there = near(a, slot, l);
#pragma unroll
        for (int c = 0; c < DOF; ++c) out[c] = 0.0;
#pragma unroll
        for (int m = 0; m < DOF; ++m)
#pragma unroll
            for (int c = 0; c < DOF; ++c) out[c] += e[m] * load(x_at(a, inverse_entry, m, c, there));
    }

    __device__ double usable(double pivot, double own, double scale, int i, int component) {
        if (const double mine = pivot_ratio(pivot, own); mine < ratio) ratio = mine, ratio_x = i;
        return usable_pivot(a, pivot, own, scale, line.point(a, i), component, component == row);
    }

    /// Gauss-Jordan elimination over the rows of a point in a warp, FGBILU paper, Algorithm 8. `x` becomes
    /// this row of the inverse; zero where a pivot cannot be used.
    __device__ void invert(double* x, const double* own, int i, bool active) {
        if (DOF == 1) {
            if (!active) return;
            const double pivot = usable(x[0], own[0], fmax(fabs(own[0]), fabs(x[0])), i, 0);
            x[0] = pivot == 0.0 ? 0.0 : 1.0 / pivot;
            return;
        }
        const int first = thread % 32 / DOF * DOF;  // lane of the point's row 0
        double scale = 0.0, mine = 0.0;
#pragma unroll
        for (int c = 0; c < DOF; ++c) {
            scale = fmax(scale, fmax(fabs(own[c]), fabs(x[c])));
            if (c == row) mine = own[c];
            if (isnan(own[c]) || isnan(x[c])) scale = nan("");
        }
        double largest = 0.0;
        for (int r = 0; r < DOF; ++r) {
            const double other = __shfl_sync(~0u, scale, (first + r) & 31);
            largest = isnan(other) || isnan(largest) ? nan("") : fmax(largest, other);
        }
        bool gave_up = false;
#pragma unroll(DOF <= 8 ? DOF : 1)
        for (int p = 0; p < DOF; ++p) {
            double here = 0.0;
#pragma unroll
            for (int c = 0; c < DOF; ++c)
                if (c == p) here = x[c];
            const int lane = (first + p) & 31;
            const double met = __shfl_sync(~0u, here, lane), diagonal = __shfl_sync(~0u, mine, lane);
            double pivot = active && !gave_up ? usable(met, diagonal, largest, i, p) : 1.0;
            if (pivot == 0.0) gave_up = true, pivot = 1.0;
            const double inverse = 1.0 / pivot;
            const double factor = here;
#pragma unroll
            for (int c = 0; c < DOF; ++c) {
                const double scaled = __shfl_sync(~0u, c == p ? 1.0 : x[c], lane) * inverse;
                if (row == p)
                    x[c] = scaled;
                else
                    x[c] = (c == p ? 0.0 : x[c]) - factor * scaled;
            }
        }
        if (gave_up)
#pragma unroll
            for (int c = 0; c < DOF; ++c) x[c] = 0.0;
    }

    /// x = inverse times the block whose rows `x` are, over the lanes of a point.
    __device__ void scale_from_left(const double* inverse, double* x) const {
        const int first = thread % 32 / DOF * DOF;
        double scaled[DOF];
#pragma unroll
        for (int c = 0; c < DOF; ++c) scaled[c] = 0.0;
#pragma unroll
        for (int m = 0; m < DOF; ++m)
#pragma unroll
            for (int c = 0; c < DOF; ++c) scaled[c] += inverse[m] * __shfl_sync(~0u, x[c], (first + m) & 31);
#pragma unroll
        for (int c = 0; c < DOF; ++c) x[c] = scaled[c];
    }

    static constexpr int threads = worker_threads;
    __device__ bool exists() const { return line.valid; }
    __device__ long long smallest_point() const { return line.point(a, ratio_x); }

    __device__ void fetch(int) const {}

    __device__ void point(int level) {
        const bool active = line.active(a, level);
        const int i = level - line.start, at = active ? line.slot(a, level) : 0;
        double inverse[DOF];
#pragma unroll(unroll_entries)
        for (int e = 0; e < entries; ++e) {
            double x[DOF], own[DOF];
            const int from = a_entry[e];
#pragma unroll
            for (int c = 0; c < DOF; ++c) {
                own[c] = active && from >= 0 && line.in_grid(a, i, e) ? __ldcs(a_at(a, from, row, c, at)) : 0.0;
                x[c] = e == LOWER && c == row ? own[c] + a.shift * own[c] : own[c];
            }
            if (active) {
#pragma unroll(unroll_pairs)
                for (int pair = pair_begin[e]; pair < pair_begin[e + 1]; ++pair) {
                    const int l = pair_l[pair], u = pair_u[pair];
#pragma unroll
                    for (int m = 0; m < DOF; ++m) {
                        const double scaled = kept(l, m);
#pragma unroll
                        for (int c = 0; c < DOF; ++c) x[c] -= scaled * upper(l, u, e, m, c, at);
                    }
                }
            }
            if (e == LOWER) {
                invert(x, own, i, active);
#pragma unroll
                for (int c = 0; c < DOF; ++c) inverse[c] = x[c];
            }
            if (e > LOWER) scale_from_left(inverse, x);
            if (active) {
                if (e < LOWER) {
                    double w[DOF];
                    scale_by_inverse(e, at, x, w);
#pragma unroll
                    for (int c = 0; c < DOF; ++c) kept(e, c) = SHARES ? w[c] : x[c], x[c] = w[c];
                }
                if (!SHARES || e == LOWER)
#pragma unroll
                    for (int c = 0; c < DOF; ++c) *x_at(a, SHARES ? 0 : e, row, c, at) = x[c];
            }
            if (SYMMETRIC && DOF > 1) __syncwarp();  // X_0 reads W_l of the point's other rows
        }
    }
};

