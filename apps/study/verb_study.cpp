// SPDX-License-Identifier: BSD-3-Clause
// hyperplane study plan|run|submit|status|resume|collect STUDY

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apps/base/signals.hpp"
#include "apps/command/verbs.hpp"
#include "apps/study/subverbs.hpp"
#include "core/error.hpp"

namespace hyperplane {
namespace {

struct Subverb {
    std::string name;
    std::vector<std::string> options;  ///< options that it takes
    int (*run)(const Study&, const Invocation&);
    bool stops_well = false;  ///< as in Verb
};

const std::vector<Subverb>& subverbs() {
    static const std::vector<Subverb> table = {
        {"plan", {"json"}, study_plan},
        {"run",
         {"jobs", "failed", "edited", "wait", "watch", "force"},
         [](const Study& study, const Invocation& invocation) { return study_run(study, invocation, false); },
         true},
        {"submit", {"print", "failed", "edited", "wait", "force"}, study_submit},
        {"status", {"json", "watch"}, study_status},
        {"resume",
         {"jobs", "failed", "edited", "wait", "watch", "force"},
         [](const Study& study, const Invocation& invocation) { return study_run(study, invocation, true); },
         true},
        {"collect", {"output", "fom", "force"}, study_collect},
    };
    return table;
}

const Subverb& find_subverb(const std::string& name) {
    std::vector<std::string> known;
    for (const Subverb& subverb : subverbs()) {
        if (subverb.name == name) return subverb;
        known.push_back(subverb.name);
    }
    const std::string near = nearest(name, known);
    throw UsageError(fmt::format("study {} is none of {}{} (hyperplane help study)", name, fmt::join(known, " | "),
                                 near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

}  // namespace

int study_verb(const Invocation& invocation) {
    const Subverb& subverb = find_subverb(invocation.arguments[0]);
    subverb.stops_well ? catch_stop_signals() : release_stop_signals();
    for (const auto& [option, values] : invocation.options)
        if (option != "verbose" && option != "quiet" &&
            std::find(subverb.options.begin(), subverb.options.end(), option) == subverb.options.end())
            throw UsageError(fmt::format("study {} does not take --{} (hyperplane help study)", subverb.name, option));
    if (invocation.arguments.size() < 2)
        throw UsageError(
            fmt::format("study {} needs STUDY, a deck with a section [sweep] (hyperplane help study)", subverb.name));
    return subverb.run(read_study(invocation.arguments[1]), invocation);
}

}  // namespace hyperplane
