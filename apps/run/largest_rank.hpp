// SPDX-License-Identifier: BSD-3-Clause
// Which of a run's ranks needs the most memory, found without the run.
#pragma once

#include "apps/run/build_case.hpp"

namespace hyperplane {

/// Returns the case of that of the deck's device.ranks ranks that needs the most memory. Throws as build_case does.
Case case_of_largest_rank(const AskedDeck& asked, WithoutGpu without = WithoutGpu::refuse);

/// Returns how many of a case's ranks share a memory: all on CPUs, and those of one GPU, as ranks take the GPUs in
/// turn; of GPUs that are not here each rank has one.
int ranks_sharing_memory(const Case& a_case);

}  // namespace hyperplane
