// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/jumps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/vector/blas1.hpp"
#include "core/vector/blas1_cuda.hpp"

namespace hyperplane::multigrid {
namespace {

struct Diagonals {
    double smallest, largest;
    /// The factor is a power of two, and multiplying by it is exact.
    bool jumps() const { return largest > most_resolved * smallest && smallest < most_resolved * largest; }
};

/// Of some values, in lanes that do not wait for each other; NaN if one is.
Diagonals extremes(const double* values, Index count) {
    constexpr Index lanes = 8;
    constexpr double infinite = std::numeric_limits<double>::infinity();
    std::array<double, lanes> least, most, strange{};
    least.fill(infinite), most.fill(-infinite);
    const auto add = [&](Index lane, double value) {
        least[lane] = value < least[lane] ? value : least[lane];
        most[lane] = value > most[lane] ? value : most[lane];
        strange[lane] = value == value ? strange[lane] : std::nan("");
    };
    Index at = 0;
    for (; at + lanes <= count; at += lanes)
        for (Index lane = 0; lane < lanes; ++lane) add(lane, values[at + lane]);
    for (; at < count; ++at) add(0, values[at]);
    Diagonals all{infinite, -infinite};
    for (Index lane = 0; lane < lanes; ++lane) {
        all.smallest = std::min(all.smallest, least[lane]);
        all.largest = std::max(all.largest, most[lane]);
    }
    for (const double nothing : strange) all.smallest += nothing;
    return all;
}

Diagonals diagonals_on_cpu(const Context& context, const double* values, Index count) {
    constexpr Index block = 4096;
    std::vector<Diagonals> of_blocks((count + block - 1) / block);
#pragma omp parallel for schedule(static) num_threads(context.threads_for(count))
    for (Index first = 0; first < count; first += block)
        of_blocks[first / block] = extremes(values + first, std::min(block, count - first));
    Diagonals all = of_blocks.front();
    for (const Diagonals& one : of_blocks) {
        if (std::isnan(one.smallest)) return one;
        all.smallest = std::min(all.smallest, one.smallest);
        all.largest = std::max(all.largest, one.largest);
    }
    return all;
}

}  // namespace

bool jumps_beyond_single(const StructMatrix& a, [[maybe_unused]] Vector& scratch) {
    const Context& context = a.context();
    const Index count = a.layout().slots();
    const auto diagonal = [&](int c) { return a.values(a.stencil().diagonal(), c, c); };
    if constexpr (cuda_built)
        if (a.backend() == Backend::cuda) {
            const Layout slots(LayoutKind::natural, a.grid(), {});  // whichever points they are
            const auto smallest = [&](const double* values) {
                double value = 0.0;
                Index slot = 0;
                cuda::smallest(context, slots, values, &value, &slot);
                return value;
            };
            for (int c = 0; c < a.dof(); ++c)
                copy_between(context, diagonal(c), context, scratch.component(c), count * Index(sizeof(double)));
            scale(-1.0, scratch);
            bool jump = false;
            for (int c = 0; c < a.dof(); ++c)
                jump = jump || Diagonals{smallest(diagonal(c)), -smallest(scratch.component(c))}.jumps();
            return jump;
        }
    bool jump = false;
    for (int c = 0; c < a.dof(); ++c) jump = jump || diagonals_on_cpu(context, diagonal(c), count).jumps();
    return jump;
}

}  // namespace hyperplane::multigrid
