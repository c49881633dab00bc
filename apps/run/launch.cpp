// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/launch.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/base/launched.hpp"
#include "apps/run/build_case.hpp"
#include "apps/run/mpi_ranks.hpp"
#include "apps/run/ranks.hpp"
#include "core/error.hpp"
#include "core/ranks/cuts.hpp"
#include "core/ranks/planned.hpp"
#include "core/ranks/threads.hpp"

namespace hyperplane {

int on_launched(bool json, const std::function<int(const RankOrNone&)>& body) {
    return launched_processes() > 1 ? run_launched_rank(json, body) : body(nullptr);
}

int refuse_processes(const Verb& verb, bool json) {
    const bool of_ranks = std::ranges::any_of(verb.options, [](const Option& one) { return one.name == "ranks"; });
    return on_launched(json, [&](const RankOrNone&) -> int {
        const int processes = launched_processes();
        throw UsageError(
            fmt::format("{} runs in one process, and mpirun or srun has started {} together; start it once{}",
                        verb.name, processes, of_ranks ? fmt::format(", with --ranks {}", processes) : ""));
    });
}

namespace {

/// Whether a key is of one process and not of the run.
bool is_of_process(const ParameterSpec& key) {
    return key.section == "device" && (key.key == "threads" || key.key == "gpu");
}

/// Options that decide what ranks compute and are in no key of the deck.
constexpr const char* options_of_all_ranks[] = {"case", "fresh", "restart",  "preconditioners", "solvers",
                                                "auto", "reps",  "baseline", "tunings",         "repeats"};

/// Names of options or keys, with their values.
using Words = std::vector<std::pair<std::string, std::string>>;

/// The words of a command line that all processes must agree about before any of them begins.
Words words_of_command_line(const Invocation& invocation) {
    const bool bench = invocation.verb == "bench" && !invocation.arguments.empty();
    Words words = {{"the verb", invocation.verb},
                   {"the kind of bench", bench ? invocation.arguments.front() : ""},
                   {"the number of decks", fmt::format("{}", invocation.arguments.size())}};
    for (const char* option : options_of_all_ranks)
        words.emplace_back(fmt::format("--{}", option),
                           invocation.has(option) ? "given: " + invocation.value(option) : "");
    return words;
}

Words words_of_deck(const Parameters& deck) {
    Words words;
    for (const Parameters::Value& value : deck.all())
        if (!is_of_process(value.spec)) words.emplace_back(value.spec.name(), value.text);
    return words;
}

/// Throws UsageError on all processes unless the words of their command lines or decks, as `what` says, are the same.
/// Exchanges would fail, or values of two decks would mix.
void require_same_words(Communicator& ranks, const Words& words, const char* what) {
    std::vector<double> mine;
    for (const auto& [name, value] : words)
        mine.push_back(double(std::hash<std::string>{}(fmt::format("{} = {}", name, value)) >> 11));  // exact
    const auto number = double(mine.size());
    std::vector<double> numbers(std::size_t(ranks.size()));
    ranks.all_gather({&number, 1}, numbers);
    std::vector<double> all(std::size_t(std::accumulate(numbers.begin(), numbers.end(), 0.0)));
    ranks.all_gather(mine, all);
    const std::span<const double> first(all.data(), std::size_t(numbers[0]));
    const double* begin = all.data();
    for (int rank = 0; rank < ranks.size(); begin += std::size_t(numbers[rank++])) {
        const std::span<const double> other(begin, std::size_t(numbers[rank]));
        const auto differs = std::size_t(std::ranges::mismatch(first, other).in1 - first.begin());
        if (differs == first.size() && differs == other.size()) continue;
        throw UsageError(
            fmt::format("rank {} has another {} than the first rank{}; all processes must see the same deck, with the "
                        "same options",
                        rank, what, differs < words.size() ? ": " + words[differs].first + " differs" : ""));
    }
}

/// Refuses ranks before any thread is started where the deck says that there are too many of them.
void refuse_too_many_threads(const Parameters& deck) {
    const int ranks = ranks_of(deck), most = std::max(1024, 4 * omp_get_num_procs());
    if (const std::vector<Index> cells = deck.integers("grid", "cells");
        !has_general_matrix(deck) && (cells.size() == 1 || cells.size() == 3)) {
        Grid grid;
        grid.nx = int(cells.front()), grid.ny = int(cells[cells.size() / 2]), grid.nz = int(cells.back());
        part_of(Context::cpu(1, std::make_shared<PlannedRank>(0, ranks)), Layout(LayoutKind::natural, grid, {1, 1}), 0);
    }
    if (ranks > most)
        throw UsageError(
            fmt::format("{} = {}: ranks that neither mpirun nor srun has started are threads of this process, which "
                        "has at most {}; give fewer, or start them by mpirun or srun",
                        deck.where("device", "ranks"), ranks, most));
}

}  // namespace

int on_launched(const Invocation& invocation, const std::function<int(const RankOrNone&)>& body) {
    return on_launched(invocation.prints_json(), [&](const RankOrNone& launched) {
        if (launched) require_same_words(*launched, words_of_command_line(invocation), "command line");
        return body(launched);
    });
}

int on_ranks(const RankOrNone& launched, const Parameters& deck, const std::function<int(const RankOrNone&)>& body) {
    const int ranks = ranks_of(deck);
    if (launched && deck.is_given("device", "ranks") && ranks != launched->size())
        throw UsageError(fmt::format(
            "{0} = {1}: mpirun or srun has started {2} processes, each of which is a rank; start {1}, or set "
            "device.ranks = {2} (--ranks {2})",
            deck.where("device", "ranks"), ranks, launched->size()));
    if (launched) require_same_words(*launched, words_of_deck(deck), "deck");
    if (launched || ranks == 1) return body(launched);
    refuse_too_many_threads(deck);
    int status = 0;
    run_ranks(ranks, [&](const RankOrNone& rank) {
        const int mine = body(rank);
        if (rank->rank() == 0) status = mine;
    });
    return status;
}

bool is_first_process(const RankOrNone& launched) {
    return !launched || launched->rank() == 0;
}

}  // namespace hyperplane
