// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/heading.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/build_info.hpp"
#include "apps/environment.hpp"
#include "core/error.hpp"

namespace hyperplane {

nlohmann::json heading(const std::string& kind, const Context& context) {
    nlohmann::json json{{"kind", kind},
                        {"version", build_info().version},
                        {"git_sha", build_info().git_sha},
                        {"date", now_in_utc()},
                        {"host", host_name()},
                        {"backend", to_string(context.backend())},
                        {"processor", processor_name()},
                        {"threads", context.threads()}};
    json["device"] = context.backend() == Backend::cuda ? context.stream().properties().name : processor_name();
    if (context.backend() == Backend::cuda) json["cuda_driver"] = context.stream().properties().driver;
    return json;
}

void add_clocks(nlohmann::json& json, const Context& context) {
    if (context.backend() != Backend::cuda) return;
    for (const auto& [name, value] : gpu_state(context.stream().properties().ordinal)) {
        nlohmann::json& seen = json["seen"][name];
        if (std::find(seen.begin(), seen.end(), value) == seen.end()) seen.push_back(value);
    }
}

Context read_device(const Invocation& invocation) {
    const std::string name = invocation.value("device", "cpu");
    if (name == "cuda") return Context::cuda();
    if (name != "cpu") throw UsageError(fmt::format("--device: '{}' is none of cpu | cuda", name));
    return Context::cpu(invocation.has("threads") ? parse_count("threads", invocation.value("threads"), 1) : 0);
}

}  // namespace hyperplane
