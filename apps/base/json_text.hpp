// SPDX-License-Identifier: BSD-3-Clause
// JSON as the program prints and writes it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "apps/base/invocation.hpp"

namespace hyperplane {

/// JSON as text. Bytes that are not UTF-8 are replaced; NaN and infinity become null.
std::string to_text(const nlohmann::json& json);

/// Writes JSON to a file, or to standard output if `path` is `-`. Throws FileError.
void write_json(const std::string& path, nlohmann::json json, Overwrite overwrite);
/// Throws FileError if the file of --json, where one is asked for, could not be written.
void guard_json(const Invocation& invocation);

}  // namespace hyperplane
