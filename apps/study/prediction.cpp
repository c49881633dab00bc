// SPDX-License-Identifier: BSD-3-Clause
#include "apps/study/prediction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <limits>
#include <unordered_map>

#include "apps/base/log.hpp"
#include "apps/run/largest_rank.hpp"
#include "apps/study/expression.hpp"
#include "core/counted.hpp"
#include "core/error.hpp"

namespace hyperplane {

Prediction predict(const StudyCase& a_case) {
    Prediction found;
    found.error = a_case.error;
    if (!found.error.empty()) return found;
    try {
        const Case of_rank = case_of_largest_rank({a_case.deck, {}}, WithoutGpu::plan);
        found.on_gpu = of_rank.context.backend() == Backend::cuda;
        found.sharing = ranks_sharing_memory(of_rank);
        found.bytes = found.sharing * of_rank.memory_plan().total();
        if (is_of_planned_gpu(of_rank.context))
            found.unsure =
                fmt::format("{}: no GPU can be used here; the memory is what a GPU such as an H100 would hold",
                            of_rank.parameters.where(
                                "device", of_rank.parameters.is_given("device", "backend") ? "backend" : "gpu"));
    } catch (const UsageError& error) {
        found.error = error.what();
    } catch (const FileError& error) {
        found.error = error.what();
    } catch (const OutOfMemory&) {
        found.bytes = std::numeric_limits<Index>::max();  // the problem's own data is too large already
    } catch (const Error& error) {
        found.unsure = error.what();
    }
    return found;
}

Index room_for(const StudyCase& a_case, const Prediction& prediction) {
    try {
        return a_case.error.empty() ? available_memory(a_case.parameters, prediction.sharing) : available_memory();
    } catch (const Error&) {  // its device is not here, and its memory not known
        return available_memory();
    }
}

std::vector<Prediction> predict(const Study& study, const std::vector<const StudyCase*>& cases) {
    using Clock = std::chrono::steady_clock;
    constexpr auto pause = std::chrono::seconds(5);
    Clock::time_point last = Clock::now();
    std::vector<Prediction> predictions;
    for (const StudyCase* a_case : cases) {
        predictions.push_back(predict(*a_case));
        if (Clock::now() - last < pause) continue;
        logging::info("{}: predicted the memory of {} of {} cases", study.file, predictions.size(), cases.size());
        last = Clock::now();
    }
    return predictions;
}

std::vector<std::string> told_once(const std::vector<std::pair<std::string, std::string>>& names_and_reasons) {
    std::unordered_map<std::string, Index> count;
    for (const auto& [name, reason] : names_and_reasons) ++count[reason];
    std::vector<std::string> told;
    for (const auto& [name, reason] : names_and_reasons) {
        Index& all = count[reason];
        if (reason.empty() || all == 0) continue;
        told.push_back(fmt::format("{}{}:\n{}", name, all > 1 ? " and " + counted(all - 1, "more case") : "", reason));
        all = 0;
    }
    return told;
}

void refuse_wrong(const Study& study, const std::vector<const StudyCase*>& cases,
                  const std::vector<Prediction>& predictions) {
    constexpr std::size_t most_shown = 10;
    std::vector<std::pair<std::string, std::string>> reasons;
    std::string first;
    for (std::size_t at = 0; at < cases.size(); ++at) {
        if (predictions[at].error.empty()) continue;
        if (reasons.empty()) first = condition_of(cases[at]->values);
        reasons.emplace_back(cases[at]->name, predictions[at].error);
    }
    const std::size_t refused = reasons.size();
    if (refused == 0) return;
    std::vector<std::string> lines = told_once(reasons);
    if (const std::size_t told = lines.size(); told > most_shown) {
        lines.resize(most_shown);
        lines.push_back(fmt::format("and {} more", told - most_shown));
    }
    const std::string& before = study.varied.skip;
    throw UsageError(
        fmt::format("{}: {} of {} cases cannot be run, so none is begun:\n{}\nMend what the messages name, or leave "
                    "these cases out by a condition in [sweep], of which this one is for the first; conditions of "
                    "several cases are joined by or:\nskip = {}{}",
                    study.file, refused, cases.size(), fmt::join(lines, "\n"),
                    before.empty() ? "" : fmt::format("({}) or ", before), first));
}

}  // namespace hyperplane
