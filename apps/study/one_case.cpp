// SPDX-License-Identifier: BSD-3-Clause
#include "apps/study/one_case.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "apps/study/case_state.hpp"
#include "core/error.hpp"

namespace hyperplane {

OneCase take_case(const Invocation& invocation) {
    for (const char* option : {"set", "threads"})
        if (invocation.has(option))
            throw UsageError(fmt::format("--{} would make it another case than --case names; edit the study", option));
    const Study study = read_study(invocation.arguments.at(0));
    const StudyCase& found = study.find(invocation.value("case"));
    if (!found.error.empty()) throw UsageError(found.error);
    OneCase taken{study.file, found.name, {}, {}, found.deck};
    if (!invocation.has("fresh")) {
        const CaseState state = look_at(found);
        if (state.record) {
            taken.ended = state.record->exit_code;
            return taken;
        }
        if (state.status == CaseStatus::edited)
            throw UsageError(fmt::format("{} is of an earlier version of the study ({}); --fresh writes over it",
                                         found.record, state.detail));
    }
    study.make_folder();
    taken.lock = std::make_unique<CaseLock>(found.beside("lock"), invocation.overwrite());
    return taken;
}

}  // namespace hyperplane
