// SPDX-License-Identifier: BSD-3-Clause
// hyperplane check DECK

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/base/json_text.hpp"
#include "apps/base/log.hpp"
#include "apps/base/output_lock.hpp"
#include "apps/command/verbs.hpp"
#include "apps/run/advice.hpp"
#include "apps/run/estimate.hpp"
#include "apps/run/fields.hpp"
#include "apps/run/head_prediction.hpp"
#include "apps/run/initial_state.hpp"
#include "apps/run/largest_rank.hpp"
#include "core/counted.hpp"
#include "core/device/planned_gpu.hpp"

namespace hyperplane {
namespace {

std::string steps_text(const Case& a_case) {
    const auto steps = a_case.steps();
    if (!steps) return fmt::format("steps up to t = {:g}", a_case.time.end_time);
    return fmt::format("{}{} step{}", a_case.time.pseudo() ? "at most " : "", *steps, *steps == 1 ? "" : "s");
}

/// A line that says what to expect where other programs take processors away from the copies, and so from the run.
std::string disturbance_text(const Estimate& time) {
    if (time.disturbance < 2.0) return "";
    return fmt::format(
        "  other programs share the processors: half of the copies took more than {:.2g} times as long as the fastest, "
        "and so may iterations\n",
        time.disturbance);
}

std::string estimate_text(const Case& a_case, const Estimate& time) {
    const Index steps = a_case.steps().value_or(1), most = a_case.criteria.max_iterations;
    return fmt::format(
        "time it will take, from the memory it moves:\n"
        "  an iteration  {} to {}: {:.3g} MiB, which take {} at the {:.3g} GB/s of a copy as large as this run, just "
        "now; iterations of other decks took 1.2 to 8.5 times as long\n{}"
        "  all solves    {} to {}: {}{} to {} iterations{}; solver.max_iterations allows no more\n"
        "  assembly and set-up come on top, and more than one solve a step where Newton's method takes more\n",
        in_words(time.iteration.low), in_words(time.iteration.high), time.iteration_bytes / (1 << 20),
        in_words(time.iteration_seconds), time.rate * 1e-9, disturbance_text(time), in_words(time.all.low),
        in_words(time.all.high), steps > 1 ? fmt::format("{} steps of ", steps) : "",
        std::min(Index(few_iterations), most), most, a_case.steps() ? "" : ", for each time step");
}

/// What a run will need, and what there is.
struct Needs {
    int ranks;
    int sharing;        ///< ranks that share a memory: those on one GPU, or all of them
    MemoryPlan memory;  ///< of each rank
    /// The bytes that the sharing ranks together can hold, with those that the case holds already; nothing if the GPU
    /// is not here and device.memory_limit is not given.
    std::optional<Index> memory_left;
    std::optional<Index> host_left;    ///< bytes of the host's memory, for a run on a GPU that is here
    std::optional<FieldsOnDisk> disk;  ///< if output.fields_every asks for files
    Index disk_left = 0;
    std::optional<Estimate> time;  ///< of one rank, if the memory suffices for it

    /// Nothing where that is not known.
    std::optional<bool> fit_in_memory(Index more = 0) const {
        if (!memory_left) return std::nullopt;
        return sharing * (memory.total() + more) <= *memory_left && fit_in_host();
    }
    /// The host of a GPU that is not here may have more memory than this machine.
    bool fit_in_host() const { return !host_left || ranks * memory.host <= *host_left; }
    bool fit_on_disk() const { return !disk || disk->at_most || disk->bytes() <= disk_left; }
};

std::optional<Index> memory_left_for(const Case& a_case) {
    const int sharing = ranks_sharing_memory(a_case);
    if (!is_of_planned_gpu(a_case.context))
        return available_memory(a_case.parameters, sharing, a_case.context.ledger().held());
    if (!a_case.parameters.is_set("device", "memory_limit")) return std::nullopt;
    return memory_limit(a_case.parameters, sharing);
}

Needs needs_of(const Case& a_case) {
    const int ranks = a_case.context.ranks() ? a_case.context.ranks()->size() : 1;
    Needs needs{.ranks = ranks,
                .sharing = ranks_sharing_memory(a_case),
                .memory = a_case.memory_plan(),
                .memory_left = memory_left_for(a_case),
                .host_left = {},
                .disk = {},
                .time = {}};
    if (a_case.context.backend() == Backend::cuda && !is_of_planned_gpu(a_case.context))
        needs.host_left = available_memory();
    if (a_case.parameters.integer("output", "fields_every") > 0) {
        needs.disk = fields_on_disk(a_case);
        needs.disk_left = room_for_fields(a_case);
    }
    if (!is_of_planned_gpu(a_case.context) && needs.fit_in_memory().value() && needs.ranks == 1) {
        try {
            needs.time = estimate(a_case);
        } catch (const OutOfMemory&) {
            // The problem's own data and what the estimate copies exceed the limit, within which the run fits.
        }
    }
    return needs;
}

/// Names what a prediction for a GPU leaves open on a machine without one.
std::vector<std::string> not_known(const Parameters& parameters) {
    std::vector<std::string> all;
    if (!parameters.is_set("device", "memory_limit"))
        all.emplace_back("whether it fits: device.memory_limit (MiB) says how much a GPU may hold");
    const device::Properties gpu = device::planned_properties();
    all.push_back(fmt::format(
        "what follows from the GPU's kind: taken are {} multiprocessors and compute capability {}.{}, as an "
        "H100 and an H200 have them",
        gpu.multiprocessors, gpu.major, gpu.minor));
    all.emplace_back("how long it will take");
    if (parameters.integer("device", "ranks") > 1) all.emplace_back("how many ranks share a GPU: taken is one each");
    return all;
}

std::string disk_text(const Needs& needs) {
    const FieldsOnDisk& disk = *needs.disk;
    const std::string each = in_mib(disk.bytes_each);
    return fmt::format("disk it will need for output.fields_every: {}\n{}: {} left\n",
                       disk.files ? fmt::format("{}{} files of {}, {}", disk.at_most ? "at most " : "", *disk.files,
                                                each, in_mib(disk.bytes()))
                                  : fmt::format("{} for each state; the run decides how many there are", each),
                       needs.fit_on_disk() ? "fits" : "does not fit", in_mib(needs.disk_left));
}

void print_json(const Case& a_case, const Needs& needs) {
    const MemoryPlan& memory = needs.memory;
    nlohmann::json json = {
        {"problem", a_case.name("problem")},
        {"solver", a_case.name("solver")},
        {"preconditioner", a_case.name("preconditioner")},
        {"layout", a_case.space.name()},
        {"device", a_case.device},
        {"unknowns", a_case.unknowns()},
        {"record", a_case.record_path()},
        {"memory",
         {{"predicted", memory.total()}, {"most", memory.total() + memory.more}, {"by_label", memory.by_label}}},
        {"ranks", needs.ranks},
        {"ranks_sharing_memory", needs.sharing},
        {"memory_left", needs.memory_left ? nlohmann::json(*needs.memory_left) : nlohmann::json()}};
    if (const auto fits = needs.fit_in_memory(); fits || !needs.fit_on_disk())
        json["fits"] = fits.value_or(true) && needs.fit_on_disk();
    else
        json["fits"] = nullptr;
    if (memory.host > 0) json["memory"]["host"] = memory.host;
    if (is_of_planned_gpu(a_case.context)) json["not_known"] = not_known(a_case.parameters);
    for (const auto& [name, bytes] : a_case.plan.parts)
        json["memory"]["preconditioner_parts"].push_back({{"name", name}, {"bytes", bytes}});
    if (const auto steps = a_case.steps()) json["steps"] = *steps;
    if (needs.disk) {
        json["disk"] = {{"bytes_each", needs.disk->bytes_each}, {"at_most", needs.disk->at_most}};
        if (needs.disk->files) json["disk"].update({{"files", *needs.disk->files}, {"bytes", needs.disk->bytes()}});
        json["disk_left"] = needs.disk_left;
    }
    if (const auto& time = needs.time)
        json["estimate"] = {{"iteration_bytes", time->iteration_bytes},
                            {"memory_rate", time->rate},
                            {"seconds_per_iteration", time->iteration_seconds},
                            {"seconds_of_max_iterations", time->most_seconds},
                            {"seconds_per_iteration_range", {time->iteration.low, time->iteration.high}},
                            {"seconds_of_solves_range", {time->all.low, time->all.high}}};
    fmt::print("{}", to_text(json));
}

std::string room_text(const Case& a_case, const Needs& needs) {
    std::string text;
    if (const auto fits = needs.fit_in_memory())
        text = fmt::format("{}: {} {}{}", *fits ? "fits" : "does not fit", in_mib(*needs.memory_left),
                           is_of_planned_gpu(a_case.context) ? "allowed by device.memory_limit" : "left",
                           *fits ? "" : advise_on_memory(a_case));
    if (is_of_planned_gpu(a_case.context)) {
        const std::vector<std::string> unknown = not_known(a_case.parameters);
        text += fmt::format("{}not known without a GPU, of which this machine has none:", text.empty() ? "" : "\n");
        for (const std::string& what : unknown) text += "\n  " + what;
    }
    return text;
}

void print_text(const Case& a_case, const Needs& needs) {
    const MemoryPlan& memory = needs.memory;
    const Grid& grid = a_case.shape().grid;
    const std::string on =
        grid.plain_rows ? std::string("rows without a grid") : fmt::format("{} x {} x {}", grid.nx, grid.ny, grid.nz);
    fmt::print("{} is valid: {} on {}, {} unknowns, {}\n", a_case.deck.file, a_case.name("problem"), on,
               a_case.unknowns(), steps_text(a_case));
    fmt::print("{} with {}, {} layout, on {}; record {}\n", a_case.name("solver"), a_case.name("preconditioner"),
               a_case.space.name(), a_case.device, a_case.record_path());
    const int ranks = needs.ranks;
    fmt::print("memory it will need{}:\n{}{}\n",
               ranks > 1 ? fmt::format(" on each of {} ranks, {} in all{}", ranks, in_mib(ranks * memory.total()),
                                       needs.sharing < ranks || a_case.context.backend() == Backend::cuda
                                           ? fmt::format(", {} on a GPU", in_mib(needs.sharing * memory.total()))
                                           : "")
                         : "",
               memory.table(), room_text(a_case, needs));
    if (memory.more > 0)
        fmt::print("at most {}, if {}{}\n", in_mib(memory.total() + memory.more), memory.more_when,
                   needs.fit_in_memory(memory.more).value_or(true) ? "" : "; that would not fit");
    if (memory.host > 0)
        fmt::print("in the host's memory during a set-up: at most {}, for {}{}\n", in_mib(memory.host), memory.host_use,
                   needs.fit_in_host() ? "" : "; that does not fit");
    if (!a_case.plan.parts.empty()) {
        std::vector<std::string> parts;
        for (const auto& [name, bytes] : a_case.plan.parts) parts.push_back(fmt::format("{}: {}", name, in_mib(bytes)));
        fmt::print("of preconditioner {}: {}\n", a_case.name("preconditioner"), fmt::join(parts, "; "));
    }
    if (needs.disk) fmt::print("{}", disk_text(needs));
    if (needs.time) fmt::print("{}", estimate_text(a_case, *needs.time));
}

}  // namespace

int check_verb(const Invocation& invocation) {
    const AskedDeck asked = read_asked(invocation);
    if (invocation.has("header")) return check_header(asked, invocation.has("json"));
    const Case a_case = case_of_largest_rank(asked, WithoutGpu::plan);
    refuse_initial_file_among_outputs(a_case);
    if (a_case.parameters.integer("output", "fields_every") == 0) check_room_on_disk(a_case, 0);
    const Needs needs = needs_of(a_case);
    for (const std::string& warning : a_case.problem->warnings()) logging::warn("{}", warning);
    if (const std::string& warning = a_case.plan.warning; !warning.empty())
        logging::warn("{}: {}", a_case.name("preconditioner"), warning);
    if (invocation.has("json")) {
        print_json(a_case, needs);
    } else {
        if (invocation.has("verbose")) fmt::print("{}\n", to_ini(a_case.parameters));
        print_text(a_case, needs);
    }
    if (!needs.fit_in_memory().value_or(true)) return int(ExitCode::out_of_memory);
    OutputLock::require_folder(a_case.record_path(), a_case.record_key());
    return int(needs.fit_on_disk() ? ExitCode::ok : ExitCode::file);
}

}  // namespace hyperplane
