// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/solves/solve_way.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "precond/choice_key.hpp"

namespace hyperplane {
namespace {

constexpr SolveWay all_ways[] = {SolveWay::automatic, SolveWay::sync_free, SolveWay::levels};

bool is_narrow(const std::vector<int>& level_begin, std::size_t level) {
    return level_begin[level + 1] - level_begin[level] <= most_narrow_slices;
}

}  // namespace

const char* name_of(SolveWay way) {
    return way == SolveWay::automatic ? "auto" : way == SolveWay::sync_free ? "sync_free" : "levels";
}

ParameterSpec solve_key() {
    return choice_key(
        "solve", "auto",
        "of a general matrix, how the triangular solves wait for the rows that a row depends on; sync_free: a row "
        "waits for these rows alone, on a GPU; levels: all threads wait for each other after each level of rows, on a "
        "GPU those of one thread block after levels of few rows; auto: on a GPU levels if they are few and large, "
        "otherwise sync_free, on a CPU levels if they have enough work for several threads, otherwise one thread takes "
        "the rows in order. The bits are the same. Ranks that keep the couplings between them have no levels in "
        "common and refuse levels",
        {"auto", "sync_free", "levels"});
}

SolveWay read_solve_way(const Parameters& parameters, Backend backend, bool couples_ranks) {
    const std::string section = "preconditioner", word = parameters.text(section, "solve");
    const SolveWay way = *std::ranges::find(all_ways, word, [](SolveWay one) { return name_of(one); });
    const auto refuse = [&](const std::string& why) {
        throw RefusedKey(parameters, section, "solve", fmt::format(": {}", why));
    };
    if (couples_ranks && way == SolveWay::levels)
        refuse(
            fmt::format("{} is for the rows of one rank: those of several depend on each other, and ranks have no "
                        "levels in common; set solve = auto{}, or take one rank",
                        word, parameters.has(section, "scope") ? ", or scope = rank" : ""));
    if (way == SolveWay::sync_free && backend == Backend::cpu)
        refuse(fmt::format(
            "threads of a CPU do not wait for single rows, so there is no {}; set solve = {}, or "
            "device.backend = cuda",
            word, couples_ranks ? "auto, which gives the same bits" : "levels or auto, which give the same bits"));
    return way;
}

std::vector<int> steps_of_levels(const std::vector<int>& level_begin) {
    std::vector<int> steps;
    const std::size_t levels = level_begin.size() - 1;
    for (std::size_t level = 0; level < levels; ++level)
        if (level == 0 || !is_narrow(level_begin, level) || !is_narrow(level_begin, level - 1))
            steps.push_back(int(level));
    steps.push_back(int(levels));
    return steps;
}

LevelCounts counts_of_levels(const std::vector<int>& level_begin) {
    LevelCounts counts;
    counts.levels = Index(level_begin.size()) - 1;
    counts.steps = Index(steps_of_levels(level_begin).size()) - 1;
    for (std::size_t level = 0; level + 1 < level_begin.size(); ++level)
        counts.widest = std::max<Index>(counts.widest, level_begin[level + 1] - level_begin[level]);
    return counts;
}

bool solves_by_levels(SolveWay way, Index levels, Index coefficients) {
    // Where a level has so many coefficients, loading them takes about as long as all thread blocks wait for each other
    // (docs/log/sync_free_ilu.md).
    constexpr Index many = 1 << 21;
    return way == SolveWay::automatic ? levels > 0 && coefficients >= many * levels : way == SolveWay::levels;
}

}  // namespace hyperplane
