// SPDX-License-Identifier: BSD-3-Clause
// Ranks as processes that a launcher of MPI has started: mpirun, or srun.
#pragma once

#include <functional>
#include <memory>

#include "core/ranks/communicator.hpp"

namespace hyperplane {

/// Calls body(communicator) with the communicator of all launched processes and returns what it returns, an exit
/// status. If it throws, the other ranks are ended, rank 0 prints the message as `guarded` does, and all return the
/// error's code. MPI is finalised on every way out. Throws UsageError in a build without MPI, with what is missing.
int run_launched_rank(bool json, const std::function<int(const std::shared_ptr<Communicator>&)>& body);

}  // namespace hyperplane
