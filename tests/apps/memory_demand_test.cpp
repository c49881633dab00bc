// SPDX-License-Identifier: BSD-3-Clause
// What a problem holds already is a part of what a run needs: it counts once.
#include "apps/run/memory_demand.hpp"

#include <gtest/gtest.h>

#include "apps/base/backend.hpp"
#include "apps/deck/schema.hpp"
#include "core/error.hpp"
#include "io/deck.hpp"

namespace hyperplane {
namespace {

/// More than any machine has, so that what others do with its memory at the same time decides nothing.
constexpr Index more_than_any = Index(1) << 48, little = 1 << 20;

TEST(MemoryDemand, WhatIsHeldCountsOnce) {
    const Context context = Context::cpu(1);
    const auto require = [&](Index bytes) {
        MemoryPlan plan;
        plan.by_label = {{"problem data", bytes}};
        require_memory(context, {"a.ini", "the run needs", plan}, memory_of_case(context));
    };
    EXPECT_THROW(require(more_than_any), OutOfMemory);
    context.ledger().add("problem data", more_than_any);
    require(more_than_any + little);
    EXPECT_THROW(require(2 * more_than_any), OutOfMemory);
    context.ledger().remove("problem data", more_than_any);
}

TEST(MemoryDemand, TheLimitOfADeckHoldsForAllOfIt) {
    const auto parameters = [](const std::string& device) {
        return resolve(parse_deck("[problem]\nname = poisson\n[grid]\ncells = 8\n[solver]\nname = cg\n[device]\n"
                                  "backend = cpu\n" +
                                      device,
                                  "a.ini"),
                       {}, deck_schema());
    };
    EXPECT_GE(available_memory(parameters(""), 1, more_than_any), more_than_any);
    EXPECT_EQ(available_memory(parameters("memory_limit = 3\n"), 2, more_than_any), 6 << 20);
}

}  // namespace
}  // namespace hyperplane
