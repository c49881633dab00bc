// SPDX-License-Identifier: BSD-3-Clause
// Ranks that are processes of several hosts, and how those on GPUs exchange values.
#pragma once

#include <string>

#include "core/ranks/communicator.hpp"

namespace hyperplane {

/// Whether some ranks are processes of another host; all ranks find the same.
inline bool are_on_several_hosts(const Communicator& ranks) {
    return !ranks.one_process() && ranks.ranks_on_host() < ranks.size();
}

struct BetweenHosts {
    bool nccl = false;  ///< otherwise through the hosts' memory, by the communicator's messages
    std::string text;   ///< how, and why not by NCCL where it is not
};

}  // namespace hyperplane
