// SPDX-License-Identifier: BSD-3-Clause
#include "precond/jacobi/jacobi_cuda.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "precond/kernel_texts.hpp"

namespace hyperplane {
namespace {

constexpr int threads = 256;

rtc::Source source() {
    return {rtc::precond_texts(), "precond/jacobi/jacobi.cuh"};
}

rtc::Definitions definitions(int dof) {
    return {{"DOF", std::to_string(dof)}, {"THREADS", std::to_string(threads)}};
}

// jacobi.cuh's structs, member by member.

struct Pivots {
    double ratio;
    long long point, failures, failed;
    double value;
};

struct Arguments {
    const double* a;
    double* inverse;
    Pivots* met;
    double tolerance;
    long long slots, a_stride, inverse_stride;
    int nx, ny, nz, natural, level_y, level_z;
};

/// What all blocks of threads met, as a PivotInverter knows it.
void adopt(const std::vector<Pivots>& blocks, const Grid& grid, int dof, PivotInverter& inverter) {
    PivotRatio smallest;
    Pivots first{1.0, 0, 0, std::numeric_limits<long long>::max(), 0.0};
    Index failures = 0;
    for (const Pivots& met : blocks) {
        smallest.take(met.ratio, met.point);
        failures += met.failures;
        if (met.failed < first.failed) first = met;
    }
    PivotEvent event{};
    if (failures > 0) event = {grid.point(Index(first.failed / dof)), int(first.failed % dof), first.value};
    inverter.adopt(failures, event, 0, {}, smallest);
}

}  // namespace

void invert_diagonal_cuda(const StructMatrix& a, StructMatrix& inverse, const PivotRules& rules,
                          PivotInverter& inverter) {
    const rtc::Kernel kernel = rtc::load(source(), definitions(a.dof()), "invert_diagonal");
    const Index block_points = threads / 32 * (32 / a.dof());
    const Index blocks = std::min((a.layout().slots() + block_points - 1) / block_points,
                                  Index(kernel.occupancy(threads, 0)) * device::properties().multiprocessors);
    Buffer<Pivots> met(a.context(), "preconditioner: pivots", blocks);
    const Grid& g = a.grid();
    const LevelMap levels = a.layout().levels();
    const Arguments arguments{a.values(a.stencil().diagonal()),
                              inverse.values(0),
                              met.data(),
                              rules.tolerance,
                              a.layout().slots(),
                              a.stride(),
                              inverse.stride(),
                              g.nx,
                              g.ny,
                              g.nz,
                              a.layout().kind() == LayoutKind::natural,
                              levels.y,
                              levels.z};
    kernel.launch({unsigned(blocks)}, threads, 0, &arguments);
    std::vector<Pivots> host(met.size());
    device::copy(met.data(), host.data(), blocks * Index(sizeof(Pivots)));
    adopt(host, g, a.dof(), inverter);
}

rtc::KernelResources compile_invert_diagonal(int dof, const std::string& architecture) {
    std::vector<rtc::KernelResources> resources;
    rtc::compile(source(), definitions(dof), architecture, &resources);
    return resources.at(0);
}

}  // namespace hyperplane
