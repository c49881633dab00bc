// hyperplane run DECK

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/build_info.hpp"
#include "apps/environment.hpp"
#include "apps/expectations.hpp"
#include "apps/signals.hpp"
#include "apps/verbs.hpp"
#include "apps/verdict.hpp"

namespace hyperplane {
namespace {

/// "section.key=value" of a resolved deck, for all keys that change what is computed.
std::vector<std::string> essence(const std::string& resolved) {
    std::vector<std::string> keys;
    for (const DeckEntry& entry : parse_deck(resolved, "resolved deck").entries)
        if (entry.section != "output" && entry.section != "expect" && entry.section != "device")
            keys.push_back(fmt::format("{}.{}={}", entry.section, entry.key, entry.value));
    std::sort(keys.begin(), keys.end());
    return keys;
}

/// Refuses to write over what is not a record.
void check_record_path(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
        throw FileError(fmt::format("{} is not a regular file; set output.file to another name", path));
}

/// The preempted record of this very deck, to go on from; nothing where there is none.
std::optional<RecordData> preempted_run(const Case& a_case) {
    const std::string path = a_case.record_path();
    if (!std::filesystem::exists(path)) return std::nullopt;
    std::optional<RecordData> found;
    try {
        found = read_record(path);
    } catch (const FileError& error) {
        throw FileError(
            fmt::format("{} exists and would be written over, but is not a record: {}\nRemove it, or set output.file "
                        "to another name",
                        path, error.what()));
    }
    if (found->status != "preempted" || !found->has_state) return std::nullopt;
    if (essence(found->deck_resolved) != essence(to_ini(a_case.parameters)))
        throw UsageError(
            fmt::format("{} holds a preempted run of a different deck; give --fresh to start over, or another "
                        "output.file to keep it",
                        path));
    return found;
}

void check_memory(const Case& a_case) {
    const MemoryPlan plan = a_case.memory_plan();
    const Index available = available_memory();
    if (plan.total() > available)
        throw OutOfMemory(fmt::format("the run needs {}, this machine has {} left:\n{}", in_mib(plan.total()),
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
        .overrides = a_case.overrides,
        .environment = environment(a_case.context, a_case.device),
        .grid = shape.grid,
        .layout = to_string(a_case.layout.kind()),
        .stencil = shape.stencil.name(),
        .dof = shape.dof,
    };
}

/// Closes the record. A file error that ended the run already is not reported a second time.
void finish(RecordWriter& record, const Outcome& outcome, const Judgement& judgement) {
    try {
        record.finish(status_of(judgement.code), judgement.code, outcome.message);
    } catch (const FileError&) {
        if (outcome.code != ExitCode::file) throw;
    }
}

void announce(const Case& a_case) {
    if (a_case.parameters.text("device", "backend") == "auto")
        spdlog::info("device.backend = auto takes {}", a_case.device);
    for (const std::string& warning : a_case.problem->warnings()) spdlog::warn("{}", warning);
    spdlog::debug("resolved deck:\n{}", to_ini(a_case.parameters));
}

}  // namespace

int run_verb(const Invocation& invocation) {
    catch_stop_signals();
    const Case a_case = read_case(invocation);
    check_memory(a_case);
    announce(a_case);
    check_record_path(a_case.record_path());
    std::optional<RecordData> before;
    if (!invocation.has("fresh")) before = preempted_run(a_case);

    RecordWriter record(a_case.record_path(), header_of(a_case));
    record.publish();
    Simulation simulation(a_case, record, {Progress::style_for_stderr(invocation.has("quiet")), a_case.criteria});
    if (before) {
        spdlog::info("{} was preempted: going on from step {}, iteration {} (--fresh starts over)",
                     a_case.record_path(), before->state.step + 1, before->state.iterations);
        simulation.resume(std::move(*before));
    }
    const Outcome outcome = simulation.run();
    const Judgement judgement = judge(a_case.parameters, outcome);

    if (outcome.code != ExitCode::ok)
        spdlog::log(judgement.code == ExitCode::ok ? spdlog::level::info : spdlog::level::err, "{}", outcome.message);
    for (const std::string& unmet : judgement.unmet) spdlog::error("{}", unmet);
    finish(record, outcome, judgement);
    if (invocation.has("json"))
        fmt::print("{}", to_text(verdict_json(a_case, outcome, judgement)));
    else
        fmt::print("{}", verdict_text(a_case, outcome, judgement));
    return int(judgement.code);
}

}  // namespace hyperplane
