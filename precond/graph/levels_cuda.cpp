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

RowLevels levels_of_side(const Context& gpu, const BlockPattern& pattern, Side side, const std::string& label) {
    constexpr Index threads = 128;
    const Index rows = pattern.rows();
    Buffer<int> depth(gpu, label, rows);
    Buffer<LevelState> state(gpu, label, 1);
    if (rows > 0) {
        static_assert(sizeof(long long) == sizeof(Index));
        const rtc::Kernel<LevelArguments> kernel(gpu, levels_source(), definitions_of(side), "find_levels");
        kernel.launch({unsigned((rows + threads - 1) / threads)}, unsigned(threads), 0,
                      {.row_begin = reinterpret_cast<const long long*>(pattern.row_begin()),
                       .column = pattern.column(),
                       .depth = depth.data(),
                       .state = state.data(),
                       .rows = rows});
    }
    const Context host = gpu.host();
    const Buffer<LevelState> found = moved_to(host, label, std::move(state));
    return sorted_levels(host, moved_to(host, label, std::move(depth)), found[0].levels, label);
}

}  // namespace

BothLevels levels_on_gpu(const Context& gpu, const BlockPattern& pattern, const std::string& label) {
    RowLevels lower = levels_of_side(gpu, pattern, Side::lower, label);
    return {std::move(lower), levels_of_side(gpu, pattern, Side::upper, label)};
}

rtc::Programs level_programs() {
    return {{levels_source(), definitions_of(Side::lower), "lower"},
            {levels_source(), definitions_of(Side::upper), "upper"}};
}

}  // namespace hyperplane
