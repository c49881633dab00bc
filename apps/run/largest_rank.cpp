// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/largest_rank.hpp"

#include <memory>
#include <utility>

#include "core/ranks/planned.hpp"
#include "precond/registry.hpp"

namespace hyperplane {

/// The rank that needs most memory is the last one, unless the matrix is general, or the preconditioner restricts the
/// cuts or has parts of its own.
Case case_of_largest_rank(const AskedDeck& asked, WithoutGpu without) {
    const Parameters parameters = resolved(asked);
    const int ranks = ranks_of(parameters);
    if (ranks == 1) return build_case(asked, parameters, nullptr, without);
    const auto of_rank = [&](int rank) {
        return build_case(asked, parameters, std::make_shared<PlannedRank>(rank, ranks), without);
    };
    Case largest = of_rank(ranks - 1);
    const PreconditionerRow& row = find_preconditioner(largest.parameters.text("preconditioner", "name"));
    if (!row.planes_together && !row.uneven_on_ranks && !largest.shape().pattern) return largest;
    for (int rank = ranks - 2; rank >= 0; --rank)
        if (Case other = of_rank(rank); other.memory_plan().total() > largest.memory_plan().total())
            largest = std::move(other);
    return largest;
}

int ranks_sharing_memory(const Case& a_case) {
    const int ranks = a_case.context.ranks() ? a_case.context.ranks()->size() : 1;
    if (a_case.context.backend() == Backend::cpu) return ranks;
    if (is_of_planned_gpu(a_case.context)) return 1;
    const int gpus = int(device::all().size());
    return (ranks + gpus - 1) / gpus;
}

}  // namespace hyperplane
