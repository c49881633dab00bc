// The terms of a row: their coefficients on the way from memory, and their sums. Definitions: struct_ilu_solve.cuh.

constexpr int term_of[] = TERMS, group_begin[] = GROUP_BEGIN, offset_level[] = OFFSET_LEVEL;
constexpr int holder = GROUPS > 1 ? 1 : 0;  // the group that has the right-hand side
constexpr bool scales = UPPER && !DILU;     // and D^-1 v
constexpr bool pairs = DOF % 2 == 0 && TOGETHER;
constexpr bool whole_stages = STAGES > 0;

/// Values a thread of a group has on the way: its coefficients, a right-hand side, a row of D^-1.
__device__ constexpr int staged(int group) {
    const int rows = group_begin[group + 1] - group_begin[group] + (DILU || (scales && group == holder));
    return rows * DOF + (group == holder ? (pairs ? 2 : 1) : 0);
}
__device__ constexpr int staged_before(int group) {
    int count = 0;
    for (int g = 0; g < group; ++g) count += staged(g);
    return count;
}

__device__ __forceinline__ void copy_async(double* to, const double* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from)
                 : "memory");
}

__device__ __forceinline__ void copy_pair_async(double* to, const double* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from)
                 : "memory");
}

__device__ __forceinline__ void commit_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int pending>
__device__ __forceinline__ void wait_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

/// One row of one line's points and its share of the terms.
template <int group>
struct Worker {
    static constexpr int begin = group_begin[group], count = group_begin[group + 1] - begin;
    static constexpr int inverse_place = count * DOF,
                         rhs_place = inverse_place + (DILU || (scales && group == holder) ? DOF : 0);

    const Arguments& a;
    const int thread, row, cell, tj, tk, level_slots;
    const Line line;
    const bool exists;
    double* const stages;
    const double *coefficients, *inverse;  // of this row at slot 0
    int slot_ahead = 0;

    __device__ Worker(const Arguments& arguments, const Tile& tile, int thread_)
        : a(arguments),
          thread(thread_),
          row(thread % 32 % DOF),
          cell(thread / 32 * warp_cells + thread % 32 / DOF),
          tj(cell % TJ),
          tk(cell / TJ),
          level_slots(a.ny * a.nz),
          line(a, tile.j + tj, tile.k + tk),
          exists(thread % 32 < warp_cells * DOF && cell < TJ * TK && line.valid),
          stages(shared + ring_size + exchange_size + STAGES * staged_before(group) * worker_threads +
                 thread * (pairs ? 2 : 1)) {
        if (DILU)
            coefficients = a.triangles + (long long)(UPPER && MIRRORED ? row : row * DOF) * a.triangle_stride;
        else
            coefficients =
                a.triangles + factor_at(a.slots, 0, UPPER && MIRRORED ? 0 : row, UPPER && MIRRORED ? row : 0, 0);
        inverse = a.inverse + factor_at(a.slots, 0, row, 0, 0);
    }

    // A thread's values lie in pairs where its coefficients come in pairs, 16 bytes a copy.
    __device__ __forceinline__ double& stage(int at, int what) const {
        if (pairs) return stages[((at * staged(group) + what) / 2 * worker_threads) * 2 + what % 2];
        return stages[(at * staged(group) + what) * worker_threads];
    }
    /// Begins to copy the `DOF` values of a row of a block at `from` to `what`.
    __device__ __forceinline__ void copy_row(int at, int what, const double* from) const {
#pragma unroll
        for (int c = 0; c < DOF; c += 2) copy_pair_async(&stage(at, what + c), from + c);
    }

    /// Address of coefficient (row, col) of offset m at a slot.
    __device__ __forceinline__ const double* coefficient(int m, int col, int slot) const {
        if (UPPER && MIRRORED) {
            const int there = wrapped(slot + a.shift[m], a.slots);
            if (DILU) return coefficients + (long long)((m * DOF + col) * DOF) * a.triangle_stride + there;
            return coefficients + factor_at(a.slots, m, col, 0, there);
        }
        const int entry = UPPER ? 2 * LOWER - m : m;
        if (DILU) return coefficients + (long long)(entry * DOF * DOF + col) * a.triangle_stride + slot;
        return coefficients + factor_at(a.slots, entry, 0, col, slot);
    }
    __device__ __forceinline__ void advance(int& slot) const {
        if (NATURAL) {
            slot += UPPER ? -1 : 1;
        } else if (UPPER) {
            slot -= level_slots;
            if (slot < 0) slot += a.slots;
        } else {
            slot = wrapped(slot + level_slots, a.slots);
        }
    }
    /// Begins the copies of a level into stage `at`.
    __device__ __forceinline__ void fetch(int level, int at) {
        begin_copies(level, at);
        commit_copies();
    }
    __device__ __forceinline__ void begin_copies(int level, int at) {
        if (exists && line.active(a, level)) {
            if (level == line.start) slot_ahead = line.slot(a, level);
#pragma unroll
            for (int t = 0; t < count; ++t)
                if (pairs && !DILU && !(UPPER && MIRRORED)) {
                    copy_row(at, t * DOF, coefficient(term_of[begin + t], 0, slot_ahead));
                } else
#pragma unroll
                    for (int c = 0; c < DOF; ++c)
                        copy_async(&stage(at, t * DOF + c), coefficient(term_of[begin + t], c, slot_ahead));
            if (DILU || (scales && group == holder)) {
                if (pairs)
                    copy_row(at, inverse_place, inverse + factor_at(a.slots, 0, 0, 0, slot_ahead));
                else
#pragma unroll
                    for (int c = 0; c < DOF; ++c)
                        copy_async(&stage(at, inverse_place + c), inverse + factor_at(a.slots, 0, 0, c, slot_ahead));
            }
            if (group == holder) copy_async(&stage(at, rhs_place), a.in + (long long)row * a.slots + slot_ahead);
            advance(slot_ahead);
        }
    }
    /// Minus the sum of the group's terms at a level.
    __device__ __forceinline__ double terms(int level, int at, int slot) const {
        double sum = 0.0;
#pragma unroll
        for (int t = 0; t < count; ++t) {
            const int m = term_of[begin + t];
            if (SKIP_OUTSIDE && !line.in_grid(a, level - line.start, m)) continue;
            const double* const v = &ring_at(level + offset_level[m], 0, tk + HALO_K + offset_z[m],
                                             tj + HALO_J + offset_y[m] + SKEW * offset_z[m]);
#pragma unroll
            for (int c = 0; c < DOF; ++c)
                sum -= (whole_stages ? stage(at, t * DOF + c) : __ldcs(coefficient(m, c, slot))) * v[c * plane_size];
        }
        return sum;
    }
    __device__ __forceinline__ double inverse_at(int at, int c, int slot) const {
        return whole_stages ? stage(at, inverse_place + c) : inverse[factor_at(a.slots, 0, 0, c, slot)];
    }
    /// The right-hand side, times D^-1 in the upper solve. `dot` += v D^-1 v.
    __device__ __forceinline__ double right_hand_side(int at, int slot, double& dot) const {
        const double own = whole_stages ? stage(at, rhs_place) : a.in[(long long)row * a.slots + slot];
        if (!scales) return own;
        double scaled = 0.0;
#pragma unroll
        for (int c = 0; c < DOF; ++c) {
            const double v = whole_stages ? (&stage(at, rhs_place))[(c - row) * (pairs ? 2 : 1)]
                                          : a.in[(long long)c * a.slots + slot];
            scaled += inverse_at(at, c, slot) * v;
        }
        if (DOT) dot += own * scaled;
        return scaled;
    }
};
