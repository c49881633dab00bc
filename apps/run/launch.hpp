// SPDX-License-Identifier: BSD-3-Clause
// How a verb comes to its ranks: processes that mpirun or srun has started, threads of this process, or none.
#pragma once

#include <functional>
#include <memory>

#include "apps/base/invocation.hpp"
#include "core/parameters/parameters.hpp"
#include "core/ranks/communicator.hpp"

namespace hyperplane {

/// The communicator of one rank, or none where there is one rank alone.
using RankOrNone = std::shared_ptr<Communicator>;

/// Calls body(launched) on every process that mpirun or srun has started together with this one, with the communicator
/// of all of them, or body(nullptr) if there is this one alone. Returns the exit status that body returns; an error of
/// one process ends all, as run_launched_rank says; `json` asks for it as an object on standard output, too.
int on_launched(bool json, const std::function<int(const RankOrNone&)>& body);
/// This form is for verbs that run on ranks: before anything else the processes exchange their command lines, and throw
/// UsageError where these ask for different work. Exchanges of two verbs would not fit each other.
int on_launched(const Invocation& invocation, const std::function<int(const RankOrNone&)>& body);

/// Says once that a verb runs in one process, where mpirun or srun has started several: each would do the whole work,
/// and write the same files. Returns the exit status.
int refuse_processes(const Verb& verb, bool json);

/// Calls body(rank) on each of the ranks of a deck: on the launched processes, whose number device.ranks must be where
/// it is given, and which must have the same deck; otherwise in as many threads as device.ranks says, if the grid has
/// as many planes, or on one rank with none. The exit status of the first rank is returned, or, on a launched process,
/// its own. Throws UsageError.
int on_ranks(const RankOrNone& launched, const Parameters& deck, const std::function<int(const RankOrNone&)>& body);

/// Whether this process is the one that reads, writes and prints for all launched ones.
bool is_first_process(const RankOrNone& launched);

}  // namespace hyperplane
