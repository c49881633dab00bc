// SPDX-License-Identifier: BSD-3-Clause
// y = A x, y = b - A x where b is given, or the residual b - A x in twice the working precision, on a GPU.
//
// A thread has ROWS rows of one slot. The neighbour of an entry is found by its slot alone. Where the neighbour lies
// outside the grid that is the slot of some other point, whose value is multiplied by the zero that A stores there; the
// map of points to slots is one to one, so the mirrored coefficient, which is read where one triangle is stored, is
// zero as well. On one of several ranks slots are counted from the beginning of its halo, whose planes take part like
// others: halos are as thick as the stencil, so only neighbours outside the grid along x or y can lie outside the
// memory, and those lead to a point whose mirrored coefficient is zero for the same reason. Where A wraps along an axis
// (PERIODIC) neighbours are found by their coordinates; around z, those of a rank's planes are in its halo.
//
// A thread block has WIDTH consecutive slots of each of PLANES planes of the hyperplane layout. Neighbours lie in as
// many planes as the stencil has levels, and so a block finds more of them in the first-level cache. Where a
// coefficient is read once (ONCE), it makes room for others there first. On a small grid, where the time is that of
// loads one after another, all that a row needs is loaded before it is summed (AT_ONCE).
//
// Definitions, besides those of core/grid/grid_point.cuh: PLANES, WIDTH, ONCE, AT_ONCE, DOF, ENTRIES, STORED (entries
// held: all, or those up to the diagonal), ROWS, PERIODIC, EXACT (the residual), REAL (double or float: the type of
// coefficients and vectors; sums are in double precision), DOT (whether there is a kernel that sums up x'y, too).

#include "core/matrix/spmv_rows.cuh"
#if DOT
#include "core/matrix/spmv_dot.cuh"
#endif

namespace hyperplane {

// Where neighbours are found by coordinates ptxas would spill registers to keep more than one block resident.
#if PERIODIC
#define BOUNDS __launch_bounds__(256, 1)
#else
#define BOUNDS __launch_bounds__(PLANES* WIDTH)
#endif

/// This thread's slot, -1 where it has none.
__device__ __forceinline__ int slot_of_thread(const Arguments& a) {
    if (PLANES == 1) {
        const int slot = a.first + blockIdx.x * WIDTH + threadIdx.x;
        return slot < a.end ? slot : -1;
    }
    const int size = a.ny * a.nz, blocks = (size + WIDTH - 1) / WIDTH, planes = blockIdx.x / blocks;
    const int at = (blockIdx.x - planes * blocks) * WIDTH + threadIdx.x % WIDTH;
    const int plane = planes * PLANES + threadIdx.x / WIDTH;
    return at < size && plane < a.nx ? plane * size + at : -1;
}

extern "C" __global__ void BOUNDS spmv(const __grid_constant__ Arguments a) {
    const int slot = slot_of_thread(a), first_row = blockIdx.y * ROWS;
    if (slot < 0) return;
    Sum sum[ROWS];
#if AT_ONCE
    REAL weight[ENTRIES], value[ENTRIES];
#pragma unroll
    for (int e = 0; e < ENTRIES; ++e) {
        const bool mirrored = e >= STORED;
        const int there = neighbour(a, slot, e);
        weight[e] =
            coefficient(a.a + (long long)(mirrored ? ENTRIES - 1 - e : e) * a.stride + (mirrored ? there : slot));
        value[e] = __ldg(a.x + there);
    }
    const double b = a.b ? double(a.b[slot]) : 0.0;
#pragma unroll
    for (int e = 0; e < ENTRIES; ++e) sum[0].add_product(weight[e], value[e]);
    a.y[slot] = REAL(a.b ? b - sum[0].value() : sum[0].value());
    return;
#endif
#if EXACT
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
        if (first_row + r < DOF) sum[r].add(a.b[(long long)(first_row + r) * a.slots + slot]);
#endif
    add_products(a, slot, first_row, sum);
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
        if (first_row + r < DOF) {
            const long long at = (long long)(first_row + r) * a.slots + slot;
            a.y[at] = REAL(!EXACT && a.b ? a.b[at] - sum[r].value() : sum[r].value());
        }
}

}  // namespace hyperplane
