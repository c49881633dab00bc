// SPDX-License-Identifier: BSD-3-Clause
// hyperplane compare DECK --preconditioners a,b,c

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/base/environment.hpp"
#include "apps/base/json_text.hpp"
#include "apps/base/launched.hpp"
#include "apps/base/log.hpp"
#include "apps/base/output_lock.hpp"
#include "apps/base/signals.hpp"
#include "apps/command/verbs.hpp"
#include "apps/compare/data.hpp"
#include "apps/compare/keeper.hpp"
#include "apps/compare/text.hpp"
#include "apps/deck/named_deck.hpp"
#include "apps/run/build_case.hpp"
#include "apps/run/launch.hpp"
#include "core/ranks/cuts.hpp"
#include "io/atomic_file.hpp"
#include "io/companions.hpp"

namespace hyperplane {
namespace {

CandidateLists lists_of(const Invocation& invocation) {
    const auto list = [&](const std::string& option) {
        const std::string text = invocation.value(option);
        if (invocation.has(option) && text.find_first_not_of(" ,") == text.npos)
            throw UsageError(fmt::format("--{}: names none; write NAME[:KEY=VALUE]...,...", option));
        return text;
    };
    CandidateLists lists{list("solvers"), list("preconditioners"), invocation.has("auto"), invocation.has("auto")};
    if (lists.solvers.empty() && lists.preconditioners.empty() && !lists.all)
        throw UsageError(
            "compare: say what to compare: --preconditioners LIST, --solvers LIST, or --auto for every pair that fits "
            "(hyperplane list preconditioners)");
    return lists;
}

/// The baseline that the user named, by a candidate's full name or by a solver or preconditioner that only one
/// candidate has.
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
                                 partial.empty() ? "there is no such candidate; there are" : "that may be any of",
                                 fmt::join(partial.empty() ? known : partial, ", ")));
}

/// The name of the output.
std::string output_path(const Invocation& invocation, const Deck& deck) {
    const std::string path =
        invocation.value("output", std::filesystem::path(deck.file).stem().string() + "_compare.h5");
    check_record_name(path, "compare");
    return path;
}

/// Throws FileError if the outputs could not be written, or if two of them would be one file.
void guard_outputs(const std::string& path, const Invocation& invocation) {
    guard_json(invocation);
    require_writable(path, FileKind::comparison, invocation.overwrite());
    const std::string json = invocation.value("json", "-");
    std::vector<std::string> written = RecordLock::files(path);
    written.insert(written.end(), {path, path + ".part"});
    if (json != "-") written.push_back(json);
    refuse_one_file_of_two(written, "compare", "name another file with --json or -o");
}

/// What a stopped earlier call of this comparison has left, if there was one. Throws UsageError if it was another
/// comparison, or was made on another machine.
std::optional<ComparisonData> unfinished(const std::string& path, const std::string& identity, const Comparison& now) {
    for (const std::string& file : {path, path + ".part"}) {
        if (!is_comparison(file)) continue;
        ComparisonData earlier = read_comparison(file);
        if (earlier.complete) continue;
        if (earlier.identity != identity)
            throw UsageError(fmt::format(
                "{} holds an unfinished comparison of other candidates, or of another deck; repeat the command that "
                "began it to go on with it, give --fresh to start over, or -o to name another file",
                file));
        const auto is = [&](const char* key, const std::string& value) {
            const auto at = earlier.system.find(key);
            return at != earlier.system.end() && at->second == value;
        };
        if (!is("host", host_name()) || !is("device", now.device()))
            throw UsageError(
                fmt::format("{} was begun on {}, {}: times of two machines cannot be compared; --fresh starts over",
                            file, earlier.system["host"], earlier.system["device"]));
        return earlier;
    }
    return std::nullopt;
}

/// A comparison as the command line asks for it.
struct Task {
    const Invocation& invocation;
    Deck deck;
    Candidates candidates;
    CompareRules rules;
    ComparisonSetting setting;
    RecordLock* lock;  ///< of the record; null in launched processes after the first
};

/// The results that an unfinished comparison has left. The first rank finds them, ranks that are threads share them,
/// and other processes read them, too: before all have done so none goes on, and nothing is written.
class Beginning {
public:
    const ComparisonData* find(const Task& task, const Comparison& comparison) {
        const auto read = [&] {
            earlier_ = unfinished(task.setting.path,
                                  identity_of(task.candidates.list, task.rules, task.setting.automatic), comparison);
        };
        const Context& context = comparison.context();
        if (is_first_rank(context) && !task.invocation.has("fresh")) read();
        if (of_first_rank(context, earlier_.has_value()) == 0.0) return nullptr;
        if (!earlier_) read();
        if (any_rank(context, !earlier_))
            throw FileError(task.setting.path +
                            ": not all processes can read this file; put it where all of them see it");
        return &*earlier_;
    }

private:
    std::optional<ComparisonData> earlier_;
};

/// Writes and prints what has been compared. The table is also printed where the file cannot be written: hours of
/// measurements must not be lost to a full disk. Returns the exit status.
int conclude(const Task& task, ComparisonData data, const Keeper& keeper) {
    const Invocation& invocation = task.invocation;
    bool written = false;
    const auto failed = [&](const Error& error) {
        logging::error("{}", error.what());
        data.exit_code = int(error.code());
    };
    try {
        data.path = task.lock->to_write();
        write_comparison(data, invocation.overwrite());
        keeper.remove();
        written = true;
    } catch (const FileError& error) {
        failed(error);
    } catch (const LockedError& error) {
        failed(error);
    }
    if (!data.complete) logging::warn("stopped by {}: the same command goes on", signal_name(stop_signal()));
    if (invocation.value("json") != "-") {
        const bool bold = launched_processes() == 1 && isatty(STDOUT_FILENO) != 0;  // mpirun gives its ranks a terminal
        fmt::print("{}{:<13} {}\n", comparison_text(data, bold), "record",
                   written ? data.path : "could not be written");
    }
    if (invocation.has("json")) write_json(invocation.value("json"), comparison_json(data), invocation.overwrite());
    return data.exit_code;
}

/// Runs the comparison; of several ranks the first one also writes and prints.
int compare(const Task& task, Comparison& comparison, Beginning& beginning) {
    const auto& [invocation, deck, candidates, rules, setting, lock] = task;
    const bool first = is_first_rank(comparison.context());
    if (first) {
        for (const std::string& warning : comparison.warnings()) logging::warn("{}", warning);
        for (const Candidate& candidate : candidates.list)
            logging::debug("resolved deck of {}:\n{}", candidate.name, to_ini(candidate.parameters));
        guard_output(setting.path + ".part", FileKind::comparison, invocation.overwrite());
    }
    if (const ComparisonData* earlier = beginning.find(task, comparison)) {
        if (first)
            logging::info("{} was stopped: going on after turn {} of {} (--fresh starts over)", earlier->path,
                          earlier->turns_done, rules.turns);
        comparison.resume(*earlier);
    }
    if (!first) {
        comparison.run([] {});
        return 0;
    }
    const auto so_far = [&] {
        return summarise(comparison, task.deck, task.candidates.list, task.rules, task.setting);
    };
    Keeper keeper(setting.path + ".part", invocation.overwrite());
    comparison.run([&] { keeper.keep(so_far); });
    return conclude(task, so_far(), keeper);
}

int compare_on_ranks(const Task& task, const RankOrNone& launched) {
    Beginning beginning;
    std::mutex building;  // problems may read files through HDF5
    return on_ranks(launched, task.candidates.deck, [&](const RankOrNone& rank) {
        const bool first = !rank || rank->rank() == 0;
        CompareProgress progress(first ? Progress::style_for_stderr(task.invocation.has("quiet"))
                                       : Progress::Style::none);
        std::unique_ptr<Comparison> comparison;
        {
            const std::lock_guard lock(building);
            comparison = std::make_unique<Comparison>(task.deck, task.candidates.deck, task.candidates.list, task.rules,
                                                      progress, rank);
        }
        return compare(task, *comparison, beginning);
    });
}

/// Reads what is asked for and compares. Of launched processes the first one alone locks, writes and prints.
int compare_asked(const Invocation& invocation, const RankOrNone& launched) {
    const bool first = is_first_process(launched);
    const CandidateLists lists = lists_of(invocation);
    CompareRules rules;
    rules.turns = parse_count("reps", invocation.value("reps", "5"), 1);
    if (lists.all) {
        rules.patience = 10.0;
        rules.field = 3.0;
    }
    Deck deck = read_deck_or_record(invocation.arguments.at(0));
    const std::vector<std::string> overrides = deck_overrides(invocation);
    leave_out_keys_of_runs(deck, overrides, "compare", true);
    const Candidates candidates = read_candidates(deck, overrides, lists);
    const std::string path = output_path(invocation, deck);
    if (first) guard_outputs(path, invocation);
    const ComparisonSetting setting{path, baseline_of(invocation, candidates), lists.all};
    std::optional<RecordLock> lock;
    if (first) lock.emplace(path, invocation);
    const Task task{invocation, deck, candidates, rules, setting, first ? &*lock : nullptr};
    return compare_on_ranks(task, launched);
}

}  // namespace

int compare_verb(const Invocation& invocation) {
    catch_stop_signals();
    return on_launched(invocation, [&](const RankOrNone& launched) { return compare_asked(invocation, launched); });
}

}  // namespace hyperplane
