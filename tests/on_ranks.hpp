// SPDX-License-Identifier: BSD-3-Clause
// Ranks as threads, each with a context of one OpenMP thread.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "core/ranks/aligned.hpp"
#include "core/ranks/cuts.hpp"
#include "core/ranks/links_cuda.hpp"
#include "core/ranks/passed_on_ranks.hpp"
#include "core/ranks/threads.hpp"

namespace hyperplane {

/// Calls body(context) on each of `ranks` ranks; with one rank the context has no communicator. Cuts between ranks are
/// at multiples of `planes`.
template <class Body>
void on_each_rank(int ranks, const Body& body, int planes = 1) {
    run_ranks(ranks, [&](const std::shared_ptr<Communicator>& communicator) {
        body(Context::cpu(1, planes > 1 ? std::make_shared<AlignedRanks>(communicator, planes) : communicator));
    });
}

/// As if each rank were a process of a host of its own.
class RanksOfHosts final : public PassedOnRanks {
public:
    using PassedOnRanks::PassedOnRanks;
    bool one_process() const override { return false; }
    int ranks_on_host() const override { return 1; }
    int place_on_host() const override { return 0; }
};

/// Calls body(context) on each rank on GPUs, which ranks share if there are fewer of them. Cuts between ranks are at
/// multiples of `planes`.
/// HYPERPLANE_TEST_BETWEEN_HOSTS = messages or nccl makes them ranks of several hosts; NCCL takes as many as there are
/// GPUs, and more exchange messages. Cuts between ranks are at multiples of `planes`.
template <class Body>
void on_each_gpu_rank(int ranks, const Body& body, int planes = 1) {
    const int gpus = int(device::all().size());
    const char* const between_hosts = std::getenv("HYPERPLANE_TEST_BETWEEN_HOSTS");
    run_ranks(ranks, [&](std::shared_ptr<Communicator> communicator) {
        if (between_hosts) communicator = std::make_shared<RanksOfHosts>(communicator);
        if (planes > 1) communicator = std::make_shared<AlignedRanks>(communicator, planes);
        const Context context = Context::cuda(communicator->rank() % gpus, 1, communicator);
        if constexpr (cuda_built)
            if (between_hosts && ranks > 1)
                context.links() = std::make_shared<RankLinks>(
                    context, BetweenHosts{std::string(between_hosts) == "nccl" && ranks <= gpus, between_hosts});
        body(context);
    });
}

/// What compute(context) returns on the first rank.
template <class Compute>
auto on_first_of(int ranks, const Compute& compute, int planes = 1) {
    decltype(compute(Context::cpu(1))) result;
    on_each_rank(
        ranks,
        [&](const Context& context) {
            auto mine = compute(context);
            if (is_first_rank(context)) result = std::move(mine);
        },
        planes);
    return result;
}

}  // namespace hyperplane
