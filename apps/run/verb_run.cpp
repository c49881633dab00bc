// SPDX-License-Identifier: BSD-3-Clause
// hyperplane run DECK

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/build_info.hpp"
#include "apps/deck/named_deck.hpp"
#include "apps/environment.hpp"
#include "apps/output_lock.hpp"
#include "apps/run/beginning.hpp"
#include "apps/run/build_case.hpp"
#include "apps/run/estimate.hpp"
#include "apps/run/expectations.hpp"
#include "apps/run/fields.hpp"
#include "apps/run/mpi_ranks.hpp"
#include "apps/run/profile.hpp"
#include "apps/run/ranks.hpp"
#include "apps/run/simulation.hpp"
#include "apps/run/verdict.hpp"
#include "apps/signals.hpp"
#include "apps/study/one_case.hpp"
#include "apps/verbs.hpp"
#include "core/counted.hpp"
#include "core/ranks/cuts.hpp"
#include "core/ranks/threads.hpp"

namespace hyperplane {
namespace {

Restart restart_asked(const Invocation& invocation) {
    if (invocation.has("fresh") && invocation.has("restart"))
        throw UsageError("--fresh starts over and --restart goes on from a checkpoint; give one of them");
    if (invocation.has("fresh")) return Restart::never;
    if (invocation.has("case")) return Restart::possible;
    return invocation.has("restart") ? Restart::required : Restart::preempted;
}

/// The bytes that all ranks need that share this one's memory: those on its GPU, or those on CPUs of this host.
Index bytes_of_sharing_ranks(const Context& context, Index mine) {
    std::string memory = host_name();
    if (context.backend() == Backend::cuda) memory += fmt::format(" GPU {}", context.stream().properties().ordinal);
    const double host = double(std::hash<std::string>{}(memory) >> 11);
    const std::vector<double> all = gathered(context, {double(mine), host});
    Index needed = 0;
    for (std::size_t at = 0; at < all.size(); at += 2)
        if (all[at + 1] == host) needed += Index(all[at]);
    return needed;
}

void check_memory(const Case& a_case) {
    const MemoryPlan plan = a_case.memory_plan();
    const Context& context = a_case.context;
    const Index available = available_memory(context);
    const Index needed = bytes_of_sharing_ranks(context, plan.total());
    if (needed > available)
        throw OutOfMemory(
            fmt::format("the run needs {}{}, {} has {} left:\n{}", in_mib(needed),
                        context.ranks() ? fmt::format(" for its ranks") : "",
                        context.backend() == Backend::cpu ? "this machine" : context.stream().properties().name,
                        in_mib(available), plan.table()));
}

RecordHeader header_of(const Case& a_case) {
    const SystemShape& shape = a_case.shape();
    return {
        .code_version = build_info().version,
        .git_sha = build_info().git_sha,
        .deck_file = a_case.deck.file,
        .deck_source = a_case.deck.source,
        .deck_resolved = to_ini(a_case.parameters),
        .deck_folder = absolute_folder_of(a_case.deck),
        .overrides = a_case.overrides,
        .environment = environment(a_case.context, a_case.device, a_case.plan.traits.varies),
        .grid = shape.grid,
        .layout = a_case.space.name(),
        .stencil = shape.stencil.name(),
        .dof = shape.dof,
        .pattern = shape.statistics(),
        .given_pattern = shape.given_statistics(),
    };
}

/// Finishes the record. If a file error has already ended the run, another one is not reported.
void finish(RecordWriter& record, const Outcome& outcome, const Judgement& judgement) {
    try {
        record.finish(status_of(judgement.code), judgement.code, outcome.message);
    } catch (const FileError&) {
        if (outcome.code != ExitCode::file) throw;
    }
}

void measure_limit(const Case& a_case, const Outcome& outcome, RecordWriter& record) {
    try {
        record.set_memory_limit(memory_rate(a_case.context, outcome.peak) * 1e-9);
    } catch (const OutOfMemory&) {
        spdlog::warn("output.measure_limit: no memory is left for a copy as large as the run; nothing was measured");
    }
}

void announce(const Case& a_case) {
    if (a_case.parameters.text("device", "backend") == "auto")
        spdlog::info("device.backend = auto takes {}", a_case.device);
    for (const std::string& warning : a_case.problem->warnings()) spdlog::warn("{}", warning);
    spdlog::debug("resolved deck:\n{}", to_ini(a_case.parameters));
}

/// Computes a case and records it; `before` is what it goes on from.
Outcome compute(const Case& a_case, RecordWriter& record, Progress::Style style, std::optional<RecordData> before) {
    Simulation simulation(a_case, record, {style, a_case.criteria});
    if (before) simulation.resume(std::move(*before));
    return simulation.run();
}

/// Judges and finishes a run, and prints the verdict; returns the exit status.
int conclude(const Case& a_case, const Outcome& outcome, RecordWriter& record, const Invocation& invocation) {
    const Judgement judgement = judge(a_case.parameters, outcome);
    const bool profiled = a_case.parameters.boolean("output", "profile");
    if (profiled) write_profile(a_case);
    if (profiled || a_case.parameters.boolean("output", "measure_limit")) measure_limit(a_case, outcome, record);

    if (outcome.code != ExitCode::ok)
        spdlog::log(judgement.code == ExitCode::ok ? spdlog::level::info : spdlog::level::err, "{}", outcome.message);
    for (const std::string& unmet : judgement.unmet) spdlog::error("{}", unmet);
    finish(record, outcome, judgement);
    if (judgement.code == ExitCode::ok) CheckpointSlots(a_case.record_path()).remove();
    if (invocation.has("json"))
        fmt::print("{}", to_text(verdict_json(a_case, outcome, judgement)));
    else
        fmt::print("{}", verdict_text(a_case, outcome, judgement));
    return int(judgement.code);
}

/// What a run goes on from: the first rank finds it under the lock, and ranks that are threads of one process share it.
struct Beginning {
    std::unique_ptr<OutputLock> lock;  ///< of the record
    std::optional<RecordData> before;

    /// Returns what this rank goes on from.
    std::optional<RecordData> find(const Case& a_case, const Invocation& invocation) {
        const Restart restart = restart_asked(invocation);
        if (is_first_rank(a_case.context)) {
            announce(a_case);
            a_case.guard_outputs();
            if (!lock) lock = std::make_unique<OutputLock>(lock_request(a_case.record_path(), invocation));
            before = find_beginning(a_case, restart);
            check_room_for_fields(a_case, before ? Index(before->snapshots.size()) : 0);
        }
        if (of_first_rank(a_case.context, before.has_value()) == 0.0) return std::nullopt;
        return before ? before : find_beginning(a_case, restart);
    }
};

/// `labels` are added to the record's environment. On ranks after the first nothing is written or printed.
int run_case(const Case& a_case, const std::map<std::string, std::string>& labels, const Invocation& invocation,
             Beginning& beginning) {
    check_memory(a_case);
    std::optional<RecordData> before = beginning.find(a_case, invocation);
    RecordHeader header = header_of(a_case);
    header.environment.insert(labels.begin(), labels.end());
    if (!is_first_rank(a_case.context)) {
        RecordWriter none = RecordWriter::in_memory(header);
        return int(compute(a_case, none, Progress::Style::none, std::move(before)).code);
    }
    RecordWriter record(a_case.record_path(), header, a_case.overwrite);
    record.publish();
    const Outcome outcome =
        compute(a_case, record, Progress::style_for_stderr(invocation.has("quiet")), std::move(before));
    return conclude(a_case, outcome, record, invocation);
}

/// On the processes that mpirun or srun has started.
int run_launched(const Invocation& invocation) {
    return run_launched_rank([&](const std::shared_ptr<Communicator>& communicator) {
        if (invocation.has("case") || invocation.has("ranks"))
            throw UsageError(
                "mpirun or srun has started several processes, each of which is a rank; neither --ranks nor --case "
                "works "
                "then, leave it out or start one process");
        Beginning beginning;
        return run_case(read_case(invocation, communicator), {}, invocation, beginning);
    });
}

int run_on_ranks(const Invocation& invocation, int ranks) {
    if (invocation.has("case")) throw UsageError("--ranks: a case of a study runs on one rank; leave out --ranks");
    Beginning beginning;
    std::mutex building;  // problems may read files through HDF5 and print
    int status = 0;
    run_ranks(ranks, [&](const std::shared_ptr<Communicator>& communicator) {
        const Case a_case = [&] {
            const std::lock_guard lock(building);
            return read_case(invocation, communicator);
        }();
        const int mine = run_case(a_case, {}, invocation, beginning);
        if (communicator->rank() == 0) status = mine;
    });
    return status;
}

}  // namespace

int run_verb(const Invocation& invocation) {
    catch_stop_signals();
    if (launched_processes() > 1) return run_launched(invocation);
    if (const int ranks = invocation.has("ranks") ? parse_count("ranks", invocation.value("ranks"), 1) : 1; ranks > 1)
        return run_on_ranks(invocation, ranks);
    Beginning beginning;
    if (!invocation.has("case")) return run_case(read_case(invocation), {}, invocation, beginning);
    OneCase taken = take_case(invocation);
    if (taken.ended) {
        spdlog::info("{} has ended with exit code {} before (--fresh computes it again)", taken.name, *taken.ended);
        return *taken.ended;
    }
    Case a_case = build_case(taken.deck, {});
    a_case.overwrite = invocation.overwrite();
    beginning.lock = std::move(taken.lock);
    return run_case(a_case, {{"study", taken.study}, {"case", taken.name}}, invocation, beginning);
}

}  // namespace hyperplane
