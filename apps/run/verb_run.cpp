// SPDX-License-Identifier: BSD-3-Clause
// hyperplane run DECK

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <omp.h>

#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "apps/base/backend.hpp"
#include "apps/base/build_info.hpp"
#include "apps/base/environment.hpp"
#include "apps/base/json_text.hpp"
#include "apps/base/log.hpp"
#include "apps/base/output_lock.hpp"
#include "apps/base/signals.hpp"
#include "apps/command/verbs.hpp"
#include "apps/deck/named_deck.hpp"
#include "apps/run/advice.hpp"
#include "apps/run/beginning.hpp"
#include "apps/run/build_case.hpp"
#include "apps/run/dropped_couplings.hpp"
#include "apps/run/estimate.hpp"
#include "apps/run/expectations.hpp"
#include "apps/run/fields.hpp"
#include "apps/run/initial_state.hpp"
#include "apps/run/launch.hpp"
#include "apps/run/memory_demand.hpp"
#include "apps/run/profile.hpp"
#include "apps/run/simulation.hpp"
#include "apps/run/verdict.hpp"
#include "apps/study/one_case.hpp"
#include "core/counted.hpp"
#include "core/ranks/cuts.hpp"

namespace hyperplane {
namespace {

Restart restart_asked(const Invocation& invocation) {
    if (invocation.has("fresh") && invocation.has("restart"))
        throw UsageError("--fresh starts over and --restart goes on from a checkpoint; give one of them");
    if (invocation.has("fresh")) return Restart::never;
    if (invocation.has("case")) return Restart::possible;
    return invocation.has("restart") ? Restart::required : Restart::preempted;
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
        .symmetric = shape.symmetric,
        .pattern = shape.statistics(),
        .given_pattern = shape.given_statistics(),
    };
}

/// How the run ended, for the record: with what [expect] asked for and did not get.
std::string message_of(const Outcome& outcome, const Judgement& judgement) {
    if (judgement.unmet.empty()) return outcome.message;
    return fmt::format("{}; [expect] not met: {}", outcome.message, fmt::join(judgement.unmet, "; "));
}

/// Whether a failure is one of files, memory or devices, and may not come again.
bool is_of_the_machine(ExitCode code) {
    return code == ExitCode::file || code == ExitCode::out_of_memory || code == ExitCode::no_device;
}

/// Finishes the record. Where it cannot be written the run has failed, but its verdict is still printed. If a file
/// error has already ended the run, another one is not reported. `went_on`: from the state of an earlier part.
void finish(const Case& a_case, RecordWriter& record, RecordLock& lock, const Outcome& outcome, bool went_on,
            Judgement& judgement) {
    const auto failed = [&](const Error& error) {
        judgement.recorded = false;
        judgement.code = error.code();
        if (outcome.code != ExitCode::file) logging::error("{}", error.what());
    };
    // What the machine did not allow leaves the record from whose state this run went on, if it has none in its place.
    if (went_on && is_of_the_machine(outcome.code) && !record.has_state()) {
        judgement.recorded = false;
        record.leave_in_part(judgement.code, message_of(outcome, judgement));
        logging::error("{0} stays as it was, with the state from which this run went on; {0}.part tells how it ended",
                       a_case.record_path());
        return;
    }
    try {
        const std::string file = lock.to_write();
        record.finish(status_of(judgement.code), judgement.code, message_of(outcome, judgement), file);
    } catch (const FileError& error) {
        failed(error);
    } catch (const LockedError& error) {
        failed(error);
        record.leave_in_part(error.code(), error.what());
    }
}

void measure_limit(const Case& a_case, const Outcome& outcome, RecordWriter& record) {
    try {
        record.set_memory_limit(memory_rate(a_case.context, outcome.peak).best * 1e-9);
    } catch (const OutOfMemory&) {
        logging::warn("output.measure_limit: no memory is left for a copy as large as the run; nothing was measured");
    }
}

bool shares_gpus_between_processes(const Context& context) {
    if (!context.ranks() || context.ranks()->one_process()) return false;
    const std::set<int> gpus(context.gpus_of_ranks().begin(), context.gpus_of_ranks().end());
    return gpus.size() < context.gpus_of_ranks().size();
}

void announce(const Case& a_case) {
    if (a_case.parameters.text("device", "backend") == "auto")
        logging::info("device.backend = auto takes {}", a_case.device);
    if (const int processors = omp_get_num_procs(), threads = a_case.context.threads(); threads > processors)
        logging::warn("device.threads = {}, and there are {} processors: threads that share one slow each other down",
                      threads, processors);
    if (shares_gpus_between_processes(a_case.context))
        logging::warn(
            "{} processes have fewer GPUs, and processes that share one take turns on it, so no graphs of their steps "
            "are recorded and a run is slow; start as many processes as there are GPUs, or one with --ranks",
            a_case.context.ranks()->size());
    if (const std::string how = between_hosts(a_case.context); how.find(", since ") != how.npos)
        logging::warn("ranks on GPUs of {}, which is slow: a step waits for the hosts at every exchange", how);
    for (const std::string& warning : a_case.problem->warnings()) logging::warn("{}", warning);
    if (const std::string& warning = a_case.plan.warning; !warning.empty())
        logging::warn("{}: {}", a_case.name("preconditioner"), warning);
    logging::debug("resolved deck:\n{}", to_ini(a_case.parameters));
}

/// Tells the state of initial.file in which a run begins, or in which an earlier part of it began.
void tell_initial_state(const Case& a_case, const std::optional<Continued>& before, RecordHeader& header) {
    if (!a_case.parameters.is_set("initial", "file")) return;
    if (!before) {
        header.environment[initial_state_item] = mark_of_initial_file(a_case);
    } else if (const auto& earlier = before->record.environment; earlier.contains(initial_state_item)) {
        header.environment.emplace(initial_state_item, earlier.at(initial_state_item));
    }
}

/// Computes a case and records it; `before` is what it goes on from.
Outcome compute(const Case& a_case, RecordWriter& record, Progress::Style style, std::optional<Continued> before) {
    Simulation simulation(a_case, record, {style, a_case.criteria});
    if (before) simulation.resume(std::move(*before));
    return simulation.run();
}

/// Judges and finishes a run, and prints the verdict; returns the exit status.
int conclude(const Case& a_case, const Outcome& outcome, RecordWriter& record, RecordLock& lock,
             const Invocation& invocation, bool went_on) {
    Judgement judgement = judge(a_case.parameters, outcome);
    const bool profiled = a_case.parameters.boolean("output", "profile");
    if (profiled) write_profile(a_case);
    if (profiled || a_case.parameters.boolean("output", "measure_limit")) measure_limit(a_case, outcome, record);

    if (outcome.code != ExitCode::ok)
        logging::write(judgement.code == ExitCode::ok ? logging::Level::info : logging::Level::error, "{}",
                       fmt::make_format_args(outcome.message));
    for (const std::string& unmet : judgement.unmet) logging::error("{}", unmet);
    finish(a_case, record, lock, outcome, went_on, judgement);
    if (judgement.code == ExitCode::ok) CheckpointSlots(a_case.record_path()).remove();
    if (invocation.has("json"))
        fmt::print("{}", to_text(verdict_json(a_case, outcome, judgement)));
    else
        fmt::print("{}", verdict_text(a_case, outcome, judgement));
    return int(judgement.code);
}

/// What a run goes on from: the first rank finds it under the lock, and ranks that are threads of one process share it.
struct Beginning {
    std::unique_ptr<RecordLock> lock;  ///< of the record
    std::optional<Continued> before;

    /// Returns what this rank goes on from.
    std::optional<Continued> find(const Case& a_case, const Invocation& invocation) {
        const Restart restart = restart_asked(invocation);
        if (is_first_rank(a_case.context)) {
            announce(a_case);
            a_case.guard_outputs();
            if (!lock) lock = std::make_unique<RecordLock>(a_case.record_path(), invocation, a_case.record_key());
            before = find_beginning(a_case, restart);
            if (before) check_initial_file_unchanged(a_case, before->record);
            if (!before && initial_file_is_missing(a_case)) check_initial_file(a_case);
            if (!before) refuse_initial_file_among_outputs(a_case);
            check_room_on_disk(a_case, before ? Index(before->record.snapshots.size()) : 0);
        }
        if (of_first_rank(a_case.context, before.has_value()) == 0.0) return std::nullopt;
        return before ? before : find_beginning(a_case, restart);
    }
};

/// `labels` are added to the record's environment. On ranks after the first nothing is written or printed.
int run_case(const Case& a_case, const std::map<std::string, std::string>& labels, const Invocation& invocation,
             Beginning& beginning) {
    require_memory(a_case.context, {a_case.deck.file, "the run needs", a_case.memory_plan(), advise_on_memory(a_case)},
                   memory_of_case(a_case.context));
    std::optional<Continued> before = beginning.find(a_case, invocation);
    RecordHeader header = header_of(a_case);
    header.environment.insert(labels.begin(), labels.end());
    if (!is_first_rank(a_case.context)) {
        RecordWriter none = RecordWriter::in_memory(header);
        return int(compute(a_case, none, Progress::Style::none, std::move(before)).code);
    }
    tell_initial_state(a_case, before, header);
    const std::string dropped = dropped_couplings(a_case);
    if (!dropped.empty()) header.environment[dropped_couplings_item] = dropped;
    const bool went_on = before.has_value();
    RecordWriter record(a_case.record_path(), header, a_case.overwrite);
    Outcome outcome = compute(a_case, record, Progress::style_for_stderr(invocation.has("quiet")), std::move(before));
    outcome.dropped = dropped;
    return conclude(a_case, outcome, record, *beginning.lock, invocation, went_on);
}

/// A run computes one of these: a deck, or a case of a study.
struct Task {
    AskedDeck asked;
    std::map<std::string, std::string> labels{};  ///< added to the record's environment
    std::unique_ptr<RecordLock> lock{};           ///< of a case's record
    std::optional<int> ended{};                   ///< the exit code with which a case has ended before

    Case build(const Invocation& invocation, const std::shared_ptr<Communicator>& ranks) const {
        AskedDeck mine = asked;
        mine.may_go_on = restart_asked(invocation) != Restart::never;
        Parameters parameters = resolved(mine);
        Case made = build_case(std::move(mine), std::move(parameters), ranks);
        made.overwrite = invocation.overwrite();
        return made;
    }
};

Task read_task(const Invocation& invocation) {
    if (!invocation.has("case")) return {read_asked(invocation)};
    OneCase taken = take_case(invocation);
    if (taken.ended)
        logging::info("{} has ended with exit code {} before (--fresh computes it again)", taken.name, *taken.ended);
    return {{std::move(taken.deck), {}},
            {{"study", taken.study}, {"case", taken.name}},
            std::move(taken.lock),
            taken.ended};
}

/// The exit code with which the case of a study has ended before, on all launched processes, if it has.
std::optional<int> ended_before(const Task& task, const RankOrNone& launched) {
    if (!launched) return task.ended;
    const double not_ended = -1.0, mine = task.ended ? double(*task.ended) : not_ended;
    std::vector<double> all(std::size_t(launched->size()));
    launched->all_gather({&mine, 1}, all);
    if (all[0] == not_ended) return std::nullopt;
    return int(all[0]);
}

/// Runs the deck or the case of a study. If mpirun or srun has started several processes, the first one alone takes
/// the case and locks its record.
int run_asked(const Invocation& invocation, const RankOrNone& launched) {
    Task task = is_first_process(launched) || !invocation.has("case") ? read_task(invocation)
                                                                      : Task{{find_case(invocation).deck, {}}};
    if (const auto ended = ended_before(task, launched)) return *ended;
    Beginning beginning;
    beginning.lock = std::move(task.lock);
    std::mutex building;  // problems may read files through HDF5 and print
    return on_ranks(launched, resolved(task.asked), [&](const RankOrNone& rank) {
        const Case a_case = [&] {
            const std::lock_guard lock(building);
            return task.build(invocation, rank);
        }();
        return run_case(a_case, task.labels, invocation, beginning);
    });
}

}  // namespace

int run_verb(const Invocation& invocation) {
    catch_stop_signals();
    return on_launched(invocation, [&](const RankOrNone& launched) { return run_asked(invocation, launched); });
}

}  // namespace hyperplane
