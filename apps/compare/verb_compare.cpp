// SPDX-License-Identifier: BSD-3-Clause
// hyperplane compare DECK --preconditioners a,b,c

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/compare/data.hpp"
#include "apps/compare/text.hpp"
#include "apps/output_lock.hpp"
#include "apps/run/verdict.hpp"
#include "apps/verbs.hpp"
#include "io/atomic_file.hpp"

namespace hyperplane {
namespace {

CandidateLists lists_of(const Invocation& invocation) {
    const auto list = [&](const std::string& option) {
        const std::string text = invocation.value(option);
        if (invocation.has(option) && text.find_first_not_of(" ,") == text.npos)
            throw UsageError(fmt::format("--{}: names none; write NAME[:KEY=VALUE]...,...", option));
        return text;
    };
    CandidateLists lists{list("solvers"), list("preconditioners"), invocation.has("auto")};
    if (lists.solvers.empty() && lists.preconditioners.empty() && !lists.all)
        throw UsageError(
            "compare: say what to compare: --preconditioners LIST, --solvers LIST, or --auto for every pair that fits "
            "(hyperplane list preconditioners)");
    return lists;
}

/// A candidate's full name, or the only one with that preconditioner or solver.
std::string baseline_of(const Invocation& invocation, const Candidates& candidates) {
    if (!invocation.has("baseline"))
        return candidates.list[candidates.own < candidates.list.size() ? candidates.own : 0].name;
    const std::string asked = invocation.value("baseline");
    std::vector<std::string> known, partial;
    for (const Candidate& candidate : candidates.list) {
        if (candidate.name == asked) return asked;
        known.push_back(candidate.name);
        if (candidate.preconditioner.text == asked || candidate.solver.text == asked) partial.push_back(candidate.name);
    }
    if (partial.size() == 1) return partial.front();
    throw UsageError(fmt::format("--baseline {}: {} {}", asked,
                                 partial.empty() ? "no candidate is called so; there are" : "that could be any of",
                                 fmt::join(partial.empty() ? known : partial, ", ")));
}

/// Finds out now whether the file can be written.
std::string output_path(const Invocation& invocation, const Deck& deck) {
    const std::string path =
        invocation.value("output", std::filesystem::path(deck.file).stem().string() + "_compare.h5");
    const AtomicFile possible(path, FileKind::comparison, invocation.overwrite());
    return path;
}

}  // namespace

int compare_verb(const Invocation& invocation) {
    const CandidateLists lists = lists_of(invocation);
    CompareRules rules;
    rules.turns = parse_count("reps", invocation.value("reps", "5"), 1);
    if (lists.all) {
        rules.patience = 10.0;
        rules.field = 3.0;
    }
    const Deck deck = read_deck_or_record(invocation.arguments.at(0));
    const Candidates candidates = read_candidates(deck, deck_overrides(invocation), lists);
    guard_json(invocation.value("json"), invocation.overwrite());
    const ComparisonSetting setting{output_path(invocation, deck), baseline_of(invocation, candidates), lists.all};
    const OutputLock lock(lock_request(setting.path, invocation));

    CompareProgress progress(Progress::style_for_stderr(invocation.has("quiet")));
    Comparison comparison(deck, candidates.deck, candidates.list, rules, progress);
    for (const std::string& warning : comparison.warnings()) spdlog::warn("{}", warning);
    for (const Candidate& candidate : candidates.list)
        spdlog::debug("resolved deck of {}:\n{}", candidate.name, to_ini(candidate.parameters));
    comparison.run();
    ComparisonData data = summarise(comparison, deck, candidates.list, rules, setting);
    write_comparison(data, invocation.overwrite());
    if (invocation.value("json") != "-")
        fmt::print("{}{}", comparison_text(data, isatty(STDOUT_FILENO) != 0),
                   fmt::format("{:<13} {}\n", "record", data.path));
    if (invocation.has("json")) write_json(invocation.value("json"), comparison_json(data), invocation.overwrite());
    return data.exit_code;
}

}  // namespace hyperplane
