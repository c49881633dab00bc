// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a run that does not take place would need.
#pragma once

#include "apps/run/build_case.hpp"

namespace hyperplane {

/// The case of the rank that needs the most memory of those that run a deck, device.ranks; of one rank the deck's case.
/// Throws as build_case does.
Case case_of_largest_rank(const AskedDeck& asked);

/// How many of a case's ranks share a memory: those on one GPU, which ranks take one after the other, or on CPUs all.
int ranks_sharing_memory(const Case& a_case);

}  // namespace hyperplane
