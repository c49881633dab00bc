// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "core/timer.hpp"
#include "core/vector/blas1.hpp"

namespace hyperplane {

MemoryRate memory_rate(const Context& context, Index bytes) {
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
    // Long beside what the clock, or the wait for a GPU, adds to it. On a CPU many short times are taken: another
    // program that has a processor for some milliseconds spoils some of them, but not the shortest.
    const bool on_cpu = context.backend() == Backend::cpu;
    const double enough = on_cpu ? 2e-4 : 5e-3, lasting = on_cpu ? 10e-3 : 25e-3;
    seconds_of(1);  // threads have been started, and pages written to, from now on
    const auto less_of_two = [&](int copies) { return std::min(seconds_of(copies), seconds_of(copies)); };
    int copies = 1;
    std::vector<double> seconds{less_of_two(copies)};
    while (seconds.back() < enough) seconds = {less_of_two(copies *= 2)};
    const auto begin = std::chrono::steady_clock::now();
    do seconds.push_back(seconds_of(copies));
    while (seconds_since(begin) < lasting);
    std::sort(seconds.begin(), seconds.end());
    const double moved = (2.0 * copies + 1.0) * double(from.size()) * sizeof(double);
    return {moved / seconds.front(), moved / seconds[seconds.size() / 2]};
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
    const MemoryRate rate = memory_rate(a_case.context, memory.total());
    found.rate = rate.best;
    found.disturbance = rate.best / rate.usual;
    found.iteration_seconds = found.iteration_bytes / found.rate;
    const double steps = double(a_case.steps().value_or(1)), most = double(a_case.criteria.max_iterations);
    found.most_seconds = found.iteration_seconds * most * steps;
    found.iteration = range_of_iteration(found.iteration_seconds);
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
