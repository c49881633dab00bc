// SPDX-License-Identifier: BSD-3-Clause
// The environment of a run: host, processor, threads, job.
#pragma once

#include <map>
#include <string>

#include "core/device/context.hpp"
#include "core/device/device.hpp"

namespace hyperplane {

std::string host_name();
/// The time, such as "2025-03-31T09:05:00Z".
std::string now_in_utc();
/// The processor's name, such as "AMD EPYC 7B13".
std::string processor_name();
/// Bytes of memory of the machine.
Index machine_memory();
/// "NVIDIA H200, 139.8 GiB, compute capability 9.0, CUDA 13.0"
std::string describe(const device::Properties& gpu);
/// "7.5 GiB"
std::string in_gib(Index bytes);

/// The version of the display driver and the current clocks in MHz, from nvidia-smi; empty if that cannot be run.
std::map<std::string, std::string> gpu_state(int ordinal);

/// The environment as names and values for a record; `varies` is as in PreconditionerTraits.
std::map<std::string, std::string> environment(const Context& context, const std::string& device,
                                               const std::string& varies);

}  // namespace hyperplane
