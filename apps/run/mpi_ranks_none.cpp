// SPDX-License-Identifier: BSD-3-Clause
// Ranks under mpirun or srun in a program built without MPI, where there are none.
#include <fmt/format.h>

#include "apps/base/launched.hpp"
#include "apps/run/mpi_ranks.hpp"

namespace hyperplane {

int run_launched_rank(bool /*json*/, const std::function<int(const std::shared_ptr<Communicator>&)>& /*body*/) {
    throw UsageError(
        fmt::format("{} processes were started together, by mpirun or srun, but this program was built without MPI; "
                    "install libopenmpi-dev and build it again, or start it once, with --ranks {}",
                    launched_processes(), launched_processes()));
}

}  // namespace hyperplane
