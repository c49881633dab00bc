// SPDX-License-Identifier: BSD-3-Clause
// The refusal of what needs more memory than there is, before anything of it is allocated.
#pragma once

#include <string>

#include "apps/run/case.hpp"

namespace hyperplane {

/// What will be held in memory.
struct MemoryDemand {
    std::string deck;         ///< the name of its file, for messages
    std::string what;         ///< what holds it, and how exactly that is known: "the run needs"
    MemoryPlan plan;          ///< of this rank
    std::string advice = "";  ///< what takes less, as advise_on_memory says it
};

/// The bytes that there are for a MemoryDemand in one memory, which ranks may share.
struct MemoryRoom {
    Index bytes;
    std::string text;  ///< "this machine has 12.0 MiB for it"
};

/// The memory that is left, and what the context holds already as a part of what is planned, such as the data of a
/// problem. All ranks must call it.
MemoryRoom memory_of_case(const Context& context);
/// At most what device.memory_limit allows of memory_of_case(context). All ranks must call it.
MemoryRoom memory_of_case(const Context& context, const Parameters& parameters);

/// Throws OutOfMemory, with a table of what will be held, if there is no room for it, or if a set-up on a GPU needs
/// more of the host's memory than is left. All ranks must call it.
void require_memory(const Context& context, const MemoryDemand& demand, const MemoryRoom& room);

}  // namespace hyperplane
