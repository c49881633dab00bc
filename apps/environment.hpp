// SPDX-License-Identifier: BSD-3-Clause
// What a run runs on: host, processor, threads, job.
#pragma once

#include <map>
#include <string>

#include "core/device/context.hpp"
#include "core/device/device.hpp"

namespace hyperplane {

std::string host_name();
/// The processor's own name, e.g. "AMD EPYC 7B13".
std::string processor_name();
/// Bytes of memory the machine has.
Index machine_memory();
/// "NVIDIA H200, 139.8 GiB, compute capability 9.0, CUDA 13.0"
std::string describe(const device::Properties& gpu);
/// "7.5 GiB"
std::string in_gib(Index bytes);

/// The display driver and the clocks in MHz now, as nvidia-smi tells them; empty where it cannot be asked.
std::map<std::string, std::string> gpu_state(int ordinal);

/// Name and value of what a record keeps of the environment; `varies` as in PreconditionerTraits.
std::map<std::string, std::string> environment(const Context& context, const std::string& device,
                                               const std::string& varies);

}  // namespace hyperplane
