// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <string>

#include "core/types.hpp"

namespace hyperplane {

/// "1 iteration", "2 iterations"; for nouns that take an s.
inline std::string counted(Index count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace hyperplane
