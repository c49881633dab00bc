// SPDX-License-Identifier: BSD-3-Clause
// Whether mpirun or srun has started this process together with others.
#pragma once

#include <string>

namespace hyperplane {

/// How many processes mpirun or srun has started together with this one, by the variables that they set; 1 otherwise.
int launched_processes();
/// The number of this process among those started together, from 0; 0 otherwise.
int launched_number();

/// The end of a message, which says that srun has started this process beside others without telling MPI; empty where
/// it has not.
std::string about_srun_without_mpi();

}  // namespace hyperplane
