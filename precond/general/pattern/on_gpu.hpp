// SPDX-License-Identifier: BSD-3-Clause
// How the host hands a pattern's tables to the kernels for general matrices, and chooses their thread blocks.
#pragma once

#include <algorithm>

#include "core/device/context.hpp"
#include "precond/kernel_set.hpp"

namespace hyperplane {

/// Row pointers as the kernels' arguments name their type.
inline const long long* as_pointers(const Index* at) {
    static_assert(sizeof(long long) == sizeof(Index));
    return reinterpret_cast<const long long*>(at);
}

/// A copy in a GPU's memory of values that the host keeps.
template <class T>
Buffer<T> copy_on(const Context& context, const std::string& label, const Buffer<T>& host) {
    Buffer<T> copy(context, label, host.size());
    copy_between(host.context(), host.data(), context, copy.data(), host.size() * Index(sizeof(T)));
    return copy;
}

/// Kernels that work on slices of rows, level by level, with a warp for each slice.
namespace slices {

inline constexpr int threads = 128, warps = threads / 32;

inline Index blocks_for(Index count) {
    return (count + warps - 1) / warps;
}

/// Thread blocks for `count` slices in so many levels, if a multiprocessor holds `occupancy` blocks. Warps that wait
/// load the memory, so there are no more than have the slices of the next few levels.
inline Index resident_blocks(const Context& context, int occupancy, Index count, Index levels, Index levels_ahead = 8) {
    constexpr Index least = 2;
    const Index multiprocessors = context.stream().properties().multiprocessors;
    const Index level = count / std::max<Index>(1, levels);
    const Index wanted = (levels_ahead * level + warps * multiprocessors - 1) / (warps * multiprocessors);
    return std::min(std::max(wanted, least), Index(occupancy)) * multiprocessors;
}

}  // namespace slices

}  // namespace hyperplane
