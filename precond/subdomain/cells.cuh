// SPDX-License-Identifier: BSD-3-Clause
// A subdomain's vector in shared memory, for the kernels of precond/subdomain/solve.cuh and
// precond/reproductions/spin_and_dag.cuh. A thread block has one subdomain. A point has a `cell`: component c of the
// point is element `cell` of the c-th of DOF arrays of CELLS values. Lines of SX points begin PITCH cells apart. The
// padding between lines and around the vector is zero. Coefficients that are zero because there is no neighbour are
// multiplied by the padding or by some other point's value.
//
// Definitions, besides that of precond/factors/reduced_values.cuh: DOF, LOWER (number of lower entries), DELTA
// {distance from a point's cell to that of each lower neighbour}, SX, SY, SZ (size of a subdomain), PITCH, CELLS,
// MARGIN (number of values before and after the vector), THREADS, NATURAL (the layout of `in` and `out`), UNROLLED.
#pragma once

#include "core/grid/slots.hpp"
#include "precond/factors/reduced_values.cuh"
#include "precond/subdomain/arguments.hpp"
#include "precond/walks/unrolled.cuh"

namespace hyperplane {

using Arguments = SubdomainArguments<const Value>;

TABLE delta[] = DELTA;

extern __shared__ __align__(16) double shared[];
constexpr int vector_size = (DOF * CELLS + 2 * MARGIN + 1) / 2 * 2;

/// The address of component 0 of cell 0.
__device__ __forceinline__ double* vector_begin() {
    return shared + MARGIN;
}

/// The distance from a point's cell to that of its neighbour at the lower entry e, or at the upper entry that mirrors
/// it.
template <bool upper>
__device__ __forceinline__ int cell_delta(int e) {
    return upper ? -delta[e] : delta[e];
}

/// The first point of the thread block's subdomain.
struct Box {
    int x, y, z;

    __device__ explicit Box(const Arguments& a)
        : x(int(blockIdx.x) % a.count_x * SX),
          y(int(blockIdx.x) / a.count_x % a.count_y * SY),
          z(int(blockIdx.x) / (a.count_x * a.count_y) * SZ) {}

    /// The slot of a cell's point, or -1 if the cell has none.
    __device__ __forceinline__ long long slot(const Arguments& a, int cell) const {
        const int i = cell % PITCH, j = cell / PITCH % SY, k = cell / (PITCH * SY);
        const int px = x + i, py = y + j, pz = z + k;
        if (i >= SX || px >= a.nx || py >= a.ny || pz >= a.nz) return -1;
        if (NATURAL) return natural_slot<long long>(px, py, pz, a.nx, a.ny);
        return hyperplane_slot<long long>(px + a.level_y * py + a.level_z * pz, py, pz, a.nx, a.ny, a.nz);
    }
};

/// A cell of the vector, and the slot of its point if it has one. `is_cell` is false where a thread has fewer cells
/// than the others.
struct Cell {
    int at;
    bool is_cell, has_point;
    long long slot;
};

/// Calls body(cells) for all cells of a thread, a batch at a time, in natural order. The cells in one plane are
/// computed once; those in the other planes differ by a constant. `whole`: all points of the box are in the grid.
template <bool whole, int threads, class Body>
__device__ __forceinline__ void for_cells_by_plane(const Arguments& a, const Box& box, int thread, const Body& body) {
    constexpr int plane = PITCH * SY, turns = (plane + threads - 1) / threads, batch = turns < 8 ? turns : 8;
    constexpr int planes = 8 / batch < SZ ? 8 / batch : SZ;
    constexpr bool even = plane % (batch * threads) == 0;
    const long long plane_slots = (long long)a.nx * a.ny;
#pragma unroll 1
    for (int first = thread; first < plane; first += batch * threads) {
        int from_corner[batch];
        bool is_cell[batch], has_point[batch];
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            const int cell = first + b * threads, i = cell % PITCH, j = cell / PITCH;
            from_corner[b] = i + a.nx * j;
            is_cell[b] = even || cell < plane;
            has_point[b] = is_cell[b] && (PITCH == SX || i < SX) && (whole || (box.x + i < a.nx && box.y + j < a.ny));
        }
        long long corner = box.x + a.nx * (box.y + (long long)a.ny * box.z);
#pragma unroll 1
        for (int k = 0; k < SZ; k += planes) {
            Cell cells[planes * batch];
#pragma unroll
            for (int p = 0; p < planes; ++p, corner += plane_slots) {
                const bool is_plane = SZ % planes == 0 || k + p < SZ;
#pragma unroll
                for (int b = 0; b < batch; ++b)
                    cells[p * batch + b] = {first + b * threads + (k + p) * plane, is_plane && is_cell[b],
                                            is_plane && has_point[b] && (whole || box.z + k + p < a.nz),
                                            corner + from_corner[b]};
            }
            body(cells);
        }
    }
}
template <int threads, class Body>
__device__ __forceinline__ void for_cells(const Arguments& a, const Box& box, int thread, const Body& body) {
    if constexpr (NATURAL && PITCH * SY >= threads) {
        if (box.x + SX <= a.nx && box.y + SY <= a.ny && box.z + SZ <= a.nz)
            for_cells_by_plane<true, threads>(a, box, thread, body);
        else
            for_cells_by_plane<false, threads>(a, box, thread, body);
    } else {
        constexpr int batch = 4;
#pragma unroll 1
        for (int first = thread; first < CELLS; first += batch * threads) {
            Cell cells[batch];
#pragma unroll
            for (int b = 0; b < batch; ++b) {
                const int at = first + b * threads;
                const long long slot = at < CELLS ? box.slot(a, at) : -1;
                cells[b] = {at, at < CELLS, slot >= 0, slot};
            }
            body(cells);
        }
    }
}

/// Copies the subdomain's part of `in` to shared memory. Each thread has several loads in flight.
template <int threads>
__device__ void load_vector(const Arguments& a, const Box& box, int thread) {
    for (int at = thread; at < MARGIN; at += threads) {
        shared[at] = 0.0;
        shared[MARGIN + DOF * CELLS + at] = 0.0;
    }
    for_cells<threads>(a, box, thread, [&](const auto& cells) {
        constexpr int count = sizeof(cells) / sizeof(Cell);
#pragma unroll 1
        for (int c = 0; c < DOF; ++c) {
            double value[count];
#pragma unroll
            for (int n = 0; n < count; ++n) value[n] = cells[n].has_point ? a.in[c * a.slots + cells[n].slot] : 0.0;
#pragma unroll
            for (int n = 0; n < count; ++n)
                if (cells[n].is_cell) vector_begin()[c * CELLS + cells[n].at] = value[n];
        }
    });
}

/// Copies the vector in shared memory to `out`.
template <int threads>
__device__ void store_vector(const Arguments& a, const Box& box, int thread) {
    for_cells<threads>(a, box, thread, [&](const auto& cells) {
        constexpr int count = sizeof(cells) / sizeof(Cell);
#pragma unroll 1
        for (int c = 0; c < DOF; ++c)
#pragma unroll
            for (int n = 0; n < count; ++n)
                if (cells[n].has_point) a.out[c * a.slots + cells[n].slot] = vector_begin()[c * CELLS + cells[n].at];
    });
}

}  // namespace hyperplane
