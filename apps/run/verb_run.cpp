// SPDX-License-Identifier: BSD-3-Clause
// hyperplane run DECK

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/build_info.hpp"
#include "apps/environment.hpp"
#include "apps/output_lock.hpp"
#include "apps/run/beginning.hpp"
#include "apps/run/estimate.hpp"
#include "apps/run/expectations.hpp"
#include "apps/run/simulation.hpp"
#include "apps/run/verdict.hpp"
#include "apps/signals.hpp"
#include "apps/study/one_case.hpp"
#include "apps/verbs.hpp"
#include "core/counted.hpp"

namespace hyperplane {
namespace {

Restart restart_asked(const Invocation& invocation) {
    if (invocation.has("fresh") && invocation.has("restart"))
        throw UsageError("--fresh starts over and --restart goes on from a checkpoint; give one of them");
    if (invocation.has("fresh")) return Restart::never;
    if (invocation.has("case")) return Restart::possible;
    return invocation.has("restart") ? Restart::required : Restart::preempted;
}

void check_memory(const Case& a_case) {
    const MemoryPlan plan = a_case.memory_plan();
    const Context& context = a_case.context;
    const Index available = available_memory(context);
    if (plan.total() > available)
        throw OutOfMemory(
            fmt::format("the run needs {}, {} has {} left:\n{}", in_mib(plan.total()),
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

/// `labels` are added to the record's environment. `lock` is the record's lock if it is held already.
int run_case(const Case& a_case, const std::map<std::string, std::string>& labels, const Invocation& invocation,
             std::unique_ptr<OutputLock> lock) {
    check_memory(a_case);
    announce(a_case);
    a_case.guard_outputs();
    if (!lock) lock = std::make_unique<OutputLock>(lock_request(a_case.record_path(), invocation));
    std::optional<RecordData> before = find_beginning(a_case, restart_asked(invocation));

    RecordHeader header = header_of(a_case);
    header.environment.insert(labels.begin(), labels.end());
    RecordWriter record(a_case.record_path(), header, a_case.overwrite);
    record.publish();
    Simulation simulation(a_case, record, {Progress::style_for_stderr(invocation.has("quiet")), a_case.criteria});
    if (before) simulation.resume(std::move(*before));
    const Outcome outcome = simulation.run();
    const Judgement judgement = judge(a_case.parameters, outcome);
    if (a_case.parameters.boolean("output", "measure_limit")) measure_limit(a_case, outcome, record);

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

}  // namespace

int run_verb(const Invocation& invocation) {
    catch_stop_signals();
    if (!invocation.has("case")) return run_case(read_case(invocation), {}, invocation, nullptr);
    OneCase taken = take_case(invocation);
    if (taken.ended) {
        spdlog::info("{} has ended with exit code {} before (--fresh computes it again)", taken.name, *taken.ended);
        return *taken.ended;
    }
    Case a_case = build_case(taken.deck, {});
    a_case.overwrite = invocation.overwrite();
    return run_case(a_case, {{"study", taken.study}, {"case", taken.name}}, invocation, std::move(taken.lock));
}

}  // namespace hyperplane
