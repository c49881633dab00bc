// SPDX-License-Identifier: BSD-3-Clause
#include "apps/study/one_case.hpp"

#include <fmt/format.h>

#include "apps/study/case_state.hpp"
#include "core/error.hpp"

namespace hyperplane {

namespace {

/// Whether there is nothing left to do. Throws if the record is of an earlier version of the study.
bool ended(const StudyCase& found, const Invocation& invocation, bool locked, OneCase& taken) {
    if (invocation.has("fresh")) return false;
    const CaseState state = look_at(found, locked);
    if (state.record) taken.ended = state.record->exit_code;
    if (state.status == CaseStatus::edited)
        throw UsageError(fmt::format("{} is of an earlier version of the study ({}); --fresh writes over it",
                                     found.record, state.detail));
    return taken.ended.has_value();
}

}  // namespace

namespace {

const StudyCase& find_in(const Study& study, const Invocation& invocation) {
    for (const char* option : {"set", "threads", "backend", "ranks"})
        if (invocation.has(option))
            throw UsageError(fmt::format(
                "--{} would make it another case than the one that --case names; edit the study instead", option));
    const StudyCase& found = study.find(invocation.value("case"));
    if (!found.error.empty()) throw UsageError(found.error);
    return found;
}

}  // namespace

StudyCase find_case(const Invocation& invocation) {
    return find_in(read_study(invocation.arguments.at(0)), invocation);
}

OneCase take_case(const Invocation& invocation) {
    const Study study = read_study(invocation.arguments.at(0));
    const StudyCase& found = find_in(study, invocation);
    refuse_other_study(study);
    OneCase taken{study.file, found.name, {}, {}, found.deck};
    if (ended(found, invocation, false, taken)) return taken;
    // Before it is locked: the lock of a link to a device would lie beside the device.
    guard_output(found.record, FileKind::record, invocation.overwrite());
    study.make_folder();
    taken.lock = std::make_unique<RecordLock>(found.record, invocation);
    if (ended(found, invocation, true, taken)) taken.lock.reset();  // another process has computed it in the meantime
    return taken;
}

}  // namespace hyperplane
