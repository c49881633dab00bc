// SPDX-License-Identifier: BSD-3-Clause
// [device]: which backend a run takes, what it is called, and how much memory it has left.
#pragma once

#include <string>

#include "core/device/context.hpp"
#include "core/parameters/parameters.hpp"

namespace hyperplane {

/// The context [device] asks for; auto takes the GPU where there is one that can be used. Throws DeviceError where
/// a GPU is asked for and cannot be had.
Context make_context(const Parameters& parameters);

/// "cpu, 2 threads" or "cuda, NVIDIA H200".
std::string describe(const Context& context);

/// Bytes this process may still take: free memory of the machine, or of its control group; of the chosen GPU.
Index available_memory(Backend backend = Backend::cpu);
/// The same where [device] lets the run take place, at most device.memory_limit.
Index available_memory(const Parameters& parameters);

/// "12.3 MiB"
std::string in_mib(Index bytes);

}  // namespace hyperplane
