// SPDX-License-Identifier: BSD-3-Clause
// hyperplane study plan STUDY

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/base/json_text.hpp"
#include "apps/base/log.hpp"
#include "apps/run/verdict.hpp"
#include "apps/study/case_state.hpp"
#include "apps/study/prediction.hpp"
#include "apps/study/subverbs.hpp"
#include "core/counted.hpp"
#include "core/error.hpp"

namespace hyperplane {
namespace {

struct PlannedCase {
    const StudyCase* a_case;
    Prediction prediction;
    bool fits;
    CaseStatus status;

    std::string memory() const {
        if (!prediction.error.empty()) return "-";
        if (prediction.bytes == std::numeric_limits<Index>::max()) return "too much";
        return prediction.bytes < 0 ? "?" : in_mib(prediction.bytes);
    }
    std::string verdict() const {
        if (!prediction.error.empty()) return "refused";
        if (!prediction.unsure.empty()) return "not known here";
        return fits ? to_string(status) : "does not fit";
    }
};

nlohmann::json to_json(const PlannedCase& planned) {
    const StudyCase& c = *planned.a_case;
    nlohmann::json json = {{"number", c.number},  {"name", c.name},     {"hash", c.hash},
                           {"values", c.values},  {"record", c.record}, {"status", to_string(planned.status)},
                           {"fits", planned.fits}};
    if (planned.prediction.bytes >= 0) json["memory"] = planned.prediction.bytes;
    if (!planned.prediction.error.empty()) json["error"] = planned.prediction.error;
    if (!planned.prediction.unsure.empty()) json["unsure"] = planned.prediction.unsure;
    return json;
}

std::string table(const std::vector<PlannedCase>& plan) {
    std::string text = fmt::format("{:>5}  {:<8}  {:>12}  {:<14}  {}\n", "case", "hash", "memory", "state", "name");
    for (const PlannedCase& planned : plan)
        text += fmt::format("{:>5}  {:<8}  {:>12}  {:<14}  {}\n", planned.a_case->number, planned.a_case->hash,
                            planned.memory(), planned.verdict(), planned.a_case->name);
    return text;
}

template <class Condition>
Index count(const std::vector<PlannedCase>& plan, const Condition& condition) {
    return std::count_if(plan.begin(), plan.end(), condition);
}

}  // namespace

int study_plan(const Study& study, const Invocation& invocation) {
    refuse_other_study(study);
    std::vector<const StudyCase*> cases;
    for (const StudyCase& a_case : study.cases) cases.push_back(&a_case);
    const std::vector<Prediction> predictions = predict(study, cases);
    std::vector<PlannedCase> plan;
    for (const StudyCase& a_case : study.cases) {
        const Prediction& prediction = predictions[plan.size()];
        const bool fits = prediction.fits(room_for(a_case, prediction)) || !prediction.unsure.empty();
        plan.push_back(
            {&a_case, prediction, fits, prediction.error.empty() ? look_at(a_case).status : CaseStatus::refused});
    }
    const Index refused = count(plan, [](auto& c) { return !c.prediction.error.empty(); });
    const Index too_large = count(plan, [](auto& c) { return c.prediction.error.empty() && !c.fits; });
    const Index done = count(plan, [](auto& c) { return c.status == CaseStatus::done; });
    if (invocation.has("json")) {
        nlohmann::json json = {{"study", study.file},
                               {"folder", study.folder},
                               {"memory_left", available_memory()},
                               {"cases", nlohmann::json::array()}};
        for (const PlannedCase& planned : plan) json["cases"].push_back(to_json(planned));
        fmt::print("{}", to_text(json));
    } else {
        fmt::print("{}{}: {}, {} done, records in {}; {} left on this machine, {} {} not fit, {} refused\n",
                   table(plan), study.file, counted(Index(plan.size()), "case"), done, study.folder,
                   in_mib(available_memory()), counted(too_large, "case"), too_large == 1 ? "does" : "do", refused);
        std::vector<std::pair<std::string, std::string>> reasons;
        for (const PlannedCase& planned : plan)
            reasons.emplace_back(planned.a_case->name, planned.prediction.error + planned.prediction.unsure);
        for (const std::string& told : told_once(reasons)) logging::warn("{}", told);
    }
    if (refused > 0) return int(ExitCode::usage);
    return int(too_large > 0 ? ExitCode::out_of_memory : ExitCode::ok);
}

}  // namespace hyperplane
