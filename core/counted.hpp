// SPDX-License-Identifier: BSD-3-Clause
// Counts and sizes in words.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>

#include "core/types.hpp"

namespace hyperplane {

/// "1 iteration", "2 iterations"; for nouns that take an s.
inline std::string counted(Index count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// "4", or "4 to 6" where the least and the most differ.
inline std::string range_text(Index least, Index most) {
    return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
}

/// "12.3 MiB"; GiB and larger units from 10 GiB on.
inline std::string in_mib(Index bytes) {
    double size = double(bytes) / (1 << 20);
    const char* const units[] = {"MiB", "GiB", "TiB", "PiB", "EiB"};
    const char* const* unit = units;
    for (constexpr double most = 10240.0; size >= most && unit + 1 < std::end(units); ++unit) size /= 1024.0;
    return fmt::format("{:.1f} {}", size, *unit);
}

}  // namespace hyperplane
