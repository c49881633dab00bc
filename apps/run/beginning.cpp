// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/beginning.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "apps/base/log.hpp"
#include "apps/deck/identity.hpp"
#include "core/counted.hpp"
#include "io/checkpoint.hpp"
#include "solvers/time_stepping.hpp"

namespace hyperplane {
namespace {

/// Sections that have no effect on what is computed.
const Sections no_matter = {"output", "expect", "device"};

/// Keys that decide when a run ends, or how fast it gets there, and never what a step computes.
const std::vector<std::string> of_the_end = {"time.steps", "time.end_time", "time.steady_rtol", "time.steady_atol",
                                             "time.cfl_max"};
/// What may change in addition after a failure: how the equations of a step are solved, and how long steps are.
const Sections of_the_solve = {"solver", "preconditioner", "smoother", "newton"};
const std::vector<std::string> of_the_length = {"time.time_step", "time.cfl", "time.largest_step", "time.smallest_step",
                                                "time.tolerance"};

bool is_named_in(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// How the deck differs from that of an earlier run.
struct Changes {
    std::vector<std::string> allowed, refused;  ///< "solver.rtol is 1e-6, was 1e-8"
    bool of_method = false;                     ///< whether others than those of the end are allowed
    bool of_length = false;                     ///< whether time.time_step or time.cfl are among them
    bool of_end_time = false;

    bool any() const { return !allowed.empty() || !refused.empty(); }
};

Changes changes(const Case& a_case, const RecordData& record, bool after_failure) {
    Changes found;
    for (const DeckDifference& one : changed_keys(a_case.parameters, record.deck_resolved, no_matter)) {
        // An error control that begins or ends has other states to keep, which the record does not have.
        const bool control = one.name() == "time.tolerance" && !one.both_set;
        const bool end = is_named_in(of_the_end, one.name());
        const bool method = after_failure && !control &&
                            (is_named_in(of_the_solve, one.section) || is_named_in(of_the_length, one.name()));
        if (!end && !method) {
            found.refused.push_back(one.text);
            continue;
        }
        found.of_method |= method;
        found.of_length |= one.name() == "time.time_step" || one.name() == "time.cfl";
        found.of_end_time |= one.name() == "time.end_time";
        if (!one.vanished) found.allowed.push_back(one.text);
    }
    return found;
}

/// A scalar of the saved state; 0 if it is not there.
double scalar_of(const RecordData& record, const char* item, Index place) {
    const auto found = record.state.solver.find(item);
    return found != record.state.solver.end() && found->second.size() > place ? found->second.all()[place] : 0.0;
}

bool has_ended(const RecordData& record) {
    return record.status == "ok" || record.status == "failed";
}

/// Whether the last step of the run of the record could not be computed, or did not lead to its goal. What [expect]
/// alone did not get is no such failure.
bool is_failure(const RecordData& record) {
    if (!has_ended(record)) return false;
    const bool rejected = !record.steps.empty() && !record.steps.back().accepted;
    return rejected || (record.status == "failed" && record.exit_code != int(ExitCode::expectation));
}

Continued continued(RecordData record, const Changes& with) {
    const bool within = scalar_of(record, "run/within", 0) != 0.0;
    const bool failed_attempt = has_ended(record) && TimeStepper::is_within_step(record.state.solver);
    return {.anew = with.of_method || failed_attempt || (within && with.of_end_time),
            .other_length = with.of_length,
            .changed = with.allowed,
            .record = std::move(record)};
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

bool takes_time_steps(const Case& a_case) {
    return a_case.shape().regime != Regime::steady;
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
    const auto last = std::find_if(record.steps.rbegin(), record.steps.rend(), [](auto& row) { return row.accepted; });
    if (last == record.steps.rend() || !a_case.time.pseudo()) return;
    if (a_case.time.is_steady(last->steady_residual, TimeStepper::first_norm_in(record.state.solver)))
        throw UsageError(fmt::format(
            "{} has reached the steady state that this deck asks for, in {} steps; --set time.steady_rtol=R "
            "or time.steady_atol=A, below what they are, extends the run",
            record.path, record.state.step));
}

std::optional<Continued> preempted_record(const Case& a_case, std::optional<RecordData> record) {
    if (!record || record->status != "preempted" || !record->has_state) return std::nullopt;
    const Changes with = changes(a_case, *record, false);
    if (!with.refused.empty())
        throw UsageError(
            fmt::format("{} holds a preempted run of a different deck ({}); give --fresh to start over, or another "
                        "output.file to keep it",
                        record->path, fmt::join(with.refused, "; ")));
    if (with.any()) check_that_more_is_asked(a_case, *record);
    return continued(std::move(*record), with);
}

std::string what_may_change(bool after_failure) {
    const std::string end = fmt::format("{}", fmt::join(of_the_end, ", "));
    if (!after_failure) return "a run is extended with other values of " + end + " alone";
    return fmt::format("after a failure a run goes on with other values of the keys of [{}], and of {}, {} alone{}",
                       fmt::join(of_the_solve, "], ["), fmt::join(of_the_length, ", "), end,
                       "; a tolerance is neither begun nor left out");
}

/// The record of a run that has ended, which this deck extends or goes on with after a failure; none if it has no state
/// and there is a checkpoint in its place. Throws UsageError or FileError if that cannot be.
std::optional<Continued> ended_record(const Case& a_case, std::optional<RecordData> record, bool has_checkpoint) {
    if (!record || !has_ended(*record) || (record->steps.empty() && !record->has_state)) return std::nullopt;
    if (has_checkpoint && !record->has_state) return std::nullopt;
    const bool failed = is_failure(*record);
    if (failed && !record->has_state && CheckpointSlots(a_case.record_path()).exist()) return std::nullopt;
    if (failed && !record->has_state)
        throw FileError(fmt::format(
            "there is nothing to restart from: {} failed and holds no state, and has no checkpoint beside it; {}",
            record->path,
            takes_time_steps(a_case)
                ? "a state is kept where a time step had succeeded before, and output.checkpoint_every makes "
                  "checkpoints"
                : "a solve that failed leaves no state, and output.checkpoint_minutes makes checkpoints within it"));
    const Changes with = changes(a_case, *record, failed);
    if (!with.refused.empty())
        throw UsageError(fmt::format("{} is of a different deck ({}); {}", record->path, fmt::join(with.refused, "; "),
                                     what_may_change(failed)));
    if (!record->has_state)
        throw FileError(
            fmt::format("{} has ended and holds no state to go on from; output.state = always keeps it, and "
                        "--fresh runs the deck again",
                        record->path));
    check_that_more_is_asked(a_case, *record);
    return continued(std::move(*record), with);
}

bool is_newer(const std::string& file, const std::string& than) {
    using std::filesystem::last_write_time;
    return !std::filesystem::exists(than) || last_write_time(file) > last_write_time(than);
}

/// The checkpoints beside a record. Damaged slots are reported on the log.
class CheckpointsBeside {
public:
    /// `failed`: the record is of a run that failed, so that its checkpoints may be of a deck with other keys.
    /// `asked`: other keys are possible at all.
    CheckpointsBeside(const Case& a_case, bool failed, bool asked)
        : slots_(CheckpointSlots(a_case.record_path()).read()),
          key_(takes_time_steps(a_case) ? "checkpoint_every" : "checkpoint_minutes") {
        for (const std::string& damaged : slots_.damaged) {
            if (slots_.valid.empty())
                logging::warn("{}", damaged);
            else
                logging::warn("{}; taking the other slot, {}", damaged, slots_.valid.front().path);
        }
        for (RecordData& record : slots_.valid) {
            Changes with = changes(a_case, record, failed);
            if (!asked) with.refused.insert(with.refused.end(), with.allowed.begin(), with.allowed.end());
            if (with.refused.empty()) {
                if (with.any()) check_that_more_is_asked(a_case, record);
                newest_ = continued(std::move(record), with);
                return;
            }
            other_deck_ =
                fmt::format("{} is a checkpoint of a different deck ({})", record.path, fmt::join(with.refused, "; "));
        }
    }

    /// The newest usable one of this deck.
    std::optional<Continued>& newest() { return newest_; }
    /// Whether it was written after a record.
    bool are_newer_than(const std::string& record) const { return newest_ && is_newer(newest_->record.path, record); }
    /// Says why there is none of this deck.
    [[noreturn]] void refuse(const std::string& record) const {
        if (!other_deck_.empty())
            throw UsageError(other_deck_ + "; leave --restart out to start over, or set output.file to another name");
        if (!slots_.damaged.empty())
            throw FileError(fmt::format("no checkpoint can be used:\n{}\nLeave --restart out to start over",
                                        fmt::join(slots_.damaged, "\n")));
        throw FileError(
            fmt::format("there is nothing to restart from: {} has neither a checkpoint beside it nor a "
                        "preempted state; output.{} makes checkpoints",
                        record, key_));
    }

private:
    CheckpointSlots::Found slots_;
    const char* key_;
    std::optional<Continued> newest_;
    std::string other_deck_;
};

/// The most advanced state of an earlier run of this deck. A checkpoint that was written after the record is of a run
/// that replaces the record's.
std::optional<Continued> most_advanced(const Case& a_case, Restart restart) {
    const bool required = restart == Restart::required;
    std::optional<RecordData> record = earlier_record(a_case);
    CheckpointsBeside checkpoints(a_case, required && record && is_failure(*record), required);
    if (checkpoints.are_newer_than(a_case.record_path())) return std::move(checkpoints.newest());
    auto& checkpoint = checkpoints.newest();
    const bool ended = required && record && has_ended(*record);
    auto found = ended ? ended_record(a_case, std::move(record), checkpoint.has_value())
                       : preempted_record(a_case, std::move(record));
    if (ended && found) return found;
    if (!found && !checkpoint && required) checkpoints.refuse(a_case.record_path());
    const auto reached = [](const Continued& from) {
        const RunState& state = from.record.state;
        return std::tie(state.step, state.newton, state.iterations);
    };
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

void announce(const Case& a_case, const Continued& begin, Restart restart) {
    const RecordData& from = begin.record;
    if (has_ended(from))
        logging::info("{} {} after {} steps at t = {:g}: the run {}", from.path, is_failure(from) ? "failed" : "ended",
                      from.state.step, from.state.time, is_failure(from) ? "goes on from there" : "is extended");
    else
        logging::info("{} {}: going on from step {}, {}iteration {}{}", from.path,
                      from.status == "preempted" ? "was preempted" : "is a checkpoint", from.state.step + 1,
                      a_case.shape().linear ? "" : fmt::format("Newton step {}, ", from.state.newton + 1),
                      from.state.iterations, restart == Restart::preempted ? " (--fresh starts over)" : "");
    if (!begin.changed.empty())
        logging::info("from step {} on {}", from.state.step + 1, fmt::join(begin.changed, "; "));
    if (has_ended(from) && is_failure(from) && begin.changed.empty())
        logging::warn("no key has another value than in the run that failed, so step {} may fail again",
                      from.state.step + 1);
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

std::optional<Continued> find_beginning(const Case& a_case, Restart restart) {
    if (restart == Restart::never) return std::nullopt;
    std::optional<Continued> found;
    if (restart == Restart::preempted) {
        std::optional<RecordData> earlier = earlier_record(a_case);
        if (earlier && earlier->has_state && is_failure(*earlier))
            logging::warn("starting over, though {} failed after {}: --restart goes on from there", earlier->path,
                          counted(earlier->state.step, "step"));
        found = preempted_record(a_case, std::move(earlier));
        if (!found && CheckpointSlots(a_case.record_path()).exist())
            logging::warn("starting over, though there are checkpoints beside {}: --restart goes on from them",
                          a_case.record_path());
    } else {
        found = most_advanced(a_case, restart);
    }
    if (found) check_order(a_case, found->record), announce(a_case, *found, restart);
    return found;
}

}  // namespace hyperplane
