// The factorisation of small blocks, elementwise: a thread has an element of each of a point's blocks, two where
// dof is 6 to 8, whose products run on the tensor cores (StructILU paper, section 4.3). Definitions:
// struct_ilu_factor.cuh, and SPLIT, MOST (eliminations of one l at most), CHUNK_BEGIN {LOWER + 1}, CHUNK_U, CHUNK_E
// {the pairs (u, e) of each l}.
//
// The point's entries lie in shared memory. The lower entries l are eliminated in their order, the entries that l
// changes shared out over SPLIT groups of threads; what the next depth - 1 need of their neighbours is asked for
// while l is eliminated. Loops over entries stay loops: unrolled, their code would not fit the instruction cache.

TABLE chunk_begin[] = CHUNK_BEGIN;
TABLE chunk_u[] = CHUNK_U;
TABLE chunk_e[] = CHUNK_E;

constexpr bool tensor = DOF >= 6;
constexpr int group_threads = tensor ? 32 : DOF * DOF;
constexpr int point_threads = group_threads * SPLIT;
constexpr int elements = tensor ? 2 : 1;
constexpr int warp_cells = 32 / point_threads;
constexpr int worker_threads = tile_threads(warp_cells);
constexpr int block_size = tensor ? 64 : DOF * DOF;
constexpr int cells = TJ * TK, columns = cells * group_threads;
constexpr int share = (MOST + SPLIT - 1) / SPLIT;  // eliminations of one l by a group
constexpr int most_depth = (tensor ? 160 : 84) / (2 * elements * (share + 1));
constexpr int depth = LOWER < 2 ? 1 : most_depth < 2 ? 2 : most_depth < LOWER ? most_depth : LOWER;
static_assert(worker_threads % cells == 0);

/// What a thread has of a block. As a result (rows of the left factor): thread (r, c); with tensor cores thread
/// (r, c / 2) has columns c and c + 1. As an operand of the tensor cores: the left one [r][k], k = c + 4 h; the
/// right one [k][c], with r and c exchanged.
struct Element {
    double v[elements];
};

struct Worker {
    static constexpr int threads = worker_threads;

    const Arguments& a;
    const int lane, cell, first, group, r, c;  // first lane of the group; row and column of the element
    const int fetched;                         // cell whose coefficients this thread fetches
    const bool owner;  // of elements; the threads that fill up a warp are not
    Line line, fetched_line;
    double* const x;     // this thread's elements of the point's entries, [entry][element][columns]
    double* const mine;  // 2 blocks of the point
    double ratio = 1.0;
    int ratio_x = 0;

    __device__ Worker(const Arguments& arguments, const Tile& tile, int, int thread)
        : a(arguments),
          lane(thread % 32),
          cell(thread / 32 * warp_cells + min(lane / point_threads, warp_cells - 1)),
          first(lane / group_threads * group_threads),
          group(lane % point_threads / group_threads),
          r(tensor ? lane / 4 : (lane - first) / DOF),
          c(tensor ? lane % 4 * 2 : (lane - first) % DOF),
          fetched(thread % cells),
          owner(lane < warp_cells * point_threads && cell < cells),
          line(a, tile, cell, lane < warp_cells * point_threads),
          fetched_line(a, tile, fetched, true),
          x(shared + min(cell, cells - 1) * group_threads + (lane - first)),
          mine(shared + entries * elements * columns + min(cell, cells - 1) * 2 * block_size) {
        for (int at = thread; at < entries * elements * columns; at += worker_threads) shared[at] = 0.0;
        meet();
    }

    /// All workers of the block.
    __device__ static void meet() { asm volatile("bar.sync 1, %0;" ::"n"(worker_threads) : "memory"); }

    /// The matrix's entries of a level, zero outside the grid, into shared memory; neighbours in j by
    /// neighbouring threads. `then_prefetch`: those of the level after into the second-level cache.
    __device__ void fetch(int level) const {
        const int i = level - fetched_line.start;
        const bool active = fetched_line.valid && unsigned(i) < unsigned(a.nx);
        const bool next = fetched_line.valid && unsigned(i + 1) < unsigned(a.nx);
        const int at = active ? fetched_line.slot(a, level) : 0;
        const int ahead = next ? fetched_line.slot(a, level + 1) : 0;
        constexpr int stride = worker_threads / cells;
#pragma unroll 4
        for (int q = threadIdx.x / cells; q < entries * DOF * DOF; q += stride) {
            const int e = q / (DOF * DOF), row = q / DOF % DOF, col = q % DOF, from = a_entry[e];
            const bool met = active && from >= 0 && fetched_line.in_grid(a, i, e);
            const double value = met ? __ldcs(a_at(a, from, row, col, at)) : 0.0;
            const int place = tensor ? (e * 2 + col % 2) * columns + row * 4 + col / 2 : e * columns + row * DOF + col;
            shared[place + fetched * group_threads] = value;
            if (next && from >= 0) asm volatile("prefetch.global.L2 [%0];" ::"l"(a_at(a, from, row, col, ahead)));
        }
    }

    __device__ bool exists() const { return line.valid; }
    __device__ long long smallest_point() const { return line.point(a, ratio_x); }

    // ---- blocks in memory
    __device__ bool inside(int row, int col) const { return !tensor || (row < DOF && col < DOF); }

    /// A factor's entry at a slot as a right operand; `transposed`: of its transpose.
    __device__ Element operand(int entry, int at, bool transposed, bool active) const {
        Element x;
#pragma unroll
        for (int n = 0; n < elements; ++n) {
            const int row = tensor ? lane % 4 + 4 * n : r, col = tensor ? lane / 4 : c;
            x.v[n] = active && inside(row, col)
                         ? load(transposed ? x_at(a, entry, col, row, at) : x_at(a, entry, row, col, at))
                         : 0.0;
        }
        return x;
    }
    /// The same of the matrix.
    __device__ Element matrix_operand(int entry, int at, bool transposed, bool active) const {
        Element x;
#pragma unroll
        for (int n = 0; n < elements; ++n) {
            const int row = tensor ? lane % 4 + 4 * n : r, col = tensor ? lane / 4 : c;
            x.v[n] = active && inside(row, col)
                         ? __ldg(transposed ? a_at(a, entry, col, row, at) : a_at(a, entry, row, col, at))
                         : 0.0;
        }
        return x;
    }
    __device__ void store(int entry, int at, const Element& x, bool active) const {
#pragma unroll
        for (int n = 0; n < elements; ++n)
            if (active && inside(r, c + n)) *x_at(a, entry, r, c + n, at) = x.v[n];
    }

    // ---- products
    __device__ static double from(double value, int lane_) { return __shfl_sync(~0u, value, lane_ & 31); }

    /// A result as left operand: row r of the block, spread out for the product.
    struct Left {
        double v[tensor ? 2 : DOF];
    };
    __device__ Left as_left(const Element& x) const {
        Left left;
        if constexpr (tensor) {
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                const int k = 4 * h + lane % 4, source = lane / 4 * 4 + k / 2;
                const double even = from(x.v[0], source), odd = from(x.v[1], source);
                left.v[h] = k % 2 ? odd : even;
            }
        } else {
#pragma unroll
            for (int k = 0; k < DOF; ++k) left.v[k] = DOF == 1 ? x.v[0] : from(x.v[0], first + r * DOF + k);
        }
        return left;
    }
    /// A result as right operand.
    __device__ Element as_right(const Element& x) const {
        if constexpr (!tensor) return x;
        Element right;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const int k = 4 * h + lane % 4, n = lane / 4, source = k * 4 + n / 2;
            const double even = from(x.v[0], source), odd = from(x.v[elements - 1], source);
            right.v[h % elements] = n % 2 ? odd : even;
        }
        return right;
    }
    /// The transpose of a result as right operand.
    __device__ Element transposed_right(const Element& x) const {
        if constexpr (tensor) {
            const Left left = as_left(x);  // [n][k] of x is [k][n] of its transpose, for this very thread
            Element right;
#pragma unroll
            for (int h = 0; h < 2; ++h) right.v[h % elements] = left.v[h];
            return right;
        } else {
            Element right;
            right.v[0] = DOF == 1 ? x.v[0] : from(x.v[0], first + c * DOF + r);
            return right;
        }
    }
    /// sum += sign * left right
    template <int sign>
    __device__ void multiply_add(const Left& left, const Element& right, Element& sum) const {
        if constexpr (tensor) {
#pragma unroll
            for (int h = 0; h < 2; ++h)
                asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                    : "+d"(sum.v[0]), "+d"(sum.v[elements - 1])
                    : "d"(sign * left.v[h % (tensor ? 2 : 1)]), "d"(right.v[h % elements]));
        } else {
#pragma unroll
            for (int k = 0; k < DOF; ++k)
                sum.v[0] += sign * left.v[k] * (DOF == 1 ? right.v[0] : from(right.v[0], first + k * DOF + c));
        }
    }

    // ---- the pivot
    /// x = its inverse; zero where a pivot cannot be used. FGBILU paper, Algorithm 8, on two blocks in turn.
    __device__ void invert(Element& x, const Element& own, int i, bool active) {
        if constexpr (DOF == 1) {
            if (!active) return;
            const double met = x.v[0], diagonal = own.v[0];
            if (const double here = pivot_ratio(met, diagonal); here < ratio) ratio = here, ratio_x = i;
            const double pivot =
                usable_pivot(a, met, diagonal, fmax(fabs(diagonal), fabs(met)), line.point(a, i), 0, group == 0);
            x.v[0] = pivot == 0.0 ? 0.0 : 1.0 / pivot;
        } else {
            double largest = 0.0;
            bool broken = false;
#pragma unroll
            for (int n = 0; n < elements; ++n) {
                largest = fmax(largest, fmax(fabs(own.v[n]), fabs(x.v[n])));
                broken |= isnan(own.v[n]) || isnan(x.v[n]);
            }
            if (broken) largest = nan("");
            double scale = 0.0;
            for (int t = 0; t < group_threads; ++t) {
                const double other = from(largest, first + t);
                scale = isnan(other) || isnan(scale) ? nan("") : fmax(scale, other);
            }
            bool gave_up = false;
#pragma unroll
            for (int n = 0; n < elements; ++n)
                if (owner && inside(r, c + n)) mine[r * DOF + c + n] = x.v[n];
            for (int p = 0; p < DOF; ++p) {
                __syncwarp();
                const double* const old = mine + p % 2 * block_size;
                double* const next = mine + (1 - p % 2) * block_size;
                const double met = old[p * DOF + p];
                // A's diagonal lies with the thread that has it
                const double diagonal = tensor ? from(own.v[0], p * 4 + p / 2) : from(own.v[0], first + p * DOF + p);
                const double odd = tensor ? from(own.v[elements - 1], p * 4 + p / 2) : 0.0;
                const double a_pivot = tensor && p % 2 ? odd : diagonal;
                double pivot = 1.0;
                if (active && !gave_up) {
                    if (const double here = pivot_ratio(met, a_pivot); here < ratio) ratio = here, ratio_x = i;
                    pivot = usable_pivot(a, met, a_pivot, scale, line.point(a, i), p, lane == first && group == 0);
                    if (pivot == 0.0) gave_up = true, pivot = 1.0;
                }
                const double inverse = 1.0 / pivot;
#pragma unroll
                for (int n = 0; n < elements; ++n) {
                    const int col = c + n;
                    if (!owner || !inside(r, col)) continue;
                    const double scaled = (col == p ? 1.0 : old[p * DOF + col]) * inverse;
                    next[r * DOF + col] =
                        r == p ? scaled : (col == p ? 0.0 : old[r * DOF + col]) - old[r * DOF + p] * scaled;
                }
            }
            __syncwarp();
#pragma unroll
            for (int n = 0; n < elements; ++n)
                x.v[n] = owner && inside(r, c + n) && !gave_up ? mine[DOF % 2 * block_size + r * DOF + c + n] : 0.0;
            __syncwarp();
        }
    }

    // ---- a point
    __device__ Element get(int e) const {
        Element value;
#pragma unroll
        for (int n = 0; n < elements; ++n) value.v[n] = x[(e * elements + n) * columns];
        return value;
    }
    __device__ void put(int e, const Element& value) const {
#pragma unroll
        for (int n = 0; n < elements; ++n) x[(e * elements + n) * columns] = value.v[n];
    }

    /// What the elimination of l needs of p + l.
    struct Ahead {
        Element inverse, upper[share];
    };
    __device__ __forceinline__ void ask(int l, int at, bool active, Ahead& ahead) const {
        const int there = near(a, at, l), begin = chunk_begin[l], count = chunk_begin[l + 1] - begin;
        ahead.inverse = operand(inverse_entry, there, false, active);
#pragma unroll
        for (int n = 0; n < share; ++n) {
            const int pair = n * SPLIT + group;
            const bool here = active && pair < count;
            const int u = chunk_u[begin + (here ? pair : 0)], e = chunk_e[begin + (here ? pair : 0)];
            const int mirror = 2 * LOWER - u;
            if (SHARES) {
                if (!SYMMETRIC) ahead.upper[n] = matrix_operand(a_entry[u], there, false, here);
            } else if (!SYMMETRIC) {
                ahead.upper[n] = operand(u, there, false, here);
            } else if (e != LOWER) {
                ahead.upper[n] = operand(mirror, near(a, at, e), true, here);
            }
        }
    }

    __device__ __forceinline__ void eliminate(int l, int at, bool active, const Ahead& now) const {
        const int begin = chunk_begin[l], count = chunk_begin[l + 1] - begin;
        const Element e_l = get(l);
        const Left left = as_left(e_l);
        Element w{};
        multiply_add<+1>(left, now.inverse, w);  // W_l = E_l D^-1(p+l)
        if (!SHARES) store(l, at, w, active && group == 0);
#pragma unroll
        for (int n = 0; n < share; ++n) {
            if (n * SPLIT >= count) break;
            const bool here = n * SPLIT + group < count;
            const int e = here ? chunk_e[begin + n * SPLIT + group] : LOWER;
            Element x_e = get(e);
            if (SHARES)
                multiply_add<-1>(as_left(w), SYMMETRIC ? transposed_right(e_l) : now.upper[n], x_e);
            else if (SYMMETRIC)  // all lanes take part in the transposition
                multiply_add<-1>(left, chosen(e == LOWER, transposed_right(w), now.upper[n]), x_e);
            else
                multiply_add<-1>(left, now.upper[n], x_e);
            if (here && owner) put(e, x_e);
        }
        __syncwarp();
    }
    __device__ static Element chosen(bool first, const Element& one, const Element& other) {
        Element x;
#pragma unroll
        for (int n = 0; n < elements; ++n) x.v[n] = first ? one.v[n] : other.v[n];
        return x;
    }

    __device__ void point(int level) {
        const bool active = line.valid && unsigned(level - line.start) < unsigned(a.nx);
        const int i = level - line.start, at = active ? line.slot(a, level) : 0;
        Ahead ahead[depth];
#pragma unroll
        for (int l = 0; l < depth - 1; ++l) ask(l, at, active, ahead[l]);
        const Element diagonal = get(LOWER);
        Element pivot = diagonal;
#pragma unroll
        for (int n = 0; n < elements; ++n)
            if (r == c + n) pivot.v[n] += a.shift * pivot.v[n];
        __syncwarp();
        if (group == 0 && owner) put(LOWER, pivot);
        __syncwarp();
#pragma unroll 1
        for (int begin = 0; begin < LOWER; begin += depth) {
#pragma unroll
            for (int d = 0; d < depth; ++d) {
                const int l = begin + d;
                if (l >= LOWER) break;
                if (l + depth - 1 < LOWER) ask(l + depth - 1, at, active, ahead[(d + depth - 1) % depth]);
                eliminate(l, at, active, ahead[d]);
            }
        }
        pivot = get(LOWER);
        invert(pivot, diagonal, i, active);
        store(inverse_entry, at, pivot, active && group == 0);
        const Left inverse = as_left(pivot);
#pragma unroll 2
        for (int from = LOWER + 1; from < entries; from += SPLIT) {
            const int e = min(from + group, entries - 1);
            Element g{};
            multiply_add<+1>(inverse, as_right(get(e)), g);  // G_u = D^-1 X_u
            store(e, at, g, active && from + group < entries);
        }
        meet();  // the entries are free for the next level's
        fetch(level + 1);
    }
};

