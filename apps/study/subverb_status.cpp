// SPDX-License-Identifier: BSD-3-Clause
// hyperplane study status STUDY

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/base/json_text.hpp"
#include "apps/base/signals.hpp"
#include "apps/study/case_state.hpp"
#include "apps/study/subverbs.hpp"
#include "apps/study/watch.hpp"
#include "core/error.hpp"

namespace hyperplane {

namespace {

/// Redraws the table once a second until no case is left to compute, or until a signal.
int watch(const Study& study) {
    StudyWatch table(study, STDOUT_FILENO);
    for (table.draw(); table.any_left() && !stop_signal(); table.draw())
        for (int tenth = 0; tenth < 10 && !stop_signal(); ++tenth)
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return int(table.done() == int(study.cases.size()) ? ExitCode::ok : ExitCode::expectation);
}

}  // namespace

int study_status(const Study& study, const Invocation& invocation) {
    refuse_other_study(study);
    if (invocation.has("watch")) {
        if (invocation.has("json")) throw UsageError("study status: give one of --watch and --json");
        catch_stop_signals();
        return watch(study);
    }
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
