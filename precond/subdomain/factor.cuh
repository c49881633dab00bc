// SPDX-License-Identifier: BSD-3-Clause
// Factorisation of subdomains with five to eight unknowns a point (precond/subdomain/ildu0.hpp), a warp a point, on
// tensor cores (precond/factors/tensor_point.cuh). There are two kernels:
//
//   1. subdomain_load sets X = A + alpha diag(A) where the factors will be; couplings between subdomains become zero.
//      A's coefficients are contiguous over neighbouring points, those of the factors over the rows of a point, so
//      they go through shared memory.
//   2. subdomain_factor: a thread block factors one subdomain in place. Its warps take the points in turn, in the order
//      of the levels; a warp waits for the lower neighbours of its point alone, not for a level.
//
// Reading A in the second kernel would read four times as much: points of a level do not follow each other along x, so
// of each 32 bytes only 8 would be used.
//
// The factors are stored column by column, so the second kernel computes with transposes: X_e^T -= G_u^T(p+l) E_l^T,
// W_l^T = D^-T(p+l) E_l^T, G_u^T = X_u^T D^-T. Then a lane moves two rows of a column at once between global and shared
// memory, and reads only values of its own but for E_l^T and D^-T, the right operands. As soon as a block of the point
// is no longer needed, that of the warp's next point is requested in its place.
//
// Definitions: DOF, OPERANDS_AS_RESULTS.

#include "core/device/async_copies.cuh"
#include "precond/factors/pivot_log.hpp"
#include "precond/factors/tensor_point.cuh"
#include "precond/subdomain/factor_arguments.hpp"

namespace hyperplane {

using Arguments = SubdomainFactorArguments;

constexpr int block = DOF * DOF;

struct GridPoint {
    int x, y, z;
};

/// The thread block's subdomain.
struct Box {
    const Arguments& a;
    const GridPoint first;
    double* const values;

    __device__ Box(const Arguments& arguments, int number)
        : a(arguments),
          first{number % a.count_x * a.size_x, number / a.count_x % a.count_y * a.size_y,
                number / (a.count_x * a.count_y) * a.size_z},
          values(a.values + number * a.subdomain_values) {}

    __device__ __forceinline__ int points() const { return a.size_x * a.size_y * a.size_z; }
    __device__ __forceinline__ GridPoint point(int local) const {
        return {first.x + local % a.size_x, first.y + local / a.size_x % a.size_y,
                first.z + local / (a.size_x * a.size_y)};
    }
    __device__ __forceinline__ int local(GridPoint p) const {
        return p.x - first.x + a.size_x * (p.y - first.y + a.size_y * (p.z - first.z));
    }
    __device__ __forceinline__ bool in_grid(GridPoint p) const { return p.x < a.nx && p.y < a.ny && p.z < a.nz; }
    /// Whether a point is in the grid and in the subdomain.
    __device__ __forceinline__ bool holds(GridPoint p) const {
        return unsigned(p.x - first.x) < unsigned(a.size_x) && unsigned(p.y - first.y) < unsigned(a.size_y) &&
               unsigned(p.z - first.z) < unsigned(a.size_z) && in_grid(p);
    }
    __device__ __forceinline__ GridPoint neighbour(GridPoint p, int e) const {
        return {p.x + a.offsets[3 * e], p.y + a.offsets[3 * e + 1], p.z + a.offsets[3 * e + 2]};
    }
    /// The slot of a point of the grid in A's layout.
    __device__ __forceinline__ long long slot(GridPoint p) const {
        if (a.natural) return p.x + a.nx * (p.y + (long long)a.ny * p.z);
        return ((long long)((p.x + a.level_y * p.y + a.level_z * p.z) % a.nx) * a.nz + p.z) * a.ny + p.y;
    }
    __device__ __forceinline__ long long row(GridPoint p) const { return p.x + a.nx * (p.y + (long long)a.ny * p.z); }
    /// The index of a block's coefficient (0, 0).
    template <class Place>
    __device__ __forceinline__ int block_at(const Place& place, int e) const {
        return e < a.lower ? place.lower + e * DOF * place.stride : place.upper + (e - a.lower) * DOF * place.stride;
    }
};

constexpr int load_threads = 256, load_points = 32;
constexpr int width = DOF % 2 == 0 ? 2 : 1;                // rows of a column that are moved at once
constexpr int pieces = block / width;                      // of a block
constexpr int tile_size = width == 2 ? block + 2 : block;  // neighbouring points are in different banks
static_assert(tile_size % width == 0, "what is moved at once is aligned");

__shared__ __align__(16) double tiles[2][load_points][tile_size];  // [entry % 2][point][col][row]
__shared__ SubdomainPlace load_places[load_points];

/// The two coefficients, or the one, that are moved at once.
__device__ __forceinline__ void move(double* to, const double* from) {
    if constexpr (width == 2)
        *(double2*)to = *(const double2*)from;
    else
        *to = *from;
}

/// Step 1, for 32 points of one subdomain; the next thread block has the next ones, since a step of the factors has
/// points of many lines, whose columns lie side by side.
struct Loader {
    static constexpr int warps = load_threads / 32, each = (block + warps - 1) / warps;  // coefficients of a thread

    const Box& box;
    const Arguments& a = box.a;
    const GridPoint p;  // whose coefficients this lane reads
    const bool exists;
    const long long slot;
    double read[each] = {};

    __device__ Loader(const Box& box_, int begin)
        : box(box_),
          p(box_.point(begin + int(threadIdx.x) % 32)),
          exists(begin + int(threadIdx.x) % 32 < box_.points() && box_.in_grid(p)),
          slot(exists ? box_.slot(p) : 0) {}

    __device__ __forceinline__ void request(int e) {
        const int warp = threadIdx.x / 32, entry = a.a_entry[e];
        const GridPoint q = box.neighbour(p, e);
        const bool inside = exists && box.holds(q), mirrored = entry >= a.stored;
        const int own = mirrored ? a.mirror - entry : entry;
        const double* const from =
            a.a + (long long)own * block * a.a_stride + (inside && mirrored ? box.slot(q) : slot);
#pragma unroll
        for (int n = 0; n < each; ++n) {
            const int coefficient = n * warps + warp, r = coefficient / DOF, c = coefficient % DOF;
            if (coefficient >= block) break;
            read[n] = inside ? from[(mirrored ? c * DOF + r : coefficient) * a.a_stride] : 0.0;
        }
    }
    __device__ __forceinline__ void put(int e) const {
        const int warp = threadIdx.x / 32;
#pragma unroll
        for (int n = 0; n < each; ++n) {
            const int coefficient = n * warps + warp, r = coefficient / DOF, c = coefficient % DOF;
            if (coefficient >= block) break;
            tiles[e % 2][threadIdx.x % 32][c * DOF + r] = e == a.lower && r == c ? read[n] * (1.0 + a.alpha) : read[n];
        }
    }
    __device__ __forceinline__ void write(int e) const {
        const int piece = threadIdx.x % pieces, first = threadIdx.x / pieces, step = load_threads / pieces;
        if (first >= step) return;
#pragma unroll 2
        for (int at = first; at < load_points; at += step) {
            const SubdomainPlace place = load_places[at];
            if (place.stride == 0) continue;
            move(box.values + box.block_at(place, e) + piece * width / DOF * place.stride + piece * width % DOF,
                 tiles[e % 2][at] + piece * width);
        }
    }
};

extern "C" __global__ void __launch_bounds__(load_threads, 4) subdomain_load(const __grid_constant__ Arguments a) {
    const int parts = (a.size_x * a.size_y * a.size_z + load_points - 1) / load_points, number = blockIdx.x;
    const Box box(a, number / parts);
    const int begin = number % parts * load_points, entries = 2 * a.lower + 1;
    Loader loader(box, begin);
    if (threadIdx.x < load_points) {
        load_places[threadIdx.x] = {};
        if (loader.exists) load_places[threadIdx.x] = a.places[begin + threadIdx.x];
    }
    loader.request(0);
    for (int e = 0; e < entries; ++e) {
        loader.put(e);
        __syncthreads();
        if (e + 1 < entries) loader.request(e + 1);
        loader.write(e);
    }
}

// [warp][entry][col][row], then [warp][2] of Neighbours, the products, and a bit for each point that is done
extern __shared__ __align__(16) double shared[];

constexpr int most_warps = 8;
constexpr int group = SubdomainProduct::group;

__shared__ PivotRatio ratios[most_warps];

/// The neighbours of a point in the subdomain, in shared memory.
struct Neighbours {
    int* const there;                 // [entry]: the neighbour's local number, or -1
    int *const upper, *const stride;  // [lower entry]: SubdomainPlace's

    __device__ Neighbours(int* at, int entries) : there(at), upper(at + entries), stride(at + 2 * entries) {}

    __device__ __forceinline__ void find(const Box& box, GridPoint p, int entries, int lane) const {
        for (int e = lane; e < entries; e += 32) {
            const GridPoint q = box.neighbour(p, e);
            const int number = box.holds(q) ? box.local(q) : -1;
            there[e] = number;
            if (e >= box.a.lower || number < 0) continue;
            const SubdomainPlace& place = box.a.places[number];
            upper[e] = place.upper;
            stride[e] = place.stride;
        }
    }
};

/// Which points of the subdomain are done, in shared memory.
struct DonePoints {
    unsigned* const bits;

    __device__ __forceinline__ void set(int local) const { atomicOr(bits + local / 32, 1u << local % 32); }
    __device__ __forceinline__ void wait(int local) const {
        while (!(atomicOr(bits + local / 32, 0u) >> local % 32 & 1)) __nanosleep(20);
    }
};

/// A point that a warp factors, or is about to.
struct Task {
    int local;
    int lower, upper, stride;  // SubdomainPlace's; the stride is 0 if there is no point

    __device__ bool exists() const { return stride > 0; }
};

/// The factorisation of points by a warp.
struct FactoredPoint : PointBlocks {
    const Box& box;
    const Arguments& a = box.a;
    const int lower = box.a.lower, entries = 2 * lower + 1;

    __device__ FactoredPoint(const Box& box_, double* blocks) : PointBlocks(threadIdx.x, blocks), box(box_) {}

    /// The point that is number `at` in the order of levels; finds its neighbours.
    __device__ __forceinline__ Task find(int at, const Neighbours& near) const {
        Task task{};
        if (at >= box.points()) return task;
        task.local = a.points[at];
        const GridPoint p = box.point(task.local);
        if (!box.in_grid(p)) return task;
        const SubdomainPlace& place = a.places[task.local];
        task.lower = place.lower, task.upper = place.upper, task.stride = place.stride;
        near.find(box, p, entries, lane);
        return task;
    }

    /// This lane's two rows of a column, from and to the factors.
    __device__ __forceinline__ double* mine(const Task& place, int e) const {
        return box.values + box.block_at(place, e) + r * place.stride + c;
    }
    __device__ __forceinline__ void request(const Task& task, const Neighbours& near, int begin, int end) const {
        if (!task.exists()) return;
#pragma unroll 2
        for (int e = begin; e < end; ++e) {
            if (near.there[e] < 0) continue;
            double* const to = blocks + e * padded_block + 2 * lane;
            const double* const from = mine(task, e);
            if (width == 2) {
                if (inside(0)) copy_16_async(to, from);
            } else {
#pragma unroll
                for (int m = 0; m < 2; ++m)
                    if (inside(m)) copy_8_async(to + m, from + m);
            }
        }
    }
    __device__ __forceinline__ void keep(const Task& place, int e, const Block& x) const {
        double* const to = mine(place, e);
        if (width == 2) {
            if (inside(0)) *(double2*)to = double2{x.v[0], x.v[1]};
        } else {
#pragma unroll
            for (int m = 0; m < 2; ++m)
                if (inside(m)) to[m] = x.v[m];
        }
    }

    /// The products of a group, all with the same E_l.
    struct Group {
        int e[group];  // the block that is changed, l where W_l is computed, or -1
        Operand left[group];
    };
    __device__ __forceinline__ void load(Group& to, const SubdomainProduct* products, const Neighbours& near) const {
        const int l = products[0].l;
        const bool has = near.there[l] >= 0;
        const int stride = near.stride[l];
        const double* const there = box.values + near.upper[l] + n * stride + col(0);
#pragma unroll
        for (int q = 0; q < group; ++q) {
            const SubdomainProduct it = products[q];
            to.e[q] = has && it.u >= 0 && near.there[it.e] >= 0 ? it.e : -1;
        }
#pragma unroll
        for (int q = 0; q < group; ++q) {
            const double* const from = there + products[q].u * DOF * stride;
            to.left[q] = {0.0, 0.0};
            if (to.e[q] < 0 || n >= DOF || col(0) >= DOF) continue;
            if (width == 2) {
                const double2 two = *(const double2*)from;
                to.left[q] = {two.x, two.y};
            } else {
                to.left[q] = {from[0], col(1) < DOF ? from[1] : 0.0};
            }
        }
    }
    __device__ __forceinline__ void multiply(const Group& now, int l, const Operand& minus, const Task& place) const {
        Block x[group];
#pragma unroll
        for (int q = 0; q < group; ++q) {
            x[q] = {};
            if (now.e[q] >= 0 && now.e[q] != l) x[q] = at(now.e[q]);
        }
#pragma unroll
        for (int q = 0; q < group; ++q)
            if (now.e[q] >= 0) multiply_add<1>(now.left[q], minus, x[q]);
#pragma unroll
        for (int q = 0; q < group; ++q) {
            if (now.e[q] < 0) continue;
            if (now.e[q] != l)
                put(now.e[q], x[q]);
            else
                keep(place, l, {-x[q].v[0], -x[q].v[1]});
        }
    }
    __device__ __forceinline__ void eliminate(const Task& task, const Neighbours& near,
                                              const SubdomainProduct* products) const {
        int lower_now = -1;
        Operand minus{};
        Group next;
        if (a.products > 0) load(next, products, near);
#pragma unroll 1
        for (int first = 0; first < a.products; first += group) {
            const Group now = next;
            if (first + group < a.products) load(next, products + first + group, near);
            const int l = products[first].l;
            if (near.there[l] < 0) continue;
            if (l != lower_now) {
                lower_now = l;
                __syncwarp();
                minus = right_at(l);
#pragma unroll
                for (int h = 0; h < steps; ++h) minus.v[h] = -minus.v[h];
            }
            multiply(now, l, minus, task);
        }
        __syncwarp();
    }

    /// Factors a point whose blocks have arrived, writes W, D^-1 and G, and requests the blocks of the next one.
    __device__ __forceinline__ void factor(const Task& task, const Neighbours& near, const SubdomainProduct* products,
                                           const Task& next, const Neighbours& next_near, PivotRatio& smallest) const {
        Block own = at(lower);
        if (a.alpha != 0.0)
#pragma unroll
            for (int m = 0; m < 2; ++m)
                if (r == c + m && in_rows)
                    own.v[m] = a.a[((long long)a.a_entry[lower] * block + r * DOF + r) * a.a_stride +
                                   box.slot(box.point(task.local))];
        eliminate(task, near, products);
        request(next, next_near, 0, lower);
        const long long row = box.row(box.point(task.local));
        double ratio = 1.0;
        const Block x = inverted(at(lower), own, {{a.tolerance, a.boost, a.definite}, a.log}, row, ratio);
        if (lane == 0) smallest.take(ratio, row);
        keep(task, lower, x);
        put(lower, x);
        __syncwarp();
        const Operand inverse = right_at(lower);
        __syncwarp();
        request(next, next_near, lower, lower + 1);
#pragma unroll 2
        for (int u = lower + 1; u < entries; ++u) {
            if (near.there[u] >= 0) {
                Block g{};
                multiply_add<1>(left(at(u)), inverse, g);
                keep(task, u, g);
            }
            request(next, next_near, u, u + 1);
        }
    }
};

/// Step 2.
extern "C" __global__ void __launch_bounds__(32 * most_warps, 2) subdomain_factor(const __grid_constant__ Arguments a) {
    const int warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32, entries = 2 * a.lower + 1;
    const Box box(a, blockIdx.x);
    int* const near_begin = (int*)(shared + warps * entries * padded_block);
    const auto near = [&](int turn) { return Neighbours(near_begin + (2 * warp + turn % 2) * 3 * entries, entries); };
    SubdomainProduct* const products = (SubdomainProduct*)(near_begin + 2 * warps * 3 * entries);
    const DonePoints done{(unsigned*)(products + a.products)};
    for (int at = threadIdx.x; at < a.products; at += blockDim.x) products[at] = a.product[at];
    for (int at = threadIdx.x; at < (box.points() + 31) / 32; at += blockDim.x) done.bits[at] = 0;
    const FactoredPoint point(box, shared + warp * entries * padded_block);
    for (int e = 0; e < entries; ++e) point.put(e, {});
    if (lane == 0) ratios[warp] = {};
    __syncthreads();
    Task now = point.find(warp, near(0));
    __syncwarp();
    point.request(now, near(0), 0, entries);
    commit_copies();
    for (int at = warp, turn = 0; at < box.points(); at += warps, ++turn) {
        const Neighbours here = near(turn), ahead = near(turn + 1);
        const Task next = point.find(at + warps, ahead);
        if (now.exists())
            for (int l = lane; l < a.lower; l += 32)
                if (here.there[l] >= 0) done.wait(here.there[l]);
        __threadfence_block();
        wait_copies<0>();
        __syncwarp();
        if (now.exists()) {
            point.factor(now, here, products, next, ahead, ratios[warp]);
            __threadfence_block();
            __syncwarp();
            if (lane == 0) done.set(now.local);
        } else {
            point.request(next, ahead, 0, entries);
        }
        commit_copies();
        now = next;
    }
    __syncthreads();
    if (threadIdx.x > 0) return;
    PivotRatio smallest = ratios[0];
    for (int other = 1; other < warps; ++other) smallest.take(ratios[other].value, ratios[other].row);
    a.smallest[blockIdx.x] = smallest;
}

}  // namespace hyperplane
