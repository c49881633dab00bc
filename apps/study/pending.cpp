// SPDX-License-Identifier: BSD-3-Clause
#include "apps/study/pending.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/error.hpp"
#include "io/checkpoint.hpp"

namespace hyperplane {

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
    const auto add = [&](const StudyCase& a_case, bool replaces) {
        pending.cases.push_back(&a_case);
        pending.replaces.push_back(replaces);
    };
    for (const StudyCase& a_case : study.cases) {
        const CaseState state = look_at(a_case);
        switch (state.status) {
            case CaseStatus::done: ++pending.done; break;
            case CaseStatus::running: ++pending.running; break;
            case CaseStatus::failed:
                if (rules.failed || (rules.retry && state.may_pass_next_time()))
                    add(a_case, true);
                else
                    ++pending.failed;
                break;
            case CaseStatus::edited:
                if (edited++ == 0) example = fmt::format("{}: {}", a_case.record, state.detail);
                add(a_case, true);
                break;
            case CaseStatus::damaged: add(a_case, true); break;
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
    return pending;
}

void set_aside(const StudyCase& a_case, Overwrite overwrite) {
    CheckpointSlots(a_case.record).remove();
    if (!std::filesystem::exists(a_case.record)) return;
    const std::string before = a_case.beside("before.h5");
    guard_output(before, FileKind::record, overwrite);
    std::error_code error;
    std::filesystem::rename(a_case.record, resolve_links(before), error);
    if (error) throw FileError(fmt::format("{}: cannot be moved to {}: {}", a_case.record, before, error.message()));
}

}  // namespace hyperplane
