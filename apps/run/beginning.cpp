// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/beginning.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "apps/deck/identity.hpp"
#include "io/checkpoint.hpp"

namespace hyperplane {
namespace {

/// Sections that have no effect on what is computed.
const Sections no_matter = {"output", "expect", "device"};

std::vector<std::string> differences(const Case& a_case, const RecordData& record) {
    return deck_differences(a_case.parameters, record.deck_resolved, no_matter);
}

/// The record that this run will replace, if there is one.
std::optional<RecordData> earlier_record(const Case& a_case) {
    const std::string path = a_case.record_path();
    if (!std::filesystem::exists(path) || std::filesystem::is_empty(path)) return std::nullopt;
    if (!is_own(path, FileKind::record)) return std::nullopt;  // with --force the guard allows to replace it
    try {
        return read_record(path);
    } catch (const FileError& error) {
        throw FileError(
            fmt::format("{} exists and would be written over, but cannot be read, and it may hold a preempted run: {}\n"
                        "Give --fresh to write over it, or set output.file to another name",
                        path, error.what()));
    }
}

std::optional<RecordData> preempted_record(const Case& a_case) {
    auto record = earlier_record(a_case);
    if (!record || record->status != "preempted" || !record->has_state) return std::nullopt;
    if (const auto differing = differences(a_case, *record); !differing.empty())
        throw UsageError(
            fmt::format("{} holds a preempted run of a different deck ({}); give --fresh to start over, or another "
                        "output.file to keep it",
                        record->path, fmt::join(differing, "; ")));
    return record;
}

/// Keys that may change when a run is extended, since they only decide when it ends.
const std::vector<std::string> may_change = {"time.steps", "time.end_time", "time.steady_rtol", "time.steady_atol"};

/// Whether the run of the record took all its steps, so that it can take more: its last attempt was accepted.
bool can_take_more(const RecordData& record) {
    return (record.status == "ok" || record.status == "failed") && !record.steps.empty() &&
           record.steps.back().accepted;
}

/// Refuses a deck by which the run would have ended before.
void check_that_more_is_asked(const Case& a_case, const RecordData& record) {
    const Index steps = a_case.time.steps;
    if ((steps > 0 && steps <= record.state.step) || a_case.time.end_time <= record.state.time)
        throw UsageError(
            fmt::format("{} has taken {} steps to t = {:g}, which is what this deck asks for; --set "
                        "time.steps=N or time.end_time=T extends the run",
                        record.path, record.state.step, record.state.time));
}

/// The record of a finished run that this deck extends. Throws UsageError if that cannot be.
std::optional<RecordData> finished_record(const Case& a_case) {
    auto record = earlier_record(a_case);
    if (!record || !can_take_more(*record)) return std::nullopt;
    auto differing = differences(a_case, *record);
    const auto allowed = [](const std::string& difference) {
        return std::any_of(may_change.begin(), may_change.end(),
                           [&](const std::string& key) { return difference.starts_with(key + " "); });
    };
    differing.erase(std::remove_if(differing.begin(), differing.end(), allowed), differing.end());
    if (!differing.empty())
        throw UsageError(fmt::format("{} is of a different deck ({}); a run is extended with other values of {} alone",
                                     record->path, fmt::join(differing, "; "), fmt::join(may_change, ", ")));
    if (!record->has_state)
        throw FileError(
            fmt::format("{} has ended and holds no state to go on from; output.state = always keeps it, and "
                        "--fresh runs the deck again",
                        record->path));
    check_that_more_is_asked(a_case, *record);
    return record;
}

/// The newest usable checkpoint of this deck. A damaged slot is reported on the log.
std::optional<RecordData> newest_checkpoint(const Case& a_case, bool required) {
    CheckpointSlots::Found found = CheckpointSlots(a_case.record_path()).read();
    for (const std::string& damaged : found.damaged) {
        if (found.valid.empty())
            spdlog::warn("{}", damaged);
        else
            spdlog::warn("{}; taking the other slot, {}", damaged, found.valid.front().path);
    }
    std::string other_deck;
    for (RecordData& record : found.valid) {
        const auto differing = differences(a_case, record);
        if (differing.empty()) return std::move(record);
        other_deck =
            fmt::format("{} is a checkpoint of a different deck ({})", record.path, fmt::join(differing, "; "));
    }
    if (!required) return std::nullopt;
    if (!other_deck.empty())
        throw UsageError(other_deck + "; leave --restart out to start over, or set output.file to another name");
    if (!found.damaged.empty())
        throw FileError(fmt::format("no checkpoint can be used:\n{}\nLeave --restart out to start over",
                                    fmt::join(found.damaged, "\n")));
    throw FileError(
        fmt::format("there is nothing to restart from: {} has neither a checkpoint beside it nor a "
                    "preempted state; output.checkpoint_every makes checkpoints",
                    a_case.record_path()));
}

void announce(const Case& a_case, const RecordData& from, Restart restart) {
    if (from.status == "ok" || from.status == "failed")
        spdlog::info("{} ended after {} steps at t = {:g}: the run is extended", from.path, from.state.step,
                     from.state.time);
    else
        spdlog::info("{} {}: going on from step {}, {}iteration {}{}", from.path,
                     from.status == "preempted" ? "was preempted" : "is a checkpoint", from.state.step + 1,
                     a_case.shape().linear ? "" : fmt::format("Newton step {}, ", from.state.newton + 1),
                     from.state.iterations, restart == Restart::preempted ? " (--fresh starts over)" : "");
    const auto backend = from.environment.find("backend");
    const bool other_device =
        backend != from.environment.end() && backend->second != to_string(a_case.context.backend());
    if (other_device || from.layout != a_case.space.name())
        spdlog::warn("{} is of another device or layout ({}, {}): the result will be the same but for rounding",
                     from.path, other_device ? backend->second : a_case.device, from.layout);
}

}  // namespace

std::optional<RecordData> find_beginning(const Case& a_case, Restart restart) {
    if (restart == Restart::never) return std::nullopt;
    auto found = preempted_record(a_case);
    if (restart == Restart::preempted) {
        if (!found && CheckpointSlots(a_case.record_path()).exist())
            spdlog::warn("starting over, though there are checkpoints beside {}: --restart goes on from them",
                         a_case.record_path());
    } else {
        if (!found && restart == Restart::required) found = finished_record(a_case);
        auto checkpoint = newest_checkpoint(a_case, restart == Restart::required && !found);
        const auto reached = [](const RecordData& r) {
            return std::tie(r.state.step, r.state.newton, r.state.iterations);
        };
        if (checkpoint && (!found || reached(*found) < reached(*checkpoint))) found = std::move(checkpoint);
    }
    if (found) announce(a_case, *found, restart);
    return found;
}

}  // namespace hyperplane
