// SPDX-License-Identifier: BSD-3-Clause
#include "precond/jacobi/jacobi_cuda.hpp"

#include <algorithm>
#include <vector>

#include "precond/jacobi/arguments.hpp"
#include "precond/kernel_set.hpp"

namespace hyperplane {
namespace {

constexpr int threads = 256;

rtc::Source source() {
    return precond_source("precond/jacobi/jacobi.cuh");
}

rtc::Definitions definitions(int dof) {
    return {{"DOF", std::to_string(dof)}, {"THREADS", std::to_string(threads)}};
}

/// Adds what all thread blocks found to `inverter`.
void adopt(const std::vector<PivotSummary>& blocks, const Layout& layout, int dof, PivotInverter& inverter) {
    PivotSummary all = no_pivots;
    for (const PivotSummary& one : blocks) all.take(one);
    const Index first = layout.begin_plane() * layout.slots_of_plane();  // kernels count this rank's points
    PivotEvent event{};
    if (all.failures > 0)
        event = {layout.grid().point(first + Index(all.failed / dof)), int(all.failed % dof), all.failed_value};
    PivotRatio smallest;
    smallest.take(all.ratio, first + all.point);
    inverter.adopt(all.failures, event, 0, {}, smallest);
}

}  // namespace

void invert_diagonal_cuda(const StructMatrix& a, StructMatrix& inverse, const PivotRules& rules,
                          PivotInverter& inverter) {
    const rtc::Kernel<InvertDiagonalArguments> kernel(a.context(), source(), definitions(a.dof()), "invert_diagonal");
    const Index block_points = threads / 32 * (32 / a.dof());
    const Index blocks = std::min((a.layout().slots() + block_points - 1) / block_points,
                                  Index(kernel.occupancy(threads, 0)) * kernel.stream().properties().multiprocessors);
    Buffer<PivotSummary> summary(a.context(), "preconditioner: pivots", blocks);
    const Grid& g = a.grid();
    const LevelMap levels = a.layout().levels();
    kernel.launch({unsigned(blocks)}, threads, 0,
                  {.a = a.values(a.stencil().diagonal()),
                   .inverse = inverse.values(0),
                   .summary = summary.data(),
                   .tolerance = rules.tolerance,
                   .slots = a.layout().slots(),
                   .a_stride = a.stride(),
                   .inverse_stride = inverse.stride(),
                   .nx = g.nx,
                   .ny = g.ny,
                   .nz = g.nz,
                   .natural = a.layout().kind() == LayoutKind::natural,
                   .level_y = levels.y,
                   .level_z = levels.z});
    std::vector<PivotSummary> host(summary.size());
    kernel.stream().copy(summary.data(), host.data(), blocks * Index(sizeof(PivotSummary)));
    adopt(host, a.layout(), a.dof(), inverter);
}

rtc::Programs invert_diagonal_programs(int dof) {
    return {{source(), definitions(dof)}};
}

}  // namespace hyperplane
