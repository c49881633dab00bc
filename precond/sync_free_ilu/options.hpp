// SPDX-License-Identifier: BSD-3-Clause
// What a deck asks of the preconditioners of this family, and what follows from that alone.
#pragma once

#include <optional>
#include <string>

#include "core/interfaces/preconditioner.hpp"
#include "precond/counted_plan.hpp"
#include "precond/factors/pivots.hpp"
#include "precond/factors/storage.hpp"
#include "precond/general/factors/factors.hpp"
#include "precond/general/pattern/decoupled.hpp"
#include "precond/general/solves/solve_way.hpp"
#include "precond/subdomain_variant.hpp"
#include "precond/triangular/jacobi/sweeps.hpp"

namespace hyperplane {

/// What is asked of the factors of a general matrix and of the solves with them.
struct SyncFreeOptions {
    int fill_level = 0;
    PivotOptions pivots;
    FactorStorage storage = FactorStorage::double_precision;  ///< reduced ones without `sweeps`
    FactorVariant variant = FactorVariant::automatic;         ///< on a GPU
    SolveWay way = SolveWay::automatic;                       ///< of the solves, unless sweeps or parts replace them
    std::string name = "sync_free_ilu";                       ///< of the preconditioner, in messages
    std::optional<SweepOptions> sweeps;                       ///< Jacobi sweeps in place of the solves
    int fixed_point_sweeps = 0;                               ///< in place of the elimination; 0: the elimination
    std::optional<PartOptions> parts;                         ///< couplings between parts of the rows are left out
    SubdomainVariant part_variant = SubdomainVariant::level;  ///< how a GPU solves the parts
    bool couples_ranks = false;                               ///< rows depend on rows of other ranks
};

PreconditionerTraits traits_of(const SyncFreeOptions& options, bool symmetric);

/// The memory of values of so many rows and blocks, without sweeps in place of solves: what is held, and what a set-up
/// holds besides. On a GPU reduced ones are held by its solves.
struct ValueBytes {
    Index held, in_setup;
};
ValueBytes bytes_of_values(const SyncFreeOptions& options, const BlockCounts& factors, Backend backend);
/// The factors alone, once each.
Index bytes_of_factors(FactorStorage storage, const BlockCounts& factors);
/// The memory of factors (precond/counted_plan.hpp).
CountedPlan by_counts(const SyncFreeOptions& options, const Context& context, const BlockCounts& a);

}  // namespace hyperplane
