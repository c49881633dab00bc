// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/launch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/base/launched.hpp"
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

int on_ranks(const RankOrNone& launched, int ranks, const std::function<int(const RankOrNone&)>& body) {
    if (launched && ranks != 1 && ranks != launched->size())
        throw UsageError(fmt::format(
            "mpirun or srun has started {} processes, each of which is a rank, and device.ranks (--ranks) asks for "
            "{}; start as many processes, or leave it out",
            launched->size(), ranks));
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
