// SPDX-License-Identifier: BSD-3-Clause
// What works on several ranks, and whether this process is one of them.
#pragma once

#include <string>

#include "core/device/context.hpp"
#include "core/parameters/parameters.hpp"

namespace hyperplane {

/// Whether the matrix that a deck asks for is general.
bool has_general_matrix(const Parameters& parameters);

/// Throws one UsageError that lists what in a deck does not work on several ranks, with what does.
void check_ranks(const Parameters& parameters);

/// How many processes mpirun or srun has started together with this one, by the variables that they set; 1 otherwise.
int launched_processes();
/// The number of this process among them, from 0; 0 otherwise.
int launched_number();

/// Where srun has started this process beside others without telling MPI: the end of a message that says so; else
/// empty.
std::string about_srun_without_mpi();

}  // namespace hyperplane
