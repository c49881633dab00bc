// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/orders/levels_cuda.hpp"

#include <algorithm>

#include "precond/general/orders/levels_arguments.hpp"
#include "precond/general/pattern/on_gpu.hpp"

namespace hyperplane {
namespace {

rtc::Source levels_source() {
    return precond_source("precond/general/orders/levels.cuh");
}

}  // namespace

BothDepths depths_on_gpu(const Context& gpu, const BlockPattern& pattern, const std::string& label,
                         const Buffer<Index>* diagonal) {
    constexpr Index threads = 128;
    const Index rows = pattern.rows();
    BothDepths found{{Buffer<int>(gpu, label, rows)}, {Buffer<int>(gpu, label, rows)}};
    if (rows == 0) return found;
    Buffer<LevelState> state(gpu, label, 1);
    const LevelArguments arguments{.row_begin = as_pointers(pattern.row_begin()),
                                   .column = pattern.column(),
                                   .diagonal = diagonal ? as_pointers(diagonal->data()) : nullptr,
                                   .lower = found.lower.depth.data(),
                                   .upper = found.upper.depth.data(),
                                   .state = state.data(),
                                   .rows = rows};
    const auto kernel = [&](const char* name) { return rtc::Kernel<LevelArguments>(gpu, levels_source(), {}, name); };
    const Index checking = std::min<Index>((rows + 255) / 256, 8 * gpu.stream().properties().multiprocessors);
    kernel("guess_grid").launch({1}, 32, 0, arguments);
    kernel("check_grid").launch({unsigned(checking)}, 256, 0, arguments);
    kernel("find_levels").launch({unsigned(2 * ((rows + threads - 1) / threads))}, unsigned(threads), 0, arguments);
    LevelState after;
    gpu.stream().copy(state.data(), &after, Index(sizeof(after)));
    found.lower.levels = after.lower_levels;
    found.upper.levels = after.upper_levels;
    return found;
}

rtc::Programs level_programs() {
    return {{levels_source(), {}}};
}

}  // namespace hyperplane
