// SPDX-License-Identifier: BSD-3-Clause
#include "apps/study/pending.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "apps/base/log.hpp"
#include "core/error.hpp"
#include "io/checkpoint.hpp"

namespace hyperplane {
namespace {

/// The file to which the record of a case in this state is moved; empty if it has none that must be replaced. A damaged
/// one has a name of its own, so that it cannot replace an earlier record that is whole.
std::string place_aside(const StudyCase& a_case, CaseStatus status) {
    if (status == CaseStatus::damaged) return a_case.beside("damaged.h5");
    if (status == CaseStatus::failed || status == CaseStatus::edited) return a_case.beside("before.h5");
    return "";
}

void guard_aside(const StudyCase& a_case, const std::string& place, Overwrite overwrite) {
    guard_output(a_case.record, FileKind::record, overwrite);
    guard_output(place, FileKind::record, overwrite);
}

}  // namespace

OutputLock::Request launcher_lock(const Study& study, const Invocation& invocation) {
    OutputLock::Request request = lock_request(study.launcher(), invocation);
    request.path = study.launcher() + ".lock";
    request.what = study.file;
    return request;
}

Pending find_pending(const Study& study, PendingRules rules) {
    refuse_other_study(study);
    Pending pending;
    int edited = 0;
    std::string example;
    std::vector<std::string> in_the_way;
    const auto add = [&](const StudyCase& a_case, bool replaces) {
        pending.cases.push_back(&a_case);
        pending.replaces.push_back(replaces);
    };
    const auto replace = [&](const StudyCase& a_case, CaseStatus status) {
        try {
            guard_aside(a_case, place_aside(a_case, status), rules.overwrite);
            if (rules.logs) guard_output(a_case.beside("log"), FileKind::log, rules.overwrite);
            add(a_case, true);
        } catch (const FileError& error) {
            in_the_way.push_back(fmt::format("case {} is not computed again: {}", a_case.name, error.what()));
        }
    };
    for (const StudyCase& a_case : study.cases) {
        const CaseState state = look_at(a_case);
        switch (state.status) {
            case CaseStatus::done: ++pending.done; break;
            case CaseStatus::running: ++pending.running; break;
            case CaseStatus::failed:
                if (rules.failed || (rules.retry && state.may_pass_next_time()))
                    replace(a_case, state.status);
                else
                    ++pending.failed;
                break;
            case CaseStatus::edited:
                if (edited++ == 0) example = fmt::format("{}: {}", a_case.record, state.detail);
                replace(a_case, state.status);
                break;
            case CaseStatus::damaged: replace(a_case, state.status); break;
            case CaseStatus::waiting:
            case CaseStatus::preempted:
            case CaseStatus::killed:
            case CaseStatus::unwritten:
            case CaseStatus::refused: add(a_case, false); break;
        }
    }
    if (edited > 0 && !rules.edited)
        throw UsageError(
            fmt::format("{} was edited after {} of its cases ran ({}); give --edited to compute those again, or set "
                        "sweep.folder to keep their records",
                        study.file, edited, example));
    for (const std::string& message : in_the_way) logging::error("{}", message);
    pending.left_out = int(in_the_way.size());
    return pending;
}

std::string set_aside(const StudyCase& a_case, Overwrite overwrite) {
    const CaseState state = look_at(a_case);
    const std::string place = place_aside(a_case, state.status);
    if (place.empty()) return "";
    guard_aside(a_case, place, overwrite);
    CheckpointSlots(a_case.record).remove();
    std::error_code error;
    std::filesystem::rename(a_case.record, resolve_links(place), error);
    if (error) throw FileError(fmt::format("{}: cannot be moved to {}: {}", a_case.record, place, error.message()));
    if (state.status != CaseStatus::damaged) return "";
    return fmt::format("{}; it is now {}, and the case is computed again", state.detail, place);
}

}  // namespace hyperplane
