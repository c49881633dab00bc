// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/timer.hpp"
#include "core/vector/blas1.hpp"

namespace hyperplane {

double memory_rate(const Context& context, Index bytes) {
    constexpr Index least = 1 << 16, most = Index(256) << 20;
    Grid grid;
    grid.nx = int(std::clamp(bytes, least, most) / Index(2 * sizeof(double)));
    grid.ny = grid.nz = 1;
    const Layout layout(LayoutKind::natural, grid, {});
    Vector from(context, layout, 1, "memory rate"), to(context, layout, 1, "memory rate");
    fill(from, 1.0);
    const auto seconds_of = [&](int copies) {
        const auto begin = std::chrono::steady_clock::now();
        for (int at = 0; at < copies; ++at) at % 2 ? copy(to, from) : copy(from, to);
        norm2(to);  // the norm is needed on the host, so this waits for all work before it
        return seconds_since(begin);
    };
    // Long beside what the clock, or the wait for a GPU, adds to it, and too short for a user to wait for.
    const double enough = context.backend() == Backend::cpu ? 1e-3 : 5e-3;
    int copies = 2;
    double seconds = seconds_of(copies);
    while (seconds < enough) seconds = seconds_of(copies *= 2);
    // Large copies vary less.
    const auto begin = std::chrono::steady_clock::now();
    for (int repeat = 0; repeat < 4 && (repeat == 0 || seconds_since(begin) < 30e-3); ++repeat)
        seconds = std::min(seconds, seconds_of(copies));
    return (2.0 * copies + 1.0) * double(from.size()) * sizeof(double) / seconds;
}

TimeRange range_of_iteration(double seconds) {
    // Triangular solves, small blocks and arithmetic take longer than the memory needs.
    constexpr double fastest = 1.0, slowest = 9.0;
    return {fastest * seconds, slowest * seconds};
}

Estimate estimate(const Case& a_case) {
    const Index unknowns = a_case.space.block_rows() * a_case.shape().dof;
    const double vector = double(unknowns) * sizeof(double);
    const MemoryPlan memory = a_case.memory_plan();
    const double product = double(memory.by_label.at("matrix")) + 2.0 * vector;
    const Index known = a_case.plan.bytes_per_apply;
    const double apply = known > 0 ? double(known) : double(a_case.plan.bytes) + 2.0 * vector;
    const IterationCost cost = a_case.solver->iteration_cost();

    Estimate found;
    found.iteration_bytes = cost.products * product + cost.applies * apply + cost.vectors * vector;
    found.rate = memory_rate(a_case.context, memory.total());
    found.iteration_seconds = found.iteration_bytes / found.rate;
    found.most_seconds =
        found.iteration_seconds * double(a_case.criteria.max_iterations) * double(a_case.steps().value_or(1));
    found.iteration = range_of_iteration(found.iteration_seconds);
    const double steps = double(a_case.steps().value_or(1)), most = double(a_case.criteria.max_iterations);
    found.all = {steps * std::min(few_iterations, most) * found.iteration.low, steps * most * found.iteration.high};
    return found;
}

std::string in_words(double seconds) {
    struct Unit {
        double seconds;
        const char* name;
    };
    for (const auto& [unit, name] : {Unit{172800.0, "days"}, {7200.0, "h"}, {120.0, "min"}, {1.0, "s"}, {1e-3, "ms"}})
        if (seconds >= unit) {
            const double scale = unit >= 120.0 ? unit / 2.0 : unit;  // hours are used from two hours on, and so on
            return fmt::format("{:.3g} {}", seconds / scale, name);
        }
    return fmt::format("{:.3g} us", seconds * 1e6);
}

}  // namespace hyperplane
