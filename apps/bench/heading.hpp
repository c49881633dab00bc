// SPDX-License-Identifier: BSD-3-Clause
// All kinds of `bench` share this: options of the command line, the test whether memory suffices, and the beginning of
// the JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "apps/base/invocation.hpp"
#include "core/device/context.hpp"

namespace hyperplane {

/// The beginning of a bench's JSON: the program, its commit, the date and the machine.
nlohmann::json heading(const std::string& kind, const Context& context);
/// Writes a bench's JSON where --json wants it, with the seconds that the compiler of kernels took in this process.
void write_bench_json(const Invocation& invocation, nlohmann::json json);
/// Adds driver and current clocks from nvidia-smi, on which times depend.
void add_clocks(nlohmann::json& json, const Context& context);
/// The context that --device and --threads choose. Throws UsageError, DeviceError.
Context read_device(const Invocation& invocation);
/// Throws OutOfMemory if `bytes`, the fewest that `what` takes, such as "bench hpcg: 104 x 104 x 104 points", do not
/// fit into the context's memory; `advice` says what to do. The bytes of large cases are beyond all integers.
void require_memory(const Context& context, const std::string& what, double bytes, const std::string& advice);

}  // namespace hyperplane
