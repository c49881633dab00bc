// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/beginning.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "apps/deck/identity.hpp"
#include "apps/log.hpp"
#include "core/counted.hpp"
#include "io/checkpoint.hpp"
#include "solvers/time_stepping.hpp"

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
            fmt::format("{} has taken {} steps to t = {:g}, and this deck asks for no more than {}; --set "
                        "time.steps=N or time.end_time=T, above what has been reached, extends the run",
                        record.path, record.state.step, record.state.time,
                        steps > 0 ? counted(steps, "step") : fmt::format("t = {:g}", a_case.time.end_time)));
    const double norm = record.steps.back().steady_residual;
    if (a_case.time.pseudo() && a_case.time.is_steady(norm, TimeStepper::first_norm_in(record.state.solver)))
        throw UsageError(fmt::format(
            "{} has reached the steady state that this deck asks for, in {} steps; --set time.steady_rtol=R "
            "or time.steady_atol=A, below what they are, extends the run",
            record.path, record.state.step));
}

/// The record of a finished run that this deck extends; none if it has no state and there is a checkpoint in its place.
/// Throws UsageError or FileError if that cannot be.
std::optional<RecordData> finished_record(const Case& a_case, bool has_checkpoint) {
    auto record = earlier_record(a_case);
    if (!record || !can_take_more(*record) || (has_checkpoint && !record->has_state)) return std::nullopt;
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

/// The checkpoints beside a record. Damaged slots are reported on the log.
class CheckpointsBeside {
public:
    explicit CheckpointsBeside(const Case& a_case) : slots_(CheckpointSlots(a_case.record_path()).read()) {
        for (const std::string& damaged : slots_.damaged) {
            if (slots_.valid.empty())
                logging::warn("{}", damaged);
            else
                logging::warn("{}; taking the other slot, {}", damaged, slots_.valid.front().path);
        }
        for (RecordData& record : slots_.valid) {
            const auto differing = differences(a_case, record);
            if (differing.empty()) {
                newest_ = std::move(record);
                return;
            }
            other_deck_ =
                fmt::format("{} is a checkpoint of a different deck ({})", record.path, fmt::join(differing, "; "));
        }
    }

    /// The newest usable one of this deck.
    std::optional<RecordData>& newest() { return newest_; }
    /// Whether it was written after a record.
    bool are_newer_than(const std::string& record) const {
        using std::filesystem::last_write_time;
        return newest_ &&
               (!std::filesystem::exists(record) || last_write_time(newest_->path) > last_write_time(record));
    }
    /// Says why there is none of this deck.
    [[noreturn]] void refuse(const std::string& record) const {
        if (!other_deck_.empty())
            throw UsageError(other_deck_ + "; leave --restart out to start over, or set output.file to another name");
        if (!slots_.damaged.empty())
            throw FileError(fmt::format("no checkpoint can be used:\n{}\nLeave --restart out to start over",
                                        fmt::join(slots_.damaged, "\n")));
        throw FileError(
            fmt::format("there is nothing to restart from: {} has neither a checkpoint beside it nor a "
                        "preempted state; output.checkpoint_every makes checkpoints",
                        record));
    }

private:
    CheckpointSlots::Found slots_;
    std::optional<RecordData> newest_;
    std::string other_deck_;
};

/// The most advanced state of an earlier run of this deck. A checkpoint that was written after the record is of a run
/// that replaces the record's.
std::optional<RecordData> most_advanced(const Case& a_case, Restart restart) {
    CheckpointsBeside checkpoints(a_case);
    if (checkpoints.are_newer_than(a_case.record_path())) return std::move(checkpoints.newest());
    auto found = preempted_record(a_case);
    auto& checkpoint = checkpoints.newest();
    if (!found && restart == Restart::required) found = finished_record(a_case, checkpoint.has_value());
    if (!found && !checkpoint && restart == Restart::required) checkpoints.refuse(a_case.record_path());
    const auto reached = [](const RecordData& r) { return std::tie(r.state.step, r.state.newton, r.state.iterations); };
    return checkpoint && (!found || reached(*found) < reached(*checkpoint)) ? std::move(checkpoint) : std::move(found);
}

/// Refuses a state whose rows have other places than they have here, before its record is written over.
void check_order(const Case& a_case, const RecordData& from) {
    const RowOrder* const order = a_case.shape().order();
    if (!order) return;
    const auto mark = from.state.solver.find(order_item);
    if (mark != from.state.solver.end() && mark->second.all() == order_mark(*order)) return;
    throw FileError(
        fmt::format("{} was computed with other places of the rows than the ordering {} gives them here, perhaps by "
                    "another version of its library, or from a file that has changed since; start over with --fresh",
                    from.path, order->name));
}

void announce(const Case& a_case, const RecordData& from, Restart restart) {
    if (from.status == "ok" || from.status == "failed")
        logging::info("{} ended after {} steps at t = {:g}: the run is extended", from.path, from.state.step,
                      from.state.time);
    else
        logging::info("{} {}: going on from step {}, {}iteration {}{}", from.path,
                      from.status == "preempted" ? "was preempted" : "is a checkpoint", from.state.step + 1,
                      a_case.shape().linear ? "" : fmt::format("Newton step {}, ", from.state.newton + 1),
                      from.state.iterations, restart == Restart::preempted ? " (--fresh starts over)" : "");
    const auto backend = from.environment.find("backend");
    const bool other_device =
        backend != from.environment.end() && backend->second != to_string(a_case.context.backend());
    if (other_device || from.layout != a_case.space.name())
        logging::warn("{} is of another device or layout ({}, {}): the result will be the same but for rounding",
                      from.path, other_device ? backend->second : a_case.device, from.layout);
}

}  // namespace

std::vector<double> order_mark(const RowOrder& order) {
    return {double(order.fingerprint() >> 12)};
}

std::optional<RecordData> find_beginning(const Case& a_case, Restart restart) {
    if (restart == Restart::never) return std::nullopt;
    std::optional<RecordData> found;
    if (restart == Restart::preempted) {
        found = preempted_record(a_case);
        if (!found && CheckpointSlots(a_case.record_path()).exist())
            logging::warn("starting over, though there are checkpoints beside {}: --restart goes on from them",
                          a_case.record_path());
    } else {
        found = most_advanced(a_case, restart);
    }
    if (found) check_order(a_case, *found), announce(a_case, *found, restart);
    return found;
}

}  // namespace hyperplane
