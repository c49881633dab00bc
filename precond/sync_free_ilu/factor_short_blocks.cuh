// SPDX-License-Identifier: BSD-3-Clause
// The factorisation of a row of few blocks: a warp keeps it in shared memory.
//
// Where the entries of the rows k that are eliminated meet those of this row follows from the pattern alone, so it is
// found before any of these rows is waited for, by all lanes for all k together. Afterwards the blocks of all rows k
// that are needed are loaded together, if the staging memory has room for them; otherwise a row k at a time. So what
// remains one after another is arithmetic.
//
// Definitions: as in factor.cuh; LANES is 32.

namespace hyperplane {

struct ShortRow {
    static constexpr int most = 512 / size < 32 ? 512 / size : 32;  // blocks of a row
    static constexpr int most_lower = 16;                           // of these below the diagonal
    static constexpr int most_staged = 256 / size;                  // blocks of rows k that are loaded together
    /// The shared memory of a warp.
    struct Memory {
        double x[most * size];
        double given[size];                     // A's diagonal block
        double staged[most_staged * size];      // of each row k, the pivot's inverse and the entries that meet this row
        long long from[most_staged];            // where they lie
        int place[most_lower][most];            // of the entries of row k that meet this row, after its diagonal
        unsigned char entry[most_lower][most];  // of this row that they meet
    };
    static __device__ __forceinline__ bool takes(const Row& row) {
        return row.end - row.begin <= most && row.diagonal - row.begin <= most_lower;
    }
    /// What a step needs of row k. Lane s holds that of step s.
    struct Step {
        long long pivot;  // the place of its diagonal
        int meeting;      // entries that meet this row
        int staged;       // the first block of its own in the staging memory
    };

    const Row& r;
    Memory& memory;
    int lane, lower, count;  // blocks below the diagonal, and all
    u64 epoch;

    __device__ __forceinline__ ShortRow(const Row& row, Memory& own, u64 launch)
        : r(row),
          memory(own),
          lane(row.lane),
          lower(int(row.diagonal - row.begin)),
          count(int(row.end - row.begin)),
          epoch(launch) {}

    /// X = A + shift diag(A).
    __device__ __forceinline__ void load() const {
        const long long from = __ldg(r.a.a_row_begin + r.row), to = __ldg(r.a.a_row_begin + r.row + 1);
        if (r.own < 0)
            for (int e = lane; e < size; e += 32) memory.given[e] = 0.0;
        if (r.a.place) {
            for (int at = lane; at < count * size; at += 32) memory.x[at] = 0.0;
            __syncwarp();
        }
        for (long long at = from * size + lane; at < to * size; at += 32) {
            const long long block = at / size;
            const int e = int(at % size);
            const double given = __ldg(r.a.a_values + at);
            const double factor = block == r.own && e / DOF == e % DOF ? 1.0 + r.a.shift : 1.0;
            if (block == r.own) memory.given[e] = given;
            const int there = r.a.place ? __ldg(r.a.place + block) : int(block - from);
            if (there < 0) continue;  // the factors leave this block out
            memory.x[there * size + e] = factor * given;
        }
    }

    /// Finds where the rows k meet this row.
    __device__ __forceinline__ Step find_meetings() const {
        const int column = lane < count ? __ldg(r.a.column + r.begin + lane) : 0;
        Step step = {0, 0, 0};
        long long last = 0;
        if (lane < lower) {
            step.pivot = __ldg(r.a.diagonal + column);
            last = __ldg(r.a.row_begin + column + 1);
        }
        for (int first = 0; first < lower * count; first += 32) {
            const int at = first + lane, s = at / count, l = at % count;
            const int wanted = __shfl_sync(~0u, column, l);
            const long long pivot = __shfl_sync(~0u, step.pivot, s), end = __shfl_sync(~0u, last, s);
            if (s >= lower) continue;
            const bool may_meet = SYMMETRIC ? l >= lower : l > s;
            const long long found = may_meet ? find(r.a.column, pivot + 1, end, wanted) : -1;
            memory.place[s][l] = found < 0 ? 0 : int(found - pivot);
        }
        __syncwarp();
        if (lane < lower)
            for (int l = 0; l < count; ++l)
                if (const int place = memory.place[lane][l]; place > 0) {
                    memory.place[lane][step.meeting] = place;
                    memory.entry[lane][step.meeting++] = (unsigned char)l;
                }
        // The blocks before those of step s.
        int blocks = lane < lower ? 1 + step.meeting : 0;
        step.staged = blocks;
        for (int distance = 1; distance < most_lower; distance *= 2) {
            const int before = __shfl_up_sync(~0u, step.staged, distance);
            if (lane >= distance) step.staged += before;
        }
        step.staged -= blocks;
        return step;
    }

    /// Loads the blocks of all rows k, `blocks` of them.
    __device__ __forceinline__ void stage(int blocks) const {
        for (int at = lane; at < blocks * size; at += 32)
            memory.staged[at] = __ldcg(r.element(memory.from[at / size], at % size));
        __syncwarp();
    }

    /// Factors the row; returns the smallest ratio of a pivot to A's diagonal.
    __device__ __forceinline__ double factor() const {
        load();
        const int column = lane < lower ? __ldg(r.a.column + r.begin + lane) : 0;
        const Step mine = find_meetings();
        const int blocks = lower > 0 ? __shfl_sync(~0u, mine.staged + 1 + mine.meeting, lower - 1) : 0;
        const bool together = blocks <= most_staged;
        if (together && lane < lower) {
            memory.from[mine.staged] = mine.pivot;
            for (int at = 0; at < mine.meeting; ++at)
                memory.from[mine.staged + 1 + at] = mine.pivot + memory.place[lane][at];
        }
        if (lane < lower) wait_for(r.a.finished + column, epoch);
        __syncwarp();
        if (together) stage(blocks);
        for (int s = 0; s < lower; ++s) {
            const Step step = {__shfl_sync(~0u, mine.pivot, s), __shfl_sync(~0u, mine.meeting, s),
                               __shfl_sync(~0u, mine.staged, s)};
            if (together) {
                const double* const own = memory.staged + step.staged * size;
                eliminate(s, step.meeting, [&](int which, int e) { return own[which * size + e]; });
            } else {
                eliminate(s, step.meeting, [&](int which, int e) {
                    const long long after = which == 0 ? 0 : memory.place[s][which - 1];
                    return __ldcg(r.element(step.pivot + after, e));
                });
            }
        }
        for (int at = lane; at < count * size; at += 32)
            if (at / size != lower) *r.element(r.begin, at) = memory.x[at];
        const double* const block = memory.x + lower * size;
        return r.invert(
            r.element(r.diagonal, 0), [&](int e) { return block[e]; }, [&](int e) { return memory.given[e]; });
    }

    /// Step s; other(0, e) is an element of the inverse of row k's pivot, other(1 + m, e) one of its entry m.
    template <class Other>
    __device__ __forceinline__ void eliminate(int s, int meeting, const Other& other) const {
        // Of a symmetric matrix the first entry of row k that meets this row is U_ki.
        double product[share];
#pragma unroll
        for (int part = 0; part < share; ++part) {
            const int e = lane + part * 32, row = e / DOF, c = e % DOF;
            double sum = 0.0;
            if (e < size)
#pragma unroll
                for (int q = 0; q < DOF; ++q) {
                    const double x = SYMMETRIC ? other(1, q * DOF + row) : memory.x[s * size + row * DOF + q];
                    sum += x * other(0, q * DOF + c);
                }
            product[part] = sum;
        }
        __syncwarp();
#pragma unroll
        for (int part = 0; part < share; ++part)
            if (const int e = lane + part * 32; e < size) memory.x[s * size + e] = r.w[e] = product[part];
        __syncwarp();
        for (int at = lane; at < meeting * size; at += 32) {
            const int which = at / size, e = at % size, row = e / DOF, c = e % DOF;
            double* const x = memory.x + memory.entry[s][which] * size + e;
            double sum = *x;
#pragma unroll
            for (int q = 0; q < DOF; ++q) sum -= r.w[row * DOF + q] * other(1 + which, q * DOF + c);
            *x = sum;
        }
        __syncwarp();
    }
};

}  // namespace hyperplane
