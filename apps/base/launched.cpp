// SPDX-License-Identifier: BSD-3-Clause
#include "apps/base/launched.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace hyperplane {
namespace {

int number_in(const char* variable) {
    const char* const value = std::getenv(variable);
    return value ? std::max(1, std::atoi(value)) : 1;
}

}  // namespace

int launched_processes() {
    const int by_srun = std::getenv("PMIX_RANK") ? number_in("SLURM_STEP_NUM_TASKS") : 1;
    return std::max({number_in("OMPI_COMM_WORLD_SIZE"), number_in("PMI_SIZE"), by_srun});
}

int launched_number() {
    if (launched_processes() == 1) return 0;
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
        if (const char* number = std::getenv(name)) return std::atoi(number);
    return 0;
}

std::string about_srun_without_mpi() {
    const int tasks = number_in("SLURM_STEP_NUM_TASKS");
    if (tasks == 1 || launched_processes() > 1) return "";
    return fmt::format(
        "; srun has started {} processes that do not know of each other: with --mpi=pmix they are the "
        "ranks of one run",
        tasks);
}

}  // namespace hyperplane
