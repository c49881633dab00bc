// SPDX-License-Identifier: BSD-3-Clause
// Ranks as threads, each with a context of one OpenMP thread.
#pragma once

#include "core/ranks/aligned.hpp"
#include "core/ranks/cuts.hpp"
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

/// The same on GPUs, which ranks share if there are fewer of them.
template <class Body>
void on_each_gpu_rank(int ranks, const Body& body) {
    const int gpus = int(device::all().size());
    run_ranks(ranks, [&](const std::shared_ptr<Communicator>& communicator) {
        body(Context::cuda(communicator->rank() % gpus, 1, communicator));
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
