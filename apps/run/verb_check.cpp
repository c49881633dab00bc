// SPDX-License-Identifier: BSD-3-Clause
// hyperplane check DECK

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/run/estimate.hpp"
#include "apps/run/verdict.hpp"
#include "apps/verbs.hpp"
#include "core/counted.hpp"

namespace hyperplane {
namespace {

std::string steps_text(const Case& a_case) {
    const auto steps = a_case.steps();
    if (!steps) return fmt::format("steps up to t = {:g}", a_case.time.end_time);
    return fmt::format("{}{} step{}", a_case.time.pseudo() ? "at most " : "", *steps, *steps == 1 ? "" : "s");
}

std::string estimate_text(const Case& a_case, const Estimate& time) {
    const Index steps = a_case.steps().value_or(1), most = a_case.criteria.max_iterations;
    return fmt::format(
        "time it will take, from the memory it moves:\n"
        "  an iteration  {} to {}: {:.3g} MiB, which take {} at the {:.3g} GB/s of a copy as large as this run, just "
        "now; iterations of other decks took 1.2 to 8.5 times as long\n"
        "  all solves    {} to {}: {}{} to {} iterations{}; solver.max_iterations allows no more\n"
        "  assembly and set-up come on top, and more than one solve a step where Newton's method takes more\n",
        in_words(time.iteration.low), in_words(time.iteration.high), time.iteration_bytes / (1 << 20),
        in_words(time.iteration_seconds), time.rate * 1e-9, in_words(time.all.low), in_words(time.all.high),
        steps > 1 ? fmt::format("{} steps of ", steps) : "", std::min(Index(few_iterations), most), most,
        a_case.steps() ? "" : ", for each time step");
}

}  // namespace

int check_verb(const Invocation& invocation) {
    const Case a_case = read_case(invocation);
    const MemoryPlan memory = a_case.memory_plan();
    const Index room = available_memory(a_case.parameters);
    const bool fits = memory.total() <= room;
    for (const std::string& warning : a_case.problem->warnings()) spdlog::warn("{}", warning);

    const SystemShape& shape = a_case.shape();
    const Index unknowns = shape.grid.points() * shape.dof;
    std::optional<Estimate> time;
    if (fits) time = estimate(a_case);
    if (invocation.has("json")) {
        nlohmann::json json = {
            {"problem", a_case.name("problem")},
            {"solver", a_case.name("solver")},
            {"preconditioner", a_case.name("preconditioner")},
            {"layout", a_case.space.name()},
            {"device", a_case.device},
            {"unknowns", unknowns},
            {"record", a_case.record_path()},
            {"memory",
             {{"predicted", memory.total()}, {"most", memory.total() + memory.more}, {"by_label", memory.by_label}}},
            {"memory_left", room},
            {"fits", fits}};
        if (const auto steps = a_case.steps()) json["steps"] = *steps;
        if (time)
            json["estimate"] = {{"iteration_bytes", time->iteration_bytes},
                                {"memory_rate", time->rate},
                                {"seconds_per_iteration", time->iteration_seconds},
                                {"seconds_of_max_iterations", time->most_seconds},
                                {"seconds_per_iteration_range", {time->iteration.low, time->iteration.high}},
                                {"seconds_of_solves_range", {time->all.low, time->all.high}}};
        fmt::print("{}", to_text(json));
    } else {
        if (invocation.has("verbose")) fmt::print("{}\n", to_ini(a_case.parameters));
        const std::string on = shape.grid.plain_rows
                                   ? std::string("rows without a grid")
                                   : fmt::format("{} x {} x {}", shape.grid.nx, shape.grid.ny, shape.grid.nz);
        fmt::print("{} is valid: {} on {}, {} unknowns, {}\n", a_case.deck.file, a_case.name("problem"), on, unknowns,
                   steps_text(a_case));
        fmt::print("{} with {}, {} layout, on {}; record {}\n", a_case.name("solver"), a_case.name("preconditioner"),
                   a_case.space.name(), a_case.device, a_case.record_path());
        fmt::print("memory it will need:\n{}{}: {} left\n", memory.table(), fits ? "fits" : "does not fit",
                   in_mib(room));
        if (memory.more > 0)
            fmt::print("at most {}, if couplings are so weak along some axes that {} coarsens one axis at a time{}\n",
                       in_mib(memory.total() + memory.more), a_case.name("preconditioner"),
                       memory.total() + memory.more <= room ? "" : "; that would not fit");
        if (time) fmt::print("{}", estimate_text(a_case, *time));
    }
    return int(fits ? ExitCode::ok : ExitCode::out_of_memory);
}

}  // namespace hyperplane
