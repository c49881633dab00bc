// SPDX-License-Identifier: BSD-3-Clause
#include "precond/graph/levels_cuda.hpp"

#include "precond/graph/levels_arguments.hpp"
#include "precond/kernel_set.hpp"

namespace hyperplane {
namespace {

rtc::Source levels_source() {
    return {rtc::precond_texts(), "precond/graph/levels.cuh"};
}

rtc::Definitions definitions_of(Side side) {
    return {{"UPPER", std::to_string(side == Side::upper)}};
}

void find_depths(const Context& gpu, const BlockPattern& pattern, Side side, int* depth, LevelState* state) {
    constexpr Index threads = 128;
    const Index rows = pattern.rows();
    if (rows == 0) return;
    static_assert(sizeof(long long) == sizeof(Index));
    const rtc::Kernel<LevelArguments> kernel(gpu, levels_source(), definitions_of(side), "find_levels");
    kernel.launch({unsigned((rows + threads - 1) / threads)}, unsigned(threads), 0,
                  {.row_begin = reinterpret_cast<const long long*>(pattern.row_begin()),
                   .column = pattern.column(),
                   .depth = depth,
                   .state = state,
                   .rows = rows});
}

}  // namespace

BothDepths depths_on_gpu(const Context& gpu, const BlockPattern& pattern, const std::string& label) {
    const Index rows = pattern.rows();
    BothDepths found{{Buffer<int>(gpu, label, rows)}, {Buffer<int>(gpu, label, rows)}};
    Buffer<LevelState> states(gpu, label, 2);
    find_depths(gpu, pattern, Side::lower, found.lower.depth.data(), states.data());
    find_depths(gpu, pattern, Side::upper, found.upper.depth.data(), states.data() + 1);
    LevelState after[2];
    gpu.stream().copy(states.data(), after, Index(sizeof(after)));
    found.lower.levels = after[0].levels;
    found.upper.levels = after[1].levels;
    return found;
}

rtc::Programs level_programs() {
    return {{levels_source(), definitions_of(Side::lower), "lower"},
            {levels_source(), definitions_of(Side::upper), "upper"}};
}

}  // namespace hyperplane
