// What a run runs on: host, processor, threads, job.
#pragma once

#include <map>
#include <string>

#include "core/context.hpp"

namespace hyperplane {

std::string host_name();
/// The processor's own name, e.g. "AMD EPYC 7B13".
std::string processor_name();
/// Bytes of memory the machine has.
Index machine_memory();

/// Name and value of what a record keeps of the environment.
std::map<std::string, std::string> environment(const Context& context, const std::string& device);

}  // namespace hyperplane
