// SPDX-License-Identifier: BSD-3-Clause
// Factorisation of subdomains with five to eight unknowns a point (precond/subdomain/ildu0.hpp), a warp a point, on
// tensor cores (precond/factors/tensor_point.cuh). There are two kernels:
//
//   1. subdomain_load (precond/subdomain/load.cuh) sets X = A + alpha diag(A) where the factors will be.
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
#include "precond/subdomain/load.cuh"

namespace hyperplane {

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
