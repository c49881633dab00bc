// SPDX-License-Identifier: BSD-3-Clause
// Ranks as threads of one process.
#pragma once

#include <functional>
#include <memory>

#include "core/ranks/communicator.hpp"

namespace hyperplane {

/// Calls body(communicator) in `ranks` threads, one a rank, and waits for all of them; rank 0 is the calling thread. If
/// ranks throw, the others are ended, and the error of the rank that threw first is thrown again.
void run_ranks(int ranks, const std::function<void(const std::shared_ptr<Communicator>&)>& body);

}  // namespace hyperplane
