// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/heading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/base/backend.hpp"
#include "apps/base/build_info.hpp"
#include "apps/base/environment.hpp"
#include "apps/base/json_text.hpp"
#include "apps/run/kernels.hpp"
#include "core/counted.hpp"
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

void write_bench_json(const Invocation& invocation, nlohmann::json json) {
    if (!invocation.has("json")) return;
    json["compile_seconds"] = compile_seconds();
    write_json(invocation.value("json"), std::move(json), invocation.overwrite());
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

void require_memory(const Context& context, const std::string& what, double bytes, const std::string& advice) {
    const Index left = available_memory(context);
    if (bytes <= double(left)) return;
    const std::string where = context.backend() == Backend::cpu ? "this machine" : context.stream().properties().name;
    throw OutOfMemory(fmt::format("{} take at least {}, and {} has {} left; {}", what,
                                  in_mib(Index(std::min(bytes, 9e18))), where, in_mib(left), advice));
}

}  // namespace hyperplane
