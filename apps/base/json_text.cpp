// SPDX-License-Identifier: BSD-3-Clause
#include "apps/base/json_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "io/atomic_file.hpp"

namespace hyperplane {

std::string to_text(const nlohmann::json& json) {
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void write_json(const std::string& path, nlohmann::json json, Overwrite overwrite) {
    if (path == "-") return fmt::print("{}", to_text(json));
    json["_file"] = made_by_mark;  // for the guard, in the first line: keys are sorted, '_' before letters
    write_atomically(path, to_text(json), FileKind::json, overwrite);
}

void guard_json(const Invocation& invocation) {
    if (const std::string path = invocation.value("json"); invocation.has("json") && path != "-")
        require_writable(path, FileKind::json, invocation.overwrite());
}

}  // namespace hyperplane
