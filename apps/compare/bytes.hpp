// SPDX-License-Identifier: BSD-3-Clause
// Bytes by label, as a ledger counts them (core/device/context.hpp).
#pragma once

#include <map>
#include <string>

#include "core/types.hpp"

namespace hyperplane {

using Bytes = std::map<std::string, Index>;

/// Returns by how much each part of `bytes` exceeds that of `before`.
inline Bytes beyond(Bytes bytes, const Bytes& before) {
    for (const auto& [label, held] : before) bytes[label] -= held;
    std::erase_if(bytes, [](const auto& row) { return row.second == 0; });
    return bytes;
}

inline void add(const Bytes& more, Bytes& bytes) {
    for (const auto& [label, held] : more) bytes[label] += held;
}

inline Index total(const Bytes& bytes) {
    Index sum = 0;
    for (const auto& [label, held] : bytes) sum += held;
    return sum;
}

}  // namespace hyperplane
