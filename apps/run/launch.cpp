// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "apps/base/launched.hpp"
#include "apps/run/build_case.hpp"
#include "apps/run/mpi_ranks.hpp"
#include "core/error.hpp"
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

/// Throws UsageError on all processes unless their decks say the same. Exchanges would fail, or values of two decks
/// would mix.
void require_same_deck(Communicator& ranks, const Parameters& deck) {
    std::vector<std::string> names;
    std::vector<double> mine;
    for (const Parameters::Value& value : deck.all()) {
        if (is_of_process(value.spec)) continue;
        names.push_back(value.spec.section + "." + value.spec.key);
        mine.push_back(double(std::hash<std::string>{}(names.back() + " = " + value.text) >> 11));  // exact
    }
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
            fmt::format("rank {} has another deck than the first rank{}; all processes must see the same deck, with "
                        "the same options",
                        rank, differs < names.size() ? ": " + names[differs] + " differs" : ""));
    }
}

}  // namespace

int on_ranks(const RankOrNone& launched, const Parameters& deck, const std::function<int(const RankOrNone&)>& body) {
    const int ranks = ranks_of(deck);
    if (launched && deck.is_given("device", "ranks") && ranks != launched->size())
        throw UsageError(fmt::format(
            "{0} = {1}: mpirun or srun has started {2} processes, each of which is a rank; start {1}, or set "
            "device.ranks = {2} (--ranks {2})",
            deck.where("device", "ranks"), ranks, launched->size()));
    if (launched) require_same_deck(*launched, deck);
    if (launched || ranks == 1) return body(launched);
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
