// SPDX-License-Identifier: BSD-3-Clause
// hyperplane study status STUDY

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "apps/run/verdict.hpp"
#include "apps/study/case_state.hpp"
#include "apps/study/subverbs.hpp"
#include "core/error.hpp"

namespace hyperplane {

int study_status(const Study& study, const Invocation& invocation) {
    std::map<CaseStatus, int> counts;
    nlohmann::json json = {{"study", study.file}, {"folder", study.folder}, {"cases", nlohmann::json::array()}};
    std::string table = fmt::format("{:>5}  {:<8}  {:<9}  {}\n", "case", "hash", "state", "name");
    for (const StudyCase& a_case : study.cases) {
        const CaseState state = look_at(a_case);
        ++counts[state.status];
        json["cases"].push_back({{"number", a_case.number},
                                 {"name", a_case.name},
                                 {"hash", a_case.hash},
                                 {"record", a_case.record},
                                 {"status", to_string(state.status)},
                                 {"detail", state.detail}});
        if (state.record) json["cases"].back()["exit_code"] = state.record->exit_code;
        table += fmt::format("{:>5}  {:<8}  {:<9}  {}{}\n", a_case.number, a_case.hash, to_string(state.status),
                             a_case.name, state.detail.empty() ? "" : "  (" + state.detail + ")");
    }
    std::string summary;
    for (const auto& [status, count] : counts) {
        json["counts"][to_string(status)] = count;
        summary += fmt::format("{}{} {}", summary.empty() ? "" : ", ", count, to_string(status));
    }
    if (invocation.has("json"))
        fmt::print("{}", to_text(json));
    else
        fmt::print("{}{}: {} of {} cases done: {}\n", table, study.file, counts[CaseStatus::done], study.cases.size(),
                   summary);
    return int(counts[CaseStatus::done] == int(study.cases.size()) ? ExitCode::ok : ExitCode::expectation);
}

}  // namespace hyperplane
