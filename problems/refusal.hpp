// SPDX-License-Identifier: BSD-3-Clause
// How a problem refuses the value of a key, or the key itself.
#pragma once

#include <fmt/format.h>

#include <string>

#include "core/error.hpp"
#include "core/parameters/parameters.hpp"

namespace hyperplane {

/// Throws UsageError: where the key of the deck stands, and why its value cannot be used.
[[noreturn]] inline void refuse(const Parameters& parameters, const std::string& key, const std::string& why,
                                const char* section = "problem") {
    throw UsageError(fmt::format("{}: {}", parameters.where(section, key), why));
}

/// Throws RefusedKey: where the key stands, and why it has to go.
[[noreturn]] inline void refuse_key(const Parameters& parameters, const std::string& key, const std::string& why,
                                    const char* section = "problem") {
    throw RefusedKey(parameters, section, key, ": " + why);
}

}  // namespace hyperplane
