// SPDX-License-Identifier: BSD-3-Clause
// [device]: the backend of a run, its name, and how much memory it has left.
#pragma once

#include <limits>
#include <memory>
#include <string>

#include "core/device/context.hpp"
#include "core/parameters/parameters.hpp"

namespace hyperplane {

/// Says what make_context does where [device] demands a GPU and this machine has none: it throws an error, or makes a
/// context for plans of memory, whose stream is that of a GPU that is not there (core/device/planned_gpu.hpp).
enum class WithoutGpu { refuse, plan };

/// The context that [device] chooses; `auto` takes the GPU if there is one that can be used. Throws DeviceError if the
/// deck demands a GPU and none can be used. With ranks it is that of one of several ranks, each of which has a GPU,
/// from device.gpu on; they share GPUs if there are fewer. All ranks must make theirs at the same time if they are
/// processes. Throws UsageError or DeviceError if these are on GPUs of several hosts and cannot exchange values as
/// asked.
Context make_context(const Parameters& parameters, const std::shared_ptr<Communicator>& ranks = nullptr,
                     WithoutGpu without = WithoutGpu::refuse);

/// Whether a context is one for plans, on a GPU that is not there.
bool is_of_planned_gpu(const Context& context);

/// From now on, allocations above device.memory_limit, or above `most` bytes if that is less, fail.
void limit_memory(const Context& context, const Parameters& parameters, Index most = std::numeric_limits<Index>::max());

/// "cpu, 2 threads", "cpu, 2 ranks of 1 thread", "cuda, NVIDIA H200" or "cuda, 2 ranks on 2 GPUs, NVIDIA H200".
std::string describe(const Context& context);

/// "2 hosts, NCCL 2.28.9": how ranks on GPUs of several hosts exchange values; empty where they are not.
std::string between_hosts(const Context& context);

/// Bytes that this process can still allocate: free memory of the machine or of its control group.
Index available_memory();
/// Bytes that can still be allocated for a context: on a GPU, the GPU's free memory.
Index available_memory(const Context& context);
/// Bytes that device.memory_limit allows `ranks` ranks to hold together; the largest number where it is not set, or
/// allows more than that.
Index memory_limit(const Parameters& parameters, int ranks = 1);
/// Bytes that `ranks` ranks together can still allocate on the backend that [device] chooses, with the bytes that are
/// `held` for them already, at most device.memory_limit each.
Index available_memory(const Parameters& parameters, int ranks = 1, Index held = 0);

}  // namespace hyperplane
