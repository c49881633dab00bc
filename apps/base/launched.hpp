// SPDX-License-Identifier: BSD-3-Clause
// Whether mpirun or srun has started this process together with others.
#pragma once

#include <string>

namespace hyperplane {

/// How many processes mpirun or srun has started together with this one, by the variables that they set; 1 otherwise.
int launched_processes();
/// The number of this process among them, from 0; 0 otherwise.
int launched_number();

/// Where srun has started this process beside others without telling MPI: the end of a message that says so; else
/// empty.
std::string about_srun_without_mpi();

}  // namespace hyperplane
