// SPDX-License-Identifier: BSD-3-Clause
// What the symbolic part finds out from a pattern alone. Plan, kernels and set-up need it, and it is computed once:
// what a plan has computed is kept by the plan, found by those who need it later, and taken over by the first set-up.
#pragma once

#include <memory>
#include <optional>

#include "precond/general/orders/orders.hpp"
#include "precond/general/pattern/decoupled.hpp"
#include "precond/registry_row.hpp"
#include "precond/sync_free_ilu/part_tables.hpp"

namespace hyperplane {

struct SolvedParts;

struct Symbolic : FactorPattern {
    std::optional<PlannedOrders> planned = {};   ///< what a plan for a GPU has asked for last
    std::optional<PartTables> part_tables = {};  ///< once a plan or a set-up for a GPU has asked for them; as `parts`
    std::shared_ptr<const SolvedParts> solved = nullptr;  ///< where a rank solves whole parts, in place of all others
    double planned_seconds = 0.0;                         ///< what plans took to find it
};

/// How rows that belong together on several ranks are found.
enum class AcrossRanks {
    none,    ///< there are none, or couplings between ranks are dropped
    by_row,  ///< with the couplings between ranks
    whole,   ///< a rank has whole parts
};

/// What a symbolic part is for.
struct SymbolicKey {
    std::weak_ptr<const BlockPattern> pattern;  ///< A's; a key does not keep it
    int dof;                                    ///< which the sizes of orders depend on
    int fill_level;
    std::optional<PartOptions> parts;
    bool symmetric;
    AcrossRanks ranks = AcrossRanks::none;

    bool operator==(const SymbolicKey& other) const;
};

/// A symbolic part until a set-up takes it.
struct KeptSymbolic : KeptByPlan {
    SymbolicKey key;
    std::optional<Symbolic> symbolic;

    Index bytes() const override;
};

/// The symbolic part that somebody keeps, or a new one. The caller keeps it.
std::shared_ptr<KeptSymbolic> kept_symbolic(const Context& host, const SymbolicKey& key, const std::string& label);
/// The same for a set-up, which owns it.
Symbolic taken_symbolic(const Context& host, const SymbolicKey& key, const std::string& label);
/// That which somebody keeps, if anybody does.
std::optional<Symbolic> taken_if_kept(const SymbolicKey& key);

}  // namespace hyperplane
